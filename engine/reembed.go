package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// ReEmbedProgress is a snapshot of a running ReEmbed.
type ReEmbedProgress struct {
	Total   int // vectors that the store needs
	Done    int // of them embedded, by this call or an earlier one that did not come to its end
	Texts   int // embedded by this call
	Elapsed time.Duration
}

// reembedPasses bounds how often ReEmbed looks for what was written while it
// worked. What is left then is stale and made up for after the change.
const reembedPasses = 4

// ReEmbed changes the store to another embedder, or makes all vectors anew with
// the same one. The vectors are written ahead: until the last one is there the
// old ones serve, and documents can be inserted. Then one atomic change gives
// the store its new embedder. An error, a cancelled context or a crash before
// leaves the store as it was; the next ReEmbed with the same embedder goes on
// and embeds nothing twice. progress may be nil; it is called by one goroutine.
//
// After it returned nil this DB goes on answering, with the old vectors and the
// old embedder, but takes no more writes (ErrMismatch): close it, and Open the
// store with the new embedder.
func (db *DB) ReEmbed(ctx context.Context, e llm.Embedder, progress func(ReEmbedProgress)) error {
	if err := db.begin(true); err != nil {
		return err
	}
	defer db.end()
	if err := db.reEmbed(ctx, e, progress); err != nil {
		return fmt.Errorf("lightrag: re-embed: %w", within(err))
	}
	return nil
}

func (db *DB) reEmbed(ctx context.Context, e llm.Embedder, progress func(ReEmbedProgress)) error {
	select { // one at a time, and no refresh beside it: it would embed in vain
	case db.refreshing <- struct{}{}:
		defer func() { <-db.refreshing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	info := e.Info()
	target := format.Identity{Embedder: info.Name, Dim: uint32(info.Dim), Checksum: info.Checksum}
	if info.Dim < 1 || info.Dim > 65535 {
		return fmt.Errorf("%w: the embedder %q has dimension %d; 1 to 65535 are possible", ErrInvalid, info.Name, info.Dim)
	}
	if err := db.store.BeginReembed(target); err != nil {
		return err
	}
	started := time.Now()
	var p ReEmbedProgress
	for range reembedPasses {
		missing := 0
		err := db.store.EachUnstaged(ctx, db.opts.stagePage, func(list []graphstore.Unstaged) error { missing += len(list); return nil })
		if err != nil {
			return err
		}
		n := db.store.Stats()
		p.Total = int(n.Entities + n.Relations + n.Chunks)
		p.Done = p.Total - missing
		report := func() {
			if progress != nil {
				p.Elapsed = time.Since(started)
				progress(p)
			}
		}
		report()
		if missing == 0 {
			break
		}
		err = db.store.EachUnstaged(ctx, db.opts.stagePage, func(list []graphstore.Unstaged) error {
			if err := db.stage(ctx, e, info.Dim, list); err != nil {
				return err
			}
			p.Done, p.Texts = p.Done+len(list), p.Texts+len(list)
			report()
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := db.saveLedger(); err != nil { // nothing can be saved after
		return err
	}
	done, err := db.store.FinishReembed(ctx)
	if err != nil {
		return err
	}
	db.reembedded.Store(true)
	if done.Stale > 0 {
		db.opts.Logger.Info("lightrag: vectors of what changed meanwhile are still to be made; Insert and Refresh make them", "stale", done.Stale)
	}
	return nil
}

// stage embeds texts and writes their vectors ahead.
func (db *DB) stage(ctx context.Context, e llm.Embedder, dim int, list []graphstore.Unstaged) error {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].Text
	}
	vecs, err := db.embedWith(ctx, e, dim, texts, llm.PurposeDocument)
	if err != nil {
		return err
	}
	out := make([]graphstore.Staged, len(list))
	for i := range list {
		u := &list[i]
		out[i] = graphstore.Staged{Kind: u.Kind, Owner: u.Owner, TextHash: u.TextHash, Vector: vecs[i]}
	}
	return db.store.Stage(out)
}
