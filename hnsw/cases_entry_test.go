package hnsw_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// together runs every function in a goroutine of its own and reports what they return.
func together(t *testing.T, fs ...func() error) {
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
		t.Error(err)
	}
}

// weaviate/weaviate#1304, #4410, PR#11151: looking for a new entry panicked on a graph that had become empty, and when
// several deleted at a time.
func TestTheLastEntryIsDeletedBesideSearchesAndOtherDeletions(t *testing.T) {
	const n, rounds = 120, 12
	rows := mixture(1, n, 6)
	ix := newIndex(t, 6, hnsw.Options{ExactBelow: -1, M: 2, EfConstruction: 10})
	for round := range rounds {
		for id, v := range rows {
			add(t, ix, id, v)
		}
		var deleted atomic.Int64
		remover := func(step int) func() error {
			return func() error {
				for i := range n {
					if ix.Delete(uint64(i * step % n)) {
						deleted.Add(1)
					}
				}
				return nil
			}
		}
		searcher := func() error {
			for deleted.Load() < n {
				got, err := ix.Search(rows[3], n, hnsw.IndexSearchOptions{})
				if err != nil {
					return err
				}
				for _, r := range got {
					if r.ID >= n || !near(r.Score, cosine(rows[3], rows[r.ID])) {
						return fmt.Errorf("result %v", r)
					}
				}
				runtime.Gosched()
			}
			return nil
		}
		together(t, remover(1), remover(7), remover(119), searcher)
		if ix.Len() != 0 || deleted.Load() != n {
			t.Fatalf("round %d: %d left, %d deleted", round, ix.Len(), deleted.Load())
		}
	}
}

// near says whether a score is a cosine.
func near(score float32, cos float64) bool {
	d := float64(score) - cos
	return -scoreError <= d && d <= scoreError
}

// facebookresearch/faiss PR#5129, antgroup/vsag PR#1573: the entry and the number of layers were two variables, and
// a search beside an insertion saw one of each. With M 2 the entry changes a dozen times.
func TestEntryAndLayersAgreeBesideParallelInsertions(t *testing.T) {
	o := hnsw.Options{ExactBelow: -1, M: 2, EfConstruction: 16, Seed: 3, Workers: 4}
	rows := mixture(2, 1500, 8)
	alone := o
	alone.Workers = 1
	want := indexOf(t, rows, alone).Stats().Layers
	if want < 8 {
		t.Fatalf("only %d layers", want)
	}
	ix := newIndex(t, 8, o)
	var finished atomic.Bool
	writer := func() error {
		defer finished.Store(true)
		for from := 0; from < len(rows); from += 100 {
			ids := make([]uint64, 100)
			for i := range ids {
				ids[i] = uint64(from + i)
			}
			if err := ix.AddBatch(ids, rows[from:from+100]); err != nil {
				return err
			}
		}
		return nil
	}
	searcher := func() error {
		for i := 0; !finished.Load(); i++ {
			q, before := rows[i%len(rows)], ix.Len()
			got, err := ix.Search(q, 10, hnsw.IndexSearchOptions{Ef: 10})
			if err != nil {
				return err
			}
			if len(got) < min(10, before) {
				return fmt.Errorf("%d results of %d vectors", len(got), before)
			}
			for _, r := range got {
				if !near(r.Score, cosine(q, rows[r.ID])) {
					return fmt.Errorf("id %d: score %v", r.ID, r.Score)
				}
			}
		}
		return nil
	}
	together(t, writer, searcher, searcher)
	// How high a slot reaches depends on the seed and the slot alone, so the number of layers does, too.
	if got := ix.Stats().Layers; got != want {
		t.Errorf("%d layers, %d when nobody is beside", got, want)
	}
	if _, recall := find(t, ix, rows, rows[0], len(rows), hnsw.IndexSearchOptions{}); recall != 1 {
		t.Errorf("recall %v", recall)
	}
}

// unum-cloud/USearch#735: additions in parallel left nodes that nothing led to.
func TestParallelAdditionsLeaveNothingUnreachable(t *testing.T) {
	rows := mixture(4, 1000, 16)
	g, err := hnsw.NewGraph(16, walking)
	if err != nil {
		t.Fatal(err)
	}
	appendRows(t, g, rows)
	if n, err := g.LinkParallel(t.Context(), 0, 4); err != nil || n != len(rows) {
		t.Fatalf("linked %d, %v", n, err)
	}
	g.Repair()
	if n := g.Repair(); n != 0 {
		t.Errorf("%d unreachable after a repair", n)
	}
	o := walking
	o.Workers = 4
	ix := loaded(t, saved(t, indexOf(t, rows, o)))
	if away := lost(t, ix, rows, len(rows)); len(away) > 0 {
		t.Errorf("cannot be reached: %v", away)
	}
	if away := lost(t, ix, rows, 64); len(away) > 10 { // none as a rule; timing decides
		t.Errorf("not found: %v", away)
	}
}

// nmslib/hnswlib#29, #205, yugabyte/yugabyte-db#32319: a search beside an insertion crashed. Every kind of write goes
// on beside two searches, which check that a vector is one that its id has had.
func TestSearchesBesideEveryKindOfWrite(t *testing.T) {
	const n, versions = 300, 5
	all := mixture(5, n*versions, 8)
	o := hnsw.Options{ExactBelow: -1, M: 4, EfConstruction: 16, Workers: 2}
	ix := indexOf(t, all[:n], o) // version v of id is row v*n+id
	var finished atomic.Bool
	writer := func() error {
		defer finished.Store(true)
		for i := n; i < len(all); i++ {
			if err := ix.Add(uint64(i%n), all[i]); err != nil {
				return err
			}
			if i%10 == 0 {
				ix.Delete(uint64(i / 10 % n))
			}
			if i%400 == 399 {
				if err := ix.Compact(t.Context()); err != nil {
					return err
				}
			}
		}
		return ix.AddBatch([]uint64{1, 2, 3}, all[1:4])
	}
	searcher := func(seed uint64) func() error {
		return func() error {
			r := random(seed)
			for !finished.Load() {
				q := all[r.IntN(len(all))]
				so := hnsw.IndexSearchOptions{Exact: r.IntN(4) == 0}
				if r.IntN(2) == 0 {
					so.Accept = func(id uint64) bool { return id%3 != 0 }
				}
				got, err := ix.Search(q, 10, so)
				if err != nil {
					return err
				}
				if len(got) != 10 {
					return fmt.Errorf("%d results", len(got))
				}
				for _, r := range got {
					known := false
					for v := 0; v < versions && r.ID < n; v++ {
						known = known || near(r.Score, cosine(q, all[v*n+int(r.ID)]))
					}
					if !known {
						return fmt.Errorf("id %d never had a vector with score %v", r.ID, r.Score)
					}
				}
			}
			return nil
		}
	}
	together(t, writer, searcher(6), searcher(7))
}

// antgroup/vsag#2294: the number of vectors grew before the newest was written, and a scan read what was there. Every
// vector of this test has a cosine of at least 0.5 with the query.
func TestAScanBesideAppendsReadsOnlyWrittenRows(t *testing.T) {
	const n, dim = 1500, 2048
	q := make([]float32, dim)
	q[0] = 1
	r := random(8)
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = around(r, make([]float32, dim), 0.02)
		rows[i][0] = 2
	}
	g, err := hnsw.NewGraph(dim, hnsw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var finished atomic.Bool
	writer := func() error {
		defer finished.Store(true)
		for _, v := range rows {
			if _, err := g.Append(v); err != nil {
				return err
			}
		}
		return nil
	}
	// Half of the searches look at the newest rows only, for those are where it may go wrong.
	scanner := func(newest bool) func() error {
		return func() error {
			for !finished.Load() {
				bound := g.Bound()
				o := hnsw.SearchOptions{Exact: true}
				want := int(bound)
				if newest {
					o.Allow = roaring.BitmapOf(bound, bound+1, bound+2)
					want = 0
				}
				hits, err := g.Search(q, n, o, nil)
				if err != nil {
					return err
				}
				if len(hits) < want {
					return fmt.Errorf("%d hits of %d rows", len(hits), want)
				}
				for _, h := range hits {
					if h.Score < 0.5 || h.Score != min(1, simd.Dot(q, g.Row(h.Slot))) {
						return fmt.Errorf("slot %d of %d: score %v", h.Slot, bound, h.Score)
					}
				}
			}
			return nil
		}
	}
	together(t, writer, scanner(true), scanner(false))
}
