package hnsw

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// scan scores every slot in [from, to) and adds those that pass the filter.
func (c *scratch) scan(t *table, q []float32, from, to uint32, f *filter, b *best) {
	for from < to {
		n := min(to-from, scanBlock)
		simd.DotRange(q, &t.rows, from, c.scores[:n])
		c.addRange(from, n, f, b)
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
		if r := makeRank(score, first+uint32(i)); b.wants(r) && f.ok(r.slot()) {
			b.add(r)
			least = b.least()
		}
	}
}

// scanBitmap does so for the slots of a bitmap, in slot order.
func (c *scratch) scanBitmap(t *table, q []float32, bitmap *roaring.Bitmap, f *filter, b *best) {
	c.iterator.Initialize(bitmap)
	for {
		n := c.iterator.NextMany(c.ids[:scanBlock])
		if n == 0 {
			return
		}
		c.scanList(t, q, c.ids[:n], f, b)
	}
}

// scanList does so for the listed slots below the filter's limit. slots may share memory with c.ids.
func (c *scratch) scanList(t *table, q []float32, slots []uint32, f *filter, b *best) {
	for len(slots) > 0 {
		block := slots[:min(len(slots), scanBlock)]
		slots = slots[len(block):]
		ids := c.ids[:0]
		for _, slot := range block {
			if slot < f.limit {
				ids = append(ids, slot)
			}
		}
		c.score(t, q, ids, f, b)
	}
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
