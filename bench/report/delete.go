package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// firstCall notes when a model is first asked. A deletion asks none before it
// is visible, so what it noted is an upper bound of the time until then.
type firstCall struct {
	mu   sync.Mutex
	stop func() measure.Span
	span measure.Span
}

func (f *firstCall) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop = measure.Start()
}

// note ends the span, unless an earlier call did.
func (f *firstCall) note() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != nil {
		f.span, f.stop = f.stop(), nil
	}
}

type notedCompleter struct {
	llm.Completer
	first *firstCall
}

func (c notedCompleter) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	c.first.note()
	return c.Completer.Complete(ctx, req)
}

type notedEmbedder struct {
	llm.Embedder
	first *firstCall
}

func (e notedEmbedder) Embed(ctx context.Context, texts []string, purpose llm.Purpose) ([][]float32, error) {
	e.first.note()
	return e.Embedder.Embed(ctx, texts, purpose)
}

// forget deletes documents of the large store, one by one and far from one
// another in the corpus, and reports what each took: until it was visible and
// the first model was asked for a summary or a vector that must be re-made, and
// until DeleteDocuments returned, when all of them were.
func (r *rows) forget(ctx context.Context, corpus *store.Corpus, large string) (err error) {
	first := &firstCall{}
	o := corpus.Options()
	o.Completer, o.Embedder = notedCompleter{o.Completer, first}, notedEmbedder{o.Embedder, first}
	db, err := engine.Open(large, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	stats, err := db.Stats()
	if err != nil {
		return err
	}
	docs := corpus.Documents(0, r.config.large)
	n := min(r.config.probes, len(docs))
	var visibleCPU, visibleWall, cpu measure.Sample
	runtime.GC()
	err = r.config.profiled("delete", func() error {
		for i := range n {
			id := docs[i*len(docs)/n].ID
			if _, err := store.WaitLinked(ctx, db); err != nil {
				return err
			}
			before := corpus.Embedder.Spent()
			first.begin()
			stop := measure.Start()
			rep, err := db.DeleteDocuments(ctx, id)
			all := stop().Sub(corpus.Embedder.Spent().Sub(before))
			first.note()
			if err != nil {
				return err
			}
			if len(rep.Deleted) != 1 || rep.Stale > 0 {
				return fmt.Errorf("deleting %s: %d deleted, %d stale", id, len(rep.Deleted), rep.Stale)
			}
			visibleCPU, visibleWall, cpu = append(visibleCPU, first.span.CPU), append(visibleWall, first.span.Wall), append(cpu, all.CPU)
		}
		return nil
	})
	if err != nil {
		return err
	}
	name := "delete a document at " + sizeName(r.config.large) + ": "
	of := fmt.Sprintf("median of %d, of %d documents of %d chunks", n, stats.Documents, store.PerDocument)
	spread := func(s measure.Sample) string {
		return fmt.Sprintf("%s; p90 %s, mean %s", of, measure.Number(measure.Milliseconds(s.Percentile(90))), measure.Number(measure.Milliseconds(s.Mean())))
	}
	r.cpu(name+"CPU until visible", measure.Milliseconds(visibleCPU.Median()), "ms", "< 20", "and until the first model is asked; "+spread(visibleCPU))
	r.add(name+"wall until visible", measure.Milliseconds(visibleWall.Median()), "ms", "", spread(visibleWall))
	r.cpu(name+"CPU until all is re-made", measure.Milliseconds(cpu.Median()), "ms", "",
		"summaries by a model that answers at once, vectors without the embedding; "+spread(cpu))
	return nil
}
