package columns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// ErrInvalid is wrapped by every error of Builder.Err and Loader.Err.
var ErrInvalid = errors.New("invalid edit")

var errFinished = fmt.Errorf("columns: use of a finished builder: %w", ErrInvalid)

// Builder makes the next version. It is used by one goroutine, and ends with
// Done or Discard; afterwards it refuses everything. An edit that makes no
// sense (an owner that does not exist, a relation of an entity with itself)
// changes nothing and is remembered for Err.
type Builder struct {
	next  Columns
	base  uint64                  // version that this one follows
	forms map[EntityID][]Neighbor // neighbour lists being edited
	block []Neighbor              // unused memory for them
	lists map[ChunkID][]EntityID  // mentions being edited

	loading bool // mentions are made in the end
	err     error
	done    bool
}

// Edit begins the next version on top of c, which stays as it is.
func (c *Columns) Edit() *Builder {
	b := &Builder{next: *c, base: c.gen}
	b.next.gen++
	if !c.line.tip.CompareAndSwap(c.gen, claimed) {
		// Somebody else may write behind the spans of c.
		b.next.line = new(lineage)
		b.next.line.tip.Store(claimed)
		b.compactPairs()
		b.compactSources()
		b.compactMentions()
		b.compactText()
	}
	return b
}

// Done returns the new version. The cost beyond the edits themselves is one
// copy of each neighbour list that changed, and now and then a compaction.
func (b *Builder) Done() *Columns {
	if b.done {
		return nil
	}
	b.storeNeighbors()
	b.storeMentions()
	if b.next.pairs.wasteful(b.next.floor) {
		b.compactPairs()
	}
	if b.next.sources.wasteful(b.next.floor) {
		b.compactSources()
	}
	if b.next.mentioned.wasteful(b.next.floor) {
		b.compactMentions()
	}
	if b.next.text.wasteful(b.next.floor) {
		b.compactText()
	}
	c := b.next
	c.line.tip.Store(c.gen)
	b.finish()
	return &c
}

// Discard gives the edit up, so that the version it began with can be edited
// again without a copy. It does nothing after Done.
func (b *Builder) Discard() {
	if b.done {
		return
	}
	b.next.line.tip.Store(b.base)
	b.finish()
}

func (b *Builder) finish() {
	err := b.err
	*b = Builder{err: err, done: true}
}

// Err returns the first edit that was refused, nil when there is none.
func (b *Builder) Err() error { return b.err }

func (b *Builder) refuse(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("columns: "+format+": %w", append(args, ErrInvalid)...)
	}
}

// ok reports whether the edit may go on, which needs the condition and a
// builder that is not finished.
func (b *Builder) ok(cond bool, what string, id uint32) bool {
	switch {
	case b.done:
		if b.err == nil {
			b.err = errFinished
		}
		return false
	case !cond:
		b.refuse("%s %d", what, id)
	}
	return cond
}

// AddEntity makes an entity that does not exist yet. The name is copied. Names
// of live entities are distinct.
func (b *Builder) AddEntity(id EntityID, name string) {
	n := &b.next
	if !b.ok(!n.EntityLive(id), "add existing entity", uint32(id)) {
		return
	}
	n.entities.put(uint32(id), n.gen)
	s := n.text.alloc(len(name))
	if len(name) > 0 {
		copy(n.text.chunks[s.chunk][s.off:], name)
	}
	*n.names.put(uint32(id), n.gen) = nameRow{s.chunk, s.off, s.room}
}

// SetEntity replaces the row of an entity, except for its name, its neighbours
// and, when r.Sources is nil, its sources.
func (b *Builder) SetEntity(id EntityID, r EntityRow) {
	n := &b.next
	if !b.ok(n.EntityLive(id), "set unknown entity", uint32(id)) {
		return
	}
	row := n.entities.put(uint32(id), n.gen)
	row.typ = r.Type
	if r.Sources != nil {
		b.mention(id, n.sources.list(row.sources), r.Sources)
	}
	b.count(format.KindEntity, row.tokens, r.LineTokens)
	b.set(&row.common, r.LineTokens, r.Slot, r.HasSlot, r.Sole, r.Sources)
}

// SetEntitySlot sets the vector slot of an entity.
func (b *Builder) SetEntitySlot(id EntityID, slot uint32) {
	n := &b.next
	if b.ok(n.EntityLive(id), "set slot of unknown entity", uint32(id)) {
		row := n.entities.put(uint32(id), n.gen)
		row.slot, row.hasSlot = slot, true
	}
}

// DropEntity removes an entity and the relations that it still has.
func (b *Builder) DropEntity(id EntityID) {
	n := &b.next
	if !b.ok(n.EntityLive(id), "drop unknown entity", uint32(id)) {
		return
	}
	for _, nb := range slices.Clone(b.neighbors(id)) {
		b.DropRelation(nb.Relation)
	}
	delete(b.forms, id)
	row := n.entities.put(uint32(id), n.gen)
	b.count(format.KindEntity, row.tokens, 0)
	b.mention(id, n.sources.list(row.sources), nil)
	n.pairs.free(row.pairs.room)
	n.sources.free(row.sources.room)
	n.text.free(n.names.put(uint32(id), n.gen).n)
	n.entities.drop(uint32(id), n.gen)
	n.names.drop(uint32(id), n.gen)
}

// SetRelation replaces the row of a relation, except for its ends and, when
// r.Sources is nil, its sources.
func (b *Builder) SetRelation(id RelationID, r RelationRow) {
	n := &b.next
	if !b.ok(n.RelationLive(id), "set unknown relation", uint32(id)) {
		return
	}
	row := n.relations.put(uint32(id), n.gen)
	row.weight = r.Weight
	b.count(format.KindRelation, row.tokens, r.LineTokens)
	b.set(&row.common, r.LineTokens, r.Slot, r.HasSlot, r.Sole, r.Sources)
}

// SetRelationSlot sets the vector slot of a relation.
func (b *Builder) SetRelationSlot(id RelationID, slot uint32) {
	n := &b.next
	if b.ok(n.RelationLive(id), "set slot of unknown relation", uint32(id)) {
		row := n.relations.put(uint32(id), n.gen)
		row.slot, row.hasSlot = slot, true
	}
}

// AddChunk makes a chunk, or replaces the row of one that exists.
func (b *Builder) AddChunk(id ChunkID, r ChunkRow) {
	n := &b.next
	if b.ok(true, "add chunk", uint32(id)) {
		row := n.chunks.put(uint32(id), n.gen)
		b.count(format.KindChunk, row.tokens, r.LineTokens)
		*row = chunkRow{r.Doc, r.Order, r.LineTokens, r.Slot, r.HasSlot}
	}
}

// SetChunkSlot sets the vector slot of a chunk.
func (b *Builder) SetChunkSlot(id ChunkID, slot uint32) {
	n := &b.next
	if b.ok(n.ChunkLive(id), "set slot of unknown chunk", uint32(id)) {
		row := n.chunks.put(uint32(id), n.gen)
		row.slot, row.hasSlot = slot, true
	}
}

// DropChunk removes a chunk. Lists of sources that name it are the caller's to
// set anew.
func (b *Builder) DropChunk(id ChunkID) {
	n := &b.next
	if b.ok(n.ChunkLive(id), "drop unknown chunk", uint32(id)) {
		b.count(format.KindChunk, n.LineTokens(format.KindChunk, uint32(id)), 0)
		n.chunks.drop(uint32(id), n.gen)
	}
}

// count notes that the tokens of an owner change.
func (b *Builder) count(kind Kind, old, now uint32) {
	b.next.tokens[kind] += uint64(now) - uint64(old)
}

func (b *Builder) set(r *common, tokens, slot uint32, hasSlot bool, sole DocID, sources []ChunkID) {
	r.tokens, r.slot, r.hasSlot, r.sole = tokens, slot, hasSlot, sole
	if sources != nil {
		b.setSources(&r.sources, sources)
	}
}

// setSources makes s hold list. What older versions read is never written: a
// list that only grows is extended behind its end while there is room, one that
// only shrinks gives up what it loses, any other is stored anew.
func (b *Builder) setSources(s *span, list []ChunkID) {
	a := &b.next.sources
	old := a.list(*s)
	if common := min(len(old), len(list)); slices.Equal(old[:common], list[:common]) {
		switch {
		case len(list) == 0:
			a.free(s.room)
			*s = span{}
			return
		case len(list) < len(old):
			a.free(s.room - uint32(len(list)))
			s.n = uint32(len(list))
			s.room = s.n
			return
		case len(list) <= int(s.room):
			a.extend(s, list[len(old):])
			return
		}
	}
	spare := 0
	if len(old) > 0 && len(list) > len(old) {
		spare = len(list)/2 + 2 // it grew once, it will grow again
	}
	a.free(s.room)
	*s = a.store(list, spare)
}
