package hnsw

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// scan adds the slots in [from, to) that pass the filter.
func (c *scratch) scan(t *table, q []float32, from, to uint32, f *filter, b *best) {
	c.begin(t, q, int(to-from))
	for from < to {
		n := min(to-from, scanBlock-from%scanBlock)
		if c.picky(f, b) {
			ids := c.ids[:0]
			for slot := from; slot < from+n; slot++ {
				if c.ask(f, slot) {
					ids = append(ids, slot)
				}
			}
			c.score(t, q, ids, nil, b)
		} else if c.coding.helps(b) {
			ids := c.hopeful(t, from, n, b.least())
			c.coding.judge(len(ids), int(n))
			c.scoreHopeful(t, q, ids, f, b)
		} else {
			simd.DotRange(q, &t.rows, from, c.scores[:n])
			c.addRange(from, n, f, b)
		}
		from += n
	}
}

// addRange adds n slots from first on, whose scores are in c.scores.
func (c *scratch) addRange(first, n uint32, f *filter, b *best) {
	least := b.least()
	for i, score := range c.scores[:n] {
		if score < least {
			continue
		}
		if r := makeRank(score, first+uint32(i)); b.wants(r) && c.ask(f, r.slot()) {
			b.add(r)
			least = b.least()
		}
	}
}

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

// score adds the listed slots that pass the filter, if there is one.
func (c *scratch) score(t *table, q []float32, ids []uint32, f *filter, b *best) {
	simd.DotMany(q, &t.rows, ids, c.scores)
	for i, id := range ids {
		if r := makeRank(c.scores[i], id); b.wants(r) && (f == nil || c.ask(f, id)) {
			b.add(r)
		}
	}
}

// dense fills c.allow with the slots of a bitmap below n.
func (c *scratch) dense(bitmap *roaring.Bitmap, n uint32) {
	c.allow = clearedBits(c.allow, n)
	c.iterator.Initialize(bitmap)
	for {
		ids := c.ids[:scanBlock]
		ids = ids[:c.iterator.NextMany(ids)]
		for _, slot := range ids {
			if slot >= n {
				return
			}
			c.allow[slot>>6] |= 1 << (slot & 63)
		}
		if len(ids) == 0 {
			return
		}
	}
}
