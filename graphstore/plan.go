package graphstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// plan is everything a commit, a delete or a refresh will write, worked out
// against the state of one sequence number. Under the writer's lock it is
// brought up to date with what was committed since.
type plan struct {
	base    uint64
	made    format.Counters // of base
	docs    []plannedDoc    // whose contributions come
	later   bool            // what becomes of owners that exist is worked out by update
	adds    []*raw          // of the contributions; entities by name, then relations
	renewed []*change       // owners whose derived data is re-made
	removed []removedDoc
	changes []*change // entities by name, then relations by (src, tgt)
	chunks  []chunkAddition
	gone    []chunkRemoval
	overlay *overlays // what the plan does to overlays; nil: nothing
}

// plannedDoc is a document whose contribution comes.
type plannedDoc struct {
	id  DocID
	row format.Document
}

// removedDoc is a document whose contribution goes.
type removedDoc struct {
	id        DocID
	row       format.Document
	owners    format.DocumentOwners
	committed bool
	keepRow   bool // its rows stay: it is committed anew
}

type chunkAddition struct {
	id     ChunkID
	row    format.ChunkRow
	vector []float32
	terms  []termEdit
}

type chunkRemoval struct {
	id  ChunkID
	row format.ChunkRow
	sum uint64
}

// ownerKey is one number per owner; documents have kind 0.
func ownerKey(kind Kind, owner uint32) uint64 { return uint64(kind)<<32 | uint64(owner) }

func compareOwnerFragments(a, b format.OwnerFragment) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner), a.Key.Compare(b.Key))
}

func compareRaws(a, b *raw) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name),
		strings.Compare(a.src, b.src), strings.Compare(a.tgt, b.tgt))
}

func compareChanges(a, b *change) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name),
		strings.Compare(a.src, b.src), strings.Compare(a.tgt, b.tgt))
}

// deriver returns a deriver over a state of the store.
func (s *Store) deriver(st *state, r *rows, removed []removedDoc) *deriver {
	d := &deriver{
		rows: r, cols: st.cols, max: s.opts.MaxSources, policy: s.opts.Summary, measure: s.measure,
		vectors: s.ident.Dim > 0, removed: make(map[DocID]struct{}, len(removed)), n: st.n,
	}
	for i := range removed {
		d.removed[removed[i].id] = struct{}{}
	}
	return d
}

// readRemoved reads what is needed of the documents that go.
func (p *plan) readRemoved(r *rows, docs []DocID) error {
	p.removed, p.gone = nil, nil
	for _, doc := range docs {
		row, ok, err := r.document(doc)
		if err != nil {
			return err
		}
		if !ok {
			return corruptf("document %d has a name but no row", doc)
		}
		rd := removedDoc{id: doc, row: row, keepRow: p.comes(doc)}
		if rd.owners, rd.committed, err = r.owners(doc); err != nil {
			return err
		}
		if rd.committed {
			var ids []ChunkID
			if err := r.chunksOf(doc, func(_ uint32, c *format.Chunk) error {
				ids = append(ids, c.ID)
				return nil
			}); err != nil {
				return err
			}
			for _, id := range ids {
				row, sum, ok, err := r.chunkRow(id)
				if err != nil {
					return err
				}
				if ok {
					p.gone = append(p.gone, chunkRemoval{id, row, sum})
				}
			}
		}
		p.removed = append(p.removed, rd)
	}
	return nil
}

// comes says whether a contribution of the document comes.
func (p *plan) comes(doc DocID) bool {
	return slices.ContainsFunc(p.docs, func(d plannedDoc) bool { return d.id == doc })
}

// heir returns the document that comes and has that id, 0 if none.
func (p *plan) heir(id string) DocID {
	for i := range p.docs {
		if p.docs[i].row.ID == id {
			return p.docs[i].id
		}
	}
	return 0
}

// build resolves and derives every change against st, but for those that are
// left for later. The contributions' own changes in p.adds are used again when
// it is called anew.
func (p *plan) build(ctx context.Context, s *Store, st *state, r *rows, docs []DocID) error {
	if err := p.readRemoved(r, docs); err != nil {
		return err
	}
	p.base, p.made = st.seq, st.n
	p.changes = p.changes[:0]
	d := s.deriver(st, r, p.removed)
	d.pending = p.overlay
	byOwner := make(map[uint64]*change, len(p.adds))
	if err := p.roots(d, byOwner); err != nil {
		return err
	}
	for _, c := range p.renewed {
		if d.live(c.kind, c.owner) {
			p.changes = append(p.changes, c)
		}
	}
	for i := range p.removed {
		if err := p.drops(d, &p.removed[i], byOwner); err != nil {
			return err
		}
	}
	return p.derive(ctx, d)
}

// derive works out what becomes of every change.
func (p *plan) derive(ctx context.Context, d *deriver) error {
	slices.SortFunc(p.changes, compareChanges)
	for i, c := range p.changes {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if p.later && !c.fresh {
			c.later = true
			continue
		}
		if err := d.renew(c); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds out whether c's root exists. The ends of a relation are
// resolved before the relation.
func (d *deriver) resolve(c *change) error {
	if c.hidden {
		c.hiddenOf = EntityID(c.ends[0].owner)
		return nil
	}
	if c.kind == format.KindEntity {
		id, ok, err := d.rows.entity(c.name)
		c.owner, c.fresh, c.rawless = uint32(id), !ok, !ok
		return err
	}
	c.owner, c.fresh, c.rawless = 0, true, true
	if c.ends[0].fresh || c.ends[1].fresh {
		return nil
	}
	if id, ok := related(d.cols, EntityID(c.ends[0].owner), EntityID(c.ends[1].owner)); ok {
		c.owner, c.fresh, c.rawless = uint32(id), false, false
	}
	return nil
}

// related finds the relation of two entities in the shorter of their lists of
// neighbours, which are in the order of names.
func related(cols *columns.Columns, a, b EntityID) (RelationID, bool) {
	if cols.Degree(a) > cols.Degree(b) {
		a, b = b, a
	}
	list := cols.Neighbors(a)
	i, ok := slices.BinarySearchFunc(list, cols.EntityName(b), func(n Neighbor, name string) int {
		return strings.Compare(cols.EntityName(n.Entity), name)
	})
	if !ok {
		return 0, false
	}
	return list[i].Relation, true
}

// renew reads the stored state of c's owner and derives c.
func (d *deriver) renew(c *change) error {
	if c.hidden {
		return d.emptied(c)
	}
	if c.fresh {
		c.agg, c.rec, c.recSum, c.stale = format.Aggregate{}, format.Record{}, 0, format.Stale{}
		if !c.regroup {
			c.stored = nil
		}
	} else if err := d.load(c); err != nil {
		return err
	}
	return d.derive(c)
}

// drops adds the fragments of a document to the changes of their owners.
func (p *plan) drops(d *deriver, rd *removedDoc, byOwner map[uint64]*change) error {
	for _, of := range rd.owners.Fragments {
		c, err := p.rootOf(d, of.Kind, of.Owner, byOwner)
		if err != nil {
			return fmt.Errorf("document %d: %w", rd.id, err)
		}
		f, ok, err := d.rows.fragment(of.Kind, of.Owner, of.Key)
		if err != nil {
			return err
		}
		if !ok {
			return corruptf("document %d contributes a fragment to %s %d that does not exist", rd.id, of.Kind, of.Owner)
		}
		c.drop = append(c.drop, fragment{of.Key, of.Owner, f})
	}
	return nil
}

// live says whether an owner exists.
func (d *deriver) live(kind Kind, owner uint32) bool {
	switch kind {
	case format.KindEntity:
		return d.cols.EntityLive(EntityID(owner))
	case format.KindRelation:
		return d.cols.RelationLive(RelationID(owner))
	}
	return false
}

// existing returns a change of an owner that exists, nil if it does not.
func (d *deriver) existing(kind Kind, owner uint32) *change {
	if !d.live(kind, owner) {
		return nil
	}
	c := &change{kind: kind, owner: owner}
	if kind == format.KindEntity {
		c.name = d.cols.EntityName(EntityID(owner))
	} else {
		a, b := d.cols.Ends(RelationID(owner))
		c.pair = [2]EntityID{a, b}
		c.src, c.tgt = d.cols.EntityName(a), d.cols.EntityName(b)
	}
	return c
}

// update brings p up to date with the state st, under the writer's lock. Only
// changes of owners that were written since, or were left for it, are derived.
func (p *plan) update(ctx context.Context, s *Store, st *state, r *rows) error {
	if st.seq == p.base && !p.later {
		return nil
	}
	if p.base < s.touchedFrom || p.base < s.overlaid || p.documentsTouched(s) {
		docs, err := p.documents(r)
		if err != nil {
			return err
		}
		p.later = false
		return p.build(ctx, s, st, r, docs)
	}
	d := s.deriver(st, r, p.removed)
	if len(p.renewed) > 0 {
		p.changes = slices.DeleteFunc(p.changes, func(c *change) bool { return !d.live(c.kind, c.owner) })
	}
	sameNames := st.n.NextEntity == p.made.NextEntity && st.n.NextRelation == p.made.NextRelation
	for _, c := range p.changes {
		moved := c.later
		if c.hidden || c.fresh && !sameNames || !c.fresh && s.touched[ownerKey(c.kind, c.owner)] > p.base {
			was, old := c.fresh, c.owner
			if len(c.add) > 0 {
				if err := d.resolve(c); err != nil {
					return err
				}
				for _, w := range c.raws {
					if err := d.resolveRaw(w); err != nil {
						return err
					}
				}
			}
			moved = moved || c.hidden || !was || !c.fresh || c.owner != old
		}
		if c.later = false; moved {
			if err := d.renew(c); err != nil {
				return err
			}
		}
	}
	p.base, p.made, p.later = st.seq, st.n, false
	return nil
}

// documentsTouched says whether a document of the plan was written since.
func (p *plan) documentsTouched(s *Store) bool {
	for i := range p.docs {
		if s.touched[ownerKey(0, uint32(p.docs[i].id))] > p.base {
			return true
		}
	}
	for i := range p.removed {
		if s.touched[ownerKey(0, uint32(p.removed[i].id))] > p.base {
			return true
		}
	}
	return false
}

// documents reads p's documents again and lists those that go.
func (p *plan) documents(r *rows) ([]DocID, error) {
	if len(p.docs) > 0 {
		return p.replaced(r)
	}
	var docs []DocID
	for i := range p.removed {
		_, ok, err := r.document(p.removed[i].id)
		if err != nil {
			return nil, err
		}
		if ok {
			docs = append(docs, p.removed[i].id)
		}
	}
	return docs, nil
}

// replaced reads the rows of the documents that come and lists those whose
// contribution goes: their own earlier one, and those that they replace.
func (p *plan) replaced(r *rows) (gone []DocID, err error) {
	for i := range p.docs {
		doc, ok := &p.docs[i], false
		if doc.row, ok, err = r.document(doc.id); err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("document %d: %w", doc.id, ErrNotFound)
		}
		if first := p.heir(doc.row.ID); first != doc.id {
			return nil, invalidf("documents %d and %d have the same id", first, doc.id)
		}
		_, committed, err := r.owners(doc.id)
		if err != nil {
			return nil, err
		}
		if committed {
			gone = append(gone, doc.id)
		}
		named, ok, err := r.documentByName(doc.row.ID)
		if err != nil {
			return nil, err
		}
		if ok && named != doc.id {
			gone = append(gone, named)
		}
	}
	return gone, nil
}
