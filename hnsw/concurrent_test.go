package hnsw

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// race runs every function in a goroutine of its own and fails the test with the first error.
func race(t *testing.T, fs ...func() error) {
	t.Helper()
	var group sync.WaitGroup
	errs := make(chan error, len(fs))
	for _, f := range fs {
		group.Go(func() {
			if err := f(); err != nil {
				errs <- err
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
}

// hnswlib#29, yugabyte-db#32319: a search during an insertion crashed. antgroup/vsag#2294: a count published before
// its row. faiss PR#5129: the entry and its layer disagreed. Rows and lists are in the Go heap, so the race
// detector sees all of it.
func TestSearchBesideAppendLinkAndKill(t *testing.T) {
	const n, dim = 3000, 16
	rows := clusters(1, n, dim)
	for i := n / 2; i < n; i += 10 {
		rows[i] = rows[i-100] // twins grow meanwhile
	}
	for _, workers := range []int{1, 2} {
		g := newTestGraph(t, dim, Options{ExactBelow: -1, M: 4, EfConstruction: 24})
		var finished atomic.Bool
		appender := func() error {
			for _, v := range rows {
				if _, err := g.Append(v); err != nil {
					return err
				}
			}
			return nil
		}
		linker := func() error {
			for g.Mark() < n {
				if _, err := g.LinkParallel(context.Background(), 100, workers); err != nil {
					return err
				}
				if m := g.Mark(); m > 10 {
					g.Kill(uint32(g.entry.Load()))
					g.Kill(m - 7)
				}
				runtime.Gosched()
			}
			finished.Store(true)
			return nil
		}
		searcher := func(seed uint64) func() error {
			return func() error {
				r := rand.New(rand.NewPCG(seed, 3))
				dst := make([]Hit, 0, 10)
				for !finished.Load() {
					bound := g.Bound()
					if bound == 0 {
						runtime.Gosched()
						continue
					}
					target := r.Uint32N(bound)
					o := SearchOptions{Bound: bound}
					if seed%2 == 0 {
						o.Accept = func(slot uint32) bool { return slot == target || slot%2 == 0 }
					}
					dead := g.IsDead(target)
					var err error
					if dst, err = g.Search(g.Row(target), 10, o, dst); err != nil {
						return err
					}
					for i, h := range dst {
						if h.Slot >= bound {
							return fmt.Errorf("slot %d is beyond the bound %d", h.Slot, bound)
						}
						if i > 0 && (dst[i-1].Score < h.Score || dst[i-1].Slot == h.Slot) {
							return fmt.Errorf("out of order: %v", dst)
						}
						if h.Score != g.Score(h.Slot, unitOf(g, target)) {
							return fmt.Errorf("slot %d: score %v", h.Slot, h.Score)
						}
					}
					if len(dst) == 0 && !dead && !g.IsDead(target) {
						return fmt.Errorf("nothing found, not even slot %d", target)
					}
				}
				return nil
			}
		}
		race(t, appender, linker, searcher(1), searcher(2), searcher(3))
		g.Repair()
		checkShape(t, g)
		if lost := unreachable(g); lost != 0 {
			t.Errorf("%d unreachable", lost)
		}
		alive := func(slot uint32) bool { return !g.IsDead(slot) }
		if got := meanRecall(t, g, clusters(2, 50, dim), 10, SearchOptions{Ef: 128}, alive); got < 0.9 {
			t.Errorf("recall after all that: %.3f", got)
		}
	}
}

// unitOf is what a search makes of a row: normalised once more.
func unitOf(g *Graph, slot uint32) []float32 {
	defer runtime.KeepAlive(g)
	return unit(g.Row(slot))
}

// An upsert is one change: a search sees the id exactly once, whenever it looks.
func TestAnUpsertIsNeverHalfSeen(t *testing.T) {
	const n, dim = 40, 4
	rows := clusters(3, 2000, dim)
	for _, exactBelow := range []int{-1, 0} {
		ix := newTestIndex(t, dim, Options{ExactBelow: exactBelow, M: 3, EfConstruction: 8})
		for id := range uint64(n) {
			if err := ix.Add(id, rows[id]); err != nil {
				t.Fatal(err)
			}
		}
		var finished atomic.Bool
		writer := func() error {
			defer finished.Store(true)
			for i, v := range rows {
				if err := ix.Add(uint64(i*7%n), v); err != nil {
					return err
				}
				if i%500 == 499 {
					if err := ix.Compact(context.Background()); err != nil {
						return err
					}
				}
			}
			return nil
		}
		reader := func() error {
			for !finished.Load() {
				got, err := ix.Search(rows[0], n+5, IndexSearchOptions{})
				if err != nil {
					return err
				}
				ids := make([]uint64, 0, n)
				for _, r := range got {
					ids = append(ids, r.ID)
				}
				slices.Sort(ids)
				for i, id := range ids {
					if id != uint64(i) || len(ids) != n {
						return fmt.Errorf("%d ids: %v", len(ids), ids)
					}
				}
			}
			return nil
		}
		race(t, writer, reader, reader)
	}
}

// weaviate#4410, PR#11151: deleting everything concurrently.
func TestDeletingEverythingFromManySides(t *testing.T) {
	const n, dim = 600, 8
	rows := clusters(4, n, dim)
	ix := filled(t, rows, Options{ExactBelow: -1, M: 4, EfConstruction: 16})
	var deleted atomic.Int64
	remover := func(from uint64) func() error {
		return func() error {
			for id := from; id < n; id++ {
				if ix.Delete(id + 1<<40) {
					deleted.Add(1)
				}
			}
			return nil
		}
	}
	reader := func() error {
		for deleted.Load() < n {
			if _, err := ix.Search(rows[1], 5, IndexSearchOptions{}); err != nil {
				return err
			}
			_, _ = ix.Has(1<<40), ix.Stats()
		}
		return nil
	}
	race(t, remover(0), remover(0), remover(n/2), reader)
	if ix.Len() != 0 || deleted.Load() != n {
		t.Errorf("%d left, %d deleted", ix.Len(), deleted.Load())
	}
}

func TestNoGoroutineOutlivesACall(t *testing.T) {
	before := runtime.NumGoroutine()
	g := newTestGraph(t, 8, Options{})
	appendAll(t, g, clusters(5, 1000, 8))
	if _, err := g.LinkParallel(context.Background(), 0, 8); err != nil {
		t.Fatal(err)
	}
	for range 100 { // an ended goroutine may still be counted for a moment
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
