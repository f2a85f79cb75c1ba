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

// run measures what the options ask for. A part that fails for want of something leaves rows without values. With an
// error it returns what was measured before, if anything was.
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
			return r.report, fmt.Errorf("section %s: %w", s.name, err)
		}
		if err := ctx.Err(); err != nil {
			return r.report, err
		}
	}
	if o.plot != "" {
		r.log("plot")
		if err := r.draw(); err != nil {
			return r.report, fmt.Errorf("plot: %w", err)
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
