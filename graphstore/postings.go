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

// postingEdits gathers what a change makes of postings, by term: a hash table
// of chains. The zero value is empty.
type postingEdits struct {
	slots []int32 // a power of two; place in lists plus 1, 0 = free
	lists []postingEditList
	edits []postingEdit
}

// postingEditList is the chain of the edits of one term, the newest first.
type postingEditList struct {
	kind Kind
	last int32 // in edits
	hash uint64
	term string
}

type postingEdit struct {
	format.Posting
	older int32 // in edits; < 0: none
}

// index notes what becomes of the postings of an owner.
func (tx *txn) index(kind Kind, owner uint32, edits []termEdit) {
	p := &tx.postings
	tx.dirty = tx.dirty || len(edits) > 0
	for i := range edits {
		list := p.list(kind, &edits[i])
		p.edits = append(p.edits, postingEdit{format.Posting{Owner: owner, Count: edits[i].count}, list.last})
		list.last = int32(len(p.edits) - 1)
	}
}

// list returns the chain of a term.
func (p *postingEdits) list(kind Kind, e *termEdit) *postingEditList {
	if 2*len(p.lists) >= len(p.slots) {
		p.rehash()
	}
	hash := e.hash + uint64(kind)
	for i := hash; ; i++ {
		slot := &p.slots[i&uint64(len(p.slots)-1)]
		if *slot == 0 {
			p.lists = append(p.lists, postingEditList{kind, -1, hash, e.term})
			*slot = int32(len(p.lists))
		}
		if l := &p.lists[*slot-1]; l.hash == hash && l.kind == kind && l.term == e.term {
			return l
		}
	}
}

func (p *postingEdits) rehash() {
	p.slots = make([]int32, max(1<<10, 2*len(p.slots)))
	for i := range p.lists {
		at := p.lists[i].hash
		for p.slots[at&uint64(len(p.slots)-1)] != 0 {
			at++
		}
		p.slots[at&uint64(len(p.slots)-1)] = int32(i + 1)
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

// unindexChunk is index of a chunk that goes. Its text is read here rather than
// by the plan, which would hold the terms of everything that a delete removes.
func (tx *txn) unindexChunk(id ChunkID, row *format.ChunkRow) error {
	if tx.s.terms == nil {
		return nil
	}
	c, ok, err := tx.rows.chunk(row.Doc, row.Order)
	if err == nil && (!ok || c.ID != id) {
		err = corruptf("chunk %d has no text", id)
	}
	if err != nil {
		return err
	}
	tx.index(format.KindChunk, uint32(id), tx.s.terms.edits(c.Text, ""))
	return nil
}

// textOf returns the text to embed of a record of c's root.
func (c *change) textOf(rec *format.Record) string {
	if c.kind == format.KindEntity {
		return EntityText(c.name, rec.Description)
	}
	return RelationText(rec.Keywords, c.src, c.tgt, rec.Description)
}

// writePostings writes the edits that were noted: one row per term and shard,
// in the order of the keys, which is the cheapest one to apply. It comes once,
// at the end of a change: a row that it writes as a whole is made of the one
// before the change.
func (tx *txn) writePostings() error {
	p := &tx.postings
	var row []format.Posting
	for _, i := range p.byKey() {
		list := &p.lists[i]
		row = p.row(row[:0], list.last)
		for from, to := 0, 1; from < len(row); to++ {
			if to < len(row) && format.PostingsShard(row[from].Owner) == format.PostingsShard(row[to].Owner) {
				continue
			}
			if err := tx.mergePostings(list.kind, list.term, row[from:to]); err != nil {
				return err
			}
			from = to
		}
	}
	clear(p.slots)
	p.lists, p.edits = p.lists[:0], p.edits[:0]
	return nil
}

// byKey lists the chains in the order of their keys.
func (p *postingEdits) byKey() []int32 {
	type place struct {
		head uint64 // the first bytes of the term: decides most comparisons
		at   int32
	}
	places := make([]place, len(p.lists))
	for i := range p.lists {
		var head [8]byte
		copy(head[:], p.lists[i].term)
		places[i] = place{binary.BigEndian.Uint64(head[:]), int32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		x, y := &p.lists[a.at], &p.lists[b.at]
		return cmp.Or(strings.Compare(x.term, y.term), cmp.Compare(x.kind, y.kind))
	})
	order := make([]int32, len(places))
	for i := range places {
		order[i] = places[i].at
	}
	return order
}

// row appends a chain of edits to dst, by owner: of each the newest.
func (p *postingEdits) row(dst []format.Posting, last int32) []format.Posting {
	for i := last; i >= 0; i = p.edits[i].older {
		dst = append(dst, p.edits[i].Posting)
	}
	if len(dst) < 2 {
		return dst
	}
	byOwner := func(a, b format.Posting) int { return cmp.Compare(a.Owner, b.Owner) }
	slices.Reverse(dst) // most edits come by ascending owner
	slices.SortStableFunc(dst, byOwner)
	n := 0
	for _, e := range dst {
		if n > 0 && dst[n-1].Owner == e.Owner {
			n--
		}
		dst[n] = e
		n++
	}
	return dst[:n]
}

func (tx *txn) mergePostings(kind Kind, term string, row []format.Posting) (err error) {
	tx.key = format.AppendPostingsKey(tx.key[:0], kind, term, format.PostingsShard(row[0].Owner))
	if tx.value, err = format.AppendPostings(tx.value[:0], row); err != nil {
		return err
	}
	if tx.s.hot.due(tx.key) {
		if err := tx.wholeRow(); err != nil {
			return err
		}
		tx.postingBytes += uint64(len(tx.key) + len(tx.value))
		return tx.batch.Set(tx.key, tx.value, nil)
	}
	tx.postingBytes += uint64(len(tx.key) + len(tx.value))
	return tx.batch.Merge(tx.key, tx.value, nil)
}
