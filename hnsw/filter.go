package hnsw

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

// filter decides which slots a walk or a scan may collect. Everything is traversed whatever it says.
type filter struct {
	t       *table
	limit   uint32            // slots at or above it are not collected
	dead    bool              // look at dead bits
	linking bool              // for who looks for neighbours: no twins, but dead slots that have some
	reused  bool              // and before rows, for those of the dead may be overwritten
	allow   []uint64          // one bit per slot, nil for all
	not     []uint64          // one bit per slot that does not pass, nil for none
	accept  func(uint32) bool // nil for all
}

func (f *filter) ok(slot uint32) bool {
	if slot >= f.limit || f.dead && f.t.gone(slot, f.linking) {
		return false
	}
	if f.allow != nil && (int(slot>>6) >= len(f.allow) || f.allow[slot>>6]>>(slot&63)&1 == 0) {
		return false
	}
	if f.not != nil && f.not[slot>>6]>>(slot&63)&1 != 0 {
		return false
	}
	return f.accept == nil || f.accept(slot)
}

// trivial reports whether the limit is all there is to check.
func (f *filter) trivial() bool { return !f.dead && f.allow == nil && f.not == nil && f.accept == nil }

// onlyDead reports whether dead bits are all there is to check besides.
func (f *filter) onlyDead() bool { return f.dead && f.allow == nil && f.not == nil && f.accept == nil }

// fewDead reports whether so few slots are dead that a walk had better make room for them than keep them apart.
func (g *Graph) fewDead() bool {
	return 4*(int64(g.dead.Load())-int64(g.upkeep.aparts.Load())) <= int64(g.mark.Load())
}

// A search has a choice: to look at each slot that may be eligible, or to walk and collect what is eligible of what it
// meets. What scans and walks cost is counted in slots that a walk compares. The first is known beforehand. The other
// depends on how many of the slots near the query are eligible, which only the walk finds out: it gives up when it sees
// that it would cost more than a scan, and at the latest in the step in which it has cost as much. So a search costs at
// most about twice what the better choice would have cost.
const (
	rowsPerEf = 8   // slots that a walk compares, per ef, where everything is eligible
	walkStart = 200 // to get where it starts, and to compare rows in the end
	// A walk is not given up before it has compared so many: they say too little, and there is little to lose.
	walkLeast = 128
)

// rangeCost and listCost are what it costs to look at n slots in order, and at those of a list.
func rangeCost(n int) int { return int(float64(n) * rangePerSlot) }

// among is the number of slots the list spans.
func listCost(n, among int) int {
	return min(int(float64(n)*listPerSlot), rangeCost(among)+n/16)
}

// walkCost is what a walk costs if a share of the slots it meets is eligible.
func walkCost(ef, eligible, among int) int {
	cost := rowsPerEf * float64(ef) * float64(among) / float64(max(eligible, 1))
	return walkStart + int(min(cost, math.MaxInt32/2)) // dearer than any scan, and an int everywhere
}

// scanIsCheaper reports whether to scan, which costs that much, without trying to walk.
func (g *Graph) scanIsCheaper(cost, eligible int, n uint32, ef int) bool {
	if g.o.ExactBelow < 0 {
		return false
	}
	if int(n) <= g.o.ExactBelow {
		return true
	}
	least := walkCost(ef, 1, 1)
	return cost <= least || cost <= 2*least && cost <= walkCost(ef, eligible, int(n))
}

// idCost is what it costs to look an id up, in a map that is not in the processor's caches.
const idCost = 1

// idsAreCheaper is scanIsCheaper for a list of ids. They have to be looked up before a walk could begin, and what
// is left to a walk that gives up is a scan of all slots: so the list is taken also where it is much cheaper than that
// and no dearer than a walk promises to be.
func (g *Graph) idsAreCheaper(ids, n uint32, ef int) bool {
	cost := listCost(int(ids), int(n)) + idCost*int(ids)
	return g.scanIsCheaper(cost, int(ids), n, ef) ||
		g.o.ExactBelow >= 0 && 2*cost <= rangeCost(int(n)) && cost <= walkCost(ef, int(ids), int(n))
}

// unlimited, as the price of a scan, makes a walk go on whatever it costs.
const unlimited = math.MaxInt

// effort is what a walk has done: slots compared, those asked the filter about, and those that passed; steps
// counts what else takes time.
type effort struct{ compared, steps, asked, passed int }

// hopeless says whether a walk had better be left to a scan that costs price.
func (e *effort) hopeless(price, ef, found int) bool {
	cost := e.compared + e.steps/4
	if cost < walkLeast || price == unlimited {
		return false
	}
	if cost > price {
		return true
	}
	// As many are to be compared in all as the share that passes promises.
	total := rowsPerEf * float64(ef) * float64(e.asked) / float64(max(e.passed, 1))
	return (found < ef || float64(cost) < total/4) && total > float64(price)
}

// dense fills c.allow with the slots of a bitmap below n.
func (c *scratch) dense(bitmap *roaring.Bitmap, n uint32) {
	const container = 1 << 16
	n = (n + container - 1) &^ (container - 1)
	c.allow = clearedBits(c.allow, n)
	if bitmap.IsEmpty() {
		return
	}
	if bitmap.Maximum() < n {
		bitmap.WriteDenseTo(c.allow)
		return
	}
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
