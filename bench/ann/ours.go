package main

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/hnsw"
)

// mode is a way to search that the package has.
type mode struct {
	title string
	rows  bool // walks compare float32 rows, not codes
	exact bool // no walk at all
}

var (
	onCodes = mode{title: "lightrag"}
	onRows  = mode{title: "lightrag float32", rows: true}
	onAll   = mode{title: "lightrag exact", exact: true}
	modes   = []mode{onCodes, onRows, onAll} // of a comparison
)

// options returns the options of a graph in a mode.
func (m mode) options(seed uint64) hnsw.Options {
	o := hnsw.Options{M: graphM, EfConstruction: efConstruction, ExactBelow: -1, Seed: seed}
	if m.rows {
		o.Walk = hnsw.WalkRows
	}
	return o
}

// ours is a graph of this module under measurement, in this process.
type ours struct {
	mode  mode
	data  *dataset
	cpu   int
	graph *hnsw.Graph
}

func (o *ours) name() string    { return o.mode.title }
func (o *ours) version() string { return "" }

func (o *ours) build(rows int, seed uint64, threads int) (built, error) {
	o.graph = nil
	debug.FreeOSMemory()
	before, _, _ := measure.ResidentBytes()
	if threads == 1 {
		defer pin(o.cpu)()
	}
	vecs := o.vectors(rows)
	stop := measure.Start()
	g, err := o.make(vecs, seed, threads)
	span := stop()
	o.graph = g
	after, _, _ := measure.ResidentBytes()
	return built{CPU: span.CPU, Wall: span.Wall, RSS: after - before}, err
}

func (o *ours) make(vecs [][]float32, seed uint64, threads int) (*hnsw.Graph, error) {
	g, err := hnsw.NewGraph(o.data.dim, o.mode.options(seed))
	if err == nil {
		_, err = g.AppendBatch(vecs, threads)
	}
	if err == nil && !o.mode.exact {
		_, err = g.LinkParallel(context.Background(), 0, threads)
	}
	return g, err
}

// buildTwo returns how long it takes to build two graphs at a time that share nothing but the vectors, with a thread each.
// Twice what one graph takes alone, divided by that, is what a second core adds on this machine at best.
func (o *ours) buildTwo(rows int, seed uint64) (time.Duration, error) {
	o.graph = nil
	debug.FreeOSMemory()
	vecs := o.vectors(rows)
	var group sync.WaitGroup
	errs := make([]error, 2)
	began := time.Now()
	for i := range errs {
		group.Go(func() { _, errs[i] = o.make(vecs, seed, 1) })
	}
	group.Wait()
	return time.Since(began), errors.Join(errs...)
}

func (o *ours) vectors(rows int) [][]float32 {
	vecs := make([][]float32, rows)
	for i := range vecs {
		vecs[i] = o.data.row(i)
	}
	return vecs
}

// hotBytes returns what a vector takes without its float32 row.
func (o *ours) hotBytes() float64 {
	s := o.graph.Stats()
	return float64(s.Bytes-s.RowBytes) / float64(s.Slots)
}

func (o *ours) search(s search) (timing, []int32, error) {
	ids := make([]int32, topK*s.queries)
	options := hnsw.SearchOptions{Ef: s.ef, Exact: o.mode.exact}
	if s.threads == 1 {
		t, err := o.one(s, options, ids)
		return t, ids, err
	}
	t, err := o.many(s, options, ids)
	return t, ids, err
}

// put asks one query.
func (o *ours) put(i int, options hnsw.SearchOptions, hits []hnsw.Hit, ids []int32) ([]hnsw.Hit, error) {
	hits, err := o.graph.Search(o.data.q(i), topK, options, hits)
	if err != nil {
		return hits, err
	}
	answer := ids[i*topK : (i+1)*topK]
	for j := range answer {
		answer[j] = -1
		if j < len(hits) {
			answer[j] = int32(hits[j].Slot)
		}
	}
	return hits, nil
}

func (o *ours) one(s search, options hnsw.SearchOptions, ids []int32) (t timing, err error) {
	defer pin(o.cpu)()
	hits := make([]hnsw.Hit, 0, topK)
	for t.Queries == 0 || t.CPU < s.atLeast {
		stop := measure.StartThread()
		for i := range s.queries {
			if hits, err = o.put(i, options, hits, ids); err != nil {
				stop()
				return t, err
			}
		}
		span := stop()
		t.CPU, t.Wall, t.Queries = t.CPU+span.CPU, t.Wall+span.Wall, t.Queries+s.queries
	}
	return t, nil
}

func (o *ours) many(s search, options hnsw.SearchOptions, ids []int32) (timing, error) {
	for passes := 1; ; {
		var next atomic.Int64
		var wg sync.WaitGroup
		errs := make([]error, s.threads)
		stop := measure.Start()
		for w := range s.threads {
			wg.Go(func() {
				const some = 10 // at a time, so that the counter, which all threads write to, is rarely written
				hits := make([]hnsw.Hit, 0, topK)
				for {
					first := int(next.Add(some)) - some
					for i := first; i < first+some; i++ {
						if i >= passes*s.queries {
							return
						}
						var err error
						if hits, err = o.put(i%s.queries, options, hits, ids); err != nil {
							errs[w] = err
							return
						}
					}
				}
			})
		}
		wg.Wait()
		span := stop()
		for _, err := range errs {
			if err != nil {
				return timing{}, err
			}
		}
		if span.Wall >= s.atLeast {
			return timing{Queries: passes * s.queries, CPU: span.CPU, Wall: span.Wall}, nil
		}
		passes = 1 + int(1.2*float64(passes)*float64(s.atLeast)/float64(max(span.Wall, time.Microsecond)))
	}
}

func (o *ours) close() error {
	o.graph = nil
	return nil
}
