package hnsw

import (
	"maps"
	"slices"
)

// members is the set of twins that are not the first of their chain: no nodes, and named by nobody.
func (g *Graph) members(t *table) slotSet {
	var s slotSet
	for first := range g.tails {
		for slot := t.nextTwin(first); slot != 0; slot = t.nextTwin(slot) {
			s.add(slot)
		}
	}
	return s
}

// tidyChains takes dead twins out of their chains. Where the first of a chain is dead, the next takes its place as
// a node: so dead nodes have no twins, but those that are linked later.
func (g *Graph) tidyChains(c *linker, t *table) {
	for _, first := range slices.Sorted(maps.Keys(g.tails)) {
		last := first
		for slot := t.nextTwin(first); slot != 0; {
			next := t.nextTwin(slot)
			if t.dead(slot) {
				t.setTwin(last, next)
				g.part(slot)
			} else {
				last = slot
			}
			slot = next
		}
		if g.tails[first] = last; last == first {
			g.unchain(t, first)
		} else if t.dead(first) {
			g.promote(c, t, first)
		}
	}
}

func (t *table) setTwin(slot, next uint32) {
	t.ties[slot>>chunkShift].twin[slot&chunkMask].Store(next)
}

// unchain makes a node one without twins.
func (g *Graph) unchain(t *table, first uint32) {
	delete(g.tails, first)
	setTwins(t.zero(first), false)
	t.setTwin(first, 0)
}

// promote makes the second of a chain its first, in the place of a dead one. Their rows are the same, and so the
// lists of one are as good for the other. Who comes by meanwhile may meet it twice, as a twin and as a node; a walk
// visits it once.
func (g *Graph) promote(c *linker, t *table, first uint32) {
	heir, last := t.nextTwin(first), g.tails[first]
	ids, _ := neighbours(t.zero(first), MaxSlots, c.stay[:0])
	c.stay = ids
	for _, id := range ids {
		t.inDegree(id).Add(1)
	}
	list := t.zero(heir)
	replace(list, ids)
	if last != heir {
		g.tails[heir] = last
		setTwins(list, true)
	}
	c.found = c.found[:0]
	g.exchange(c, t, first, heir, 0)
	g.unchain(t, first)
	g.linkAbove(c, t, heir, 0)
}
