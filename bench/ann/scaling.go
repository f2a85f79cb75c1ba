package main

import (
	"fmt"
	"slices"
	"time"
)

// scaling reports what a second thread adds, to ours and to the peers that run on everything.
func (r *runner) scaling(d *dataset, all []*contender) {
	const ef = 64
contenders:
	for _, c := range all {
		if c.ours != nil && c.ours.mode != onCodes {
			continue
		}
		build, qps := ">= 1.9", ">= 1.8"
		if c.ours == nil {
			build, qps = "", ""
		}
		buildName := fmt.Sprintf("%s, two threads: %s, build wall of one / of two", d, c.name())
		searchName := fmt.Sprintf("%s, two threads: %s, QPS of two / of one", d, c.name())
		var single, double, cpu1, cpu2 []float64
		for range 3 {
			for threads := 1; threads <= 2; threads++ {
				t, _, err := c.search(search{ef: ef, threads: threads, atLeast: max(2*r.o.atLeast, 100*time.Millisecond), queries: d.queries()})
				if err != nil {
					r.missing(searchName, "ratio", qps, err.Error())
					continue contenders
				}
				if threads == 1 {
					single, cpu1 = append(single, t.perWall()), append(cpu1, t.perCPU())
				} else {
					double, cpu2 = append(double, t.perWall()), append(cpu2, t.perCPU())
				}
			}
		}
		asked := fmt.Sprintf("wall, so it needs two free cores; %.0f and %.0f queries/s, %.0f and %.0f per CPU second", median(single), median(double), median(cpu1), median(cpu2))
		r.add(searchName, slices.Max(double)/slices.Max(single), "ratio", qps, fmt.Sprintf("ef %d, best of 3; %s", ef, asked))
		ratio, note, err := c.buildPairs(d.rows(), r.pairs(c))
		if err != nil {
			r.missing(buildName, "ratio", build, err.Error())
			continue
		}
		r.add(buildName, ratio, "ratio", build, note)
	}
}

// buildPairs builds with one thread and with two, one right after the other, for the machine's speed drifts. It returns
// how many times as fast two are.
func (c *contender) buildPairs(rows, pairs int) (ratio float64, note string, err error) {
	var ratios, apart []float64
	var walls, cpus [2][]float64 // by threads
	for range pairs {
		for i := range walls {
			b, err := c.build(rows, 1, 1+i)
			if err != nil {
				return 0, "", err
			}
			walls[i], cpus[i] = append(walls[i], b.Wall.Seconds()), append(cpus[i], b.CPU.Seconds())
		}
		one, two := walls[0][len(ratios)], walls[1][len(ratios)]
		ratios = append(ratios, one/two)
		if c.ours != nil {
			wall, err := c.ours.buildTwo(rows, 1)
			if err != nil {
				return 0, "", err
			}
			apart = append(apart, 2*one/wall.Seconds())
		}
	}
	note = fmt.Sprintf("needs two free cores; median of %d, %.2f to %.2f; %.2f and %.2f s, CPU %.2f and %.2f s",
		len(ratios), slices.Min(ratios), slices.Max(ratios), median(walls[0]), median(walls[1]), median(cpus[0]), median(cpus[1]))
	if len(apart) > 0 {
		note += fmt.Sprintf("; two graphs at a time, a thread each, get built %.2f times as fast as one after the other", median(apart))
	}
	return median(ratios), note, nil
}

// pairs returns how often to build with one thread and with two: a pair is soon done where ours is built.
func (r *runner) pairs(c *contender) int {
	if c.ours == nil || r.o.quick {
		return 1
	}
	return 5
}
