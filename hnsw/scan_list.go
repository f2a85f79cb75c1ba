package hnsw

import (
	"math"

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

// scoreHopeful is score for slots that codes have not ruled out. Their rows are here and there, and cost more to
// read than the filter to ask.
func (c *scratch) scoreHopeful(t *table, q []float32, ids []uint32, f *filter, b *best) {
	if f.trivial() || !c.fewPass() {
		c.score(t, q, ids, f, b)
		return
	}
	passed := ids[:0]
	for _, id := range ids {
		if c.ask(f, id) {
			passed = append(passed, id)
		}
	}
	c.score(t, q, passed, nil, b)
}

// hopefulOf keeps those of the listed slots whose score may be at least least.
func (c *scratch) hopefulOf(t *table, ids []uint32, least float32) []uint32 {
	e := &c.coding
	products := c.near[:len(ids)]
	simd.DotMany8(&c.code, &t.codes, ids, products)
	kept := ids[:0]
	block, need := uint32(math.MaxUint32), int32(0)
	for i, p := range products {
		id := ids[i]
		if id/scanBlock != block {
			m, at := t.at(id)
			block, need = id/scanBlock, e.needed(m, at, least)
		}
		if p >= need {
			kept = append(kept, id)
		}
	}
	return kept
}
