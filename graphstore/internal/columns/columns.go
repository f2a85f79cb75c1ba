package columns

import (
	"iter"
	"sync/atomic"
	"unsafe"

	"github.com/lightctl/lightrag/format"
)

// compactFloor is the garbage, in bytes, that an arena may hold on top of as
// many bytes as are live.
const compactFloor = 1 << 20

// Columns is one immutable version. Its methods may be called from any
// goroutine, take constant time unless they say otherwise, and allocate
// nothing. What they return is borrowed: it stays valid and unchanged for ever,
// and must not be written.
type Columns struct {
	entities  table[entityRow]
	names     table[nameRow] // apart from entities: edits rarely touch it
	relations table[relationRow]
	chunks    table[chunkRow]
	mentions  table[span] // by chunk; no row = none

	pairs     arena[Neighbor]
	sources   arena[ChunkID]
	mentioned arena[EntityID]
	text      arena[byte]

	tokens [4]uint64 // by kind: sum over the owners

	gen   uint64
	line  *lineage
	floor int64 // compactFloor, but for tests
}

// lineage is shared by the versions whose arenas have a common tail.
type lineage struct {
	// tip is the version that may be edited without copying the arenas, or
	// claimed while a builder is at work.
	tip atomic.Uint64
}

const claimed = ^uint64(0)

// Counts says how many of each kind exist.
type Counts struct {
	Entities, Relations, Chunks int
}

// Empty returns a version without content. Each call starts a chain of its own.
func Empty() *Columns {
	return &Columns{line: new(lineage), floor: compactFloor}
}

// Counts returns the numbers of live entities, relations and chunks.
func (c *Columns) Counts() Counts {
	return Counts{c.entities.live, c.relations.live, c.chunks.live}
}

// EntityLive reports whether the entity exists.
func (c *Columns) EntityLive(id EntityID) bool { return c.entities.has(uint32(id)) }

// RelationLive reports whether the relation exists.
func (c *Columns) RelationLive(id RelationID) bool { return c.relations.has(uint32(id)) }

// ChunkLive reports whether the chunk exists.
func (c *Columns) ChunkLive(id ChunkID) bool { return c.chunks.has(uint32(id)) }

// EntityName returns the name of an entity, "" when there is none. The string
// aliases the arena and keeps one chunk of it (at most 64 KiB for names shorter
// than that) alive.
func (c *Columns) EntityName(id EntityID) string {
	p := c.names.page(uint32(id))
	if p == nil {
		return ""
	}
	r := &p.rows[id&pageMask]
	if r.n == 0 {
		return ""
	}
	return unsafe.String(&c.text.chunks[r.chunk][r.off], r.n)
}

// Degree returns the number of relations of an entity.
func (c *Columns) Degree(id EntityID) int {
	if p := c.entities.page(uint32(id)); p != nil {
		return int(p.rows[id&pageMask].pairs.n)
	}
	return 0
}

// Neighbors returns the relations of an entity in the order of the names at
// their other ends, compared by code point.
func (c *Columns) Neighbors(id EntityID) []Neighbor {
	if p := c.entities.page(uint32(id)); p != nil {
		return c.pairs.list(p.rows[id&pageMask].pairs)
	}
	return nil
}

// EntityType returns the type of an entity as it was set.
func (c *Columns) EntityType(id EntityID) uint16 {
	if p := c.entities.page(uint32(id)); p != nil {
		return p.rows[id&pageMask].typ
	}
	return 0
}

// EntitySources returns the source chunks of an entity as they were set.
func (c *Columns) EntitySources(id EntityID) []ChunkID {
	if p := c.entities.page(uint32(id)); p != nil {
		return c.sources.list(p.rows[id&pageMask].sources)
	}
	return nil
}

// Ends returns the two entities of a relation, the one whose name is smaller by
// code point first.
func (c *Columns) Ends(id RelationID) (a, b EntityID) {
	if p := c.relations.page(uint32(id)); p != nil {
		r := &p.rows[id&pageMask]
		return r.a, r.b
	}
	return 0, 0
}

// Weight returns the weight of a relation in millionths.
func (c *Columns) Weight(id RelationID) int64 {
	if p := c.relations.page(uint32(id)); p != nil {
		return p.rows[id&pageMask].weight
	}
	return 0
}

// RelationSources returns the source chunks of a relation as they were set.
func (c *Columns) RelationSources(id RelationID) []ChunkID {
	if p := c.relations.page(uint32(id)); p != nil {
		return c.sources.list(p.rows[id&pageMask].sources)
	}
	return nil
}

// ChunkPlace returns the document of a chunk and the chunk's order in it.
func (c *Columns) ChunkPlace(id ChunkID) (DocID, uint32) {
	if p := c.chunks.page(uint32(id)); p != nil {
		r := &p.rows[id&pageMask]
		return r.doc, r.order
	}
	return 0, 0
}

// LineTokens returns the tokens of the owner's line in a context.
func (c *Columns) LineTokens(kind Kind, owner uint32) uint32 {
	if kind == format.KindChunk {
		if p := c.chunks.page(owner); p != nil {
			return p.rows[owner&pageMask].tokens
		}
		return 0
	}
	if r := c.common(kind, owner); r != nil {
		return r.tokens
	}
	return 0
}

// Tokens returns the sum of LineTokens over all owners of a kind.
func (c *Columns) Tokens(kind Kind) uint64 {
	if int(kind) < len(c.tokens) {
		return c.tokens[kind]
	}
	return 0
}

// Slot returns the vector slot of an owner, false when it has no vector.
func (c *Columns) Slot(kind Kind, owner uint32) (uint32, bool) {
	if kind == format.KindChunk {
		if p := c.chunks.page(owner); p != nil {
			r := &p.rows[owner&pageMask]
			return r.slot, r.hasSlot
		}
		return 0, false
	}
	if r := c.common(kind, owner); r != nil {
		return r.slot, r.hasSlot
	}
	return 0, false
}

// Sole returns the only document that an owner comes from, false when there are
// several. A chunk always has one.
func (c *Columns) Sole(kind Kind, owner uint32) (DocID, bool) {
	var doc DocID
	if kind == format.KindChunk {
		doc, _ = c.ChunkPlace(ChunkID(owner))
	} else if r := c.common(kind, owner); r != nil {
		doc = r.sole
	}
	return doc, doc != 0
}

// common returns the shared part of an entity's or relation's row, nil when
// there is no page for it or the kind is another.
func (c *Columns) common(kind Kind, owner uint32) *common {
	switch kind {
	case format.KindEntity:
		if p := c.entities.page(owner); p != nil {
			return &p.rows[owner&pageMask].common
		}
	case format.KindRelation:
		if p := c.relations.page(owner); p != nil {
			return &p.rows[owner&pageMask].common
		}
	}
	return nil
}

// Entities yields the live entities by ascending id.
func (c *Columns) Entities() iter.Seq[EntityID] {
	return func(yield func(EntityID) bool) {
		for id, ok := c.entities.next(0); ok && yield(EntityID(id)); {
			id, ok = c.entities.next(uint64(id) + 1)
		}
	}
}

// Relations yields the live relations by ascending id.
func (c *Columns) Relations() iter.Seq[RelationID] {
	return func(yield func(RelationID) bool) {
		for id, ok := c.relations.next(0); ok && yield(RelationID(id)); {
			id, ok = c.relations.next(uint64(id) + 1)
		}
	}
}

// Chunks yields the live chunks by ascending id.
func (c *Columns) Chunks() iter.Seq[ChunkID] {
	return func(yield func(ChunkID) bool) {
		for id, ok := c.chunks.next(0); ok && yield(ChunkID(id)); {
			id, ok = c.chunks.next(uint64(id) + 1)
		}
	}
}

// Bytes returns the memory that this version reaches, in bytes, and the part of
// it that is garbage kept until the next compaction. Versions share most of it.
func (c *Columns) Bytes() (total, garbage int64) {
	pairs, deadPairs := c.pairs.bytes()
	sources, deadSources := c.sources.bytes()
	mentioned, deadMentioned := c.mentioned.bytes()
	text, deadText := c.text.bytes()
	pages := c.entities.bytes() + c.names.bytes() + c.relations.bytes() + c.chunks.bytes() + c.mentions.bytes()
	return pages + pairs + sources + mentioned + text, deadPairs + deadSources + deadMentioned + deadText
}
