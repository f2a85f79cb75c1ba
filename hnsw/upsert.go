package hnsw

import (
	"slices"
	"sync/atomic"
)

// linkNow links one slot, the one at the mark or one below it that is used again. Where like is the slot of a row
// much like its own, and alike is set, it may inherit the place of that one instead of looking for its own; the
// result says so.
func (g *Graph) linkNow(slot, like uint32, alike bool) (inherited bool) {
	g.lockLinks()
	defer g.linking.Unlock()
	c := g.onlyLinker()
	defer g.release(c.scratch)
	if inherited = alike && g.inherit(c, slot, like); !inherited {
		if first, found := g.linkSlot(c, slot); found {
			g.chain(twin{slot, first})
		}
	}
	if slot == g.mark.Load() {
		g.mark.Store(slot + 1)
	}
	return inherited
}

// leave is called when nobody sees old any more, whose place heir has inherited. Where all who named old are known,
// none of them does now, and its slot is free as soon as searches have left it. Otherwise the way to what lies around is
// by heir from now on, so that walks that come to old do not go on to others that are dead.
func (g *Graph) leave(old, heir uint32) {
	g.lockLinks()
	defer g.linking.Unlock()
	c := g.onlyLinker()
	defer g.release(c.scratch)
	t := g.hold()
	defer g.let()
	u := &g.upkeep
	delete(u.heirs, old)
	u.leaving.remove(old)
	for _, owner := range u.followers[old] {
		if !u.apart.has(owner) && g.rename(c, t, owner, old, heir) { // what those name who are apart does not count
			u.follow(heir, owner)
		}
	}
	delete(u.followers, old)
	g.forgetIn(t, heir, old)
	names, _ := neighbours(t.zero(old), MaxSlots, c.old[:0])
	c.old = names
	for _, id := range names {
		if id != heir && t.inDegree(id).Load() == 1 && t.routable(id) && !t.dead(heir) {
			g.attach(c, t, heir, id)
		}
	}
	if g.quit(t, old) {
		return
	}
	for _, id := range names {
		t.inDegree(id).Add(^uint32(0))
	}
	rewrite(t.zero(old), append(c.out[:0], heir))
	t.inDegree(heir).Add(1)
	u.follow(heir, old)
	u.left = append(u.left, old)
}

// partLate looks at some of those who have left, and parts with whom nobody names any more.
func (g *Graph) partLate(some int) {
	u := &g.upkeep
	t := g.hold()
	defer g.let()
	for range min(some, len(u.left)) {
		slot := u.left[0]
		u.left = u.left[1:]
		if !u.apart.has(slot) && t.dead(slot) && !g.quit(t, slot) {
			u.left = append(u.left, slot)
		}
	}
}

// quit parts with a dead slot that nobody names, if that is known: of upper layers it is not.
func (g *Graph) quit(t *table, slot uint32) bool {
	u := &g.upkeep
	if t.inDegree(slot).Load() != 0 || levelOf(g.o.Seed, slot, g.o.M) > 0 || t.routable(slot) || u.apart.has(slot) ||
		u.leaving.has(slot) || uint32(g.entry.Load()) == slot {
		return false
	}
	for _, id := range listed(t.zero(slot)) {
		t.inDegree(id).Add(^uint32(0))
	}
	u.gone.remove(slot)
	g.part(slot)
	return true
}

// rename makes a slot that names old on layer 0 name heir instead, and says whether it did name old.
func (g *Graph) rename(c *linker, t *table, owner, old, heir uint32) bool {
	if g.upkeep.apart.has(owner) {
		return false
	}
	list := t.zero(owner)
	lock(list)
	ids, _ := neighbours(list, MaxSlots, c.ids[:0])
	i := slices.Index(ids, old)
	twice := owner == heir || slices.Contains(ids, heir)
	if i >= 0 && !twice {
		atomic.StoreUint32(&list[1+i], heir)
		t.inDegree(old).Add(^uint32(0))
		t.inDegree(heir).Add(1)
	}
	unlock(list)
	if i >= 0 && twice {
		g.forgetIn(t, owner, old)
	}
	return i >= 0 && !twice
}

// forgetIn takes a slot out of the layer-0 list of another.
func (g *Graph) forgetIn(t *table, owner, slot uint32) {
	list := t.zero(owner)
	lock(list)
	defer unlock(list)
	if i := slices.Index(listed(list), slot); i >= 0 {
		drop(list, i)
		t.inDegree(slot).Add(^uint32(0))
	}
}

// living returns a slot if it is alive, or the node that has taken its place.
func (g *Graph) living(t *table, slot uint32, layer int) (uint32, bool) {
	heir := slot
	for g.upkeep.leaving.has(heir) {
		heir = g.upkeep.heirs[heir]
	}
	if heir == slot && t.routable(slot) {
		return slot, true
	}
	heir = g.lastHeir(t, heir)
	return heir, t.routable(heir) && levelOf(g.o.Seed, heir, g.o.M) >= layer && len(listed(g.list(t, heir, layer))) > 0
}

// exchange makes the neighbours of old, and those in c.found, that name it on a layer name heir instead, and old name
// heir. Nobody names heir yet. Where a neighbour names somebody dead, it is made to name who took its place: so places
// that change all the time do not fill with what was there.
func (g *Graph) exchange(c *linker, t *table, old, heir uint32, layer int) {
	names, _ := neighbours(g.list(t, old, layer), MaxSlots, c.old[:0])
	c.old = names
	owners := append(c.stay[:0], names...)
	for _, r := range c.found {
		if !slices.Contains(names, r.slot()) {
			owners = append(owners, r.slot())
		}
	}
	if layer == 0 {
		for _, owner := range g.upkeep.followers[old] {
			if !g.upkeep.apart.has(owner) && !slices.Contains(owners, owner) {
				owners = append(owners, owner)
			}
		}
		delete(g.upkeep.followers, old)
	}
	c.stay = owners
	out, _ := neighbours(g.list(t, heir, layer), MaxSlots, c.out[:0])
	c.out = out
	for _, owner := range owners {
		// What those name who are leaving is for those who still see them.
		if owner == heir || g.upkeep.apart.has(owner) || g.upkeep.leaving.has(owner) {
			continue
		}
		list := g.list(t, owner, layer)
		lock(list)
		ids, _ := neighbours(list, MaxSlots, c.ids[:0])
		for i := 0; i < len(ids); i++ {
			was, is := ids[i], heir
			if was != old {
				if !t.dead(was) && !g.upkeep.leaving.has(was) { // nearly all
					continue
				}
				var ok bool
				if is, ok = g.living(t, was, layer); !ok || is == was {
					continue
				}
			}
			g.count(t, was, layer, ^uint32(0))
			if layer == 0 && was != old {
				g.quit(t, was)
			}
			if is == owner || slices.Contains(ids, is) {
				last := len(ids) - 1
				ids[i] = ids[last]
				drop(list, i)
				ids = ids[:last]
				i--
				continue
			}
			ids[i] = is
			atomic.StoreUint32(&list[1+i], is)
			g.count(t, is, layer, 1)
			if layer == 0 && (is != heir || !slices.Contains(out, owner)) {
				g.upkeep.follow(is, owner)
			}
		}
		unlock(list)
	}
	list := g.list(t, old, layer)
	lock(list)
	defer unlock(list)
	at := len(names)
	if i := slices.IndexFunc(names, t.dead); i >= 0 {
		at = i
	} else if at == g.capacity(layer) {
		at--
	}
	if at < len(names) {
		g.count(t, names[at], layer, ^uint32(0))
		atomic.StoreUint32(&list[1+at], heir)
	} else {
		extend(list, at, heir)
	}
	g.count(t, heir, layer, 1)
}

// count adds to the in-degree of a slot, on layer 0.
func (g *Graph) count(t *table, slot uint32, layer int, delta uint32) {
	if layer == 0 {
		t.inDegree(slot).Add(delta)
	}
}

// linkAbove links a slot on the layers above the given one that it reaches. There nobody names it yet, or it would find
// itself.
func (g *Graph) linkAbove(c *linker, t *table, slot uint32, above int) {
	level, entry := levelOf(g.o.Seed, slot, g.o.M), g.entry.Load()
	if level <= above {
		return
	}
	n := g.bound.Load()
	c.aimAt(t, slot)
	at, top := c.start(t, entry)
	at = c.descend(g, t, n, at, top, level)
	for layer := min(level, top); layer > above; layer-- {
		g.candidates(c, t, n, layer, at)
		at = c.found[0]
		kept, dropped := t.choose(c.scratch, slot, c.found, g.o.M, c.own[layer][:0], c.dropped[:0])
		c.own[layer], c.dropped = kept, dropped
		out := c.out[:0]
		for _, r := range kept {
			out = append(out, r.slot())
		}
		c.out = out
		replace(g.list(t, slot, layer), out)
		for _, r := range kept {
			g.addLink(c, t, r.slot(), slot, r.near(), layer)
		}
	}
}

// addSpare makes a slot free to be used again.
func (g *Graph) addSpare(slot uint32) {
	above := min(levelOf(g.o.Seed, slot, g.o.M), 1)
	g.upkeep.spare[above] = append(g.upkeep.spare[above], slot)
}

// takeSpare returns a slot to be used again, if there is one. Of those that reach upper layers it returns as many as
// there ought to be.
func (g *Graph) takeSpare() (uint32, bool) {
	g.linking.Lock()
	defer g.linking.Unlock()
	spare := &g.upkeep.spare
	above := 0
	if g.o.M*len(spare[1]) > len(spare[0])+len(spare[1]) {
		above = 1
	}
	if len(spare[above]) == 0 {
		above = 1 - above
	}
	last := len(spare[above]) - 1
	if last < 0 {
		return 0, false
	}
	slot := spare[above][last]
	spare[above] = spare[above][:last]
	return slot, true
}

// revive gives a spare slot a row, written by fill. It is alive then, but not linked.
func (g *Graph) revive(slot uint32, fill func(row []float32)) {
	g.linking.Lock()
	defer g.linking.Unlock()
	t := g.hold()
	defer g.let()
	if t.lazy != nil {
		t.lazy.passed(slot)
	}
	fill(t.row(slot))
	g.encodeRow(t, slot)
	g.upkeep.apart.remove(slot)
	g.upkeep.aparts.Add(-1)
	m, i := t.at(slot)
	m.dead[i>>6].And(^(uint64(1) << (i & 63)))
	g.dead.Add(^uint32(0))
}
