package hnsw

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/lightctl/lightrag/hnsw/simd"
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

// putAll puts vectors into slots. Those much like the ones they replace come first: each is linked before the next
// slot is made. Then come those for whom there are spare slots; all others are appended in one go.
func (ix *Index) putAll(ids []uint64, vecs [][]float32, norms []float64) error {
	var last map[uint64]int
	if len(ids) > 1 {
		last = make(map[uint64]int, len(ids))
		for i, id := range ids {
			last[id] = i
		}
	}
	ix.fresh = ix.fresh[:0]
	for _, alike := range [...]bool{true, false} {
		for i, id := range ids {
			if last != nil && last[id] != i {
				continue
			}
			ch := change{id: id}
			ch.old, ch.replaces = ix.slots[id]
			near := float32(-1)
			if ch.replaces {
				simd.Scale(ix.unit, vecs[i], norms[i])
				row := ix.cur.g.Row(ch.old)
				near = simd.Dot(ix.unit, row)
				if near > 0.99 && slices.Equal(ix.unit, row) {
					continue
				}
			}
			if (near >= alikeFrom) != alike {
				continue
			}
			fill := func(_ int, row []float32) { simd.Scale(row, vecs[i], norms[i]) }
			put, err := ix.put(&ch, fill, near)
			if err != nil {
				return fmt.Errorf("hnsw: add %d: %w", id, err)
			}
			if !put {
				ix.fresh = append(ix.fresh, i)
				continue
			}
			ix.changes = append(ix.changes, ch)
		}
	}
	return ix.putFresh(ids, vecs, norms)
}

// putFresh appends the vectors at the places in ix.fresh, as many as there is room for.
func (ix *Index) putFresh(ids []uint64, vecs [][]float32, norms []float64) (err error) {
	c := ix.cur
	for some := len(ix.fresh); len(ix.fresh) > 0; {
		part := ix.fresh[:min(some, len(ix.fresh))]
		first := c.g.Bound()
		for i, at := range part {
			c.reserve(first+uint32(i), ids[at], unborn)
		}
		c.hidden.Add(int32(len(part)))
		_, err = c.g.append(len(part), ix.o.Workers, func(i int, row []float32) { simd.Scale(row, vecs[part[i]], norms[part[i]]) })
		if err != nil {
			c.hidden.Add(int32(-len(part)))
			if some == 1 {
				return fmt.Errorf("hnsw: add %d: %w", ids[part[0]], err)
			}
			some = 1 // one after the other, until it is full
			continue
		}
		for i, at := range part {
			ch := change{id: ids[at], slot: first + uint32(i)}
			ch.old, ch.replaces = ix.slots[ch.id]
			ix.changes = append(ix.changes, ch)
		}
		ix.fresh = ix.fresh[len(part):]
	}
	return nil
}

// put writes a row, by fill, into a spare slot for ch and links it. near is its cosine with the one that is replaced: where
// that is much like it, the row goes into a new slot if there is no spare one. Otherwise put does nothing then, and returns
// false.
func (ix *Index) put(ch *change, fill func(i int, row []float32), near float32) (bool, error) {
	c := ix.cur
	slot, spare := c.g.takeSpare()
	if !spare && near < alikeFrom {
		return false, nil
	}
	c.hidden.Add(1)
	if spare {
		c.reuse(slot, ch.id, unborn)
		c.g.revive(slot, func(row []float32) { fill(0, row) })
	} else {
		slot = c.g.Bound()
		c.reserve(slot, ch.id, unborn)
		if _, err := c.g.append(1, 1, fill); err != nil {
			c.hidden.Add(-1)
			return false, err
		}
	}
	ch.slot = slot
	from, drifted := uint64(0), false
	if near >= alikeFrom {
		v, i := c.versionsOf(ch.old)
		if from = v.from[i]; from == 0 {
			from = c.g.signs(ch.old)
		}
		differ := bits.OnesCount64(from ^ c.g.signs(slot))
		drifted = float64(differ) > driftMost*float64(min(c.g.dim, 64))
	}
	if c.g.linkNow(slot, ch.old, near >= alikeFrom && !drifted) {
		ch.inherited = true
		v, i := c.versionsOf(slot)
		v.from[i] = from
	}
	return true, nil
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
