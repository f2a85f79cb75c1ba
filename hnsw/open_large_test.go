package hnsw

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// allMapped saves an index so large that whatever can be mapped is, checksums of rows being the smallest. Its last chunk
// of slots is full when n is a multiple of 1024.
func allMapped(t *testing.T, n int) (ix *Index, path string, rows [][]float32) {
	t.Helper()
	if raceEnabled {
		t.Skip("files are not mapped here")
	}
	rows = clusters(31, n, 64)
	ix = filled(t, rows, Options{M: 2, EfConstruction: 4, ExactBelow: -1, Seed: 5})
	path = filepath.Join(t.TempDir(), "index.hnsw")
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	for s := range sections {
		if _, size := spanOf(t, path, s); size < mappedFrom && (s == secUpper || s >= secIDs) && (s != secCodes || codesFromDim <= 64) {
			t.Fatalf("%v has %d bytes", s, size)
		}
	}
	return ix, path, rows
}

func sameAnswers(t *testing.T, got, want *Index, queries [][]float32, o IndexSearchOptions) {
	t.Helper()
	for i, q := range queries {
		a, err := got.Search(q, 10, o)
		b, err2 := want.Search(q, 10, o)
		if err != nil || err2 != nil || !slices.Equal(a, b) {
			t.Fatalf("query %d: %v (%v), want %v (%v)", i, a, err, b, err2)
		}
	}
}

func TestDamageOfWhatIsMappedIsFoundByOpen(t *testing.T) {
	_, path, _ := allMapped(t, 16500)
	for _, s := range []section{secUpper, secIDs} {
		at, n := spanOf(t, path, s)
		for _, off := range []uint64{0, n / 2, n - 1} {
			bad := damaged(t, path, at+off)
			_, err := Open(bad, OpenOptions{})
			var e *CorruptionError
			if !errors.As(err, &e) || e.Part != s.String() || e.Path != bad || uint64(e.Offset) != at || !strings.Contains(e.Reason, "checksum") {
				t.Errorf("%v, byte %d of %d: %v", s, off, n, err)
			}
		}
		// What follows would become part of it when it grows.
		if _, err := Open(damaged(t, path, at+n), OpenOptions{}); n%mapAlign != 0 && !errors.Is(err, ErrCorrupt) {
			t.Errorf("behind %v: %v", s, err)
		}
	}
}

// A checksum of a row that is damaged itself is not that of the row.
func TestDamageOfChecksumsOfRowsIsFoundWithTheRow(t *testing.T) {
	_, path, rows := allMapped(t, 16500)
	at, _ := spanOf(t, path, secRowSums)
	firstRow, _ := spanOf(t, path, secRows)
	const slot = 12345
	bad := damaged(t, path, at+4*slot+1)
	check := func(what string, err error) {
		t.Helper()
		var e *CorruptionError
		if !errors.As(err, &e) || e.Path != bad || uint64(e.Offset) != firstRow+slot*64*4 || !strings.Contains(e.Reason, "slot 12345: checksum") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := Open(bad, OpenOptions{Verify: true})
	check("open and verify", err)
	if codesFromDim > 64 { // without codes, Open reads all rows
		_, err = Open(bad, OpenOptions{})
		check("open", err)
		return
	}
	ix := mustOpen(t, bad, OpenOptions{})
	_, err = ix.Search(rows[slot], 1, IndexSearchOptions{Exact: true})
	check("search", err)
	check("verify", ix.Verify())
	if r, err := ix.Search(rows[7], 1, IndexSearchOptions{Exact: true}); err != nil || len(r) != 1 || r[0].Score < 0.999 {
		t.Errorf("another row: %v, %v", r, err)
	}
}

func TestCloseGivesBackAllThatIsMapped(t *testing.T) {
	_, path, rows := allMapped(t, 16500)
	ix := mustOpen(t, path, OpenOptions{})
	if _, err := ix.Search(rows[0], 1, IndexSearchOptions{}); err != nil {
		t.Fatal(err)
	}
	m := ix.cur.g.memory
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	for name, left := range map[string]int{
		"codes": len(m.codes.Slice()), "links": len(m.links.Slice()), "upper layers": len(m.upper.Slice()),
		"rows": len(m.rows.Slice()), "ids": len(m.ids.Slice()), "row sums": len(m.sums.Slice()),
	} {
		if left != 0 {
			t.Errorf("%d %s are left", left, name)
		}
	}
}

// Memory of a file is not the garbage collector's: whoever reads it keeps what holds it.
func TestAMappedIndexUnderPressure(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for _, n := range []int{16500, 17 << chunkShift} {
		want, path, rows := allMapped(t, n)
		got := mustOpen(t, path, OpenOptions{})
		exact := IndexSearchOptions{Exact: true}
		sameAnswers(t, got, want, rows[:10], exact)
		sameAnswers(t, got, want, rows[:10], IndexSearchOptions{Ef: 50})

		// Who iterates goes on after Close, and nobody else keeps the index then.
		gone := mustOpen(t, path, OpenOptions{})
		it, err := gone.Iterate(rows[3], exact)
		if err != nil {
			t.Fatal(err)
		}
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		all, err := want.Search(rows[3], 300, exact)
		if err != nil {
			t.Fatal(err)
		}
		for len(all) > 0 {
			hits, err := it.Next(50, nil)
			if err != nil || !slices.Equal(hits, all[:50]) {
				t.Fatalf("%v (%v), want %v", hits, err, all[:50])
			}
			all = all[50:]
		}
		it.Close()

		// What is written is in memory, behind the file, or in another in its place, but not in what is mapped.
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ids, r := idsOf(want), rand.New(rand.NewPCG(1, 1))
		change := func() {
			t.Helper()
			for i := range 200 {
				id, v := ids[r.IntN(len(ids))], rows[r.IntN(n)]
				if i%3 == 0 {
					id = r.Uint64()
				}
				if i%5 == 0 {
					if a, b := got.Delete(id), want.Delete(id); a != b {
						t.Fatalf("deleting %d: %v, want %v", id, a, b)
					}
				} else if err := errors.Join(got.Add(id, v), want.Add(id, v)); err != nil {
					t.Fatal(err)
				}
			}
			sameAnswers(t, got, want, rows[:5], exact)
		}
		change()
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
			t.Fatalf("the file has changed (%v)", err)
		}
		for _, save := range []func() error{got.SaveChanges, got.SaveChanges, func() error { return got.SaveFile(path) }, got.SaveChanges} {
			if err := save(); err != nil {
				t.Fatal(err)
			}
			again := mustOpen(t, path, OpenOptions{})
			sameAnswers(t, again, want, rows[5:10], exact)
			if a, b := fmt.Sprint(idsOf(again)), fmt.Sprint(idsOf(want)); a != b {
				t.Fatal("other ids")
			}
			if err := again.Verify(); err != nil {
				t.Fatal(err)
			}
			change()
		}
	}
}
