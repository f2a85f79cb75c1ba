package columns

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// AddRelation makes a relation between two different live entities that have
// none yet, and enters it in both neighbour lists.
func (b *Builder) AddRelation(id RelationID, x, y EntityID) {
	if !b.addRelation(id, x, y) {
		return
	}
	list := b.form(x)
	at, found := b.find(list, y)
	if found {
		b.refuse("add relation %d: entities %d and %d already have one", id, x, y)
		b.next.relations.drop(uint32(id), b.next.gen)
		return
	}
	b.forms[x] = slices.Insert(list, at, Neighbor{y, id})
	list = b.form(y)
	at, _ = b.find(list, x)
	b.forms[y] = slices.Insert(list, at, Neighbor{x, id})
}

// addRelation makes the row of a relation and leaves the neighbour lists alone.
func (b *Builder) addRelation(id RelationID, x, y EntityID) bool {
	n := &b.next
	if !b.ok(!n.RelationLive(id), "add existing relation", uint32(id)) ||
		!b.ok(n.EntityLive(x), "add relation of unknown entity", uint32(x)) ||
		!b.ok(n.EntityLive(y), "add relation of unknown entity", uint32(y)) ||
		!b.ok(x != y, "add self loop of entity", uint32(x)) {
		return false
	}
	if n.compareNames(x, y) > 0 {
		x, y = y, x
	}
	row := n.relations.put(uint32(id), n.gen)
	row.a, row.b = x, y
	return true
}

// DropRelation removes a relation from both neighbour lists.
func (b *Builder) DropRelation(id RelationID) {
	n := &b.next
	if !b.ok(n.RelationLive(id), "drop unknown relation", uint32(id)) {
		return
	}
	x, y := n.Ends(id)
	b.remove(x, id)
	b.remove(y, id)
	b.dropRelation(id)
}

// dropRelation removes the row of a relation.
func (b *Builder) dropRelation(id RelationID) {
	n := &b.next
	row := n.relations.put(uint32(id), n.gen)
	b.count(format.KindRelation, row.tokens, 0)
	n.sources.free(row.sources.room)
	n.relations.drop(uint32(id), n.gen)
}

// remove takes a relation out of one list. A scan of ids that lie side by side
// is faster than a search by name, which misses the cache at every step, and of
// the same order as the copy of the list.
func (b *Builder) remove(from EntityID, id RelationID) {
	list := b.form(from)
	at := slices.IndexFunc(list, func(nb Neighbor) bool { return nb.Relation == id })
	b.forms[from] = slices.Delete(list, at, at+1)
}

// neighbors returns the list of id as edited so far.
func (b *Builder) neighbors(id EntityID) []Neighbor {
	if list, ok := b.forms[id]; ok {
		return list
	}
	return b.next.Neighbors(id)
}

// form returns the working copy of the list of id, so that several edits of a
// hub cost one copy into the arena.
func (b *Builder) form(id EntityID) []Neighbor {
	if list, ok := b.forms[id]; ok {
		return list
	}
	if b.forms == nil {
		b.forms = make(map[EntityID][]Neighbor)
	}
	old := b.next.Neighbors(id)
	list := append(b.scratch(len(old)+4), old...)
	b.forms[id] = list
	return list
}

// scratch returns an empty list with room for n, cut from a shared block so that
// many small lists cost few allocations. It dies with the builder.
func (b *Builder) scratch(n int) []Neighbor {
	if n > len(b.block) {
		b.block = make([]Neighbor, max(n, 1024))
	}
	list := b.block[:0:n]
	b.block = b.block[n:]
	return list
}

// find returns where the neighbour is in list, or would be.
func (b *Builder) find(list []Neighbor, id EntityID) (int, bool) {
	name := b.next.EntityName(id)
	return slices.BinarySearchFunc(list, id, func(nb Neighbor, id EntityID) int {
		if nb.Entity == id {
			return 0
		}
		if d := strings.Compare(b.next.EntityName(nb.Entity), name); d != 0 {
			return d
		}
		return cmp.Compare(nb.Entity, id)
	})
}

// compareNames orders entities by name; the id only matters when the caller
// broke the rule that names are distinct.
func (c *Columns) compareNames(x, y EntityID) int {
	if x == y {
		return 0
	}
	if d := strings.Compare(c.EntityName(x), c.EntityName(y)); d != 0 {
		return d
	}
	return cmp.Compare(x, y)
}

// storeNeighbors writes the working copies into the arena, by id so that the
// layout does not depend on the order of a map.
func (b *Builder) storeNeighbors() {
	n := &b.next
	for _, id := range slices.Sorted(maps.Keys(b.forms)) {
		row := n.entities.put(uint32(id), n.gen)
		n.pairs.free(row.pairs.room)
		row.pairs = n.pairs.store(b.forms[id], 0)
	}
	b.forms, b.block = nil, nil
}
