package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

const (
	refreshPage = 256 // roots refreshed by one commit
	// defaultRefreshEvery is the number of chunks from which a run that goes on
	// refreshes what is stale, if the store has doubled besides.
	defaultRefreshEvery = 1024
)

// Refresh re-makes the vectors and summaries that commits and deletions left
// stale. Insert does so by itself; after DeleteDocuments with the embedder
// down it is the way to catch up.
func (db *DB) Refresh(ctx context.Context) error {
	if err := db.begin(true); err != nil {
		return err
	}
	defer db.end()
	_, _, err := db.refresh(ctx)
	return err
}

// refreshDue reports whether a run that goes on should refresh what is stale:
// half of the store has come since it was last done. Until then what a root was
// before is most of what it is, and its old vector serves. A hub is so embedded
// and summarised a number of times that grows with the logarithm of the run, not
// once for every so many documents.
func (db *DB) refreshDue() (bool, error) {
	n := db.unrefreshed.Load()
	if n < int64(db.opts.refreshEvery) {
		return false, nil
	}
	view, err := db.store.View()
	if err != nil {
		return false, err
	}
	defer view.Close()
	return 2*n >= int64(view.Counts().Chunks), nil
}

// staleKey names a root.
type staleKey struct {
	kind  format.Kind
	owner uint32
}

// refresh works until nothing is stale that was so when it began: what later
// commits make stale is left to the calls that commit it, or one call would
// work for all others. A summary that the model will not make is left out, its
// root stays stale, and the first such error is returned at the end; any other
// error ends the work. What the model was asked is returned as usage and cache
// hits.
func (db *DB) refresh(ctx context.Context) (usage llm.Usage, cached int, err error) {
	select {
	case db.refreshing <- struct{}{}:
		defer func() { <-db.refreshing }()
	case <-ctx.Done():
		return usage, cached, context.Cause(ctx)
	}
	view, err := db.store.View()
	if err != nil {
		return usage, cached, err
	}
	begun, due := view.Seq(), db.unrefreshed.Load()
	view.Close()
	var left error
	skip := make(map[staleKey]struct{})
	for again := true; again; { // a summary that is made leaves a vector to be made
		again = false
		var kind graphstore.Kind
		var owner uint32
		for {
			if ctx.Err() != nil {
				return usage, cached, context.Cause(ctx)
			}
			roots, err := db.store.StaleFrom(kind, owner, refreshPage)
			if err != nil {
				return usage, cached, err
			}
			if len(roots) == 0 {
				break
			}
			last := &roots[len(roots)-1]
			if kind, owner = last.Kind, last.Owner+1; owner == 0 {
				kind++
			}
			roots = slices.DeleteFunc(roots, func(r graphstore.StaleRoot) bool {
				_, tried := skip[staleKey{r.Kind, r.Owner}]
				return tried || r.Seq > begun
			})
			if len(roots) == 0 {
				continue
			}
			s, err := db.summarise(ctx, roots)
			usage, cached = usage.Add(s.usage), cached+s.cached
			if err != nil {
				return usage, cached, err
			}
			for i, e := range s.failed {
				if e != nil {
					skip[staleKey{roots[i].Kind, roots[i].Owner}] = struct{}{}
					left = cmp.Or(left, e)
				}
			}
			if err := db.embedStale(ctx, roots, s); err != nil {
				return usage, cached, err
			}
			info, err := db.store.Refresh(ctx, s.done)
			if err != nil {
				return usage, cached, err
			}
			db.index.wake()
			if info.Applied+info.Superseded == 0 && !s.anyFailed() {
				return usage, cached, fmt.Errorf("lightrag: refresh: %d stale roots cannot be refreshed, the first is %s %d", len(roots), roots[0].Kind, roots[0].Owner)
			}
			again = again || info.Applied > 0
		}
	}
	db.unrefreshed.Add(-due)
	return usage, cached, left
}

// summaries is what summarise made of a list of stale roots; done and failed
// are parallel to it.
type summaries struct {
	done   []graphstore.Refreshed
	failed []error // the first summary of the root that the model would not make
	usage  llm.Usage
	cached int
}

func (s *summaries) anyFailed() bool {
	return slices.ContainsFunc(s.failed, func(e error) bool { return e != nil })
}

// summarise makes the missing summaries of roots, Concurrency at a time. The
// error is that of the model as a whole.
func (db *DB) summarise(ctx context.Context, roots []graphstore.StaleRoot) (*summaries, error) {
	s := &summaries{done: make([]graphstore.Refreshed, len(roots)), failed: make([]error, len(roots))}
	var mu sync.Mutex
	group, shared := errgroup.WithContext(ctx)
	group.SetLimit(db.opts.Concurrency)
	for i := range roots {
		root := &roots[i]
		s.done[i] = graphstore.Refreshed{Kind: root.Kind, Owner: root.Owner, TextHash: root.TextHash}
		for j := range root.Summaries {
			if shared.Err() != nil {
				break
			}
			group.Go(func() error {
				job := root.Summaries[j]
				text, r, err := db.summary(shared, &job)
				if err != nil {
					err = fmt.Errorf("lightrag: summarise %s %s: %w", job.Kind, job.Name, within(err))
				}
				mu.Lock()
				defer mu.Unlock()
				s.usage = s.usage.Add(r.usage)
				if r.cached {
					s.cached++
				}
				switch {
				case err == nil:
					s.done[i].Summaries = append(s.done[i].Summaries, graphstore.DoneSummary{Job: job, Text: text})
				case unusable(err):
					s.failed[i] = cmp.Or(s.failed[i], err)
				default:
					return err
				}
				return nil
			})
		}
	}
	err := group.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s, err
}

// summary joins the texts of one job into one.
func (db *DB) summary(ctx context.Context, job *graphstore.SummaryJob) (string, reply, error) {
	req := llm.Request{
		Task:     llm.TaskSummary,
		Messages: db.opts.Prompts.Summary(job.Kind.String(), job.Name, job.Texts, db.opts.SummaryLength, db.opts.Language),
		Input: llm.Input{
			Name: job.Name, Kind: job.Kind.String(), Descriptions: job.Texts,
			Language: db.opts.Language, MaxTokens: db.opts.SummaryLength,
		},
	}
	r, err := db.complete(ctx, req, func(text string) bool { return llm.NormalizeDescription(text) != "" })
	if err != nil {
		return "", r, err
	}
	text := llm.NormalizeDescription(r.text)
	if text == "" {
		err = fmt.Errorf("%w: the summary is empty", llm.ErrBadResponse)
	}
	return text, r, err
}

// embedStale embeds the roots whose text is final. A root that waits for a
// summary is left for the next round, because its text is about to change,
// unless the summary failed.
func (db *DB) embedStale(ctx context.Context, roots []graphstore.StaleRoot, s *summaries) error {
	var texts []string
	var at []int
	for i := range roots {
		if roots[i].NeedVector && (len(roots[i].Summaries) == 0 || s.failed[i] != nil && len(s.done[i].Summaries) == 0) {
			texts = append(texts, roots[i].Text)
			at = append(at, i)
		}
	}
	vecs, err := db.embed(ctx, texts, llm.PurposeDocument)
	if err != nil {
		return err
	}
	for n, i := range at {
		s.done[i].Vector = vecs[n]
	}
	return nil
}
