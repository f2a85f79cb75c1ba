package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// run is one Insert, Resume or Retry: it feeds chunks to the model in document
// order, at most 2 x Concurrency at a time, commits documents when their last
// chunks are done, and refreshes stale roots at the end and when that is due.
type run struct {
	db      *DB
	op      string // for messages
	ctx     context.Context
	cancel  context.CancelCauseFunc
	started time.Time

	wg     sync.WaitGroup
	chunks chan struct{} // slots of chunks in flight
	docs   chan struct{} // slots of documents in flight

	commits *committer

	mu       sync.Mutex
	report   Report
	progress Progress
	pace     pace
	single   bool     // nothing else comes: roots that change are embedded with their document
	part     bool     // another call ends what this one begins
	named    []string // entities that documents of this run have named, with Options.ResolveEntities

	bytesLeft, bytesCut int // of the texts of the call
}

// job is one document on its way through a run.
type job struct {
	doc    format.DocID
	row    int // in report.Documents
	chunks []graphstore.Chunk
	claim  *claim // nil: another run's, or given back
}

func (db *DB) newRun(ctx context.Context, op string) *run {
	r := &run{db: db, op: op, started: time.Now()}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.chunks = make(chan struct{}, 2*db.opts.Concurrency)
	r.docs = make(chan struct{}, 8*db.opts.Concurrency)
	r.commits = newCommitter(r.prepare)
	return r
}

func (r *run) stop() { r.cancel(nil) }

// insert registers news of size bytes, whose report rows start at row, and
// processes them.
func (r *run) insert(news []graphstore.NewDocument, row, size int) error {
	r.bytesLeft, r.bytesCut = r.bytesLeft-size, r.bytesCut+size
	results, err := r.db.store.Register(r.ctx, news)
	if err != nil {
		return err
	}
	var jobs []*job
	var unchanged []int // rows of the report
	var stored []format.DocID
	for i, res := range results {
		n := &news[i]
		rep := &r.report.Documents[row+i]
		rep.Chunks, rep.Removed = len(n.Chunks), int(n.Removed)
		switch res.Status {
		case graphstore.Unchanged:
			rep.Status = StatusUnchanged
			unchanged = append(unchanged, row+i)
			stored = append(stored, res.Doc)
		case graphstore.Duplicate:
			rep.Status, rep.Original = StatusDuplicate, res.Original
		case graphstore.Conflict:
			rep.Status = StatusConflict
			rep.Err = fmt.Errorf("%w: document %q is already stored with another text; Replace was not set", ErrExists, n.ID)
		default:
			rep.Status = StatusPending
			jobs = append(jobs, r.job(res.Doc, row+i))
		}
	}
	if err := r.reportStored(unchanged, stored); err != nil {
		return err
	}
	settled := len(news) - len(jobs)
	for i := range news {
		r.pace.cut += len(news[i].Chunks)
	}
	if settled > 0 {
		r.step(func(p *Progress) { p.DocumentsDone += settled })
	}
	return r.process(jobs)
}

// job makes the job of a document, and claims it if nobody else has.
func (r *run) job(doc format.DocID, row int) *job {
	j := &job{doc: doc, row: row}
	if c, mine := r.db.claim(doc); mine {
		j.claim = c
	}
	return j
}

// giveBack releases the claim of a document that is settled or not.
func (r *run) giveBack(j *job, settled bool) {
	if j.claim != nil {
		r.db.release(j.doc, j.claim, settled)
		j.claim = nil
	}
}

// process runs jobs to their end, and refreshes what is stale if that is due.
// Those that another run has claimed come last: who waits must not hold what
// the other one waits for.
func (r *run) process(jobs []*job) error {
	jobs = slices.Concat(
		slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.claim == nil }),
		slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.claim != nil }),
	)
	r.mu.Lock()
	for _, j := range jobs {
		r.progress.Chunks += r.report.Documents[j.row].Chunks
	}
	r.mu.Unlock()
	for _, j := range jobs {
		if err := r.start(j); err != nil {
			r.cancel(err)
			break
		}
	}
	r.wg.Wait()
	for _, j := range jobs { // that were not started
		r.giveBack(j, false)
	}
	if err := context.Cause(r.ctx); err != nil {
		r.db.forgetNames()
		return err
	}
	if err := r.resolveRun(); err != nil {
		return err
	}
	due, err := r.db.refreshDue()
	if due {
		return r.refresh()
	}
	return err
}

// refresh re-makes what is stale. That it cannot be done is told by the report.
func (r *run) refresh() error {
	usage, cached, err := r.db.refresh(r.ctx)
	r.addUsage(usage, cached)
	if err != nil && !fatal(r.ctx, err) { // the documents are stored; the rest can be made up for
		r.db.opts.Logger.Warn("lightrag: vectors or summaries are still stale", "error", err)
		r.report.StaleErr, err = err, nil
	}
	return err
}

// start feeds the chunks of one document; the last one to finish commits it.
func (r *run) start(j *job) error {
	if err := acquire(r.ctx, r.docs); err != nil {
		return err
	}
	for j.claim == nil {
		c, mine := r.db.claim(j.doc)
		if mine {
			j.claim = c
			break
		}
		select { // another run has it: its outcome is ours
		case <-c.done:
		case <-r.ctx.Done():
			<-r.docs
			return context.Cause(r.ctx)
		}
	}
	r.db.begun(j.claim)
	release := func(settled bool) {
		r.giveBack(j, settled)
		<-r.docs
	}
	view, err := r.db.store.View()
	if err != nil {
		release(false)
		return err
	}
	d, err := view.Document(j.doc)
	if err == nil && !unfinished(d.Status) {
		r.documentDone(j, &d, nil, nil)
		view.Close()
		release(true)
		return nil
	}
	if err == nil {
		j.chunks, err = view.DocumentChunks(j.doc)
	}
	var taken map[int]chunkResult
	if err == nil {
		taken, err = takeOver(r.ctx, view, d.ID, j.chunks)
	}
	view.Close()
	if errors.Is(err, ErrNotFound) {
		r.documentDone(j, nil, fmt.Errorf("%w: the document was deleted while it waited", err), nil)
		release(true)
		return nil
	}
	if err != nil {
		release(false)
		return err
	}

	ctx, cancel := context.WithCancelCause(r.ctx)
	results := make([]chunkResult, len(j.chunks))
	var left sync.WaitGroup
	for i := range j.chunks {
		if res, ok := taken[i]; ok {
			results[i] = res
			r.step(func(p *Progress) { p.ChunksDone++ })
			continue
		}
		if err := acquire(ctx, r.chunks); err != nil {
			break
		}
		left.Add(1)
		go func() {
			defer left.Done()
			defer func() { <-r.chunks }()
			res, err := r.db.extract(ctx, j.chunks[i].Text)
			if err != nil {
				cancel(err)
			}
			results[i] = res
			r.count(res)
			r.step(func(p *Progress) {
				p.ChunksDone++
				p.Usage, p.Cached = p.Usage.Add(res.usage), p.Cached+res.cached
				if res.usage.Calls > 0 {
					r.pace.asked++
				}
			})
		}()
	}
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		left.Wait()
		err := context.Cause(ctx)
		cancel(nil)
		settled := r.conclude(j, results, err)
		j.chunks = nil // a page of documents need not be held until its last is done
		release(settled)
	}()
	return nil
}

// conclude commits a document or records why it failed. It reports whether
// the document is settled.
func (r *run) conclude(j *job, results []chunkResult, err error) bool {
	c := contribution(j.doc, j.chunks, results)
	failures := failures(j.chunks, results)
	if err == nil && len(failures) > 0 && r.db.opts.ChunkPolicy == FailDocument {
		err = failedDocument(failures, len(j.chunks))
	}
	if err == nil {
		d := &ready{c: c, chunks: j.chunks}
		r.commits.commit(d)
		if err = d.err; err == nil {
			r.documentCommitted(j, d.n, c, failures)
			return true
		}
	}
	at := graphstore.Attempt{Status: format.StatusFailed, Cause: err.Error(), Failed: c.Failed, Usage: c.Usage}
	if fatal(r.ctx, err) {
		r.cancel(err)
		r.documentDone(j, nil, err, failures)
		at.Status, at.Cause, at.Failed = format.StatusPending, "", 0
		if at.Usage != (graphstore.Usage{}) { // what was paid is booked, whatever ended the call
			if serr := r.db.store.SetStatus(context.WithoutCancel(r.ctx), j.doc, at); serr != nil && !errors.Is(serr, ErrNotFound) {
				r.db.opts.Logger.Warn("lightrag: the cost of a document was not booked", "error", serr)
			}
		}
		return false
	}
	serr := r.db.store.SetStatus(r.ctx, j.doc, at)
	if errors.Is(serr, ErrNotFound) {
		serr = nil
	}
	if serr != nil {
		r.cancel(serr)
	}
	r.documentDone(j, nil, err, failures)
	return serr == nil
}

func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
