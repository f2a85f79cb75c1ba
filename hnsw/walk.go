package hnsw

import (
	"math"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/simd"
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

// start scores the entry point.
func (c *scratch) start(t *table, q []float32, entry uint64) (rank, int) {
	slot := uint32(entry)
	return makeRank(simd.Dot(q, t.row(slot)), slot), int(entry >> 32)
}

// descend moves greedily towards q through the layers above the given one (algorithm 2 with ef 1). Slots at or
// above n are ignored.
func (c *scratch) descend(g *Graph, t *table, q []float32, n uint32, at rank, from, to int) rank {
	for layer := from; layer > to; layer-- {
		for {
			ids, _ := neighbours(g.list(t, at.slot(), layer), n, c.ids[:0])
			simd.DotMany(q, &t.rows, ids, c.scores)
			next := at
			for i, id := range ids {
				next = min(next, makeRank(c.scores[i], id))
			}
			if next == at {
				break
			}
			at = next
		}
	}
	return at
}

// expand scores the neighbours of a slot that were not visited yet. The ids and scores are valid until the next
// call; the second result tells whether the slot begins a chain of twins.
func (c *scratch) expand(g *Graph, t *table, q []float32, n uint32, slot uint32, layer int) ([]uint32, bool) {
	list := g.list(t, slot, layer)
	count := atomic.LoadUint32(&list[0])
	ids := c.ids[:0]
	for i := range list[1:][:count&^hasTwins] {
		if id := atomic.LoadUint32(&list[1+i]); id < n && c.visit(id) {
			ids = append(ids, id)
		}
	}
	simd.DotMany(q, &t.rows, ids, c.scores)
	return ids, count&hasTwins != 0
}

// walkAll collects the ef best slots below n into c.found, which on entry holds where to begin, best first.
// It is algorithm 2 of the paper with one sorted list in both roles; twins adds chains of equal rows.
func (c *scratch) walkAll(g *Graph, t *table, q []float32, n uint32, layer, ef int, twins bool) {
	c.forget(n)
	for _, r := range c.found {
		c.visit(r.slot())
	}
	for next := 0; next < len(c.found); {
		r := c.found[next]
		if r&expanded != 0 {
			next++
			continue
		}
		c.found[next] |= expanded
		next++
		ids, chain := c.expand(g, t, q, n, r.slot(), layer)
		for i, id := range ids {
			var at int
			c.found, at = insert(c.found, makeRank(c.scores[i], id), ef)
			next = min(next, at)
		}
		if !chain || !twins {
			continue
		}
		for twin := t.nextTwin(r.slot()); twin != 0 && twin < n; twin = t.nextTwin(twin) {
			var at int
			if c.found, at = insert(c.found, makeRank(r.score(), twin)|expanded, ef); at == ef {
				break // the rest of the chain ranks below this one
			}
		}
	}
	for i := range c.found {
		c.found[i] &^= expanded
	}
}

// walkSome collects the ef best slots that pass the filter into c.found, traversing all below n from at on. It
// gives up, returning false, when it has scored more rows than a scan for the same answer would. allowed is
// the number of slots that pass the filter, or negative when nobody knows; twins adds chains of equal rows.
func (c *scratch) walkSome(g *Graph, t *table, q []float32, n uint32, layer, ef int, at rank, f *filter, allowed int, twins bool) bool {
	c.forget(n)
	c.visit(at.slot())
	c.frontier, c.found = append(c.frontier[:0], at), c.found[:0]
	scored, tested, passed := 0, 1, 0
	if f.ok(at.slot()) {
		c.found, passed = append(c.found, at), 1
	}
	for len(c.frontier) > 0 {
		var r rank
		r, c.frontier = pop(c.frontier)
		if len(c.found) == ef && r > c.found[ef-1] {
			break
		}
		ids, chain := c.expand(g, t, q, n, r.slot(), layer)
		scored += len(ids)
		for i, id := range ids {
			r := makeRank(c.scores[i], id)
			if len(c.found) == ef && r > c.found[ef-1] {
				continue
			}
			c.frontier = push(c.frontier, r)
			tested++
			if f.ok(id) {
				passed++
				c.found, _ = insert(c.found, r, ef)
			}
		}
		if chain && twins {
			for twin := t.nextTwin(r.slot()); twin != 0 && twin < n; twin = t.nextTwin(twin) {
				r := makeRank(r.score(), twin)
				if len(c.found) == ef && r > c.found[ef-1] {
					break
				}
				if f.ok(twin) {
					c.found, _ = insert(c.found, r, ef)
				}
			}
		}
		if hopeless(int(n), allowed, ef, len(c.found), scored, tested, passed) {
			return false
		}
	}
	return true
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
