package hnsw

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

// filter decides which slots a walk or a scan may collect. Everything is traversed whatever it says.
type filter struct {
	t      *table
	limit  uint32            // slots at or above it are not collected
	dead   bool              // look at dead bits
	allow  []uint64          // one bit per slot, nil for all
	accept func(uint32) bool // nil for all
}

func (f *filter) ok(slot uint32) bool {
	if slot >= f.limit || f.dead && f.t.dead(slot) {
		return false
	}
	if f.allow != nil && (int(slot>>6) >= len(f.allow) || f.allow[slot>>6]>>(slot&63)&1 == 0) {
		return false
	}
	return f.accept == nil || f.accept(slot)
}

// trivial reports whether the limit is all there is to check.
func (f *filter) trivial() bool { return !f.dead && f.allow == nil && f.accept == nil }

// scanIsCheaper compares a scan of the given number of slots among n with a walk that looks for them. A walk
// scores about rowsPerEf*ef rows where everything is eligible, and as many times more as there are more slots
// than eligible ones; each costs it walkPerScan times what it costs a scan.
func (g *Graph) scanIsCheaper(eligible int, n uint32, ef int) bool {
	if g.o.ExactBelow < 0 {
		return false
	}
	e := int64(eligible)
	return eligible <= g.o.ExactBelow || e*e <= rowsPerEf*walkPerScan*int64(ef)*int64(n)
}

// unlimited, as the number of allowed slots, makes a walk go on whatever it costs.
const unlimited = math.MaxInt

// hopeless says whether a walk had better be left to a scan, by what it has scored, tested and let pass. A scan
// of a list scores what is on it; one of all n slots looks at their rows or codes in order, for half of that each,
// and tests few.
func hopeless(n, allowed, ef, found, scored, tested, passed int) bool {
	const fewest = 128 // below it the sample says little, and there is little to lose
	if scored < fewest || allowed == unlimited {
		return false
	}
	price := float64(allowed) / walkPerScan
	if allowed < 0 {
		price = float64(n) / 2 / walkPerScan
	}
	// As many are to be scored in all as the share that passes promises; see scanIsCheaper.
	total := rowsPerEf * float64(ef) * float64(tested) / float64(max(passed, 1))
	if found < ef || float64(scored) < total/4 {
		return total > price
	}
	return float64(scored) > price
}

const rowsPerEf = 7 // rows that an unfiltered walk scores, per ef

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
