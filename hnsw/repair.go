package hnsw

import (
	"slices"
	"sync/atomic"
)

// Repair makes every live linked slot reachable from the entry along layer 0, and returns how many were not. Link
// does it on its own as the graph grows, and Save before it writes; between those, a slot that lost its
// last path is found by exact scans only. Searches may run meanwhile.
func (g *Graph) Repair() int {
	g.lockLinks()
	defer g.linking.Unlock()
	return g.repair()
}

// repair is Repair for the linker. Every attachment keeps what was reachable so, hence one pass is enough.
func (g *Graph) repair() int {
	n, entry := g.mark.Load(), g.entry.Load()
	g.repaired = n
	if n == 0 {
		return 0
	}
	c := &linker{scratch: g.borrow()}
	defer g.release(c.scratch)
	t := g.hold()
	defer g.let()
	reached := reach{g: g, t: t, n: n, bits: clearedBits(nil, n)}
	reached.from(uint32(entry))
	members := g.members(t)
	lost := 0
	for slot := range n {
		if reached.has(slot) || members.has(slot) || g.upkeep.apart.has(slot) || !t.routable(slot) {
			continue
		}
		lost++
		c.aimAt(t, slot)
		at, _ := c.start(t, entry)
		c.found = append(c.found[:0], at)
		c.walkAll(g, t, n, 0, g.o.EfConstruction, 0, false, false)
		g.relink(c, t, slot)
		owner := c.found[0].slot()
		if i := slices.IndexFunc(c.found, func(r rank) bool { return t.routable(r.slot()) }); i >= 0 {
			owner = c.found[i].slot()
		}
		g.attach(c, t, owner, slot)
		reached.from(slot)
	}
	return lost
}

// relink gives a slot that cannot be reached, and has lost most of its neighbours, others from c.found.
func (g *Graph) relink(c *linker, t *table, slot uint32) {
	list := t.zero(slot)
	ids, _ := neighbours(list, MaxSlots, c.old[:0])
	if c.old = ids; len(ids) >= g.o.M/2 {
		return
	}
	candidates := c.candidates[:0]
	for _, r := range c.found {
		if t.routable(r.slot()) && r.slot() != slot {
			candidates = append(candidates, r)
		}
	}
	kept, dropped := t.choose(c.scratch, slot, candidates, g.o.M, c.kept[:0], c.dropped[:0])
	c.candidates, c.kept, c.dropped = candidates, kept, dropped
	for _, r := range kept {
		if id := r.slot(); len(ids) < g.capacity(0) && !slices.Contains(ids, id) {
			ids = append(ids, id)
			t.inDegree(id).Add(1)
		}
	}
	c.old = ids
	rewrite(list, ids)
}

// reach is the set of slots that a walk on layer 0 can meet.
type reach struct {
	g     *Graph
	t     *table
	n     uint32
	bits  []uint64
	queue []uint32
	ids   []uint32
}

func (r *reach) has(slot uint32) bool { return r.bits[slot>>6]>>(slot&63)&1 != 0 }

func (r *reach) add(slot uint32) {
	if slot < r.n && !r.has(slot) {
		r.bits[slot>>6] |= 1 << (slot & 63)
		r.queue = append(r.queue, slot)
	}
}

// from adds a slot and all that can be reached from it, twins included.
func (r *reach) from(slot uint32) {
	r.add(slot)
	for len(r.queue) > 0 {
		slot := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		r.ids, _ = r.t.names(slot, r.n, r.ids[:0])
		for _, id := range r.ids {
			r.add(id)
		}
		if next := r.t.nextTwin(slot); next != 0 {
			r.add(next)
		}
	}
}

// attach makes owner name slot on layer 0 in a way that nothing reachable through owner is lost: where owner's
// list is full, the neighbour that gives way becomes, or already is, one of slot's. What slot named
// before may lose that link, which carried nothing while slot itself could not be reached.
func (g *Graph) attach(c *linker, t *table, owner, slot uint32) {
	list, own := t.zero(owner), t.zero(slot)
	lock(list)
	ids, _ := neighbours(list, MaxSlots, c.ids[:0])
	if len(ids) < g.capacity(0) {
		if !slices.Contains(ids, slot) {
			extend(list, len(ids), slot)
			t.inDegree(slot).Add(1)
		}
		unlock(list)
		return
	}
	unlock(list)

	lock(own)
	out, _ := neighbours(own, MaxSlots, c.out[:0])
	c.out = out
	place := len(ids) - 1
	for i := place; i >= 0; i-- {
		if slices.Contains(out, ids[i]) {
			place = i
			break
		}
	}
	gives := ids[place]
	if !slices.Contains(out, gives) {
		if at := len(out) - 1; len(out) == g.capacity(0) {
			t.inDegree(out[at]).Add(^uint32(0))
			atomic.StoreUint32(&own[1+at], gives)
		} else {
			extend(own, len(out), gives)
		}
		t.inDegree(gives).Add(1)
	}
	unlock(own)

	// Another linker may have changed owner's list meanwhile; then whatever is in that place now gives way, and
	// the next repair sees to it.
	lock(list)
	now, _ := neighbours(list, MaxSlots, c.ids[:0])
	if place < len(now) && !slices.Contains(now, slot) {
		atomic.StoreUint32(&list[1+place], slot)
		t.inDegree(now[place]).Add(^uint32(0))
		t.inDegree(slot).Add(1)
	}
	unlock(list)
}
