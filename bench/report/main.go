package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

// config says how much is measured.
type config struct {
	small, large int // chunks of the two stores
	probes       int // documents added to each
	perCopy      int // of them to one copy of the small store, so that it stays small
	rounds       int // over all questions, the first not counted
	questions    int
	label        string // in the notes of all rows

	dir     string
	profile string // folder for CPU profiles; "" = none
	log     io.Writer
	child   []string // command that runs openChild, without the folder
}

var (
	full  = config{small: store.Chunks1k, large: store.Chunks20k, probes: 60, perCopy: 10, rounds: 6, questions: 200}
	quick = config{small: store.Chunks1k, large: store.Chunks20k, probes: 30, perCopy: 10, rounds: 3, questions: 200, label: "quick"}
)

func main() {
	var (
		isQuick = flag.Bool("quick", false, "fewer probes and rounds, within three minutes on two cores")
		asJSON  = flag.Bool("json", false, "print one JSON object and nothing else")
		dir     = flag.String("dir", "", "folder for the stores (default: a temporary one)")
		profile = flag.String("profile", "", "folder for CPU profiles of the ingest, the probes, the deletions and the retrieval")
		child   = flag.String("open", "", "only open the store in this folder and print what that took (used by the report itself)")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := func() error {
		if *child != "" {
			return openChild(*child, os.Stdout)
		}
		c := full
		if *isQuick {
			c = quick
		}
		c.log = os.Stderr
		c.profile = *profile
		self, err := os.Executable()
		if err != nil {
			return err
		}
		c.child = []string{self, "-open"}
		if c.dir, err = os.MkdirTemp(*dir, "report-"); err != nil {
			return err
		}
		defer os.RemoveAll(c.dir)
		r, err := c.run(ctx)
		if err != nil {
			return err
		}
		if *asJSON {
			return r.WriteJSON(os.Stdout)
		}
		return r.WriteTable(os.Stdout)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// run measures everything. A part that fails leaves rows without values.
func (c config) run(ctx context.Context) (*measure.Report, error) {
	r := &rows{Report: measure.NewReport(), config: &c}
	started := time.Now()
	step := func(name string) {
		fmt.Fprintf(c.log, "%6.1f s  %s\n", time.Since(started).Seconds(), name)
	}
	step("corpus")
	corpus := store.NewCorpus(c.large + c.probes*store.PerDocument)
	if _, ok := measure.ProcessCPU(); !ok {
		r.noCPU = "no CPU clock on this system"
	}

	step("ingest")
	large, small := filepath.Join(c.dir, "large"), filepath.Join(c.dir, "small")
	if err := r.ingest(ctx, corpus, large); err != nil {
		return nil, fmt.Errorf("ingest of %d chunks: %w", c.large, err)
	}
	if _, err := corpus.Build(ctx, small, c.small); err != nil {
		return nil, fmt.Errorf("ingest of %d chunks: %w", c.small, err)
	}
	step("open")
	r.open(ctx, large)

	step("retrieve")
	if err := r.read(ctx, corpus, large, step); err != nil {
		return nil, err
	}
	step("one more document")
	if err := r.visible(ctx, corpus, newProbe(corpus), large, small); err != nil {
		return nil, err
	}
	step("delete")
	if err := r.forget(ctx, corpus, large); err != nil {
		return nil, err
	}
	step("done")
	return r.Report, ctx.Err()
}

// read reports what reading the large store takes.
func (r *rows) read(ctx context.Context, corpus *store.Corpus, large string, step func(string)) (err error) {
	db, err := engine.Open(large, corpus.Options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := r.retrieve(ctx, corpus, db); err != nil {
		return err
	}
	step("recall")
	return r.recall(ctx, corpus, db)
}

// rows adds to a report what all rows have in common.
type rows struct {
	*measure.Report
	config *config
	noCPU  string // why there are no CPU times
}

func (r *rows) note(note string) string {
	if r.config.label == "" {
		return note
	}
	if note == "" {
		return r.config.label
	}
	return r.config.label + "; " + note
}

func (r *rows) add(figure string, value float64, unit, goal, note string) {
	r.Add(figure, value, unit, goal, r.note(note))
}

func (r *rows) missing(figure, unit, goal, why string) {
	r.Missing(figure, unit, goal, r.note(why))
}

// cpu adds a CPU time, or why there is none.
func (r *rows) cpu(figure string, value float64, unit, goal, note string) {
	if r.noCPU != "" {
		r.missing(figure, unit, goal, r.noCPU)
		return
	}
	r.add(figure, value, unit, goal, note)
}

// profiled runs f under the CPU profiler when profiles are wanted.
func (c *config) profiled(name string, f func() error) (err error) {
	if c.profile == "" {
		return f()
	}
	out, err := os.Create(filepath.Join(c.profile, name+".prof"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

func sizeName(chunks int) string {
	switch chunks {
	case store.Chunks1k:
		return "1k"
	case store.Chunks5k:
		return "5k"
	case store.Chunks20k:
		return "20k"
	}
	return fmt.Sprintf("%d chunks", chunks)
}

func decode[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}
