package hnsw

import (
	"math"
	"math/bits"
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
	e := &c.coding
	m, at := t.at(first)
	products := c.near[:n]
	simd.DotRange8(&c.code, &t.codes, first, products)
	// Those that lose much come first, so that the others need not pay for it.
	e.lose(m, at, n)
	if e.lost > e.usual {
		least := c.sifter.atLeast(e, b) - e.slack() // what the least odd slot of interest has, or less
		for from := uint32(0); from < n; {
			block := (at + from) / scanBlock
			to := min((block+1)*scanBlock-at, n)
			if odd := m.odd[block].Load(); odd != 0 {
				e.lost = lostNear(m, first+from)
				c.siftOdd(odd>>((at+from)%scanBlock), first+from, products[from:to], least, f, b)
			}
			from = to
		}
	}
	e.lost = e.usual
	c.weigh(first, products, f, b)
}

// siftOdd does so for those of some slots of a block that have a bit, and takes their products out. Those below least are
// of no interest.
func (c *scratch) siftOdd(odd uint64, first uint32, products []int32, least int64, f *filter, b *best) {
	if bits.OnesCount64(odd) > scanBlock/4 {
		c.weigh(first, products, f, b)
		for i := range products {
			products[i] = noProduct
		}
		return
	}
	for ; odd != 0; odd &= odd - 1 {
		i := bits.TrailingZeros64(odd)
		if i >= len(products) {
			return
		}
		if int64(products[i]) >= least {
			one := [1]int32{products[i]}
			c.weigh(first+uint32(i), one[:], f, b)
		}
		products[i] = noProduct
	}
}

// noProduct is less than any product.
const noProduct = math.MinInt32

// weigh lets those of the slots from first on wait that may be among the best, where codes lose no more than e.lost.
func (c *scratch) weigh(first uint32, products []int32, f *filter, b *best) {
	e, s := &c.coding, c.sifter
	slack, least := e.slack(), s.atLeast(e, b)
	places := c.ids[:len(products)]
	places = places[:simd.Above(products, max(to32(least-slack), noProduct+1), places)]
	for i, at := range places {
		id, product := first+at, int64(products[i])
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

// strain reads the rows of those that wait and may still be among the best when it comes to them, and returns how many
// it read.
func (c *scratch) strain(t *table, q []float32, b *best) (read int) {
	s := c.sifter
	s.drop(s.atLeast(&c.coding, b))
	// Once those are read that are hits most likely, few of the others are of interest.
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
	// They come nearly in the order of slots, as memory is read fastest: the bar hardly rises any more.
	some := scanFew
	for left := s.left; len(left) > 0; some = min(2*some, codesBlock) {
		part := left[:min(len(left), some)]
		left = left[len(part):]
		least := s.atLeast(&c.coding, b)
		ids := c.ids[:0]
		for _, r := range part {
			if int64(r.near()) >= least {
				ids = append(ids, r.slot())
			}
		}
		c.score(t, q, ids, nil, b)
		read += len(ids)
	}
	s.left = s.left[:0]
	return read
}
