package hnsw

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// A scan of a list goes by lots. The products of codes of a whole lot come first: in slot order, for slots that follow
// one another are cheaper to read. Then come the rows of those with the largest products, so that there is something to
// compare with, and then those of whatever else may be among the best.

const (
	// lotSlots is the number of slots of a lot.
	lotSlots = codesBlock
	// listCodesFrom is the number of slots from which a scan of a list looks at codes; less than for a scan in
	// order, since rows here and there take longer to read.
	listCodesFrom = 128
	// scanFew is the number of rows here and there that are read at once, before looking at who else is worth it.
	scanFew = 16
	// skipLots is the number of lots whose rows are read without looking at codes, after one where that helped little.
	skipLots = 7
)

// lot is what a scan needs for one.
type lot struct {
	read     [lotSlots]uint32 // what comes next of a bitmap
	ids      [lotSlots]uint32
	products [lotSlots]int32
	seeds    []rank
}

// scanBitmap adds the slots of a bitmap that pass the filter; n is about how many there are. If it is not to be sure,
// hits may be missing, but hardly ever are (see deviations). Nothing has been added to b before.
func (c *scratch) scanBitmap(t *table, q []float32, bitmap *roaring.Bitmap, n int, sure bool, f *filter, b *best) {
	begun := *b
	for c.beginList(t, q, n, sure); ; c.beginList(t, q, n, true) {
		c.iterator.Initialize(bitmap)
		for !c.coding.wrong {
			slots := c.lot.read[:]
			slots = slots[:c.iterator.NextMany(slots)]
			if len(slots) == 0 {
				return
			}
			c.addLot(t, q, slots, true, f, b)
			if slots[len(slots)-1] >= f.limit && !c.coding.wrong {
				return
			}
		}
		*b = begun
	}
}

// scanList does so for the listed slots, in whatever order.
func (c *scratch) scanList(t *table, q []float32, slots []uint32, sure bool, f *filter, b *best) {
	begun := *b
	for c.beginList(t, q, len(slots), sure); ; c.beginList(t, q, len(slots), true) {
		for left := slots; !c.coding.wrong; {
			if len(left) == 0 {
				return
			}
			part := left[:min(len(left), lotSlots)]
			left = left[len(part):]
			c.addLot(t, q, part, false, f, b)
		}
		*b = begun
	}
}

func (c *scratch) beginList(t *table, q []float32, n int, sure bool) {
	if c.lot == nil {
		c.lot = new(lot)
	}
	c.begin(t, q, 0)
	c.coding.likely = !sure
	if c.coding.off = t.turn == nil || n < listCodesFrom; !c.coding.off {
		c.prepare(t, q)
	}
}

// addLot does so for at most lotSlots slots, which it may move.
func (c *scratch) addLot(t *table, q []float32, slots []uint32, ordered bool, f *filter, b *best) {
	l := c.lot
	ids := slots
	if f.dead || !ordered || len(slots) > 0 && slots[len(slots)-1] >= f.limit {
		ids = l.ids[:0]
		for _, slot := range slots {
			if slot < f.limit && !(f.dead && t.dead(slot)) {
				ids = append(ids, slot)
			}
		}
	}
	if c.coding.off || !b.full && b.k > sortedInsertLimit {
		c.scoreAll(t, q, ids, f, b)
		return
	}
	if c.coding.skip > 0 {
		c.coding.skip--
		c.scoreAll(t, q, ids, f, b)
		return
	}
	products := l.products[:len(ids)]
	c.multiply(t, ids, products, ordered)
	if !b.full {
		ids, products = c.seed(t, q, ids, products, f, b)
	}
	left := c.hopefulOf(t, ids, products, b.least())
	helped := len(left) <= len(slots)*3/4
	c.scoreHopeful(t, q, left, f, b)
	if !helped {
		c.coding.skip = skipLots
	}
}

// multiply makes the products of codes of the listed slots. Nothing else is read: others may be overwritten.
func (c *scratch) multiply(t *table, ids []uint32, products []int32, ordered bool) {
	if n := len(ids); ordered && n > 0 && int(ids[n-1]-ids[0]) == n-1 {
		simd.DotRange8(&c.code, &t.codes, ids[0], products)
	} else {
		simd.DotMany8(&c.code, &t.codes, ids, products)
	}
}

// seed adds the slots with the k largest products of those that pass the filter, and returns the others.
func (c *scratch) seed(t *table, q []float32, ids []uint32, products []int32, f *filter, b *best) ([]uint32, []int32) {
	seeds := c.lot.seeds[:0]
	for i, p := range products {
		// By place in the lot, which has the order of slots.
		r := rankOf(p, uint32(i))
		if len(seeds) == b.k && r > seeds[b.k-1] || !f.ok(ids[i]) {
			continue
		}
		seeds, _ = insert(seeds, r, b.k)
	}
	c.lot.seeds = seeds
	for i, r := range seeds {
		seeds[i] = rank(r.slot())
	}
	slices.Sort(seeds)
	kept, chosen := 0, seeds
	part := c.ids[:0]
	for i, id := range ids {
		if len(chosen) > 0 && int(chosen[0]) == i {
			c.near[len(part)] = products[i]
			part = append(part, id)
			chosen = chosen[1:]
			continue
		}
		ids[kept], products[kept] = id, products[i]
		kept++
	}
	c.score(t, q, part, nil, b)
	c.coding.lost = c.mostLost(t, part)
	c.coding.check(c.scores, c.near[:len(part)])
	return ids[:kept], products[:kept]
}

// hopefulOf keeps those of the listed slots whose score, by their products, may be at least least, and leaves the
// products in c.near. e.lost is the most that a code of these loses afterwards.
func (c *scratch) hopefulOf(t *table, ids []uint32, products []int32, least float32) []uint32 {
	e := &c.coding
	e.lost = c.mostLost(t, ids)
	places := c.ids[:len(ids)]
	places = places[:simd.Above(products, e.needed(least), places)]
	// Few codes lose much. The others are not to pay for it, and have one bound, for to make one takes longer than to
	// compare with it.
	e.lost = e.usual
	usual, most := e.needed(least), e.usual
	kept := 0
	for i, at := range places {
		id, p := ids[at], products[i]
		need, lost := usual, e.usual
		if t.odd(id) {
			m, _ := t.at(id)
			lost = lostNear(m, id)
			e.lost = lost
			need = e.needed(least)
		}
		places[kept], c.near[kept] = id, p
		if p >= need {
			kept++
			most = max(most, lost)
		}
	}
	e.lost = most
	return places[:kept]
}

// mostLost returns the most that a code loses in the chunks of the listed slots: their blocks have a cache line in
// each, which is sooner looked through than their own are found.
func (c *scratch) mostLost(t *table, ids []uint32) float64 {
	e := &c.coding
	chunk, lost := uint32(math.MaxUint32), 0.0
	for _, id := range ids {
		if id>>chunkShift != chunk {
			chunk = id >> chunkShift
			m, _ := t.at(id)
			e.lose(m, 0, chunkSlots)
			lost = max(lost, e.lost)
		}
	}
	return lost
}

// scoreAll is score for as many slots as there are.
func (c *scratch) scoreAll(t *table, q []float32, ids []uint32, f *filter, b *best) {
	for len(ids) > 0 {
		n := min(len(ids), scanBlock)
		c.score(t, q, ids[:n], f, b)
		ids = ids[n:]
	}
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
	if len(ids) <= scanFew {
		c.score(t, q, ids, f, b)
		c.coding.check(c.scores, c.near[:len(ids)])
		return
	}
	ranks := c.news[:len(ids)]
	for i, id := range ids {
		ranks[i] = rankOf(c.near[i], id)
	}
	slices.Sort(ranks)
	for len(ranks) > 0 {
		part := ranks[:min(len(ranks), scanFew)]
		ranks = ranks[len(part):]
		need := c.coding.needed(b.least())
		ids := c.ids[:0]
		for i, r := range part {
			if r.near() < need {
				ranks = nil
				break
			}
			c.near[i] = r.near()
			ids = append(ids, r.slot())
		}
		c.score(t, q, ids, f, b)
		c.coding.check(c.scores, c.near[:len(ids)])
	}
}
