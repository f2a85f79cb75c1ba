package hnsw

import (
	"math"
	"slices"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// A scan in order reads no row before it has looked at the codes of all, as long as few are left: a product says also
// what the score of a slot is at least, and when that of k slots is more than that of another one is at most, nobody needs
// to read the latter. In the end there are not many more rows to read than hits.

const (
	// sieveSlots is the number of slots that may wait for their rows to be read.
	sieveSlots = 2048
	// sieveMost is the k up to which a scan goes on like this: above it, there is much to wait for.
	sieveMost = 128
)

// sieve has slots that may be among the k best. Scores are counted in products.
type sieve struct {
	lows []rank // the k largest of what scores are at least, best first
	left []rank // what the scores of those that wait are at most
}

// sieve readies c.sift for a scan, or returns nil if it is not for that.
func (c *scratch) sieve(f *filter, b *best) *sieve {
	if c.coding.off || b.k > sieveMost || !f.trivial() && !f.onlyDead() {
		return nil
	}
	if c.sifter == nil {
		c.sifter = &sieve{lows: make([]rank, 0, sieveMost), left: make([]rank, 0, sieveSlots)}
	}
	c.sifter.lows, c.sifter.left = c.sifter.lows[:0], c.sifter.left[:0]
	return c.sifter
}

// slack is how many products a score may be away from what its product says, where codes lose no more than e.lost.
func (e *coding) slack() int64 {
	return int64(min(math.MaxInt32, math.Ceil(e.margin()/e.step)))
}

// atLeast returns what must not be above the score of a slot for it to be of interest.
func (s *sieve) atLeast(e *coding, b *best) int64 {
	least := int64(math.MinInt32)
	if b.full {
		least = max(least, int64(math.Floor(max(math.MinInt32, float64(b.least())/e.step))))
	}
	if len(s.lows) == b.k {
		least = max(least, int64(s.lows[b.k-1].near()))
	}
	return least
}

func to32(x int64) int32 { return int32(max(math.MinInt32, min(math.MaxInt32, x))) }

// sift looks at the codes of n slots from first on, all of one chunk.
func (c *scratch) sift(t *table, first, n uint32, f *filter, b *best) {
	e, s := &c.coding, c.sifter
	m, at := t.at(first)
	e.lose(m, at, n)
	least := s.atLeast(e, b)
	ids := c.ids[:n]
	ids = ids[:simd.ScanRange8(&c.code, &t.codes, first, int(n), to32(least-e.slack()), ids, c.near)]
	// Few codes lose much: not all that are looked at in one go are to pay for it.
	e.lost = e.usual
	usual := e.slack()
	block, slack := uint32(math.MaxUint32), usual
	for i, id := range ids {
		if id/scanBlock != block {
			block, slack = id/scanBlock, usual
			if lost := lostNear(m, id); lost > e.usual {
				e.lost = lost
				slack = e.slack()
			}
		}
		product := int64(c.near[i])
		if product+slack < least || !f.ok(id) {
			continue
		}
		s.left = append(s.left, rankOf(to32(product+slack), id))
		if low := rankOf(to32(product-slack), id); len(s.lows) < b.k || low < s.lows[b.k-1] {
			s.lows, _ = insert(s.lows, low, b.k)
			least = s.atLeast(e, b)
		}
	}
}

// crowded says whether another block may have no room among those that wait, after all of no interest any more
// have left.
func (s *sieve) crowded(e *coding, b *best) bool {
	if len(s.left) <= sieveSlots-codesBlock {
		return false
	}
	s.drop(s.atLeast(e, b))
	return len(s.left) > sieveSlots/2
}

// drop lets go of those whose scores are less than a product.
func (s *sieve) drop(least int64) {
	kept := s.left[:0]
	for _, r := range s.left {
		if int64(r.near()) >= least {
			kept = append(kept, r)
		}
	}
	s.left = kept
}

// strain reads the rows of those that wait, the nearest first, as long as they may be among the best, and returns
// how many it read.
func (c *scratch) strain(t *table, q []float32, b *best) (read int) {
	s := c.sifter
	s.drop(s.atLeast(&c.coding, b))
	// Once those are read that are hits most likely, few of the others are left to be sorted.
	first, limit := c.news[:0], max(b.k, scanFew)
	for _, r := range s.left {
		if len(first) < limit || r < first[limit-1] {
			first, _ = insert(first, r, limit)
		}
	}
	if len(first) == limit {
		last := first[limit-1]
		s.left = slices.DeleteFunc(s.left, func(r rank) bool { return r <= last })
	} else {
		s.left = s.left[:0]
	}
	ids := c.ids[:0]
	for _, r := range first {
		ids = append(ids, r.slot())
	}
	c.score(t, q, ids, nil, b)
	read = len(ids)
	s.drop(s.atLeast(&c.coding, b))
	slices.Sort(s.left)
	for left := s.left; len(left) > 0; {
		part := left[:min(len(left), scanFew)]
		left = left[len(part):]
		least := s.atLeast(&c.coding, b)
		ids := c.ids[:0]
		for _, r := range part {
			if int64(r.near()) < least {
				left = nil
				break
			}
			ids = append(ids, r.slot())
		}
		c.score(t, q, ids, nil, b)
		read += len(ids)
	}
	s.left = s.left[:0]
	return read
}
