package main

import (
	"fmt"
	"slices"
	"time"
)

// scaling reports what a second thread adds, to ours and to the peers that run on everything.
func (r *runner) scaling(d *dataset, all []*contender) {
	const ef = 64
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
					return
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
		if len(c.builds) < 2 {
			b, err := c.build(d.rows(), 2, 2)
			if err != nil {
				r.missing(buildName, "ratio", build, err.Error())
				continue
			}
			c.builds = append(c.builds, b)
		}
		one, b := c.builds[0], c.builds[1]
		note := fmt.Sprintf("needs two free cores; %.2f and %.2f s, CPU %.2f and %.2f s", one.Wall.Seconds(), b.Wall.Seconds(), one.CPU.Seconds(), b.CPU.Seconds())
		if c.ours != nil { // what the caller does, nobody helps with
			all, alone := b.CPU.Seconds(), b.Alone.Seconds()
			note += fmt.Sprintf(", of which %.3f s by one thread: %.2f if nobody had to wait", alone, one.CPU.Seconds()/(alone+(all-alone)/2))
		}
		r.add(buildName, one.Wall.Seconds()/b.Wall.Seconds(), "ratio", build, note)
	}
}
