package hnsw

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

func drainIndex(t *testing.T, it *IndexIterator, n int) []uint64 {
	t.Helper()
	defer it.Close()
	var ids []uint64
	var batch []Result
	for {
		var err error
		if batch, err = it.Next(n, batch); err != nil {
			t.Fatal(err)
		}
		for i, r := range batch {
			if i > 0 && cmp.Or(cmp.Compare(r.Score, batch[i-1].Score), cmp.Compare(batch[i-1].ID, r.ID)) >= 0 {
				t.Fatalf("%v after %v", r, batch[i-1])
			}
			ids = append(ids, r.ID)
		}
		if len(batch) < n {
			slices.Sort(ids)
			return ids
		}
	}
}

// An iterator sees the index as it was, whatever is written meanwhile, and nothing twice.
func TestIndexIteratorSeesOneVersion(t *testing.T) {
	const n = 600
	rows := clusters(2, 3*n, 64)
	ix, err := New(64, Options{ExactBelow: -1, EfConstruction: 40})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[uint64]bool{}
	for id := range uint64(n) {
		if err := ix.Add(id*3, rows[id]); err != nil {
			t.Fatal(err)
		}
		ids[id*3] = true
	}
	odd := func(id uint64) bool { return id%2 == 1 }
	list := roaring64.New()
	list.AddRange(100, 5000)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 20 {
		o := IndexSearchOptions{}
		want := slices.Sorted(maps.Keys(ids))
		switch round % 4 {
		case 1:
			o.Accept = odd
			want = slices.DeleteFunc(want, func(id uint64) bool { return !odd(id) })
		case 2:
			o.Allow = list
			want = slices.DeleteFunc(want, func(id uint64) bool { return !list.Contains(id) })
		case 3:
			o.Exact = true
		}
		it, err := ix.Iterate(rows[r.IntN(len(rows))], o)
		if err != nil {
			t.Fatal(err)
		}
		first, err := it.Next(7, nil)
		if err != nil || len(first) != min(7, len(want)) {
			t.Fatal(len(first), err)
		}
		for range 100 {
			id := uint64(r.IntN(3 * n))
			if r.IntN(3) == 0 {
				ix.Delete(id)
				delete(ids, id)
			} else if err := ix.Add(id, rows[r.IntN(len(rows))]); err != nil {
				t.Fatal(err)
			} else {
				ids[id] = true
			}
		}
		if round == 10 {
			if err := ix.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		got := drainIndex(t, it, 1+r.IntN(50))
		for _, f := range first {
			got = append(got, f.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("round %d: %d ids, want %d", round, len(got), len(want))
		}
	}
}

func TestIndexIteratorBesideWriters(t *testing.T) {
	rows := clusters(9, 400, 64)
	ix, err := New(64, Options{ExactBelow: -1, EfConstruction: 30})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(100) {
		if err := ix.Add(id, rows[id]); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var added atomic.Int32
	var wg sync.WaitGroup
	wg.Go(func() { // the same ids all the time, other vectors
		r := rand.New(rand.NewPCG(5, 6))
		for {
			select {
			case <-stop:
				return
			default:
				if err := ix.Add(uint64(r.IntN(100)), rows[r.IntN(len(rows))]); err != nil {
					t.Error(err)
				}
				added.Add(1)
			}
		}
	})
	all := make([]uint64, 100)
	for i := range all {
		all[i] = uint64(i)
	}
	for i := 0; i < 40 || added.Load() < 300; i++ {
		it, err := ix.Iterate(rows[i%len(rows)], IndexSearchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := drainIndex(t, it, 1+i%50); !slices.Equal(got, all) {
			t.Errorf("%d ids: %v", len(got), got)
		}
	}
	close(stop)
	wg.Wait()
}

func TestIndexIteratorThatIsForgottenHoldsNothingBack(t *testing.T) {
	ix, err := New(16, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := clusters(9, 50, 16)
	for id, v := range rows {
		if err := ix.Add(uint64(id), v); err != nil {
			t.Fatal(err)
		}
	}
	inside := func() (n int64) {
		for i := range ix.cur.g.readers.places {
			for e := range 2 {
				n += ix.cur.g.readers.places[i].in[e].Load()
			}
		}
		return n
	}
	it, err := ix.Iterate(rows[0], IndexSearchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := it.Next(3, nil); err != nil || inside() != 1 {
		t.Fatal(inside(), err)
	}
	it.Close()
	it.Close()
	if inside() != 0 {
		t.Fatalf("%d inside after Close", inside())
	}
	if _, err := it.Next(3, nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := ix.Iterate(rows[0], IndexSearchOptions{}); err != nil || inside() != 1 {
		t.Fatal(inside(), err)
	}
	if _, err := ix.cur.g.Iterate(rows[0], SearchOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if runtime.GC(); inside() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d inside after they are forgotten", inside())
}

// A filter that panics leaves nothing behind: memory is used again, Close does not wait, and whoever goes on with such
// an iterator is refused.
func TestIteratorsWhoseFilterPanics(t *testing.T) {
	rows := clusters(31, 600, 64)
	panics := func(f func()) (did bool) {
		defer func() { did = recover() != nil }()
		f()
		return
	}
	no := func() { panic("no") }
	for _, o := range []IndexSearchOptions{{}, {Exact: true}} {
		ix := filled(t, rows, Options{M: 6, EfConstruction: 30, ExactBelow: -1})
		g := ix.cur.g
		o.Accept = func(uint64) bool { no(); return true }
		var it *IndexIterator
		var err error
		if panics(func() { it, err = ix.Iterate(rows[0], o) }) != o.Exact || err != nil {
			t.Fatalf("exact %v: no panic, %v", o.Exact, err)
		}
		if it != nil {
			if !panics(func() { it.Next(5, nil) }) {
				t.Error("Next does not panic")
			}
			if hits, err := it.Next(5, nil); !errors.Is(err, ErrInvalid) || len(hits) > 0 {
				t.Errorf("%v, %v after a panic", hits, err)
			}
			it.Close()
		}
		slots := SearchOptions{Exact: o.Exact, Accept: func(uint32) bool { no(); return true }}
		panics(func() {
			it, err := g.Iterate(rows[0], slots)
			if err != nil {
				t.Error(err)
			}
			defer it.Close()
			it.Next(5, nil)
		})
		if !panics(func() { ix.Search(rows[0], 5, o) }) || !panics(func() { g.Search(rows[0], 5, slots, nil) }) {
			t.Error("a search does not panic")
		}
		epoch := g.readers.epoch.Load()
		if g.readers.advance(); !g.readers.left(epoch) {
			t.Fatalf("exact %v: somebody is inside still", o.Exact)
		}
	}
}
