package hnsw

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// consolidatePortion is the number of slots swept while others who want to link wait: a few milliseconds.
const consolidatePortion = 512

// Consolidate takes slots that were killed out of all lists, so that searches no longer pay for them. Whoever
// named one of them chooses among what it and they have left as neighbours, as in FreshDiskANN (arXiv
// 2105.09613, algorithm 4); no graph is searched. A dead entry is replaced, and linked slots that cannot be
// reached are linked again. It returns the number of slots taken out; they stay dead.
//
// Searches, Append and Kill may run meanwhile; calls that link wait for a portion at most. When the context ends
// first, what is done is done, and the next call goes on from there.
func (g *Graph) Consolidate(ctx context.Context) (int, error) {
	taken := 0
	for fresh := false; ; {
		if err := ctx.Err(); err != nil {
			return taken, fmt.Errorf("hnsw: consolidate: %w", err)
		}
		n, began, running := g.consolidateSome(consolidatePortion)
		taken += n
		fresh = fresh || began
		// A round that an earlier call began does not know of those killed since.
		if !running && fresh {
			return taken, nil
		}
		if !running && n == 0 {
			g.Repair()
			return taken, nil
		}
	}
}

// consolidateSome sweeps some slots. It says how many dead ones were taken out, and whether a round began and is
// not over yet.
func (g *Graph) consolidateSome(slots int) (taken int, began, running bool) {
	g.lockLinks()
	defer g.linking.Unlock()
	before := g.upkeep.aparts.Load()
	if !g.upkeep.running {
		began = g.beginRound()
	}
	if g.upkeep.running {
		g.goOn(slots)
	}
	g.reclaim()
	return int(g.upkeep.aparts.Load() - before), began, g.upkeep.running
}

// tend is called now and then by who reuses slots, after killing some. Rounds begin when one slot in sixteen is
// dead and still named, and then advance by so much per slot killed that they end before it is one in ten.
func (g *Graph) tend(live, killed int) {
	g.lockLinks()
	defer g.linking.Unlock()
	defer g.reclaim()
	u := &g.upkeep
	g.partLate(4 * killed)
	if !u.running && (int(g.dead.Load())-int(u.aparts.Load()) <= live/16+32 || !g.beginRound()) {
		return
	}
	g.goOn(killed * (1 + int(u.end)*40/max(live, 1)))
}

// beginRound decides who is to go, and says whether it is anybody.
func (g *Graph) beginRound() bool {
	c := &linker{scratch: g.borrow()}
	defer g.release(c.scratch)
	t := g.hold()
	defer g.let()
	g.tidyChains(c, t)
	u := &g.upkeep
	u.end, u.next = g.mark.Load(), 0
	u.gone = clearedBits(u.gone, u.end)
	members := g.members(t) // some may have died just now
	for slot := range u.end {
		if t.dead(slot) && !u.apart.has(slot) && !members.has(slot) && t.nextTwin(slot) == 0 {
			u.gone.add(slot)
			u.running = true
		}
	}
	return u.running
}

// goOn sweeps a number of slots, and ends the round when that were all.
func (g *Graph) goOn(slots int) {
	u := &g.upkeep
	c := g.onlyLinker()
	defer g.release(c.scratch)
	t := g.hold()
	for ; u.next < u.end && slots > 0; u.next++ {
		g.sweepLists(c, t, u.next, 0)
		slots--
	}
	g.let()
	if u.next == u.end {
		g.endRound(c)
	}
}

// sweepLists takes those who go out of the lists of a slot that stays, from a layer upwards.
func (g *Graph) sweepLists(c *linker, t *table, slot uint32, from int) {
	if g.upkeep.gone.has(slot) || g.upkeep.apart.has(slot) {
		return
	}
	if from == 0 {
		g.purge(c, t, slot, 0)
	}
	for layer := 1; layer <= levelOf(g.o.Seed, slot, g.o.M); layer++ {
		g.purge(c, t, slot, layer)
	}
}

// routable reports whether a slot is a neighbour worth having: alive, or with twins that may be.
func (t *table) routable(slot uint32) bool { return !t.gone(slot, true) }

// gone reports whether a walk is not to collect a slot: it is dead and, for who looks for neighbours, not routable either.
func (t *table) gone(slot uint32, linking bool) bool {
	return t.dead(slot) && (!linking || t.nextTwin(slot) == 0)
}

// stays reports whether a neighbour is worth keeping in this round: one who goes and has just gained a twin is left to the
// end of the round.
func (g *Graph) stays(t *table, slot uint32) bool {
	return t.routable(slot) && !g.upkeep.gone.has(slot)
}

// purge rewrites a list that names somebody who goes. Neighbours that stay were chosen already, and stay; in the
// places of the others come the best of their neighbours, who in turn name the owner as if it were new: without that,
// recall after deleting half is worse by 4 points.
func (g *Graph) purge(c *linker, t *table, owner uint32, layer int) {
	list := g.list(t, owner, layer)
	old, _ := neighbours(list, MaxSlots, c.old[:0])
	c.old = old
	if !slices.ContainsFunc(old, g.upkeep.gone.has) || g.substitute(c, t, owner, layer, old) {
		return
	}
	stay, more, dead := c.stay[:0], c.more[:0], c.dead[:0]
	for _, id := range old {
		if g.stays(t, id) {
			stay = append(stay, id)
		} else {
			dead = append(dead, id)
		}
	}
	// Where hardly anybody is left, those beyond the dead are dead too: look on behind them.
	const farthest = 128
	enough, next := 2*g.o.M, len(dead)
	for i := 0; i < len(dead) && (i < next || len(stay)+len(more) < enough); i++ {
		beyond, _ := neighbours(g.list(t, dead[i], layer), MaxSlots, c.ids[:0])
		for _, id := range beyond {
			switch {
			case id == owner || slices.Contains(old, id):
			case g.stays(t, id):
				more = append(more, id)
			case len(dead) < farthest && !slices.Contains(dead, id):
				dead = append(dead, id)
			}
		}
	}
	c.dead = dead
	slices.Sort(more)
	c.stay, c.more = stay, slices.Compact(more)

	candidates := g.rankAll(c, t, owner, stay, expanded, c.candidates[:0])
	candidates = g.rankAll(c, t, owner, c.more, 0, candidates)
	slices.Sort(candidates)
	c.candidates = candidates
	g.chooseBeside(c, t, owner, candidates, g.capacity(layer), len(stay), g.o.M)

	if layer == 0 {
		for _, id := range old {
			t.inDegree(id).Add(^uint32(0))
		}
		for _, id := range c.out {
			t.inDegree(id).Add(1)
		}
	}
	rewrite(list, c.out)
	if t.dead(owner) || g.upkeep.leaving.has(owner) {
		return // nobody is to come to it who does not now
	}
	for _, r := range c.newcomers {
		g.addLink(c, t, r.slot(), owner, r.near(), layer)
	}
}

// substitute puts heirs in the places of those who go, if all of those have left their place to one (see leave).
func (g *Graph) substitute(c *linker, t *table, owner uint32, layer int, ids []uint32) bool {
	if layer > 0 {
		return false
	}
	now := c.stay[:0]
	for _, id := range ids {
		if g.upkeep.gone.has(id) {
			if id = g.lastHeir(t, id); !t.routable(id) {
				return false
			}
		}
		if id != owner && !slices.Contains(now, id) {
			now = append(now, id)
		}
	}
	c.stay = now
	for _, id := range ids {
		t.inDegree(id).Add(^uint32(0))
	}
	for _, id := range now {
		t.inDegree(id).Add(1)
	}
	rewrite(t.zero(owner), now)
	return true
}

// lastHeir follows those who left their place to one who left it to another, some way.
func (g *Graph) lastHeir(t *table, slot uint32) uint32 {
	for range 64 {
		left := listed(t.zero(slot))
		if t.routable(slot) || len(left) != 1 {
			break
		}
		slot = left[0]
	}
	return slot
}

// chooseBeside is choose for a list, of the given capacity, in which some of the candidates have their place already:
// they carry the flag expanded. It leaves who is in the list in c.out, and who is new there in c.newcomers. Those
// passed over come in as well until there are as many as there should be at least.
func (g *Graph) chooseBeside(c *linker, t *table, owner uint32, candidates []rank, capacity, taken, least int) {
	const most = 256
	length := c.aimOther(t, 0, owner)
	left := append(c.left[:0], candidates...)
	if len(left) > most {
		far := slices.DeleteFunc(left[most:], func(r rank) bool { return r&expanded == 0 })
		left = left[:most+len(far)]
	}
	c.left = left
	kept, out, fresh, dropped := c.kept[:0], c.out[:0], c.newcomers[:0], c.dropped[:0]
	for len(left) > 0 {
		r := left[0]
		left = left[1:]
		if r&expanded == 0 {
			if taken == capacity {
				dropped = append(dropped, r)
				continue
			}
			taken++
			fresh = append(fresh, r)
		}
		r &^= expanded
		c.aimOther(t, len(kept), r.slot())
		kept, out = append(kept, r), append(out, r.slot())
		left, dropped = c.cross(t, len(kept)-1, r, length, left, dropped)
	}
	slices.Sort(dropped)
	for _, r := range dropped {
		if len(out) >= min(least, capacity) {
			break
		}
		out, fresh = append(out, r.slot()), append(fresh, r)
	}
	c.kept, c.out, c.newcomers, c.dropped = kept, out, fresh, dropped
}

// rankAll appends the ranks of the listed slots, as seen from owner, with a flag.
func (g *Graph) rankAll(c *linker, t *table, owner uint32, ids []uint32, flag rank, ranks []rank) []rank {
	for len(ids) > 0 {
		n := min(len(ids), len(c.near))
		for i, near := range t.between(c.scratch, owner, ids[:n]) {
			ranks = append(ranks, rankOf(near, ids[i])|flag)
		}
		ids = ids[n:]
	}
	return ranks
}

// endRound parts with those who go. All layer-0 lists were swept, but somebody may have been linked meanwhile who
// found nobody alive to link with; in-degrees tell. Upper layers, having few slots, are swept once more.
func (g *Graph) endRound(c *linker) {
	u := &g.upkeep
	u.running = false
	t := g.hold()
	for slot := range g.mark.Load() {
		g.sweepLists(c, t, slot, 1)
	}
	if entry := uint32(g.entry.Load()); u.gone.has(entry) && !g.replaceEntry(t) {
		u.gone.remove(entry) // nobody else is alive: it stays the way in
		g.sweepLists(c, t, entry, 0)
	}
	g.let()
	g.repair()

	t = g.hold()
	defer g.let()
	g.countLists(t, ^uint32(0))
	for slot := range u.end {
		if u.gone.has(slot) && (t.inDegree(slot).Load() != 0 || t.nextTwin(slot) != 0) {
			u.gone.remove(slot)
			g.countList(c, t, slot, 1)
			g.sweepLists(c, t, slot, 0)
		}
	}
	for slot := range u.end {
		if u.gone.has(slot) {
			g.part(slot)
		}
	}
}

// countLists adds to the in-degrees of all whom those who go name on layer 0.
func (g *Graph) countLists(t *table, delta uint32) {
	c := &linker{scratch: g.borrow()}
	defer g.release(c.scratch)
	for slot := range g.upkeep.end {
		if g.upkeep.gone.has(slot) {
			g.countList(c, t, slot, delta)
		}
	}
}

func (g *Graph) countList(c *linker, t *table, slot, delta uint32) {
	ids, _ := neighbours(t.zero(slot), MaxSlots, c.ids[:0])
	for _, id := range ids {
		t.inDegree(id).Add(delta)
	}
}

// part notes that nobody names a dead slot any more. What it names does not count.
func (g *Graph) part(slot uint32) {
	delete(g.upkeep.followers, slot)
	g.upkeep.apart.add(slot)
	g.upkeep.aparts.Add(1)
	g.upkeep.limbo = append(g.upkeep.limbo, parted{slot, g.readers.epoch.Load()})
}

// reclaim empties the lists of slots where nobody is any more.
func (g *Graph) reclaim() {
	u := &g.upkeep
	if len(u.limbo) == 0 {
		return
	}
	g.readers.advance()
	t := g.hold()
	defer g.let()
	done := 0
	for _, p := range u.limbo {
		if !g.readers.left(p.epoch) {
			break
		}
		for layer := range levelOf(g.o.Seed, p.slot, g.o.M) + 1 {
			atomic.StoreUint32(&g.list(t, p.slot, layer)[0], 0)
		}
		t.setTwin(p.slot, 0)
		if u.reuse && p.slot != 0 { // as a twin, slot 0 would say that there is none
			g.addSpare(p.slot)
		}
		done++
	}
	u.limbo = slices.Delete(u.limbo, 0, done)
}

// replaceEntry makes a live node of the highest layer the entry, or returns false when there is none.
func (g *Graph) replaceEntry(t *table) bool {
	members := g.members(t)
	best, top := uint32(0), -1
	for slot := range g.mark.Load() {
		if t.dead(slot) || members.has(slot) {
			continue
		}
		if level := levelOf(g.o.Seed, slot, g.o.M); level > top {
			best, top = slot, level
		}
	}
	if top >= 0 {
		g.entry.Store(uint64(top)<<32 | uint64(best))
	}
	return top >= 0
}
