package hnsw

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// An iterator of a mapped index verifies rows before it yields them, as a search does.
func TestIteratorOfADamagedIndexFails(t *testing.T) {
	if codesFromDim > 64 {
		t.Skip("without codes, Open reads all rows")
	}
	ix, path, queries := mappable(t)
	at, _ := spanOf(t, path, secRows)
	q := queries[0]
	want, err := ix.Search(q, 40, IndexSearchOptions{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	bad := damaged(t, path, at+uint64(ix.slots[want[20].ID])*4*64+9)
	for name, o := range map[string]IndexSearchOptions{
		"walk": {Ef: 200}, "scan": {Exact: true}, "filter": {Ef: 200, Accept: func(id uint64) bool { return id%2 == want[20].ID%2 }},
	} {
		got := mustOpen(t, bad, OpenOptions{})
		if !isMapped(got) {
			t.Skip("files are not mapped here")
		}
		it, err := got.Iterate(q, o)
		if err != nil {
			t.Fatal(err)
		}
		defer it.Close()
		seen := 0
		for err == nil && seen < len(want) {
			var batch []Result
			if batch, err = it.Next(5, nil); err == nil && len(batch) == 0 {
				break
			}
			for _, r := range batch {
				if i := slices.IndexFunc(want, func(w Result) bool { return w.ID == r.ID }); i >= 0 && want[i].Score != r.Score {
					t.Errorf("%s: score %v, want %v", name, r.Score, want[i].Score)
				}
			}
			seen += len(batch)
		}
		var e *CorruptionError
		if !errors.As(err, &e) || e.Path != bad || e.Part != secRows.String() {
			t.Errorf("%s: %v after %d", name, err, seen)
		}
		if _, again := it.Next(1, nil); !errors.Is(again, ErrCorrupt) {
			t.Errorf("%s: then %v", name, again)
		}
	}
}

// Who is late verifying a block of codes does not take for damage what a writer has put there since.
func TestCodesWrittenAfterTheyWereVerifiedAreNoDamage(t *testing.T) {
	_, path, _ := mappable(t)
	ix := mustOpen(t, path, OpenOptions{})
	l := ix.cur.g.table.Load().lazy
	if l == nil || l.codes == nil {
		t.Skip("files are not mapped here")
	}
	l.codes[3] ^= 1
	if err := l.codesOf(0); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("damage: %v", err)
	}
	l.codes[3] ^= 1
	if err := l.allCodes(); err != nil {
		t.Fatal(err)
	}
	l.codes[3] ^= 1
	if err := l.codesOf(0); err != nil {
		t.Error(err)
	}
}

// The memory that an iterator has yet to read stays.
func TestCloseNeitherWaitsForIteratorsNorEndsThem(t *testing.T) {
	ix, path, queries := mappable(t)
	want, err := ix.Search(queries[0], 2000, IndexSearchOptions{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	opened := mustOpen(t, path, OpenOptions{})
	it, err := opened.Iterate(queries[0], IndexSearchOptions{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	closed := make(chan error, 1)
	go func() { closed <- opened.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Close waits for an iterator")
	}
	got, err := it.Next(2000, nil)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d results, %v", len(got), err)
	}
	if _, err := opened.Iterate(queries[0], IndexSearchOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("iterate: %v", err)
	}
}
