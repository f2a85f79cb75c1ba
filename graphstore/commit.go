package graphstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// Commit makes prepared contributions durable and visible, in one step. What
// other commits changed since Prepare is taken into account without asking the
// caller again: a vector that no longer fits its owner's text makes the owner
// stale instead. The documents become processed; an earlier contribution of
// one, or of the document that it replaces, goes in the same step.
//
// After an error nothing is visible. Unless the error matches ErrFailed,
// nothing was written.
func (s *Store) Commit(ctx context.Context, p *Prepared) (CommitInfo, error) {
	info, err := s.commit(ctx, p)
	return info, opError("commit", documentsText(p.list), err)
}

func (s *Store) commit(ctx context.Context, p *Prepared) (info CommitInfo, err error) {
	if p.used {
		return info, invalidf("prepared contribution was committed before")
	}
	given, err := s.givenVectors(p.roots)
	if err != nil {
		return info, err
	}
	for i := range p.plan.chunks {
		if c := &p.plan.chunks[i]; c.vector != nil {
			if err := s.checkVector(c.vector); err != nil {
				return info, fmt.Errorf("document %d: vector of chunk %d: %w", c.row.Doc, c.row.Order, err)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return info, err
	}
	info.Seq, err = s.write(func(tx *txn) error {
		if err := p.plan.update(ctx, s, tx.base, tx.rows); err != nil {
			return err
		}
		given.to(p.plan.changes)
		p.used = true
		out, err := tx.plan(&p.plan)
		if err != nil {
			return err
		}
		info = CommitInfo{NewEntities: out.newEntities, NewRelations: out.newRelations, Touched: len(p.plan.changes),
			Stale: out.stale, Vectors: out.vectors}
		info.Documents, err = tx.documentsCommitted(&p.plan, p.list)
		return err
	})
	return info, err
}

// ownerName names an owner.
type ownerName struct {
	kind           Kind
	name, src, tgt string
}

// rootVectors are the vectors that a caller has set, by the names of their
// roots: a plan that is made again has other changes.
type rootVectors map[ownerName]*Root

// givenVectors returns those of roots. It refuses what cannot be stored.
func (s *Store) givenVectors(roots []*Root) (rootVectors, error) {
	given := make(rootVectors, len(roots))
	for _, root := range roots {
		if root.Vector == nil {
			continue
		}
		if err := s.checkVector(root.Vector); err != nil {
			return nil, fmt.Errorf("vector of %s %q%q%q: %w", root.Kind, root.Name, root.Src, root.Tgt, err)
		}
		given[ownerName{root.Kind, root.Name, root.Src, root.Tgt}] = root
	}
	return given, nil
}

// to hands them to the changes of their roots.
func (given rootVectors) to(changes []*change) {
	for _, c := range changes {
		if root := given[ownerName{c.kind, c.name, c.src, c.tgt}]; root != nil {
			c.vector, c.vectorOf = root.Vector, root.TextHash
		}
	}
}

// outcome counts what a plan did.
type outcome struct {
	newEntities, newRelations   int
	goneEntities, goneRelations int
	stale, vectors              int
}

// plan writes the owners' part of p: drops before additions, relations out
// before entities and in after them.
func (tx *txn) plan(p *plan) (out outcome, err error) {
	tx.assign(p, &out)
	adj := adjacencyEdits{}
	for _, c := range p.changes {
		if c.kind == format.KindRelation && c.next.gone && !c.hidden {
			tx.cols.DropRelation(RelationID(c.owner))
			adj.edit(c.pair, false)
			out.goneRelations++
		}
	}
	for _, c := range p.changes {
		if c.kind == format.KindEntity {
			if c.next.gone {
				tx.cols.DropEntity(EntityID(c.owner))
				out.goneEntities++
			} else if c.fresh {
				tx.cols.AddEntity(EntityID(c.owner), c.name)
			}
		}
		if c.kind == format.KindRelation && c.fresh && !c.hidden {
			tx.cols.AddRelation(RelationID(c.owner), c.pair[0], c.pair[1])
			adj.edit(c.pair, true)
		}
		if err := tx.change(c, &out); err != nil {
			return out, err
		}
	}
	if p.overlay != nil {
		if err := tx.links(p.overlay.links); err != nil {
			return out, err
		}
	}
	return out, tx.adjacency(adj)
}

// assign gives new owners their ids, in the order of their names.
func (tx *txn) assign(p *plan, out *outcome) {
	for _, c := range p.changes {
		switch {
		case c.hidden:
			if c.ends[0] != nil {
				c.hiddenOf = EntityID(c.ends[0].owner)
			}
		case !c.fresh:
		case c.kind == format.KindEntity:
			out.newEntities++
			if c.rawless {
				c.owner = tx.nextID(c.kind)
			}
		default:
			out.newRelations++
			if c.rawless {
				c.owner = tx.nextID(c.kind)
			}
			c.pair = [2]EntityID{EntityID(c.ends[0].owner), EntityID(c.ends[1].owner)}
		}
		for _, w := range c.raws {
			if w.own() {
				w.id = c.owner
			} else if w.fresh {
				w.id = tx.nextID(c.kind)
			}
		}
	}
}

func (tx *txn) nextID(kind Kind) (id uint32) {
	if kind == format.KindEntity {
		id = uint32(tx.n.NextEntity)
		tx.n.NextEntity++
		return id
	}
	id = uint32(tx.n.NextRelation)
	tx.n.NextRelation++
	return id
}

// change writes the rows of one root and of its raw owners.
func (tx *txn) change(c *change, out *outcome) error {
	if err := tx.fragments(c); err != nil {
		return err
	}
	if err := tx.raws(c); err != nil || c.hidden {
		return err
	}
	tx.touch(c.kind, c.owner)
	for _, key := range c.next.oldSummary {
		if err := tx.del(key); err != nil {
			return err
		}
	}
	if c.next.gone {
		return tx.dropOwner(c)
	}
	for i := range c.next.newSummary {
		d := &c.next.newSummary[i]
		tx.key = format.AppendSummaryKey(tx.key[:0], c.kind, c.owner, d.Job.Level, d.Job.First)
		tx.value = format.AppendSummary(tx.value[:0], tx.s.opts.Summary.summaryRow(d))
		if err := tx.set(tx.key, tx.value); err != nil {
			return err
		}
	}
	if c.fresh {
		if err := tx.addOwner(c); err != nil {
			return err
		}
	}
	if len(c.add)+len(c.drop) > 0 || c.regroup {
		c.next.agg.LastSeq = tx.next.seq
		tx.key = format.AppendAggregateKey(tx.key[:0], c.kind, c.owner)
		tx.value = format.AppendAggregate(tx.value[:0], &c.next.agg)
		if err := tx.set(tx.key, tx.value); err != nil {
			return err
		}
	}
	return tx.record(c, out)
}

// record writes the record, the vector and the columns of an owner.
func (tx *txn) record(c *change, out *outcome) error {
	rec := &c.next.rec
	slot, has := tx.base.cols.Slot(c.kind, c.owner)
	if c.fresh {
		slot, has = 0, false
	}
	fits := c.vectorOf == rec.TextHash || c.outdated && rec.VectorVersion == 0
	if c.vector != nil && fits && (rec.VectorVersion == 0 || rec.VectorHash != rec.TextHash) {
		version, at, err := tx.vector(c.kind, c.owner, c.vector)
		if err != nil {
			return err
		}
		rec.VectorVersion, rec.VectorHash = version, c.vectorOf
		slot, has = at, tx.s.sink != nil
		out.vectors++
	}
	stale := staleness(rec, tx.s.ident.Dim > 0)
	if stale != (format.Stale{}) {
		out.stale++
	}
	if err := tx.setStale(c.kind, c.owner, c.stale, stale); err != nil {
		return err
	}
	tx.key = format.AppendRecordKey(tx.key[:0], c.kind, c.owner)
	tx.value = format.AppendRecord(tx.value[:0], rec)
	if c.fresh || rowSum(tx.key, tx.value) != c.recSum {
		if err := tx.setSummed(tx.key, tx.value, c.recSum); err != nil {
			return err
		}
	}
	tx.reindex(c)
	tx.setColumns(c, slot, has)
	return nil
}

// staleness says what of a record is to be re-made: what its stale row holds.
func staleness(rec *format.Record, vectors bool) format.Stale {
	return format.Stale{
		Vector:  vectors && (rec.VectorVersion == 0 || rec.VectorHash != rec.TextHash),
		Summary: rec.Pending,
	}
}

// chunkStaleness is staleness of a chunk.
func chunkStaleness(row *format.ChunkRow, vectors bool) format.Stale {
	return format.Stale{Vector: vectors && row.VectorVersion == 0}
}

// setColumns writes the owner's row of the columns, if anything in it changes.
func (tx *txn) setColumns(c *change, slot uint32, has bool) {
	rec, sources := &c.next.rec, c.next.sources
	base := tx.base.cols
	if c.kind == format.KindEntity {
		id := EntityID(c.owner)
		if !c.fresh && sources != nil && slices.Equal(sources, base.EntitySources(id)) {
			sources = nil
		}
		typ := uint16(tx.s.types.id(rec.Type))
		if c.fresh || sources != nil || typ != base.EntityType(id) || tx.columnsDiffer(c, slot, has) {
			tx.cols.SetEntity(id, columns.EntityRow{
				Type: typ, LineTokens: rec.LineTokens, Slot: slot, HasSlot: has, Sole: rec.Sole, Sources: sources,
			})
		}
		return
	}
	id := RelationID(c.owner)
	if !c.fresh && sources != nil && slices.Equal(sources, base.RelationSources(id)) {
		sources = nil
	}
	if c.fresh || sources != nil || rec.Weight != base.Weight(id) || tx.columnsDiffer(c, slot, has) {
		tx.cols.SetRelation(id, columns.RelationRow{Weight: rec.Weight, LineTokens: rec.LineTokens, Slot: slot, HasSlot: has,
			Sole: rec.Sole, Sources: sources})
	}
}

func (tx *txn) columnsDiffer(c *change, slot uint32, has bool) bool {
	base := tx.base.cols
	oldSlot, had := base.Slot(c.kind, c.owner)
	oldSole, _ := base.Sole(c.kind, c.owner)
	return base.LineTokens(c.kind, c.owner) != c.next.rec.LineTokens || oldSole != c.next.rec.Sole || had != has || oldSlot != slot
}

// fragments writes the fragment and description rows that go and come.
func (tx *txn) fragments(c *change) error {
	for i := range c.drop {
		f := &c.drop[i]
		tx.key = format.AppendFragmentKey(tx.key[:0], c.kind, f.raw, f.key)
		tx.n.Sum -= keySum(tx.key)
		tx.n.Fragments--
		if err := tx.del(tx.key); err != nil {
			return err
		}
		if f.Description != "" {
			if err := tx.del(format.AppendDescriptionKey(tx.key[:0], c.kind, f.raw, descriptionHash(f.Description), f.key)); err != nil {
				return err
			}
		}
	}
	for i := range c.add {
		f := &c.add[i]
		if f.via != nil {
			f.Relation = RelationID(f.via.id)
		}
		tx.key = format.AppendFragmentKey(tx.key[:0], c.kind, f.of.id, f.key)
		tx.n.Sum += keySum(tx.key)
		tx.n.Fragments++
		tx.value = format.AppendFragment(tx.value[:0], &f.Fragment)
		if err := tx.set(tx.key, tx.value); err != nil {
			return err
		}
		if f.Description != "" {
			if err := tx.set(format.AppendDescriptionKey(tx.key[:0], c.kind, f.of.id, descriptionHash(f.Description), f.key), nil); err != nil {
				return err
			}
		}
	}
	return nil
}
