package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
)

// task is work on query i that is measured as a whole pass over all of them.
type task func(i int) error

// costs returns the CPU time per query of each task: they take turns on one core, a pass warms up, and the median
// of the repeats counts.
func (r *runner) costs(queries int, tasks ...task) ([]time.Duration, error) {
	defer pin(r.cpu)()
	samples := make([]measure.Sample, len(tasks))
	for repeat := range r.o.repeats + 1 {
		for j, t := range tasks {
			var span measure.Span
			passes := 0
			for passes == 0 || repeat > 0 && span.CPU < r.o.atLeast/2 {
				stop := measure.StartThread()
				for i := range queries {
					if err := t(i); err != nil {
						stop()
						return nil, err
					}
				}
				span = span.Add(stop())
				passes++
			}
			if repeat > 0 {
				samples[j] = append(samples[j], span.CPU/time.Duration(passes*queries))
			}
		}
	}
	all := make([]time.Duration, len(tasks))
	for j, s := range samples {
		all[j] = s.Median()
	}
	return all, r.ctx.Err()
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// part returns the first rows of a data set, with their own truth.
func (d *dataset) part(rows, queries int) *dataset {
	rows, queries = min(rows, d.rows()), min(queries, d.queries())
	p := &dataset{name: d.name, dim: d.dim, base: d.base[:rows*d.dim], query: d.query[:queries*d.dim]}
	p.truth = exact(p, topK, nil)
	return p
}

// any384 returns vectors of 384 dimensions, 20,000 of them: real text, or a mixture where there is none.
func (r *runner) any384() (*dataset, error) {
	if d, err := r.realText(); err == nil || r.shared != "" && !errors.Is(err, errNoText) {
		return d, err
	}
	if r.mixed == nil {
		r.log("no real text; a mixture instead")
		r.mixed = mixture{rows: quickRows, dim: 384, queries: 1000, seed: 42}.make("mixture")
		r.mixed.truth = exact(r.mixed, topK, nil)
	}
	return r.mixed, nil
}

// large returns the mixture of 384 dimensions, 100,000 rows unless fewer are asked for.
func (r *runner) large() *dataset {
	rows := 100_000
	if r.o.rows > 0 {
		rows = min(rows, r.o.rows)
	}
	if r.big == nil || r.big.rows() != rows {
		r.big = mixture{rows: rows, dim: 384, queries: 1000, seed: 42}.make("mixture")
		r.log("exact neighbours of %s", r.big)
		r.big.truth = exact(r.big, topK, nil)
	}
	return r.big
}

// shuffled returns the numbers below n in an order of a seed.
func shuffled(n int, seed uint64) []int {
	return source(seed, 99).Perm(n)
}

func percent(share float64) string { return fmt.Sprintf("%g %%", 100*share) }
