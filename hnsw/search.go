package hnsw

import (
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// SearchOptions narrows and tunes one search of a Graph. The zero value searches everything with the graph's
// defaults.
type SearchOptions struct {
	// Ef is the number of candidates to collect: more is slower and finds more. 0 means Options.EfSearch; it
	// is raised to k where it is below. A search ends before it has as many where what is left to look
	// at is much farther than the k-th best, the more so the larger Ef is beside k.
	Ef int
	// Bound hides slots at or above it; they are still stepping stones. 0 means the current Bound().
	Bound uint32
	// Accept says whether a slot may be returned; nil accepts all. It is called from the searching goroutine,
	// possibly more than once per slot, and must not change its mind during a search.
	Accept func(slot uint32) bool
	// Allow lists the slots that may be returned; nil allows all. With Accept, both must agree. It must not
	// change during the search.
	Allow *roaring.Bitmap
	// MinScore drops hits below it when HasMinScore is set.
	MinScore    float32
	HasMinScore bool
	// Exact looks at every slot. The hits are the nearest ones for certain.
	Exact bool
	// Scan looks at every slot that may be returned, as a search does by itself when a walk would cost more. Given
	// Allow, it reads fewer rows than Exact, the fewer the less the allowed differ in how near they are: a hit is missed
	// when codes are off by six standard deviations, once in a billion.
	Scan bool
}

// Search returns the k slots nearest to q, fewer only when fewer are eligible, ordered by score descending,
// then slot ascending. q need not be normalised; it is refused as in Append. The hits overwrite dst, which is
// grown when its capacity is below their number; with enough capacity nothing is allocated.
func (g *Graph) Search(q []float32, k int, o SearchOptions, dst []Hit) ([]Hit, error) {
	dst = dst[:0]
	norm, err := checkVector(q, g.dim)
	if err != nil {
		return dst, fmt.Errorf("hnsw: search: %w", err)
	}
	if k < 0 || o.Ef < 0 || o.Ef > maxEf || o.MinScore != o.MinScore {
		return dst, fmt.Errorf("hnsw: search: %w: k %d, ef %d, minimum score %v", ErrInvalid, k, o.Ef, o.MinScore)
	}
	c := g.borrow()
	defer g.release(c)
	epoch := g.readers.enter(c.place)
	defer g.readers.leave(c.place, epoch)
	simd.Scale(c.q, q, norm)
	ranks := g.search(c, k, &o, nil)
	if c.err != nil {
		return dst, fmt.Errorf("hnsw: search: %w", c.err)
	}
	for _, r := range ranks {
		if o.HasMinScore && r.score() < o.MinScore {
			break
		}
		dst = append(dst, r.hit())
	}
	return dst, nil
}

// search answers for the query in c.q. The result is valid until c is used again. only, when not nil, is a
// list of distinct slots to choose from.
func (g *Graph) search(c *scratch, k int, o *SearchOptions, only []uint32) []rank {
	c.err = nil
	mark, entry, n, t := g.mark.Load(), g.entry.Load(), g.bound.Load(), g.table.Load()
	bound := n
	if o.Bound != 0 {
		bound = min(bound, o.Bound)
	}
	k = min(k, int(bound))
	if k == 0 {
		return nil
	}
	ef := o.Ef
	if ef == 0 {
		ef = g.o.EfSearch
	}
	ef = max(ef, k)
	f := filter{t: t, limit: bound, dead: g.dead.Load() > 0, accept: o.Accept}
	f.reused = f.dead && g.upkeep.reuse
	b := best{list: c.found[:0], k: k}
	if o.HasMinScore {
		b.demand(o.MinScore)
	}
	defer func() { c.found = b.list }()

	sure := o.Exact || int(n) <= g.o.ExactBelow
	if only != nil {
		c.scanList(t, c.q, only, sure, &f, &b)
		b.finish()
		return b.list
	}
	price, eligible := rangeCost(int(bound)), int(bound)
	if o.Allow != nil {
		eligible = int(min(o.Allow.GetCardinality(), uint64(bound)))
		price = listCost(eligible, int(bound))
	}
	scanFrom := uint32(0)
	if !o.Exact && !o.Scan && mark > 0 && !g.scanIsCheaper(price, eligible, n, ef) {
		if o.Allow != nil {
			c.dense(o.Allow, bound)
			f.allow = c.allow
		}
		if g.walk(c, t, entry, n, min(mark, bound), k, ef, f, price) {
			scanFrom = min(mark, bound)
		}
	}
	if o.Allow != nil && scanFrom == 0 {
		f.allow, b.list = nil, c.found[:0]
		c.scanBitmap(t, c.q, o.Allow, eligible, sure, &f, &b)
		b.finish()
		return b.list
	}
	b.list = c.found
	if scanFrom == 0 {
		b.list = c.found[:0]
	}
	b.raise()
	c.scan(t, c.q, scanFrom, bound, &f, &b)
	b.finish()
	return b.list
}

// walk leaves the k best eligible slots below limit in c.found, or returns false when a scan has to do it, at the given
// price.
func (g *Graph) walk(c *scratch, t *table, entry uint64, n, limit uint32, k, ef int, f filter, price int) bool {
	c.aim(t, c.q)
	from, top := c.start(t, entry)
	at := c.descend(g, t, n, from, top, 0)
	whole := (f.trivial() || f.onlyDead() && g.fewDead()) && f.limit == n
	f.limit = limit
	if whole {
		// Everything can be reached from the entry, but perhaps not from where the upper layers lead to.
		if c.found = append(c.found[:0], at); from != at && ef > 1 {
			c.found = append(c.found, from)
		}
		whole = c.walkAll(g, t, n, 0, ef, k, true, f.dead)
	}
	if !whole {
		if !c.walkSome(g, t, n, 0, ef, k, at, from, &f, price) || len(c.found) < k && len(c.found) < int(limit) {
			return false
		}
	} else {
		// Slots that were linked but not yet counted in the mark are left to the scan.
		kept := c.found[:0]
		for _, r := range c.found {
			if r.slot() < limit {
				kept = append(kept, r)
			}
		}
		c.found = kept
		if len(kept) < min(k, int(limit)) {
			return false
		}
	}
	if t.lazy != nil {
		c.fail(t.lazy.someCodes())
	}
	if t.walks {
		c.rerank(t, k)
	}
	c.found = c.found[:min(k, len(c.found))]
	return true
}

// What codes are off (see codes.go) has no direction, so that of a score they are off as much as one element of the
// vector it makes: about 0.012 by the root of the dimension, and two scores of one query by 0.017. Within codesApart,
// four times that, codes do not tell which of two slots is nearer.
func codesApart(dim int) float64 { return 0.07 / math.Sqrt(float64(dim)) }

// rerank replaces what is in c.found by the best of it, ranked by the scores of their rows: of those that by their codes
// are as near as the k-th.
func (c *scratch) rerank(t *table, k int) {
	best := c.found
	if k = min(k, len(best)); k > 0 {
		near := float64(best[k-1].near()) - c.one*codesApart(len(c.q))
		least := rankOf(int32(max(near, math.MinInt32)), MaxSlots)
		end, _ := slices.BinarySearch(best, least)
		best = best[:max(k, end)]
	}
	for from := 0; from < len(best); from += scanBlock {
		part := best[from:min(from+scanBlock, len(best))]
		ids := c.ids[:len(part)]
		for i, r := range part {
			ids[i] = r.slot()
		}
		c.trust(t, ids)
		simd.DotMany(c.q, &t.rows, ids, c.scores)
		for i, id := range ids {
			part[i] = makeRank(c.scores[i], id)
		}
	}
	slices.Sort(best)
	c.found = best
}
