package main

import (
	"fmt"
	"runtime"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw"
)

// graphOf builds a graph of all rows of a data set, with the package's defaults but for the parameters given, on
// all cores.
func (r *runner) graphOf(d *dataset, o hnsw.Options) (*hnsw.Graph, error) {
	g, err := hnsw.NewGraph(d.dim, o)
	if err != nil {
		return nil, err
	}
	for i := range d.rows() {
		if _, err := g.Append(d.row(i)); err != nil {
			return nil, err
		}
	}
	_, err = g.LinkParallel(r.ctx, 0, runtime.GOMAXPROCS(0))
	return g, err
}

// asking returns a task that searches a graph and keeps the answers in ids, topK a query.
func asking(g *hnsw.Graph, d *dataset, options func(i int) hnsw.SearchOptions, ids []int32) task {
	hits := make([]hnsw.Hit, 0, topK)
	return func(i int) (err error) {
		if hits, err = g.Search(d.q(i), topK, options(i), hits); err != nil {
			return err
		}
		for j := range topK {
			ids[i*topK+j] = -1
			if j < len(hits) {
				ids[i*topK+j] = int32(hits[j].Slot)
			}
		}
		return nil
	}
}

// always returns the same options for every query.
func always(o hnsw.SearchOptions) func(int) hnsw.SearchOptions {
	return func(int) hnsw.SearchOptions { return o }
}

// scan reports what a search costs that looks at every row.
func (r *runner) scan() error {
	d, err := r.any384()
	if err != nil {
		return err
	}
	d = d.part(10_000, 200)
	g, err := hnsw.NewGraph(d.dim, hnsw.Options{})
	if err != nil {
		return err
	}
	for i := range d.rows() {
		if _, err := g.Append(d.row(i)); err != nil {
			return err
		}
	}
	ids := make([]int32, topK*d.queries())
	took, err := r.costs(d.queries(), asking(g, d, always(hnsw.SearchOptions{Exact: true}), ids))
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("exact scan of %s: CPU per query", d), microseconds(took[0]), "us", "<= 60", "one thread")
	r.add(fmt.Sprintf("exact scan of %s: recall", d), d.truth.recall(d, ids), "share", ">= 0.999", "")
	return nil
}

// allocations reports what a search takes from the heap once warm.
func (r *runner) allocations() error {
	d, err := r.any384()
	if err != nil {
		return err
	}
	g, err := r.graphOf(d, hnsw.Options{})
	if err != nil {
		return err
	}
	half := roaring.New()
	half.AddRange(0, uint64(d.rows()/2))
	few := roaring.New()
	few.AddRange(0, uint64(d.rows()/100))
	odd := func(slot uint32) bool { return slot&1 != 0 }
	for _, kind := range []struct {
		name string
		o    hnsw.SearchOptions
	}{
		{"walk", hnsw.SearchOptions{}},
		{"scan", hnsw.SearchOptions{Exact: true}},
		{"half of the slots allowed", hnsw.SearchOptions{Allow: half}},
		{"1 % of the slots allowed", hnsw.SearchOptions{Allow: few}},
		{"a function that accepts", hnsw.SearchOptions{Accept: odd}},
		{"under a bound", hnsw.SearchOptions{Bound: uint32(d.rows() / 10)}},
	} {
		ids := make([]int32, topK*d.queries())
		ask := asking(g, d, always(kind.o), ids)
		count, err := mallocs(d.queries(), ask)
		if err != nil {
			return err
		}
		r.add("allocations per search: "+kind.name, count, "allocations", "<= 0", "Graph.Search with room for the hits")
	}
	ix, err := r.indexOf(d, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	count, err := mallocs(d.queries(), askingIndex(ix, d, make([]int32, topK*d.queries())))
	if err != nil {
		return err
	}
	r.add("allocations per search: index", count, "allocations", "", "Index.Search, which returns a new slice")
	return nil
}

// mallocs returns the heap allocations per query of a task, after a pass to warm up.
func mallocs(queries int, t task) (float64, error) {
	var before, after runtime.MemStats
	for pass := range 2 {
		if pass == 1 {
			runtime.ReadMemStats(&before)
		}
		for i := range queries {
			if err := t(i); err != nil {
				return 0, err
			}
		}
	}
	runtime.ReadMemStats(&after)
	// The runtime itself allocates now and then: less than one in a hundred searches is its doing.
	return float64((after.Mallocs-before.Mallocs)*100/uint64(queries)) / 100, nil
}
