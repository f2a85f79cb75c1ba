package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// reportStored fills the rows of documents that are there already with what is
// stored of them.
func (r *run) reportStored(rows []int, docs []format.DocID) error {
	if len(rows) == 0 {
		return nil
	}
	view, err := r.db.store.View()
	if err != nil {
		return err
	}
	defer view.Close()
	for i, row := range rows {
		d, err := view.Document(docs[i])
		if errors.Is(err, ErrNotFound) { // deleted since
			continue
		}
		if err != nil {
			return err
		}
		r.report.Documents[row].stored(&d)
	}
	return nil
}

func (r *run) documentCommitted(j *job, n graphstore.Contributed, c graphstore.Contribution, failures []ChunkFailure) {
	r.db.unrefreshed.Add(int64(len(j.chunks)))
	r.mu.Lock()
	if r.db.opts.ResolveEntities {
		r.named = append(r.named, namesOf(&c)...)
	}
	rep := &r.report.Documents[j.row]
	rep.Status = StatusProcessed
	rep.Chunks = len(j.chunks)
	rep.Entities, rep.Relations = n.Entities, n.Relations
	rep.Malformed, rep.FailedChunks, rep.Failures = int(c.Malformed), int(c.Failed), failures
	r.mu.Unlock()
	r.step(func(p *Progress) { p.DocumentsDone++ })
}

// documentDone reports a document that this run did not commit: d is its
// stored row when another run finished it, err why it failed.
func (r *run) documentDone(j *job, d *format.Document, err error, failures []ChunkFailure) {
	r.mu.Lock()
	rep := &r.report.Documents[j.row]
	rep.Failures, rep.FailedChunks = failures, len(failures)
	switch {
	case d != nil && d.Status == format.StatusProcessed:
		rep.Status = StatusProcessed
		rep.stored(d)
	case d != nil:
		rep.Status, rep.Err = StatusFailed, errors.New(d.Error)
	default:
		rep.Status, rep.Err = StatusFailed, err
		if fatal(r.ctx, err) { // still durable, still to be done
			rep.Status = StatusPending
		}
	}
	r.mu.Unlock()
	r.step(func(p *Progress) { p.DocumentsDone++ })
}

func (r *run) count(res chunkResult) {
	r.mu.Lock()
	r.report.Usage = r.report.Usage.Add(res.usage)
	r.report.Cached += res.cached
	r.mu.Unlock()
}

// finish closes the report. err is nil when only documents failed.
func (r *run) finish(err error) (*Report, error) {
	r.wg.Wait()
	if cause := context.Cause(r.ctx); err == nil && cause != nil {
		err = cause
	}
	if n, serr := r.db.store.StaleCount(); serr == nil {
		r.report.Stale = n
	}
	if r.report.Stale == 0 {
		r.report.StaleErr = nil
	}
	for i := range r.report.Documents {
		if d := &r.report.Documents[i]; d.Status == "" {
			d.Status, d.Err = StatusFailed, fmt.Errorf("the document was not accepted: %w", err)
		}
	}
	if lerr := r.db.saveLedger(); err == nil {
		err = lerr
	}
	if err != nil {
		err = fmt.Errorf("lightrag: %s: %w", r.op, within(err))
	}
	return &r.report, err
}

// addUsage books calls that belong to no single document, as summaries do.
func (r *run) addUsage(u llm.Usage, cached int) {
	if u == (llm.Usage{}) && cached == 0 {
		return
	}
	r.count(chunkResult{usage: u, cached: cached})
	r.step(func(p *Progress) { p.Usage, p.Cached = p.Usage.Add(u), p.Cached+cached })
}
