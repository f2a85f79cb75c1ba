package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/cmd/lightctl/internal/reader"
	"github.com/lightctl/lightrag/engine"
)

// Documents are handed to the engine in batches, so that memory does not grow
// with the input.
const (
	batchDocs  = 256
	batchBytes = 64 << 20
)

// documents is where index takes them from.
type documents struct {
	each  func(context.Context, func(input) error) error
	close func()
	skips []skipped
}

// documents finds and checks the input before anything is stored.
func (a *app) documents(f *indexFlags, paths []string) (*documents, error) {
	if f.preChunked != "" {
		c, err := openChunks(f.preChunked)
		if err != nil {
			return nil, err
		}
		return &documents{each: c.each, close: func() { c.Close() }}, nil
	}
	s, err := openSource(a.in, reader.Options{Limit: f.maxFileMiB << 20, CacheDir: a.cacheDir()}, a.db, paths)
	if err != nil {
		return nil, err
	}
	return &documents{each: s.each, close: s.Close, skips: s.skips}, nil
}

func (a *app) index(cmd *cobra.Command, f *indexFlags, paths []string) error {
	if err := f.check(cmd, paths); err != nil {
		return err
	}
	docs, err := a.documents(f, paths)
	if err != nil {
		return err
	}
	defer docs.close()
	if f.dryRun {
		return a.dryRun(cmd.Context(), f, docs)
	}

	started := time.Now()
	p := a.newProgress()
	defer p.stop()
	o, err := a.indexOptions(f)
	if err != nil {
		return err
	}
	o.Progress = p.update
	db, err := a.openModels(cmd.Context(), o)
	if err != nil {
		return err
	}
	ix := &indexer{ctx: cmd.Context(), db: db.DB, replace: f.replace, report: newIndexReport(), progress: p, seen: make(map[string]string)}
	ix.report.Skipped = list(docs.skips)
	ix.report.Totals.Skipped = len(docs.skips)
	err = docs.each(ix.ctx, ix.add)
	if err == nil {
		err = ix.flush(ix.db.Insert)
	}
	p.stop()
	if err == nil {
		err = a.waitLinked(ix.ctx, ix.db)
	}
	v := db.View()
	counts := v.Counts()
	made := v.Models()
	ix.report.Store, ix.report.Models = &counts, &made
	v.Close()
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	r := ix.report
	r.Seconds = seconds(time.Since(started))
	if err != nil && len(r.Documents) == 0 && ix.ctx.Err() == nil {
		return err
	}
	if werr := a.showReport(r); werr != nil {
		return werr
	}
	if ix.ctx.Err() != nil {
		a.warn("interrupted: %s done and kept, %d accepted and waiting; run the same command again to go on, finished model calls are not repeated",
			plural(r.Totals.Processed+r.Totals.Unchanged+r.Totals.Duplicate, "document"), r.Totals.Pending)
		return reported(exitFailure)
	}
	return a.endReport(r, err)
}

// warn writes a line that --quiet does not suppress.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintln(a.err, "lightctl: "+printable(fmt.Sprintf(format, args...)))
}

func (a *app) showReport(r *indexReport) error {
	if a.json {
		return writeJSON(a.out, r)
	}
	return a.printReport(r)
}

// indexer hands documents to the engine in batches.
type indexer struct {
	ctx      context.Context
	db       *engine.DB
	replace  bool
	report   *indexReport
	progress *progress
	seen     map[string]string // id -> where it came from
	batch    []input
	size     int
}

func (ix *indexer) add(in input) error {
	if in.err == nil {
		if first, dup := ix.seen[in.doc.ID]; dup {
			in.err = fmt.Errorf("the id was already used by %s of the same run", first)
		}
	}
	if in.err == nil {
		ix.seen[in.doc.ID] = in.origin
		in.doc.Replace = ix.replace
		if len(in.notes) > 0 { // docs show tells them
			in.doc.Metadata = map[string]string{"reader": strings.Join(in.notes, "; ")}
		}
	}
	ix.batch = append(ix.batch, in)
	ix.size += in.size
	if len(ix.batch) < batchDocs && ix.size < batchBytes {
		return nil
	}
	return ix.flush(ix.db.InsertPart)
}

// insertion is a method of the engine that takes documents.
type insertion func(context.Context, ...engine.Document) (*engine.Report, error)

func (ix *indexer) flush(insert insertion) error {
	batch := ix.batch
	ix.batch, ix.size = nil, 0
	return ix.insert(insert, batch)
}

// insert hands over a batch. The engine refuses a batch as a whole, before it
// writes anything, if it holds a document that cannot be used; then the halves
// are tried, until that document is alone and fails alone. An empty batch is
// handed over too: it takes up what an earlier run left.
func (ix *indexer) insert(insert insertion, batch []input) error {
	var docs []engine.Document
	for i := range batch {
		if batch[i].err == nil {
			docs = append(docs, batch[i].doc)
		}
	}
	rep, err := insert(ix.ctx, docs...)
	ix.progress.next()
	switch {
	case rep != nil:
		ix.report.addBatch(batch, rep)
		return err
	case !errors.Is(err, engine.ErrInvalid) || len(docs) == 0:
		return err
	case len(batch) == 1:
		batch[0].err = err
		ix.report.addBatch(batch, &engine.Report{})
		return nil
	}
	half := len(batch) / 2
	if err := ix.insert(insert, batch[:half]); err != nil {
		return err
	}
	return ix.insert(insert, batch[half:])
}
