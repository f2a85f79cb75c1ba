package graphstore

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// Postings say in which owners' texts a term occurs, and how often. The text of
// an owner is what is embedded of it, so that postings follow from records and
// chunks: what a change makes of them is the difference of two texts, and is
// written as edits, without reading the postings (see the merger of package
// durable).

// postingEdit is a termEdit of an owner.
type postingEdit struct {
	kind  Kind
	count uint8
	owner uint32
	turn  int    // which of two edits of one term and owner is the later one
	head  uint64 // the first eight bytes of the term: decides most comparisons
	term  string
}

// index notes what becomes of the postings of an owner.
func (tx *txn) index(kind Kind, owner uint32, edits []termEdit) {
	for _, e := range edits {
		var head [8]byte
		copy(head[:], e.term)
		tx.postings = append(tx.postings, postingEdit{
			kind, e.count, owner, len(tx.postings), binary.BigEndian.Uint64(head[:]), e.term,
		})
	}
}

// reindex is index of a root whose record changes.
func (tx *txn) reindex(c *change) {
	if tx.s.terms == nil {
		return
	}
	old, now := "", ""
	if !c.fresh {
		old = c.textOf(&c.rec)
	}
	if !c.next.gone {
		now = c.next.text
	}
	tx.index(c.kind, c.owner, tx.s.terms.edits(old, now))
}

// textOf returns the text to embed of a record of c's root.
func (c *change) textOf(rec *format.Record) string {
	if c.kind == format.KindEntity {
		return EntityText(c.name, rec.Description)
	}
	return RelationText(rec.Keywords, c.src, c.tgt, rec.Description)
}

func comparePostingEdits(a, b postingEdit) int {
	if a.kind != b.kind || a.head != b.head {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.head, b.head))
	}
	return cmp.Or(strings.Compare(a.term, b.term), cmp.Compare(a.owner, b.owner), cmp.Compare(a.turn, b.turn))
}

// writePostings writes the edits that were noted: one row per term and shard,
// in the order of the keys, which is the cheapest one to apply.
func (tx *txn) writePostings() error {
	slices.SortFunc(tx.postings, comparePostingEdits)
	var row []format.Posting
	for i := range tx.postings {
		e := &tx.postings[i]
		p := format.Posting{Owner: e.owner, Count: e.count}
		if n := len(row); n > 0 && row[n-1].Owner == e.owner {
			row[n-1] = p
		} else {
			row = append(row, p)
		}
		if i+1 < len(tx.postings) {
			if next := &tx.postings[i+1]; next.kind == e.kind && next.term == e.term && format.PostingsShard(next.owner) == format.PostingsShard(e.owner) {
				continue
			}
		}
		if err := tx.mergePostings(e.kind, e.term, row); err != nil {
			return err
		}
		row = row[:0]
	}
	tx.postings = tx.postings[:0]
	return nil
}

func (tx *txn) mergePostings(kind Kind, term string, row []format.Posting) (err error) {
	tx.key = format.AppendPostingsKey(tx.key[:0], kind, term, format.PostingsShard(row[0].Owner))
	if tx.value, err = format.AppendPostings(tx.value[:0], row); err != nil {
		return err
	}
	tx.dirty = true
	tx.postingBytes += uint64(len(tx.key) + len(tx.value))
	return tx.batch.Merge(tx.key, tx.value, nil)
}
