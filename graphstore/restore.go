package graphstore

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/format"
)

// RestoredDocument is the row of a document as it was in another store.
type RestoredDocument struct {
	Doc DocID
	Row format.Document
}

// RestoreDocuments gives documents, in one commit, the history that they had
// in the store from which they were taken over: all of the row but what
// follows from texts and contributions (id, hash and counts). The error matches
// ErrNotFound for an unknown document, and ErrInvalid for one that is to be
// processed and has no contribution.
func (s *Store) RestoreDocuments(ctx context.Context, list []RestoredDocument) error {
	object := fmt.Sprintf("%d documents", len(list))
	if err := ctx.Err(); err != nil {
		return opError("restore", object, err)
	}
	_, err := s.write(func(tx *txn) error {
		for i := range list {
			if err := tx.restoreDocument(list[i].Doc, list[i].Row); err != nil {
				return fmt.Errorf("document %q: %w", list[i].Row.ID, err)
			}
		}
		return nil
	})
	return opError("restore", object, err)
}

func (tx *txn) restoreDocument(doc DocID, row format.Document) error {
	old, ok, err := tx.rows.document(doc)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotFound
	}
	if row.Status < format.StatusPending || row.Status > format.StatusFailed {
		return invalidf("status %d", row.Status)
	}
	if row.Status == format.StatusProcessed {
		_, committed, err := tx.rows.owners(doc)
		if err != nil {
			return err
		}
		if !committed {
			return invalidf("processed without a contribution")
		}
	}
	row.ID, row.Hash, row.Chunks = old.ID, old.Hash, old.Chunks
	row.Entities, row.Relations = old.Entities, old.Relations
	return tx.setDocument(doc, &row, &old)
}
