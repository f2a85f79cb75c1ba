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
	return db.Delete(ctx, DeleteOptions{}, ids...)
}

// DeleteOptions says what goes with documents.
type DeleteOptions struct {
	// Answers removes the cached answers about the documents' chunks too, so
	// that a later Insert of the same text asks the model again. Other documents
	// that hold the same chunks keep what was extracted from them.
	Answers bool
}

// Delete is DeleteDocuments with options.
func (db *DB) Delete(ctx context.Context, o DeleteOptions, ids ...string) (*DeleteReport, error) {
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
		var answers []answerKey
		if o.Answers {
			if answers, err = db.answersOf(ctx, docs); err != nil {
				return gone, fmt.Errorf("lightrag: delete %d documents: %w", len(docs), err)
			}
		}
		info, err := db.store.Delete(ctx, docs, graphstore.DeleteOptions{Answers: o.Answers})
		if err != nil {
			return gone, fmt.Errorf("lightrag: delete %d documents: %w", len(docs), err)
		}
		rep.Answers += info.Answers
		if err := db.store.DeleteAnswers(answers...); err != nil {
			return rep, fmt.Errorf("lightrag: delete cached answers: %w", within(err))
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
			return rep, fmt.Errorf("lightrag: refresh after a deletion: %w", within(err))
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
			return nil, fmt.Errorf("lightrag: delete document %q: %w", id, within(err))
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

// answersOf returns the keys of what the model may have answered about the
// chunks of documents that were never committed, and so name no answers
// themselves, by the options of now.
func (db *DB) answersOf(ctx context.Context, docs []format.DocID) ([]answerKey, error) {
	view, err := db.store.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	model := db.opts.Completer.Model()
	var keys []answerKey
	for _, doc := range docs {
		d, err := view.Document(doc)
		if errors.Is(err, ErrNotFound) || err == nil && d.Status == format.StatusProcessed {
			continue
		}
		if err != nil {
			return nil, err
		}
		chunks, err := view.DocumentChunks(doc)
		if err != nil {
			return nil, err
		}
		for i := range chunks {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			req := db.opts.extractRequest(chunks[i].Text)
			first := requestKey(model, &req)
			a, ok, err := db.store.Answer(first)
			if err != nil {
				return nil, err
			}
			if ok {
				glean := db.opts.gleanRequest(chunks[i].Text, a.Text)
				keys = append(keys, first, requestKey(model, &glean))
			}
		}
	}
	return keys, nil
}
