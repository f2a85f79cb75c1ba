package columns

import "github.com/lightctl/lightrag/format"

// The ids and the kind are those of package format.
type (
	DocID      = format.DocID
	ChunkID    = format.ChunkID
	EntityID   = format.EntityID
	RelationID = format.RelationID
	Kind       = format.Kind
)

// EntityRow is what SetEntity writes about an entity. Sole is the only document
// that mentions it, 0 when there are several. Type is a number that the owner of
// the columns gave to the entity's type. Sources are copied; nil keeps the list
// as it is, an empty list that is not nil clears it.
type EntityRow struct {
	Type       uint16
	LineTokens uint32
	Slot       uint32
	HasSlot    bool
	Sole       DocID
	Sources    []ChunkID
}

// RelationRow is what SetRelation writes about a relation. Weight is in
// millionths; the rest is as in EntityRow.
type RelationRow struct {
	Weight     int64
	LineTokens uint32
	Slot       uint32
	HasSlot    bool
	Sole       DocID
	Sources    []ChunkID
}

// ChunkRow is what AddChunk writes about a chunk.
type ChunkRow struct {
	Doc        DocID
	Order      uint32
	LineTokens uint32
	Slot       uint32
	HasSlot    bool
}

// Neighbor is one end of a relation as seen from the other.
type Neighbor struct {
	Entity   EntityID
	Relation RelationID
}

// common is the part of a row that entities and relations share.
type common struct {
	sources span
	tokens  uint32
	slot    uint32
	hasSlot bool
	typ     uint16 // of an entity; here it takes no room
	sole    DocID
}

// The rows inside pages. All are free of pointers, so that the collector does
// not look into pages; an entity and a relation take 48 bytes.
type (
	entityRow struct {
		common
		pairs span
	}
	relationRow struct {
		common
		weight int64
		a, b   EntityID // name of a < name of b
	}
	chunkRow struct {
		doc     DocID
		order   uint32
		tokens  uint32
		slot    uint32
		hasSlot bool
	}
	nameRow struct {
		chunk, off, n uint32
	}
)

func (r nameRow) span() span { return span{r.chunk, r.off, r.n, r.n} }
