package columns

import (
	"cmp"
	"maps"
	"slices"
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
	b.remove(x, y)
	b.remove(y, x)
	b.dropRelation(id)
}

// dropRelation removes the row of a relation.
func (b *Builder) dropRelation(id RelationID) {
	n := &b.next
	n.sources.free(n.relations.put(uint32(id), n.gen).sources.room)
	n.relations.drop(uint32(id), n.gen)
}

func (b *Builder) remove(from, other EntityID) {
	list := b.form(from)
	if at, found := b.find(list, other); found {
		b.forms[from] = slices.Delete(list, at, at+1)
	}
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
	list := append(make([]Neighbor, 0, len(old)+4), old...)
	b.forms[id] = list
	return list
}

// find returns where the neighbour is in list, or would be.
func (b *Builder) find(list []Neighbor, id EntityID) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(nb Neighbor, id EntityID) int {
		return b.next.compareNames(nb.Entity, id)
	})
}

// compareNames orders entities by name; the id only matters when the caller
// broke the rule that names are distinct.
func (c *Columns) compareNames(x, y EntityID) int {
	if x == y {
		return 0
	}
	if d := cmp.Compare(c.EntityName(x), c.EntityName(y)); d != 0 {
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
	b.forms = nil
}
