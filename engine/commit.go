package engine

import (
	"context"
	"sync"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

const (
	// commitTurns is how many commits of a run are under way: while one is written,
	// the next is worked out.
	commitTurns = 2
	// commitChunks bounds what is committed in one step, but for one document: other
	// writers wait for it.
	commitChunks = 64
)

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
	turns chan struct{}
	mu    sync.Mutex
	queue []*ready
}

// commit returns when d is committed, or cannot be. Whoever gets a turn takes
// what waits at the front, its own document or not: as many goroutines will
// have one as documents wait.
func (q *committer) commit(d *ready, commit func([]*ready)) {
	d.done = make(chan struct{})
	q.mu.Lock()
	q.queue = append(q.queue, d)
	q.mu.Unlock()

	q.turns <- struct{}{}
	if group := q.take(); len(group) > 0 {
		commit(group)
		for _, d := range group {
			close(d.done)
		}
	}
	<-q.turns
	<-d.done
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

// commit commits a group of ready documents. What is wrong with one of them is
// its own failure.
func (r *run) commit(group []*ready) {
	err := r.db.commit(r.ctx, group, r.single)
	if err != nil && len(group) > 1 && !fatal(r.ctx, err) {
		for i := range group {
			group[i].err = r.db.commit(r.ctx, group[i:i+1], r.single)
		}
		return
	}
	for _, d := range group {
		d.err = err
	}
}

// commit embeds what documents bring and commits them as one change. Roots that
// existed before and whose text changes are embedded now when changed is true,
// of a single document; otherwise they become stale and are refreshed later,
// once for many documents.
func (db *DB) commit(ctx context.Context, group []*ready, changed bool) error {
	if err := db.index.waitLinked(ctx); err != nil {
		return err
	}
	list := make([]graphstore.Contribution, len(group))
	for i, d := range group {
		list[i] = d.c
	}
	p, err := db.store.Prepare(ctx, list...)
	if err != nil {
		return err
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
		return err
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
