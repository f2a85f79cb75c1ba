package hnsw

import "github.com/lightctl/lightrag/hnsw/simd"

// pass is the state of a scan in order.
type pass struct {
	s      *sieve
	sifted uint32 // slots since rows were read last
	most   uint32 // slots whose codes are looked at in one go: the more, the longer the bar has been rising
}

// scan adds the slots in [from, to) that pass the filter. Where slots are used
// again, it does not read rows of dead ones, which may be overwritten.
func (c *scratch) scan(t *table, q []float32, from, to uint32, f *filter, b *best) {
	c.begin(t, q, int(to-from))
	p := pass{s: c.sieve(f, b), most: scanBlock}
	// A cache still has what the last scan came to in the end, so this one goes the other way, chunk by chunk.
	c.backwards = !c.backwards
	if from < to {
		first, last := from>>chunkShift, (to-1)>>chunkShift
		for i := range last - first + 1 {
			chunk := first + i
			if c.backwards {
				chunk = last - i
			}
			c.scanPart(t, q, max(from, chunk<<chunkShift), min(to-1, chunk<<chunkShift|chunkMask)+1, &p, f, b)
		}
	}
	if p.s != nil {
		c.strain(t, q, b)
	}
}

// scanPart does so for some of them, all of one chunk.
func (c *scratch) scanPart(t *table, q []float32, from, to uint32, p *pass, f *filter, b *best) {
	for from < to {
		end := to
		if f.reused {
			if from, end = t.alive(from, to); from == end {
				break
			}
		}
		n := min(end-from, scanBlock)
		if p.s != nil && !c.coding.skips() {
			n = min(end-from, p.most)
			p.most = min(2*p.most, codesBlock)
			c.sift(t, from, n, f, b)
			if p.sifted += n; p.s.crowded(&c.coding, b) {
				c.coding.judge(c.strain(t, q, b), int(p.sifted))
				p.sifted = 0
			}
		} else if p.s == nil && c.picky(f, b) {
			ids := c.ids[:0]
			for slot := from; slot < from+n; slot++ {
				if c.ask(f, slot) {
					ids = append(ids, slot)
				}
			}
			c.score(t, q, ids, nil, b)
		} else if p.s == nil && c.coding.helps(b) {
			n = min(end-from, p.most)
			p.most = min(2*p.most, codesBlock)
			ids := c.hopeful(t, from, n, b.least())
			c.coding.judge(len(ids), int(n))
			c.scoreHopeful(t, q, ids, f, b)
		} else {
			if t.lazy != nil {
				c.fail(t.lazy.rowsFrom(t, from, n))
			}
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

// score adds the listed slots that pass the filter, if there is one.
func (c *scratch) score(t *table, q []float32, ids []uint32, f *filter, b *best) {
	c.trust(t, ids)
	simd.DotMany(q, &t.rows, ids, c.scores)
	for i, id := range ids {
		if r := makeRank(c.scores[i], id); b.wants(r) && (f == nil || c.ask(f, id)) {
			b.add(r)
		}
	}
}
