package engine

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// commitChunks bounds what is committed in one step, but for one document: other
// writers wait for it.
const commitChunks = 64

// ready is a document of which all chunks are extracted.
type ready struct {
	c      graphstore.Contribution
	chunks []graphstore.Chunk

	done chan struct{} // closed when what follows is set
	n    graphstore.Contributed
	err  error
}

// committer commits the documents of a run. Those that become ready while others
// are committed go together in the next step: an owner that all of them speak
// of is then derived and written once. Where documents come slowly, as from a
// model, each is committed when it is ready.
type committer struct {
	// One step is worked out at a time, while the one before it is written.
	working, writing chan struct{}
	prepare          func([]*ready) (write func())

	mu    sync.Mutex
	queue []*ready
}

func newCommitter(prepare func([]*ready) (write func())) *committer {
	return &committer{working: make(chan struct{}, 1), writing: make(chan struct{}, 1), prepare: prepare}
}

// commit returns when d is committed, or cannot be. Whoever finds that nobody is
// working takes what waits at the front, its own document or not, until its own
// is done.
func (q *committer) commit(d *ready) {
	d.done = make(chan struct{})
	q.mu.Lock()
	q.queue = append(q.queue, d)
	q.mu.Unlock()
	for {
		select {
		case <-d.done:
			return
		case q.working <- struct{}{}:
		}
		group := q.take()
		if len(group) == 0 { // another's step has d, and who brings more will work on it
			<-q.working
			<-d.done
			return
		}
		write := q.prepare(group)
		q.writing <- struct{}{}
		<-q.working
		write()
		<-q.writing
		for _, d := range group {
			close(d.done)
		}
	}
}

func (q *committer) take() []*ready {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, chunks := 0, 0
	for n < len(q.queue) && (n == 0 || chunks+len(q.queue[n].chunks) <= commitChunks) {
		chunks += len(q.queue[n].chunks)
		n++
	}
	group := q.queue[:n:n]
	q.queue = q.queue[n:]
	return group
}

// prepare works out a step, and returns what writes it. What is wrong with one
// document is its own failure.
func (r *run) prepare(group []*ready) (write func()) {
	p, err := r.db.prepare(r.ctx, group, r.single)
	return func() {
		if err == nil {
			err = r.db.write(r.ctx, p, group)
		}
		if err != nil && len(group) > 1 && !fatal(r.ctx, err) {
			var each errgroup.Group // where all fail, as without the embedder, one after another would take hours
			each.SetLimit(r.db.opts.Concurrency)
			for i := range group {
				each.Go(func() error {
					group[i].err = r.db.commit(r.ctx, group[i:i+1], r.single)
					return nil
				})
			}
			_ = each.Wait()
			return
		}
		for _, d := range group {
			d.err = err
		}
	}
}

// commit commits documents as one change.
func (db *DB) commit(ctx context.Context, group []*ready, changed bool) error {
	p, err := db.prepare(ctx, group, changed)
	if err != nil {
		return err
	}
	return db.write(ctx, p, group)
}

// prepare works out what documents bring and embeds it. Roots that existed before
// and whose text changes are embedded now when changed is true, of a single
// document; otherwise they become stale and are refreshed later, once for many
// documents.
func (db *DB) prepare(ctx context.Context, group []*ready, changed bool) (*graphstore.Prepared, error) {
	if err := db.index.waitLinked(ctx); err != nil {
		return nil, err
	}
	list := make([]graphstore.Contribution, len(group))
	for i, d := range group {
		list[i] = d.c
	}
	p, err := db.store.Prepare(ctx, list...)
	if err != nil {
		return nil, err
	}

	var texts []string
	var roots []*graphstore.Root
	for _, r := range p.Roots() {
		if r.New || changed {
			roots = append(roots, r)
			texts = append(texts, r.Text)
		}
	}
	for _, d := range group {
		for i := range d.chunks {
			texts = append(texts, d.chunks[i].Text)
		}
	}
	vecs, err := db.embed(ctx, texts, llm.PurposeDocument)
	if err != nil {
		return nil, err
	}
	for i, r := range roots {
		r.Vector = vecs[i]
	}
	vecs = vecs[len(roots):]
	for _, d := range group {
		for i := range d.chunks {
			p.SetChunkVector(d.chunks[i].ID, vecs[i])
		}
		vecs = vecs[len(d.chunks):]
	}
	return p, nil
}

// write commits what was prepared of documents.
func (db *DB) write(ctx context.Context, p *graphstore.Prepared, group []*ready) error {
	info, err := db.store.Commit(ctx, p)
	if err != nil {
		return err
	}
	for i, n := range info.Documents {
		group[i].n = n
	}
	db.index.wake()
	return nil
}
