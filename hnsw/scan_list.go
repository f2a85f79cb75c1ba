package hnsw

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// scanBitmap does so for the slots of a bitmap, about n, in slot order.
func (c *scratch) scanBitmap(t *table, q []float32, bitmap *roaring.Bitmap, n int, f *filter, b *best) {
	c.begin(t, q, n)
	c.iterator.Initialize(bitmap)
	for {
		n := c.iterator.NextMany(c.ids[:scanBlock])
		if n == 0 {
			return
		}
		c.addListed(t, q, c.ids[:n], f, b)
	}
}

// scanList does so for the listed slots.
func (c *scratch) scanList(t *table, q []float32, slots []uint32, f *filter, b *best) {
	c.begin(t, q, len(slots))
	for len(slots) > 0 {
		block := slots[:min(len(slots), scanBlock)]
		slots = slots[len(block):]
		c.addListed(t, q, block, f, b)
	}
}

// addListed does so for those of a block of slots that are below the filter's limit. slots may be in c.ids.
func (c *scratch) addListed(t *table, q []float32, slots []uint32, f *filter, b *best) {
	picky := c.picky(f, b)
	ids := c.ids[:0]
	for _, slot := range slots {
		if slot < f.limit && (!picky || c.ask(f, slot)) {
			ids = append(ids, slot)
		}
	}
	if picky {
		f = nil
	} else if c.coding.helps(b) {
		of := len(ids)
		ids = c.hopefulOf(t, ids, b.least())
		c.coding.judge(len(ids), of)
		c.scoreHopeful(t, q, ids, f, b)
		return
	}
	c.score(t, q, ids, f, b)
}

// ask asks the filter and remembers how it went.
func (c *scratch) ask(f *filter, slot uint32) bool {
	c.asked++
	if !f.ok(slot) {
		return false
	}
	c.passed++
	return true
}

// fewPass says whether the filter has passed few of many.
func (c *scratch) fewPass() bool { return c.asked > scanBlock && c.passed < c.asked/4 }

// picky says whether to ask the filter about the slots of a block before they are scored. As a rule it is asked
// only about slots that are good enough, which are few, since its answer costs about as much as a score. But
// nearly all are good enough when too few have passed yet, or when codes do not help and the filter passes little.
func (c *scratch) picky(f *filter, b *best) bool {
	if f.trivial() {
		return false
	}
	if !b.full {
		return true
	}
	if c.coding.skip > 0 && c.fewPass() {
		c.coding.skip--
		return true
	}
	return false
}

// scoreHopeful is score for slots that codes have not ruled out, whose products are in c.near. Their rows are here
// and there, and cost more to read than the filter to ask; the nearest come first, for with what they score codes rule
// out more of the others.
func (c *scratch) scoreHopeful(t *table, q []float32, ids []uint32, f *filter, b *best) {
	const few = 16
	if !f.trivial() && c.fewPass() {
		passed := ids[:0]
		for i, id := range ids {
			if c.ask(f, id) {
				c.near[len(passed)] = c.near[i]
				passed = append(passed, id)
			}
		}
		ids, f = passed, nil
	}
	if len(ids) <= few {
		c.score(t, q, ids, f, b)
		return
	}
	ranks := c.news[:len(ids)]
	for i, id := range ids {
		ranks[i] = rankOf(c.near[i], id)
	}
	slices.Sort(ranks)
	for len(ranks) > 0 {
		part := ranks[:min(len(ranks), few)]
		ranks = ranks[len(part):]
		need := c.coding.needed(b.least())
		ids := c.ids[:0]
		for _, r := range part {
			if r.near() < need {
				ranks = nil
				break
			}
			ids = append(ids, r.slot())
		}
		c.score(t, q, ids, f, b)
	}
}

// hopefulOf keeps those of the listed slots whose score may be at least least, and leaves their products in c.near.
func (c *scratch) hopefulOf(t *table, ids []uint32, least float32) []uint32 {
	e := &c.coding
	products := c.near[:len(ids)]
	simd.DotMany8(&c.code, &t.codes, ids, products)
	kept := ids[:0]
	block, need, most := uint32(math.MaxUint32), int32(0), 0.0
	for i, p := range products {
		id := ids[i]
		if id/scanBlock != block {
			m, at := t.at(id)
			block = id / scanBlock
			e.lose(m, at, 1)
			need, most = e.needed(least), max(most, e.lost)
		}
		if p >= need {
			products[len(kept)] = p
			kept = append(kept, id)
		}
	}
	e.lost = most
	return kept
}
