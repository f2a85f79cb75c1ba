package hnsw

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// giveUp is the number of blocks that a scan reads without looking at codes after one in which they did not help.
const giveUp = 15

// scan adds the slots in [from, to) that pass the filter.
func (c *scratch) scan(t *table, q []float32, from, to uint32, f *filter, b *best) {
	coded := c.useCodes(t, q, int(to-from))
	for plain := 0; from < to; {
		n := min(to-from, scanBlock, chunkSlots-from&chunkMask)
		if coded && b.full && plain == 0 {
			ids := c.hopeful(t, from, n, b.least())
			c.score(t, q, ids, f, b)
			if len(ids) > int(n)/2 {
				plain = giveUp
			}
		} else {
			simd.DotRange(q, &t.rows, from, c.scores[:n])
			c.addRange(from, n, f, b)
			plain = max(0, plain-1)
		}
		from += n
	}
}

// useCodes prepares a scan of n rows for looking at codes first, or says that it had better not.
func (c *scratch) useCodes(t *table, q []float32, n int) bool {
	if t.turn == nil || n < codesFrom {
		return false
	}
	c.prepare(t, q)
	return true
}

// addRange adds n slots from first on, whose scores are in c.scores.
func (c *scratch) addRange(first, n uint32, f *filter, b *best) {
	least := b.least()
	for i, score := range c.scores[:n] {
		if score < least {
			continue
		}
		if r := makeRank(score, first+uint32(i)); b.wants(r) && f.ok(r.slot()) {
			b.add(r)
			least = b.least()
		}
	}
}

// scanBitmap does so for the slots of a bitmap, about n, in slot order.
func (c *scratch) scanBitmap(t *table, q []float32, bitmap *roaring.Bitmap, n int, f *filter, b *best) {
	coded := c.useCodes(t, q, n)
	c.iterator.Initialize(bitmap)
	for {
		n := c.iterator.NextMany(c.ids[:scanBlock])
		if n == 0 {
			return
		}
		c.addListed(t, q, c.ids[:n], coded, f, b)
	}
}

// scanList does so for the listed slots.
func (c *scratch) scanList(t *table, q []float32, slots []uint32, f *filter, b *best) {
	coded := c.useCodes(t, q, len(slots))
	for len(slots) > 0 {
		block := slots[:min(len(slots), scanBlock)]
		slots = slots[len(block):]
		c.addListed(t, q, block, coded, f, b)
	}
}

// addListed does so for those of a block of slots that are below the filter's limit. slots may be in c.ids.
func (c *scratch) addListed(t *table, q []float32, slots []uint32, coded bool, f *filter, b *best) {
	ids := c.ids[:0]
	for _, slot := range slots {
		if slot < f.limit {
			ids = append(ids, slot)
		}
	}
	if coded && b.full {
		ids = c.hopefulOf(t, ids, b.least())
	}
	c.score(t, q, ids, f, b)
}

// score asks the filter only about slots that are good enough: its answer costs about as much as a score, and
// few slots need it.
func (c *scratch) score(t *table, q []float32, ids []uint32, f *filter, b *best) {
	simd.DotMany(q, &t.rows, ids, c.scores)
	for i, id := range ids {
		if r := makeRank(c.scores[i], id); b.wants(r) && f.ok(id) {
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
