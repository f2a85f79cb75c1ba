package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// DeleteDocuments removes documents as one atomic change: what only they said
// disappears from graph, vectors and passages, what others said stays as if
// the deleted documents had never been there. Unknown ids are reported, not an
// error. Vectors and summaries that must be re-made are made before it
// returns; when the models are down the deletion stands and the report counts
// what is stale.
func (db *DB) DeleteDocuments(ctx context.Context, ids ...string) (*DeleteReport, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()
	rep := &DeleteReport{}
	docs, err := db.find(ids, rep)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return rep, nil
	}
	var gone *DeleteReport // once something is
	for len(docs) > 0 {
		if _, err := db.store.Delete(ctx, docs, graphstore.DeleteOptions{}); err != nil {
			return gone, fmt.Errorf("lightrag: delete %d documents: %w", len(docs), err)
		}
		gone = rep
		// A text that was to replace the deleted one has the id now.
		if docs, err = db.find(rep.Deleted, nil); err != nil {
			return rep, err
		}
	}
	if _, _, err := db.refresh(ctx); err != nil {
		db.opts.Logger.Warn("lightrag: documents are deleted, but vectors or summaries are still stale", "error", err)
		if fatal(ctx, err) && !errors.Is(err, llm.ErrAuth) {
			return rep, fmt.Errorf("lightrag: refresh after a deletion: %w", err)
		}
	}
	rep.Stale, err = db.store.StaleCount()
	return rep, err
}

// find returns the documents of ids, each once. rep, if any, is told which
// were found.
func (db *DB) find(ids []string, rep *DeleteReport) ([]format.DocID, error) {
	view, err := db.store.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	seen := make(map[string]bool, len(ids))
	var docs []format.DocID
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		doc, _, ok, err := view.FindDocument(id)
		switch {
		case err != nil:
			return nil, fmt.Errorf("lightrag: delete document %q: %w", id, err)
		case ok:
			docs = append(docs, doc)
			if rep != nil {
				rep.Deleted = append(rep.Deleted, id)
			}
		case rep != nil:
			rep.NotFound = append(rep.NotFound, id)
		}
	}
	return docs, nil
}
