package graphstore

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/format"
)

// Register makes documents and the texts of their chunks durable, as pending,
// in one synced step. The results are in the order of docs, and so are the
// DocIDs of new documents. A document that cannot be stored (blank id, two
// chunks of one order, two documents of one id) fails the call before anything
// is written, with an error that matches ErrInvalid and names it.
//
// A document that replaces another has no effect on readers of the graph until
// its contribution is committed.
func (s *Store) Register(ctx context.Context, docs []NewDocument) ([]RegisterResult, error) {
	ids := make(map[string]struct{}, len(docs))
	for i := range docs {
		if err := checkDocument(&docs[i]); err != nil {
			return nil, opError("register document", fmt.Sprintf("%q", docs[i].ID), err)
		}
		if _, twice := ids[docs[i].ID]; twice {
			return nil, opError("register document", fmt.Sprintf("%q", docs[i].ID), invalidf("named twice"))
		}
		ids[docs[i].ID] = struct{}{}
	}
	if err := ctx.Err(); err != nil {
		return nil, opError("register", "documents", err)
	}
	out := make([]RegisterResult, len(docs))
	_, err := s.write(func(tx *txn) error {
		for i := range docs {
			var err error
			if out[i], err = tx.register(&docs[i]); err != nil {
				return fmt.Errorf("document %q: %w", docs[i].ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, opError("register", "documents", err)
	}
	return out, nil
}

// checkDocument says whether a document can be stored.
func checkDocument(d *NewDocument) error {
	for _, name := range [...]string{d.ID, d.Path} {
		if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			return invalidf("%q is not clean text", name)
		}
	}
	if strings.TrimSpace(d.ID) == "" {
		return invalidf("blank id")
	}
	orders := make(map[uint32]struct{}, len(d.Chunks))
	for i := range d.Chunks {
		if _, twice := orders[d.Chunks[i].Order]; twice {
			return invalidf("two chunks of order %d", d.Chunks[i].Order)
		}
		orders[d.Chunks[i].Order] = struct{}{}
	}
	return nil
}

// register decides what becomes of one document.
func (tx *txn) register(d *NewDocument) (RegisterResult, error) {
	named, err := tx.documentByName(d.ID)
	if err != nil {
		return RegisterResult{}, err
	}
	if named == 0 {
		return tx.registerText(d, 0)
	}
	row, err := tx.mustDocument(named)
	if err != nil {
		return RegisterResult{}, err
	}
	pending := tx.replacement(d.ID)
	if row.Hash == d.Hash {
		if pending != 0 { // back to the text it has
			if err := tx.dropPending(d.ID, pending); err != nil {
				return RegisterResult{}, err
			}
		}
		if row.Status == format.StatusProcessed {
			return RegisterResult{Doc: named, Status: Unchanged}, nil
		}
		return RegisterResult{Doc: named, Status: Resumed}, tx.resume(named, &row)
	}
	if pending != 0 {
		next, err := tx.mustDocument(pending)
		if err != nil {
			return RegisterResult{}, err
		}
		if next.Hash == d.Hash {
			return RegisterResult{Doc: pending, Status: Resumed}, tx.resume(pending, &next)
		}
	}
	if !d.Replace {
		return RegisterResult{Doc: named, Status: Conflict}, nil
	}
	return tx.registerText(d, pending)
}

// registerText stores a document. A new one is not stored when another holds
// its text; one that replaces a stored text is, or its id would go on naming
// the old one. dropped is the pending document that it takes the place of, 0
// if none.
func (tx *txn) registerText(d *NewDocument, dropped DocID) (RegisterResult, error) {
	if dropped != 0 {
		if err := tx.dropPending(d.ID, dropped); err != nil {
			return RegisterResult{}, err
		}
	}
	named, err := tx.documentByName(d.ID)
	if err != nil {
		return RegisterResult{}, err
	}
	if original := tx.hashDoc(d.Hash); original != 0 && named == 0 && !d.Copy {
		row, err := tx.mustDocument(original)
		return RegisterResult{Doc: original, Status: Duplicate, Original: row.ID}, err
	}
	doc := tx.n.NextDoc
	tx.n.NextDoc++
	for i := range d.Chunks {
		c := &d.Chunks[i]
		tx.key = format.AppendChunkKey(tx.key[:0], doc, c.Order)
		tx.value = format.AppendChunk(tx.value[:0], &format.Chunk{ID: tx.n.NextChunk, Path: c.Path, Tokens: c.Tokens, Text: c.Text})
		tx.n.NextChunk++
		if err := tx.set(tx.key, tx.value); err != nil {
			return RegisterResult{}, err
		}
	}
	now := tx.s.opts.Now().Unix()
	row := format.Document{
		ID: d.ID, Path: d.Path, Hash: d.Hash, Status: format.StatusPending, Chunks: uint32(len(d.Chunks)),
		Removed: d.Removed, Created: now, Updated: now, Metadata: d.Metadata,
	}
	if err := tx.setDocument(doc, &row, nil); err != nil {
		return RegisterResult{}, err
	}
	tx.addHash(d.Hash, doc)
	tx.addedRow(doc, row)
	if named != 0 {
		tx.setReplacement(d.ID, doc)
		return RegisterResult{Doc: doc, Status: Registered}, nil
	}
	return RegisterResult{Doc: doc, Status: Registered}, tx.setName(d.ID, doc)
}

// addedRow remembers the row of a document that this change has made.
func (tx *txn) addedRow(doc DocID, row format.Document) {
	if tx.added == nil {
		tx.added = make(map[DocID]format.Document)
	}
	tx.added[doc] = row
}

// mustDocument reads the row of a document that something names.
func (tx *txn) mustDocument(doc DocID) (format.Document, error) {
	if row, ok := tx.added[doc]; ok {
		return row, nil
	}
	row, ok, err := tx.rows.document(doc)
	if err == nil && !ok {
		err = corruptf("document %d has a name but no row", doc)
	}
	return row, err
}

// dropPending deletes a document that was to replace another.
func (tx *txn) dropPending(id string, doc DocID) error {
	row, err := tx.mustDocument(doc)
	if err != nil {
		return err
	}
	tx.setReplacement(id, 0)
	return tx.dropDocument(doc, &row)
}

// resume sets a document that was not finished to pending.
func (tx *txn) resume(doc DocID, old *format.Document) error {
	if old.Status == format.StatusPending {
		return nil
	}
	row := *old
	row.Status, row.Error, row.Updated = format.StatusPending, "", tx.s.opts.Now().Unix()
	return tx.setDocument(doc, &row, old)
}

// SetStatus records how far a document has come and what that cost. A document
// becomes processed by Commit only. The error matches ErrNotFound for an
// unknown document.
func (s *Store) SetStatus(ctx context.Context, doc DocID, a Attempt) error {
	object := fmt.Sprint(uint32(doc))
	if a.Status < format.StatusPending || a.Status > format.StatusFailed || a.Status == format.StatusProcessed {
		return opError("set status of document", object, invalidf("status %d", a.Status))
	}
	if err := ctx.Err(); err != nil {
		return opError("set status of document", object, err)
	}
	_, err := s.write(func(tx *txn) error {
		old, ok, err := tx.rows.document(doc)
		if err != nil {
			return err
		}
		if !ok {
			return ErrNotFound
		}
		row := old
		row.Status, row.Error, row.Failed = a.Status, a.Cause, a.Failed
		row.Updated = s.opts.Now().Unix()
		a.Usage.add(&row)
		return tx.setDocument(doc, &row, &old)
	})
	return opError("set status of document", object, err)
}

// Pending returns the documents whose work was begun and not finished
// (pending or processing), in DocID order.
func (s *Store) Pending(v *View) ([]DocID, error) {
	var out []DocID
	err := v.Documents(func(doc DocID, row format.Document) error {
		if row.Status == format.StatusPending || row.Status == format.StatusProcessing {
			out = append(out, doc)
		}
		return nil
	})
	return out, err
}
