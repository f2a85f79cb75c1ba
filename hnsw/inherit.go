package hnsw

import (
	"slices"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// inheritEf is how many candidates a slot that inherits a place collects, with M 16 twenty: more cost more and find
// hardly better neighbours.
func (g *Graph) inheritEf() int { return g.o.M + g.o.M/4 }

// inherit links slot in the place of old, whose row is much like its own: a short walk from there finds whom to
// choose from, and those who named old name slot from then on. The two name each other: until old goes, those who
// still come to it find their way, and searches that may see old but not slot find old.
//
// It returns false, having done nothing, when that cannot be or would not be good: old is no node, or has twins; few
// of those around it are alive; one of them has the very row of slot; slot is far from old, as distances are around there.
func (g *Graph) inherit(c *linker, slot, old uint32) bool {
	t := g.hold()
	defer g.let()
	if g.leaves(c, t, old, slot) {
		return false
	}
	c.aimAt(t, slot)
	if t.nextTwin(old) != 0 || !g.around(c, t, slot, old, 0) || len(c.found) < g.o.M/2 {
		return false
	}
	if _, found := c.sameRow(t, slot); found {
		return false
	}
	g.settle(c, t, slot, old, 0)
	level, had := levelOf(g.o.Seed, slot, g.o.M), levelOf(g.o.Seed, old, g.o.M)
	for layer := 1; layer <= min(level, had); layer++ {
		c.aimAt(t, slot)
		if g.around(c, t, slot, old, layer) {
			g.settle(c, t, slot, old, layer)
		}
	}
	g.linkAbove(c, t, slot, had)
	g.upkeep.bequeath(old, slot)
	return true
}

// leavesFrom is how many times as far as the neighbours of a slot, in the middle, one has to be to leave their place:
// the square of that. Those who are replaced around a base are at most twice as far from one another as from the base.
const leavesFrom = 2

// leaves reports whether slot is far from old, as distances are around there. In a group that is tight they are so small
// that others would come to it in vain: whoever names old had better choose among the others of the group, as those do
// that lose a neighbour.
func (g *Graph) leaves(c *linker, t *table, old, slot uint32) bool {
	names, _ := neighbours(t.zero(old), MaxSlots, c.old[:0])
	c.old = append(names, slot)
	c.distances = t.distances(c.scratch, old, c.old, c.distances[:0])
	n := len(names)
	step := c.distances[n]
	slices.Sort(c.distances[:n])
	return n > 0 && step > leavesFrom*c.distances[n/2]
}

// distances appends how far some slots are from another one: the squares, but for a factor.
func (t *table) distances(c *scratch, slot uint32, ids []uint32, to []float64) []float64 {
	near, one := t.between(c, slot, ids), 1.
	if t.walks {
		one = float64(simd.Dot8(&c.others[0].code, t.codes.Row(slot)))
	}
	for i, x := range near {
		if t.walks {
			to = append(to, max(0, one-float64(x)))
		} else {
			to = append(to, max(0, one-float64(rankOf(x, ids[i]).score())))
		}
	}
	return to
}

// around leaves in c.found who is alive around old on a layer, as seen from slot, at which c aims: who is nearest, and
// whom old named or was named by. Those may be far away, but they are the way to there, and back.
func (g *Graph) around(c *linker, t *table, slot, old uint32, layer int) bool {
	names, _ := neighbours(g.list(t, old, layer), MaxSlots, c.old[:0])
	c.old = names
	alive := c.stay[:0]
	if layer == 0 {
		names = g.namedBy(t, old, names)
		c.old = names
	}
	for _, id := range names {
		if id, ok := g.living(t, id, layer); ok && !slices.Contains(alive, id) {
			alive = append(alive, id)
		}
	}
	c.stay = alive
	c.found = c.found[:0]
	for len(alive) > 0 {
		n := min(len(alive), len(c.near))
		for i, near := range c.compare(t, alive[:n]) {
			c.found = append(c.found, rankOf(near, alive[i]))
		}
		alive = alive[n:]
	}
	if len(c.found) == 0 {
		return false
	}
	slices.Sort(c.found)
	c.candidates = append(c.candidates[:0], c.found...)
	c.found = c.found[:min(len(c.found), g.inheritEf())]
	c.walkPast(g, t, g.bound.Load(), layer, g.inheritEf(), true)
	c.found = append(c.found, c.candidates...)
	slices.Sort(c.found)
	c.found = slices.Compact(c.found)
	c.found = slices.DeleteFunc(c.found, func(r rank) bool {
		return r.slot() == old || r.slot() == slot || g.upkeep.leaving.has(r.slot())
	})
	return len(c.found) > 0
}

// namedBy appends those of whom it is known that they name slot on layer 0. Some that once did have gone since, and their
// slots may be anybody's, also of one that has no list.
func (g *Graph) namedBy(t *table, slot uint32, to []uint32) []uint32 {
	for _, owner := range g.upkeep.followers[slot] {
		if g.upkeep.apart.has(owner) {
			continue
		}
		if slices.Contains(listed(t.zero(owner)), slot) {
			to = append(to, owner)
		}
	}
	return to
}

// settle links slot with the best of c.found, in the place of old. On layer 0 it names half as many more as one that is
// new: those are named back by others who come later, which do not come to a slot that is replaced all the time.
func (g *Graph) settle(c *linker, t *table, slot, old uint32, layer int) {
	least := g.o.M
	if layer == 0 {
		least += g.o.M / 2
	}
	g.chooseBeside(c, t, slot, c.found, g.capacity(layer)-1, 0, least)
	out := append(c.out, old)
	if layer == 0 {
		for _, id := range out {
			t.inDegree(id).Add(1)
		}
	}
	replace(g.list(t, slot, layer), out)
	c.out = out
	g.exchange(c, t, old, slot, layer)
	for _, r := range c.newcomers {
		g.addLink(c, t, r.slot(), slot, r.near(), layer)
	}
}
