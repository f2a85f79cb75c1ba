package hnsw

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// aim makes q, a unit vector, what slots are compared with.
func (c *scratch) aim(t *table, q []float32) {
	c.row = q
	if t.walks {
		c.encode(t, q)
	}
}

// aimAt makes a slot what others are compared with.
func (c *scratch) aimAt(t *table, slot uint32) {
	if t.walks {
		c.code.Load(t.codes.Row(slot))
	} else {
		c.row = t.row(slot)
	}
}

// compare returns how near the listed slots are to what c aims at, valid until the next call.
func (c *scratch) compare(t *table, ids []uint32) []int32 {
	c.compared += len(ids)
	if !t.walks {
		return c.compareRows(t, c.row, ids)
	}
	near := c.near[:len(ids)]
	simd.DotMany8(&c.code, &t.codes, ids, near)
	return near
}

// compareRows returns how near the rows of the listed slots are to another one, as compare does.
func (c *scratch) compareRows(t *table, row []float32, ids []uint32) []int32 {
	near, scores := c.near[:len(ids)], c.scores[:len(ids)]
	simd.DotMany(row, &t.rows, ids, scores)
	for i, score := range scores {
		near[i] = nearness(score)
	}
	return near
}

// start compares the entry point.
func (c *scratch) start(t *table, entry uint64) (rank, int) {
	slot := uint32(entry)
	ids := append(c.ids[:0], slot)
	return rankOf(c.compare(t, ids)[0], slot), int(entry >> 32)
}

// descend moves greedily through the layers above the given one (algorithm 2 with ef 1). Slots at or above n are
// ignored.
func (c *scratch) descend(g *Graph, t *table, n uint32, at rank, from, to int) rank {
	for layer := from; layer > to; layer-- {
		for {
			ids, _ := neighbours(g.list(t, at.slot(), layer), n, c.ids[:0])
			next := at
			for i, near := range c.compare(t, ids) {
				next = min(next, rankOf(near, ids[i]))
			}
			if next == at {
				break
			}
			at = next
		}
	}
	return at
}

// look adds the neighbours of a slot that were not visited yet to ids, which has room for them, and says whether
// the slot begins a chain of twins.
func (c *scratch) look(g *Graph, t *table, n uint32, slot uint32, layer int, ids []uint32) ([]uint32, bool) {
	if t.lazy != nil && !c.sound(t, slot, layer) {
		return ids, false
	}
	return c.fresh(g.list(t, slot, layer), n, ids)
}

// fresh adds the slots below n in a list that were not visited yet to ids, which has room for them, and marks them. There
// is no branch for the processor to guess: of the neighbours about every other one is fresh.
func (c *scratch) fresh(list []uint32, n uint32, ids []uint32) ([]uint32, bool) {
	head := atomic.LoadUint32(&list[0])
	list = list[1:][:head&countMask]
	found, visited := len(ids), c.visited
	ids = ids[:found+len(list)]
	for i := range list {
		id := atomic.LoadUint32(&list[i])
		if id >= n {
			continue
		}
		word := &visited[id>>6]
		was := *word
		*word = was | 1<<(id&63)
		ids[found] = id
		found += int(^was >> (id & 63) & 1)
	}
	return ids[:found], head&hasTwins != 0
}

// abreast is the most slots whose neighbours one step of a walk looks at. One batch of all these takes less time than a
// batch for each slot: memory answers many requests at once. That saves walks by floats 12 % of their time, walks by codes
// 8 %, for 1 % more slots compared.
const abreast = 4

// walkAll collects the ef best slots below n into c.found, which on entry holds where to begin, best first.
// It is algorithm 2 of the paper with one sorted list in both roles; twins adds chains of equal rows. If only the k
// best matter, it ends at the horizon of the k-th; k is 0 if all do. With dead, dead slots are steps, but are neither
// collected nor counted: who they are is seen when their turn comes, so the list has some room for them beforehand.
// Where most of what is near is dead they would fill it, and those behind them be forgotten: then it gives up, returning
// false, and leaves it to walkSome. Without twins it looks for whom to link with, where who is routable is as good as
// alive.
//
// A step looks at the neighbours of the nearest slot alone as long as some of these are nearer than that slot. Once they
// are not, the next step takes two slots, and then steps take four: most of those would be looked at anyway.
func (c *scratch) walkAll(g *Graph, t *table, n uint32, layer, ef, k int, twins, dead bool) bool {
	c.forget(n)
	for _, r := range c.found {
		c.visit(r.slot())
	}
	limit, died := ef, 0
	most := ef/2 + 8 // of the dead; where they are a quarter of all, and anywhere, it comes to ef/3
	if dead {
		limit += ef/8 + 8
	}
	pool := slices.Grow(c.found, max(0, limit-len(c.found)))
	h := newHorizon(c, t, n, ef, k)
	chains := make([]rank, 0, abreast) // of the slots of a step, those with twins
	for next, wide := 0, 1; died <= most; {
		ids, taken := c.ids[:0], 0
		chains = chains[:0]
		for ; next < len(pool) && taken < wide; next++ {
			r := pool[next]
			if r&expanded != 0 {
				continue
			}
			if h.ends(pool, r, died) || next-died >= ef {
				break
			}
			pool[next] |= expanded
			taken++
			if dead && t.gone(r.slot(), !twins) {
				died++
				limit++
			}
			var chain bool
			if ids, chain = c.look(g, t, n, r.slot(), layer, ids); chain && twins {
				chains = append(chains, r)
			}
		}
		if taken == 0 {
			break
		}
		wide = min(2*wide, abreast)
		// These lists are read next unless ids has nearer slots, and can be on the way while it is compared.
		if layer == 0 {
			t.prefetch(pool[next:min(next+wide, len(pool))])
		}
		if limit > cap(pool) {
			pool = slices.Grow(pool, limit-len(pool))
		}
		var at int
		if pool, at = simd.Offer(pool, limit, ids, c.compare(t, ids)); at < next {
			next, wide = at, 1
			if layer == 0 {
				t.prefetch(pool[at : at+1])
			}
		}
		for _, r := range chains {
			for twin := t.nextTwin(r.slot()); twin != 0 && twin < n; twin = t.nextTwin(twin) {
				if !c.visit(twin) || dead && t.dead(twin) { // one that becomes a node just now may have been met as such
					continue
				}
				var at int
				if pool, at = insert(pool, rankOf(r.near(), twin)|expanded, limit); at == limit {
					break // the rest of the chain ranks below this one
				}
			}
		}
	}
	kept := pool[:0]
	for _, r := range pool {
		if r &^= expanded; !dead || !t.gone(r.slot(), !twins) {
			kept = append(kept, r)
		}
	}
	c.found = kept[:min(ef, len(kept))]
	return died <= most
}

// horizon ends a walk that looks for k slots where what is left to look at is so much farther than the k-th best
// so far that better ones are hardly to be found there (distance-adaptive beam search: arXiv 2505.15636). Easy
// queries end soon, hard ones when ef candidates are collected. On text embeddings a search compares 15 % fewer slots
// for the same recall, and where all distances are about equal the horizon is never met.
//
// With x = ef/(10k) and d the squared distance of the k-th, as 1 - cosine is but for a factor, it is at
//
//	d + x(1 + x/4)(d + 0.002)
//
// so that nobody who asks for many candidates misses them: with ef 1000 a search for one looks everywhere it can get
// to, even in groups of vectors so tight that a part of one is out of reach from another part nearby.
type horizon struct {
	k    int
	wide float64 // x(1 + x/4)
	one  float64 // the product of equal codes, 0 where rows are compared
	kth  rank
	far  rank

	tight float64 // no group is taken for tighter
}

const tight = 0.002

func newHorizon(c *scratch, t *table, n uint32, ef, k int) horizon {
	if ef >= int(n) { // whoever asks for everything gets to see everything
		k = 0
	}
	h := horizon{k: k, far: math.MaxUint64, tight: tight}
	if k > 0 {
		x := float64(ef) / float64(10*k)
		h.wide = x * (1 + x/4)
	}
	if t.walks {
		h.one = c.one
		h.tight += codesApart(len(c.q))
	}
	return h
}

// ends reports whether r, the nearest slot not looked at, is beyond the horizon. Of those found, some are dead; that
// these are among the first is a guess on the safe side.
func (h *horizon) ends(found []rank, r rank, dead int) bool {
	k := h.k + dead
	if h.k == 0 || len(found) < k {
		return false
	}
	if kth := found[k-1] &^ expanded; kth != h.kth {
		h.kth = kth
		if h.one > 0 {
			near := float64(kth.near())
			near -= h.wide * (h.one*(1+h.tight) - near)
			h.far = rankOf(int32(max(near, math.MinInt32)), MaxSlots)
		} else {
			score := float64(kth.score())
			h.far = makeRank(float32(score-h.wide*(1+h.tight-score)), MaxSlots)
		}
	}
	return r > h.far
}
