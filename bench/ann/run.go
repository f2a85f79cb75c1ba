package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// section is a part of the report that --only can select.
type section struct {
	name string
	run  func(*runner) error
}

func sections() []section {
	return []section{
		{"text", (*runner).text},
		{"peers", (*runner).others},
		{"mixture384", mixtureSection(mixture{rows: 100_000, dim: 384, queries: 1000, seed: 42}, 0.98)},
		{"mixture768", mixtureSection(mixture{rows: 100_000, dim: 768, queries: 1000, seed: 43}, 0.98)},
		{"mixture1536", mixtureSection(mixture{rows: 30_000, dim: 1536, queries: 1000, seed: 44}, 0.98)},
		{"scan", (*runner).scan},
		{"allocations", (*runner).allocations},
		{"filter", (*runner).filtered},
		{"bound", (*runner).bounded},
		{"duplicates", (*runner).duplicates},
		{"churn", (*runner).churned},
		{"reinsert", (*runner).reinserted},
		{"beside", (*runner).beside},
		{"open", (*runner).opened},
	}
}

func sectionNames() []string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}

// runner has what all sections need.
type runner struct {
	*report
	ctx    context.Context
	o      *options
	log    func(format string, args ...any)
	shop   workshop
	shared string // folder of handed data, "" = none
	cpu    int    // core of what runs with one thread

	made  map[string]made
	real  *dataset // real text, once loaded
	mixed *dataset // what stands in for it
	big   *dataset // the large mixture of 384 dimensions
}

// made is a driver, or why there is none.
type made struct {
	program string
	err     error
}

// run measures what the options ask for. A part that fails for want of something leaves rows without values.
func run(ctx context.Context, o *options, log io.Writer) (_ *report, err error) {
	started := time.Now()
	module, err := moduleFolder(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ann-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &runner{
		report: newReport(o.label), ctx: ctx, o: o, cpu: lastCore(), made: map[string]made{},
		shop:   workshop{source: filepath.Join(module, "bench", "ann", "peers"), dir: dir, hnswlib: o.hnswlib, faiss: o.faiss},
		shared: sharedFolder(module),
		log: func(format string, args ...any) {
			fmt.Fprintf(log, "%6.1f s  %s\n", time.Since(started).Seconds(), fmt.Sprintf(format, args...))
		},
	}
	for _, s := range sections() {
		if !o.wants(s.name) {
			continue
		}
		r.log("section %s", s.name)
		if err := s.run(r); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.name, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if o.plot != "" {
		r.log("plot")
		if err := r.draw(); err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
	}
	r.log("done")
	return r.report, nil
}

// driver returns the program of a peer, which is made once.
func (r *runner) driver(p recipe) (string, error) {
	m, ok := r.made[p.peer]
	if !ok {
		m.program, m.err = r.shop.make(r.ctx, p)
		if m.err != nil {
			r.log("%s: %v", p.peer, m.err)
		}
		r.made[p.peer] = m
	}
	return m.program, m.err
}

// start starts a peer on a data set.
func (r *runner) start(p recipe, data string) (*driver, error) {
	program, err := r.driver(p)
	if err != nil {
		return nil, err
	}
	return startDriver(r.ctx, program, data, filepath.Join(r.shop.dir, p.peer+".ids"), r.cpu)
}

// text compares on real text.
func (r *runner) text() error {
	d, err := r.realText()
	if errors.Is(err, errNoText) {
		r.log("real text: %v", err)
		r.missing("real text", "", "", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return r.compare(d, 0.95, r.o.seeds, true)
}

// others compares with the peers that would take too long for everything.
func (r *runner) others() error {
	d, err := r.any384()
	if err != nil {
		return err
	}
	d = d.part(r.o.others, r.o.queries)
	d.name = "other peers, " + d.name
	return r.compare(d, 0.95, 1, false)
}

func (r *runner) realText() (*dataset, error) {
	if r.real != nil {
		return r.real, nil
	}
	d, err := loadText(r.shared)
	if err != nil {
		return nil, err
	}
	r.log("exact neighbours of %s", d)
	d.truth = exact(d, topK, nil)
	r.real = d
	return d, nil
}

// mixtureSection compares on a mixture.
func mixtureSection(m mixture, recall float64) func(*runner) error {
	return func(r *runner) error {
		if r.o.rows > 0 {
			m.rows = min(m.rows, r.o.rows)
		}
		if r.o.quick {
			m.rows = min(m.rows, r.o.rows*384/m.dim)
		}
		d := r.big
		if m.dim != 384 || d == nil || d.rows() != m.rows {
			d = m.make("mixture")
			r.log("exact neighbours of %s", d)
			d.truth = exact(d, topK, nil)
		}
		if m.dim == 384 {
			r.big = d
		}
		if r.o.queries < d.queries() {
			d = d.part(d.rows(), r.o.queries)
		}
		return r.compare(d, recall, r.o.seeds, true)
	}
}

// contender is an engine in a comparison and what it has shown.
type contender struct {
	engine
	ours   *ours // nil for peers
	peer   recipe
	curves []curve
	builds []built
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
		if m == onRows && (d.dim != 384 || r.o.quick && d.name == "mixture") {
			continue // no goal there, and half of the time
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
			err = errors.Join(err, c.close())
		}
	}()
	for seed := range seeds {
		if err := r.round(d, all, seed); err != nil {
			return err
		}
	}
	r.compared(d, at, all, missing, whole)
	if whole && d.dim == 384 {
		r.scaling(d, all)
	}
	return nil
}

// round builds and measures all contenders with one seed: the first with one thread, the others with two, which
// is the same for all contenders, and sooner done.
func (r *runner) round(d *dataset, all []*contender, seed int) error {
	for _, c := range all {
		stop, err := r.profiled(c, d, "build")
		if err != nil {
			return err
		}
		b, err := c.build(d.rows(), uint64(seed+1), 1+min(seed, 1))
		stop()
		if err != nil {
			return fmt.Errorf("%s: build: %w", c.name(), err)
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
				if i >= len(c.widths()) {
					continue
				}
				s := search{ef: ef, threads: 1, queries: c.queries(d)}
				if repeat > 0 {
					s.atLeast = r.o.atLeast
				}
				t, ids, err := c.search(s)
				if err != nil {
					return fmt.Errorf("%s: search: %w", c.name(), err)
				}
				if repeat == 0 {
					points[j] = point{Ef: ef, Recall: d.truth.recall(d, ids)}
				} else {
					rates[j] = append(rates[j], t.perCPU())
				}
			}
		}
		for j, c := range all {
			if i < len(c.widths()) {
				points[j].QPS = median(rates[j])
				c.curves[seed] = append(c.curves[seed], points[j])
			}
		}
	}
	return r.ctx.Err()
}
