package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// gatherFunc makes the contribution of a document, given its stored chunks.
type gatherFunc func(doc format.DocID, stored []graphstore.Chunk) (graphstore.Contribution, error)

// importDocument registers a document and commits the contribution that gather
// gives for its stored chunks, without asking a model. What it cannot commit
// it takes back: a document that stays pending would be extracted by the next
// Insert. One that an Insert had accepted before stays: it is not the import's.
func (db *DB) importDocument(ctx context.Context, n graphstore.NewDocument, gather gatherFunc) (graphstore.RegisterResult, error) {
	if err := db.index.waitLinked(ctx); err != nil {
		return graphstore.RegisterResult{}, err
	}
	results, err := db.store.Register(ctx, []graphstore.NewDocument{n})
	if err != nil {
		return graphstore.RegisterResult{}, err
	}
	res := results[0]
	if res.Status != graphstore.Registered && res.Status != graphstore.Resumed {
		return res, nil
	}
	for {
		claim, mine := db.claim(res.Doc)
		if mine {
			db.begun(claim)
			err = db.commitImported(ctx, res.Doc, gather)
			if err != nil && res.Status == graphstore.Registered {
				_, derr := db.store.Delete(context.WithoutCancel(ctx), []format.DocID{res.Doc}, graphstore.DeleteOptions{})
				if derr != nil && !errors.Is(derr, ErrFailed) {
					err = errors.Join(err, derr)
				}
			}
			db.release(res.Doc, claim, err == nil || res.Status == graphstore.Registered)
			return res, err
		}
		select { // another call has taken it up: it ends as one that is there, or fails
		case <-claim.done:
		case <-ctx.Done():
			return res, context.Cause(ctx)
		}
	}
}

// importStep reports how far an import is.
func (db *DB) importStep(p Progress) {
	if f := db.opts.Progress; f != nil {
		db.progress.Lock() // runs of other calls report too
		defer db.progress.Unlock()
		f(p)
	}
}

func (db *DB) commitImported(ctx context.Context, doc format.DocID, gather gatherFunc) error {
	view, err := db.store.View()
	if err != nil {
		return err
	}
	d, err := view.Document(doc)
	var stored []graphstore.Chunk
	if err == nil {
		stored, err = view.DocumentChunks(doc)
	}
	view.Close()
	if err != nil || d.Status == format.StatusProcessed { // by the call that had taken it up
		return err
	}
	c, err := gather(doc, stored)
	if err != nil {
		return err
	}
	p, err := db.store.Prepare(ctx, c)
	if err != nil {
		return err
	}
	if _, err := db.store.Commit(ctx, p); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	db.index.wake()
	return nil
}
