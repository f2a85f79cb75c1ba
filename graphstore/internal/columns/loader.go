package columns

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Loader makes the first version of a store that is being opened, equal to what
// a Builder would make of the same calls, in O(n log n). An owner is added
// before it is named by another call; apart from that any order will do. It is
// used by one goroutine.
type Loader struct {
	b *Builder
}

// NewLoader returns a loader without content.
func NewLoader() *Loader {
	b := Empty().Edit()
	b.loading = true
	return &Loader{b}
}

// AddEntity makes an entity; see Builder.
func (l *Loader) AddEntity(id EntityID, name string) { l.b.AddEntity(id, name) }

// SetEntity replaces the row of an entity; see Builder.
func (l *Loader) SetEntity(id EntityID, r EntityRow) { l.b.SetEntity(id, r) }

// SetEntitySlot sets the vector slot of an entity.
func (l *Loader) SetEntitySlot(id EntityID, slot uint32) { l.b.SetEntitySlot(id, slot) }

// AddRelation makes a relation between two entities. A second relation of the
// same pair is refused by Done, which keeps the one with the smaller id.
func (l *Loader) AddRelation(id RelationID, x, y EntityID) { l.b.addRelation(id, x, y) }

// SetRelation replaces the row of a relation; see Builder.
func (l *Loader) SetRelation(id RelationID, r RelationRow) { l.b.SetRelation(id, r) }

// SetRelationSlot sets the vector slot of a relation.
func (l *Loader) SetRelationSlot(id RelationID, slot uint32) { l.b.SetRelationSlot(id, slot) }

// AddChunk makes a chunk.
func (l *Loader) AddChunk(id ChunkID, r ChunkRow) { l.b.AddChunk(id, r) }

// SetChunkSlot sets the vector slot of a chunk.
func (l *Loader) SetChunkSlot(id ChunkID, slot uint32) { l.b.SetChunkSlot(id, slot) }

// Err returns the first call that was refused, nil when there is none. Ask
// after Done, which may refuse relations.
func (l *Loader) Err() error { return l.b.Err() }

// Done builds the neighbour lists and the mentions and returns the version.
func (l *Loader) Done() *Columns {
	if l.b.done {
		return nil
	}
	l.link()
	l.mention()
	return l.b.Done()
}

// link fills the neighbour lists. They are written with the rank of the
// neighbour's name in place of its id, sorted as integers, and translated back:
// names are compared n log n times, not once per comparison of each list.
func (l *Loader) link() {
	n := &l.b.next
	order := n.byName()
	var ranks table[uint32]
	for rank, id := range order {
		*ranks.put(uint32(id), n.gen) = uint32(rank)
	}
	rank := func(id EntityID) EntityID {
		return EntityID(ranks.page(uint32(id)).rows[id&pageMask])
	}
	// Degrees first: until the lists exist, room counts and n is zero.
	n.relations.each(n.gen, func(r *relationRow) {
		n.entities.put(uint32(r.a), n.gen).pairs.room++
		n.entities.put(uint32(r.b), n.gen).pairs.room++
	})
	n.entities.each(n.gen, func(r *entityRow) {
		r.pairs = n.pairs.alloc(int(r.pairs.room))
	})
	for id := range n.Relations() {
		x, y := n.Ends(id)
		n.pairs.extend(&n.entities.put(uint32(x), n.gen).pairs, []Neighbor{{rank(y), id}})
		n.pairs.extend(&n.entities.put(uint32(y), n.gen).pairs, []Neighbor{{rank(x), id}})
	}
	n.entities.each(n.gen, func(r *entityRow) {
		list := n.pairs.list(r.pairs)
		slices.SortFunc(list, func(x, y Neighbor) int {
			if x.Entity != y.Entity {
				return cmp.Compare(x.Entity, y.Entity)
			}
			return cmp.Compare(x.Relation, y.Relation)
		})
		kept := slices.CompactFunc(list, l.twice)
		n.pairs.free(uint32(len(list) - len(kept)))
		r.pairs.n = uint32(len(kept))
		r.pairs.room = r.pairs.n
		for i := range kept {
			kept[i].Entity = order[kept[i].Entity]
		}
	})
}

// twice reports whether two neighbours are the same entity, and drops the
// relation with the larger id. The list of the other end leaves out the same.
func (l *Loader) twice(x, y Neighbor) bool {
	if x.Entity != y.Entity {
		return false
	}
	if id := max(x.Relation, y.Relation); l.b.next.RelationLive(id) {
		l.b.refuse("add relation %d: its entities already have relation %d", id, min(x.Relation, y.Relation))
		l.b.dropRelation(id)
	}
	return true
}

// byName returns the live entities in name order.
func (c *Columns) byName() []EntityID {
	type key struct {
		head uint64 // first eight bytes of the name: decides most comparisons
		id   EntityID
	}
	keys := make([]key, 0, c.entities.live)
	for id := range c.Entities() {
		var head [8]byte
		copy(head[:], c.EntityName(id))
		keys = append(keys, key{binary.BigEndian.Uint64(head[:]), id})
	}
	slices.SortFunc(keys, func(x, y key) int {
		if x.head != y.head {
			return cmp.Compare(x.head, y.head)
		}
		return c.compareNames(x.id, y.id)
	})
	order := make([]EntityID, len(keys))
	for i, k := range keys {
		order[i] = k.id
	}
	return order
}
