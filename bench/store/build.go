package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/engine"
)

// Options returns the options that every store of the workload is opened with:
// one extraction a chunk, tokens of four characters.
func (c *Corpus) Options() engine.Options {
	return engine.Options{Completer: c.Model, Embedder: c.Embedder, Tokenizer: "chars4", Gleaning: -1}
}

// Cost is what an insertion took, without the embedding.
type Cost struct {
	Visible  measure.Span // until Insert returned
	Linking  measure.Span // from then until every vector was linked
	Embedded measure.Span // what is left out of the two
	Written  int64        // bytes sent to storage; 0 where the system does not count them
}

// Ingest inserts chunks from to to by one call and waits until every vector is
// linked. What is not stored whole is an error.
func (c *Corpus) Ingest(ctx context.Context, db *engine.DB, from, to int) (Cost, error) {
	var cost Cost
	c.KnowChunks(from, to)
	docs := c.Documents(from, to)
	runtime.GC()
	written, _ := measure.BytesWritten()
	before := c.Embedder.Spent()
	stop := measure.Start()
	report, err := db.Insert(ctx, docs...)
	cost.Visible = stop()
	if err == nil {
		err = complete(report)
	}
	if err != nil {
		return cost, err
	}
	cost.Linking, err = WaitLinked(ctx, db)
	cost.Embedded = c.Embedder.Spent().Sub(before)
	cost.Visible.CPU -= cost.Embedded.CPU // calls overlap: their wall times cannot be taken out
	now, _ := measure.BytesWritten()
	cost.Written = now - written
	c.Embedder.Forget()
	return cost, err
}

func complete(r *engine.Report) error {
	for i := range r.Documents {
		d := &r.Documents[i]
		if d.Status != engine.StatusProcessed || d.Malformed > 0 || d.FailedChunks > 0 {
			return fmt.Errorf("document %s is %s, %d records malformed, %d chunks failed: %w", d.ID, d.Status, d.Malformed, d.FailedChunks, d.Err)
		}
	}
	if r.Stale > 0 {
		return fmt.Errorf("%d roots are stale: %w", r.Stale, r.StaleErr)
	}
	return nil
}

// WaitLinked waits until the vector index of db has linked every vector, and
// returns what passed meanwhile.
func WaitLinked(ctx context.Context, db *engine.DB) (measure.Span, error) {
	stop := measure.Start()
	err := db.WaitLinked(ctx, nil)
	return stop(), err
}

// Build makes a store of the first n chunks in dir and closes it.
func (c *Corpus) Build(ctx context.Context, dir string, n int) (cost Cost, err error) {
	db, err := engine.Open(dir, c.Options())
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if cost, err = c.Ingest(ctx, db, 0, n); err != nil {
		return cost, err
	}
	v := db.View()
	defer v.Close()
	got, want := v.Counts(), c.Size(n)
	if int(got.Chunks) != want.Chunks || int(got.Entities) != want.Entities || int(got.Relations) != want.Relations {
		return cost, fmt.Errorf("the store holds %d chunks, %d entities, %d relations; the corpus has %d, %d, %d",
			got.Chunks, got.Entities, got.Relations, want.Chunks, want.Entities, want.Relations)
	}
	return cost, nil
}
