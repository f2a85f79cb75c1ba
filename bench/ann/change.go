package main

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/hnsw"
)

// indexOf builds an index of all rows of a data set, under their numbers.
func (r *runner) indexOf(d *dataset, workers int) (*hnsw.Index, error) {
	ix, err := hnsw.New(d.dim, hnsw.Options{Seed: 1, Workers: workers})
	if err != nil {
		return nil, err
	}
	ids, vecs := make([]uint64, d.rows()), make([][]float32, d.rows())
	for i := range ids {
		ids[i], vecs[i] = uint64(i), d.row(i)
	}
	return ix, ix.AddBatch(ids, vecs)
}

// askingIndex returns a task that searches an index and keeps the answers in ids.
func askingIndex(ix *hnsw.Index, d *dataset, ids []int32) task {
	return func(i int) error {
		found, err := ix.Search(d.q(i), topK, hnsw.IndexSearchOptions{Ef: 64})
		if err != nil {
			return err
		}
		for j := range topK {
			ids[i*topK+j] = -1
			if j < len(found) {
				ids[i*topK+j] = int32(found[j].ID)
			}
		}
		return nil
	}
}

// recallOf puts all queries once.
func recallOf(d *dataset, ix *hnsw.Index) (float64, error) {
	ids := make([]int32, topK*d.queries())
	ask := askingIndex(ix, d, ids)
	for i := range d.queries() {
		if err := ask(i); err != nil {
			return 0, err
		}
	}
	return d.truth.recall(d, ids), nil
}

// duplicates reports what thousands of equal vectors do to recall.
func (r *runner) duplicates() error {
	clean, err := r.any384()
	if err != nil {
		return err
	}
	const copied = 3
	copies := r.o.copies
	dup := &dataset{name: "with copies of " + clean.name, dim: clean.dim, query: clean.query}
	for _, row := range shuffled(clean.rows()+copied*copies, 11) {
		if row >= clean.rows() {
			row = (row - clean.rows()) % copied * (clean.rows() / copied)
		}
		dup.base = append(dup.base, clean.row(row)...)
	}
	dup.truth = exact(dup, topK, nil)
	var lost, at []float64
	for seed := range r.o.seeds {
		var recalls [2]float64
		for i, d := range []*dataset{clean, dup} {
			g, err := r.graphOf(d, hnsw.Options{Seed: uint64(seed + 1), ExactBelow: -1})
			if err != nil {
				return err
			}
			ids := make([]int32, topK*d.queries())
			ask := asking(g, d, always(hnsw.SearchOptions{Ef: 64}), ids)
			for q := range d.queries() {
				if err := ask(q); err != nil {
					return err
				}
			}
			recalls[i] = d.truth.recall(d, ids)
		}
		lost, at = append(lost, 100*(recalls[1]-recalls[0])), append(at, recalls[1])
	}
	r.add(fmt.Sprintf("%d x %d copies among %s: recall less that without them", copied, copies, clean), median(lost), "points", ">= -1",
		fmt.Sprintf("ef 64; recall %.4f, median of %d seeds", median(at), r.o.seeds))
	return nil
}

// churned reports what happens to an index when a few of its vectors are replaced again and again.
func (r *runner) churned() error {
	d, err := r.any384()
	if err != nil {
		return err
	}
	const moving = 50
	times := r.o.updates
	ix, err := r.indexOf(d, 1)
	if err != nil {
		return err
	}
	// What is replaced stays near where it was, as the embedding of an edited text does.
	rng := source(3, 3)
	final := &dataset{name: "churned " + d.name, dim: d.dim, base: append([]float32(nil), d.base...), query: d.query}
	rows := shuffled(d.rows(), 3)[:moving]
	near := &dataset{name: "near", dim: d.dim}
	nudge := func(v []float32, cosine float64) []float32 {
		moved := make([]float32, len(v))
		noise := math.Sqrt(1/(cosine*cosine)-1) / math.Sqrt(float64(len(v)))
		for i, x := range v {
			moved[i] = x + float32(rng.NormFloat64()*noise)
		}
		normalise(moved)
		return moved
	}
	const fromFirst = 0.965 // so that two successive ones have a cosine of about 0.93
	for _, row := range rows {
		for range 10 {
			near.query = append(near.query, nudge(d.row(row), 0.95)...)
		}
	}
	updates := make([][]float32, moving*times)
	for i := range updates {
		row := rows[i%moving]
		updates[i] = nudge(d.row(row), fromFirst)
		copy(final.row(row), updates[i])
	}

	stop, searched := r.meanwhile(func(i int) error {
		_, err := ix.Search(near.q(i%near.queries()), topK, hnsw.IndexSearchOptions{Ef: 64})
		return err
	})
	clock := measure.StartThread()
	for i, v := range updates {
		if err := ix.Add(uint64(rows[i%moving]), v); err != nil {
			clock()
			stop()
			return err
		}
	}
	took := clock().CPU
	if err := stop(); err != nil {
		return err
	}

	fresh, err := r.indexOf(final, 1)
	if err != nil {
		return err
	}
	final.truth = exact(final, topK, nil)
	near.base = final.base
	near.truth = exact(near, topK, nil)
	name := fmt.Sprintf("%d of %s replaced %d times: ", moving, d, times)
	for _, q := range []struct {
		what string
		d    *dataset
	}{{"recall", final}, {"recall near them", near}} {
		now, err := recallOf(q.d, ix)
		if err != nil {
			return err
		}
		was, err := recallOf(q.d, fresh)
		if err != nil {
			return err
		}
		r.add(name+q.what+" less that of a fresh index", 100*(now-was), "points", ">= -0.5", fmt.Sprintf("ef 64; %.4f and %.4f", now, was))
	}
	unused := make([]int32, topK*near.queries())
	costs, err := r.costs(near.queries(), askingIndex(ix, near, unused), askingIndex(fresh, near, unused))
	if err != nil {
		return err
	}
	r.add(name+"CPU of a search near them / in a fresh index", costs[0].Seconds()/costs[1].Seconds(), "ratio", "<= 1.1",
		fmt.Sprintf("%.1f and %.1f us", microseconds(costs[0]), microseconds(costs[1])))
	r.add(name+"slots / live", float64(ix.Stats().Slots)/float64(ix.Len()), "ratio", "<= 1.1", "")
	r.add(name+"CPU of a replacement", microseconds(took)/float64(len(updates)), "us", "<= 30",
		fmt.Sprintf("of the writing thread, %d searches meanwhile", searched.Load()))
	return nil
}

// meanwhile calls f again and again in a goroutine until stop is called.
func (r *runner) meanwhile(f func(i int) error) (stop func() error, calls *atomic.Int64) {
	calls = new(atomic.Int64)
	quit, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-quit:
				done <- nil
				return
			default:
			}
			if err := f(int(calls.Add(1) - 1)); err != nil {
				done <- err
				return
			}
		}
	}()
	return func() error { close(quit); return <-done }, calls
}

// reinserted reports an index half of which was deleted and added again.
func (r *runner) reinserted() error {
	d, err := r.any384()
	if err != nil {
		return err
	}
	ix, err := r.indexOf(d, 1)
	if err != nil {
		return err
	}
	order := shuffled(d.rows(), 21)
	half := order[:d.rows()/2]
	for _, row := range half {
		if !ix.Delete(uint64(row)) {
			return fmt.Errorf("row %d is not there to be deleted", row)
		}
	}
	clock := measure.Start()
	for _, row := range half {
		if err := ix.Add(uint64(row), d.row(row)); err != nil {
			return err
		}
	}
	took := clock().CPU
	fresh, err := r.indexOf(d, 1)
	if err != nil {
		return err
	}
	now, err := recallOf(d, ix)
	if err != nil {
		return err
	}
	was, err := recallOf(d, fresh)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("half of %s deleted and added again: ", d)
	r.add(name+"recall / of a fresh index", now/was, "ratio", ">= 0.99", fmt.Sprintf("ef 64; %.4f and %.4f", now, was))
	lost := 0
	for row := range d.rows() {
		found, err := ix.Search(d.row(row), topK, hnsw.IndexSearchOptions{Ef: 512})
		if err != nil {
			return err
		}
		self := false
		for _, f := range found {
			self = self || f.ID == uint64(row) || f.Score >= 1-rounding
		}
		if !self {
			lost++
		}
	}
	r.add(name+"vectors that a search for them does not find", float64(lost), "vectors", "", "ef 512")
	stats := ix.Stats()
	r.add(name+"unreachable", float64(stats.Unreachable), "vectors", "= 0", "by Stats")
	r.add(name+"slots / live", float64(stats.Slots)/float64(ix.Len()), "ratio", "", "")
	r.add(name+"CPU of adding one again", microseconds(took)/float64(len(half)), "us", "", "")
	return nil
}

// beside reports searches while a writer inserts as fast as it can.
func (r *runner) beside() error {
	d, err := r.any384()
	if err != nil {
		return err
	}
	start := d.rows() * 3 / 4
	var ratios, idles, busies []float64
	for range r.o.repeats {
		g, err := hnsw.NewGraph(d.dim, hnsw.Options{Seed: 1, ExactBelow: -1})
		if err != nil {
			return err
		}
		add := func(first, last int) error {
			for i := first; i < last; i++ {
				if _, err := g.Append(d.row(i)); err != nil {
					return err
				}
				if _, err := g.Link(r.ctx, 0); err != nil {
					return err
				}
			}
			return nil
		}
		if err := add(0, start); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- add(start, d.rows()) }()
		busy, err := r.rate(g, d, func() (bool, error) {
			select {
			case err := <-done:
				return true, err
			default:
				return false, nil
			}
		})
		if err != nil {
			return err
		}
		end := time.Now().Add(max(2*r.o.atLeast, 100*time.Millisecond))
		idle, err := r.rate(g, d, func() (bool, error) { return time.Now().After(end), nil })
		if err != nil {
			return err
		}
		ratios, idles, busies = append(ratios, busy/idle), append(idles, idle), append(busies, busy)
	}
	r.add(fmt.Sprintf("searches beside a writer, %d to %d of %s: rate / idle at the end", start, d.rows(), d), median(ratios), "ratio", ">= 0.9",
		fmt.Sprintf("ef 64, queries per CPU second of the searching thread: %.0f and %.0f", median(busies), median(idles)))
	return nil
}

// rate returns the queries per CPU second of this thread until done says so.
func (r *runner) rate(g *hnsw.Graph, d *dataset, done func() (bool, error)) (float64, error) {
	stop := measure.StartThread()
	hits := make([]hnsw.Hit, 0, topK)
	for n := 0; ; n++ {
		if n%16 == 15 {
			over, err := done()
			if over || err != nil {
				return float64(n) / stop().CPU.Seconds(), err
			}
		}
		var err error
		if hits, err = g.Search(d.q(n%d.queries()), topK, hnsw.SearchOptions{Ef: 64}, hits); err != nil {
			stop()
			return 0, err
		}
	}
}
