package hnsw

import "github.com/lightctl/lightrag/hnsw/simd"

func (g *Graph) capacity(layer int) int {
	if layer == 0 {
		return 2*g.o.M - 1 // and the count: two cache lines with M 16
	}
	return g.o.M
}

// choose appends at most limit of the candidates of owner, best first, to kept: algorithm 4 of the paper. A candidate is
// passed over when it is nearer to one already kept than to the owner, for it can be reached through that
// one. It also goes when it is as near to that one as to the owner and the two are equally far from the owner:
// otherwise the copies of one vector, all at distance zero of each other, would fill the list. The rest is
// appended to dropped.
//
// Codes are not quite of one length. In a group that is tighter than codes tell apart, a longer one has the larger
// product with all the others: by products alone it would cover them all, and be the only way to them. So it is
// distances of codes that are compared.
func (t *table) choose(c *scratch, owner uint32, candidates []rank, limit int, kept, dropped []rank) ([]rank, []rank) {
	length := c.aimOther(t, 0, owner)
	for len(candidates) > 0 && len(kept) < limit {
		block := candidates[:min(len(candidates), chooseBlock)]
		candidates = candidates[len(block):]
		left := append(c.left[:0], block...)
		c.left = left
		// One after the other, what was kept so far crosses out what it covers.
		for i := 0; i < len(kept) && len(left) > 0; i++ {
			left, dropped = c.cross(t, i, kept[i], length, left, dropped)
		}
		for len(left) > 0 && len(kept) < limit {
			r := left[0]
			c.aimOther(t, len(kept), r.slot())
			kept = append(kept, r)
			left, dropped = c.cross(t, len(kept)-1, r, length, left[1:], dropped)
		}
		dropped = append(dropped, left...)
	}
	return kept, append(dropped, candidates...)
}

// chooseBlock is the number of candidates that are compared with what was kept at a time: most choices end early.
const chooseBlock = 32

// aimOther makes a slot the i-th of those that candidates are compared with, and returns the square of its length.
func (c *scratch) aimOther(t *table, i int, slot uint32) int32 {
	if !t.walks {
		return 0
	}
	if i == len(c.others) {
		c.others = append(c.others, other{code: simd.NewQuery8(t.codes.Dim)})
	}
	o, row := &c.others[i], t.codes.Row(slot)
	o.code.Load(row)
	o.length = simd.Dot8(&o.code, row)
	return o.length
}

// other is a code that several are compared with.
type other struct {
	code   simd.Query8
	length int32 // squared
}

// cross moves those that s, the i-th kept, covers from left to dropped, except those with the flag expanded. length is
// that of the owner, squared.
func (c *scratch) cross(t *table, i int, s rank, length int32, left, dropped []rank) ([]rank, []rank) {
	ids := c.ids[:0]
	for _, r := range left {
		ids = append(ids, r.slot())
	}
	var near []int32
	var longer int64
	if t.walks {
		o := &c.others[i]
		near, longer = c.near[:len(ids)], int64(o.length)-int64(length)
		simd.DotMany8(&o.code, &t.codes, ids, near)
	} else {
		near = c.compareRows(t, t.row(s.slot()), ids)
	}
	still := left[:0]
	for j, r := range left {
		// By how much the square of the distance from r to the owner is above that to s.
		by := 2*(int64(near[j])-int64(r.near())) - longer
		if r&expanded == 0 && (by > 0 || by == 0 && s.near() == r.near()) {
			dropped = append(dropped, r)
		} else {
			still = append(still, r)
		}
	}
	return still, dropped
}

// addLink gives owner the neighbour added, choosing anew among all when the list is full.
func (g *Graph) addLink(c *linker, t *table, owner, added uint32, near int32, layer int) {
	list := g.list(t, owner, layer)
	lock(list)
	defer unlock(list)
	old, _ := neighbours(list, MaxSlots, c.ids[:0])
	for _, id := range old {
		if id == added {
			return
		}
	}
	if len(old) < g.capacity(layer) {
		extend(list, len(old), added)
		if layer == 0 {
			t.inDegree(added).Add(1)
		}
		return
	}
	replace(list, g.prune(c, t, owner, old, rankOf(near, added), layer))
}

// between returns how near the listed slots are to another one. It leaves alone what c aims at, and is valid until
// c.near is used again.
func (t *table) between(c *scratch, slot uint32, ids []uint32) []int32 {
	if !t.walks {
		return c.compareRows(t, t.row(slot), ids)
	}
	near := c.near[:len(ids)]
	c.aimOther(t, 0, slot)
	simd.DotMany8(&c.others[0].code, &t.codes, ids, near)
	return near
}

// prune returns the best choice among ids, the neighbours of owner, whose list is locked, and one more. The in-degrees are
// as they are to be then.
func (g *Graph) prune(c *linker, t *table, owner uint32, ids []uint32, added rank, layer int) []uint32 {
	near := t.between(c.scratch, owner, ids)
	candidates := append(c.candidates[:0], added)
	for i, id := range ids {
		candidates, _ = insert(candidates, rankOf(near[i], id), len(ids)+1)
	}
	kept, dropped := t.choose(c.scratch, owner, candidates, g.capacity(layer), c.kept[:0], c.dropped[:0])
	c.candidates, c.kept, c.dropped = candidates, kept, dropped
	if layer == 0 {
		kept = g.guard(t, kept, dropped, added)
		c.kept = kept
	}
	out := c.out[:0]
	for _, r := range kept {
		out = append(out, r.slot())
	}
	c.out = out
	return out
}

// guard settles the in-degrees of a rewritten layer-0 list, and puts back what no other list names, if need be
// in the place of the farthest neighbour that others do name. The slot just added may be displaced too: who
// links it makes sure in the end that something points to it.
func (g *Graph) guard(t *table, kept, dropped []rank, added rank) []rank {
	spare := len(kept) - 1
	for _, r := range dropped {
		if r == added {
			continue
		}
		degree := t.inDegree(r.slot())
		if degree.Load() != 1 {
			degree.Add(^uint32(0))
			continue
		}
		if len(kept) < g.capacity(0) {
			kept = append(kept, r)
			continue
		}
		for spare >= 0 && kept[spare] != added && t.inDegree(kept[spare].slot()).Load() <= 1 {
			spare--
		}
		if spare < 0 {
			degree.Add(^uint32(0)) // every neighbour hangs on this list; repair will find another place
			continue
		}
		if kept[spare] != added {
			t.inDegree(kept[spare].slot()).Add(^uint32(0))
		}
		kept[spare] = r
		spare--
	}
	for _, r := range kept {
		if r == added {
			t.inDegree(r.slot()).Add(1)
		}
	}
	return kept
}
