package hnsw

import (
	"math"
	"math/bits"
)

// change is what becomes of one id.
type change struct {
	id        uint64
	slot, old uint32
	replaces  bool // old, which was the slot of the id
	removes   bool // slot means nothing
	inherited bool // slot has taken the place of old
}

const (
	// alikeFrom is the cosine from which a vector inherits the place of the one it replaces.
	alikeFrom = 0.9
	// driftMost is how far a vector may be from the one whose neighbours were searched for properly, as the share of
	// signs that differ: as much as their angle is of half a turn. It stands for a cosine of 0.63.
	driftMost = 18. / 64
)

// put writes a row into a spare slot, or a new one, for ch, and links it unless it is new and no vector like it
// is replaced. near is the cosine of the two.
func (ix *Index) put(ch *change, row []float32, near float32) error {
	c := ix.cur
	fill := func(to []float32) { copy(to, row) }
	c.hidden.Add(1)
	slot, spare := c.g.takeSpare()
	if spare {
		c.reuse(slot, ch.id, unborn)
		c.g.revive(slot, fill)
	} else {
		slot = c.g.Bound()
		c.reserve(slot, ch.id, unborn)
		if _, err := c.g.append(fill); err != nil {
			c.hidden.Add(-1)
			return err
		}
	}
	ch.slot = slot
	if !spare && near < alikeFrom {
		return nil
	}
	from, drifted := uint64(0), false
	if near >= alikeFrom {
		chunk, i := c.at(ch.old)
		if from = chunk.from[i]; from == 0 {
			from = c.g.signs(ch.old)
		}
		differ := bits.OnesCount64(from ^ c.g.signs(slot))
		drifted = float64(differ) > driftMost*float64(min(c.g.dim, 64))
	}
	if c.g.linkNow(slot, ch.old, near >= alikeFrom && !drifted) {
		ch.inherited = true
		chunk, i := c.at(slot)
		chunk.from[i] = from
	}
	return nil
}

// signs returns the signs of some elements of a row, rotated where there are codes. Two vectors differ in about as large
// a share of them as their angle is of half a turn.
func (g *Graph) signs(slot uint32) (signs uint64) {
	t := g.table.Load()
	if t.turn != nil {
		for i, x := range t.codes.Row(slot)[:min(g.dim, 64)] {
			signs |= uint64(x>>7) << i
		}
		return signs
	}
	for i, x := range t.row(slot)[:min(g.dim, 64)] {
		signs |= uint64(math.Float32bits(x)>>31) << i
	}
	return signs
}
