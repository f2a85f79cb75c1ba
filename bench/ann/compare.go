package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// contender is an engine in a comparison and what it has shown.
type contender struct {
	engine
	ours   *ours // nil for peers
	peer   recipe
	curves []curve
	builds []built
	failed error   // a peer that fails is left out from then on
	hot    float64 // bytes per vector without the float32 row; ours only
}

// scans reports whether the contender looks at every row.
func (c *contender) scans() bool { return c.peer.exact || c.ours != nil && c.ours.mode.exact }

// widths returns the ef values to measure.
func (c *contender) widths() []int {
	if c.scans() {
		return []int{topK}
	}
	return efs
}

// hasPoint says whether to measure the i-th width. A curve ends where nearly everything is found: wider searches take
// most of the time, and no figure is read there.
func (c *contender) hasPoint(seed, i int) bool {
	if c.failed != nil || i >= len(c.widths()) {
		return false
	}
	so := c.curves[seed]
	return len(so) == i && (i == 0 || so[i-1].Recall < nearlyAll)
}

const nearlyAll = 0.999

// queries returns how many queries are put: few to a peer that looks at every row.
func (c *contender) queries(d *dataset) int {
	if c.peer.exact {
		return min(d.queries(), 50)
	}
	return d.queries()
}

// compare runs ours and the peers that run on everything, or the others, on a data set: seed by seed, width by
// width, one after the other.
func (r *runner) compare(d *dataset, at float64, seeds int, whole bool) (err error) {
	data := filepath.Join(r.shop.dir, "data")
	if err := d.write(data); err != nil {
		return err
	}
	all := []*contender{}
	for _, m := range modes {
		if m == onRows && goalsOf(d).rows == "" {
			continue // half of the time
		}
		o := &ours{mode: m, data: d, cpu: r.cpu}
		all = append(all, &contender{engine: o, ours: o})
	}
	missing := map[string]error{}
	for _, p := range wanted(recipes(), r.o.peers) {
		if p.whole != whole {
			continue
		}
		if p.slow && r.o.quick && r.o.peers == nil {
			missing[p.peer] = errors.New("left out of a quick run: it takes a minute to compile; --peers asks for it")
			continue
		}
		drv, err := r.start(p, data)
		if err != nil {
			missing[p.peer] = err
			continue
		}
		all = append(all, &contender{engine: drv, peer: p})
	}
	defer func() {
		for _, c := range all {
			if e := c.close(); c.failed == nil {
				err = errors.Join(err, e)
			}
		}
	}()
	for seed := range seeds {
		if err := r.round(d, all, seed); err != nil {
			return err
		}
	}
	for _, c := range all {
		if c.failed != nil {
			missing[c.peer.peer] = c.failed
		}
	}
	working := slices.DeleteFunc(slices.Clone(all), func(c *contender) bool { return c.failed != nil })
	r.compared(d, at, working, missing, whole)
	if whole && (d == r.real || d.dim == 384 && r.real == nil) {
		r.scaling(d, working)
	}
	return nil
}

// fail leaves a peer out; of ours it returns the error.
func (r *runner) fail(c *contender, what string, err error) error {
	err = fmt.Errorf("%s: %s: %w", c.name(), what, err)
	if c.ours != nil || r.ctx.Err() != nil {
		return err
	}
	r.log("%v", err)
	c.failed = err
	return nil
}

// round builds and measures all contenders with one seed: the first with one thread, the others with two, which
// is the same for all contenders, and sooner done.
func (r *runner) round(d *dataset, all []*contender, seed int) error {
	for _, c := range all {
		if c.failed != nil {
			continue
		}
		stop, err := r.profiled(c, d, "build")
		if err != nil {
			return err
		}
		b, err := c.build(d.rows(), uint64(seed+1), 1+min(seed, 1))
		stop()
		if err != nil {
			if err := r.fail(c, "build", err); err != nil {
				return err
			}
			continue
		}
		c.builds = append(c.builds, b)
		c.curves = append(c.curves, nil)
		if c.ours != nil {
			c.hot = c.ours.hotBytes()
		}
		r.log("%s, seed %d: %s built in %.2f s CPU", d, seed+1, c.name(), b.CPU.Seconds())
	}
	for i, ef := range efs {
		if ef > r.o.widest {
			break
		}
		points := make([]point, len(all))
		rates := make([][]float64, len(all))
		for repeat := range r.o.repeats + 1 { // the first warms up and tells the recall
			for j, c := range all {
				if !c.hasPoint(seed, i) {
					continue
				}
				s := search{ef: ef, threads: 1, queries: c.queries(d)}
				if repeat > 0 {
					s.atLeast = r.o.atLeast
				}
				t, ids, err := c.search(s)
				if err != nil {
					if err := r.fail(c, "search", err); err != nil {
						return err
					}
					continue
				}
				if repeat == 0 {
					points[j] = point{Ef: ef, Recall: d.truth.recall(d, ids)}
				} else {
					rates[j] = append(rates[j], t.perCPU())
				}
			}
		}
		for j, c := range all {
			if c.hasPoint(seed, i) {
				points[j].QPS = median(rates[j])
				c.curves[seed] = append(c.curves[seed], points[j])
			}
		}
	}
	return r.ctx.Err()
}
