package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
)

// config says what is measured and with what.
type config struct {
	shared    string // folder of recorded data; "" = there is none
	dir       string // for stores
	quick     bool
	questions int // 0 = all; tests
	log       io.Writer
}

func main() {
	var (
		quick  = flag.Bool("quick", false, "changes nothing: all of it takes about a minute on two cores")
		asJSON = flag.Bool("json", false, "print one JSON object and nothing else")
		dir    = flag.String("dir", "", "folder for the stores (default: a temporary one)")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := func() (err error) {
		c := config{shared: os.Getenv("LIGHTRAG_SHARED"), quick: *quick, log: os.Stderr}
		if c.dir, err = os.MkdirTemp(*dir, "quality-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(c.dir)) }()
		r, err := c.run(ctx)
		if err != nil {
			return err
		}
		if *asJSON {
			return r.WriteJSON(os.Stdout)
		}
		return r.writeTables(os.Stdout)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

// run measures everything. What has no data leaves rows without values.
func (c *config) run(ctx context.Context) (*report, error) {
	r := &report{Report: measure.NewReport(), quick: c.quick}
	started := time.Now()
	step := func(name string) {
		fmt.Fprintf(c.log, "%6.1f s  %s\n", time.Since(started).Seconds(), name)
	}
	step("embedder")
	if err := c.embedder(ctx, r); err != nil {
		return nil, err
	}
	if err := c.hops(ctx, r, step); err != nil {
		return nil, err
	}
	step("done")
	return r, ctx.Err()
}
