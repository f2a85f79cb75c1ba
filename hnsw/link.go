package hnsw

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// linker is the scratch of one linking goroutine.
type linker struct {
	*scratch
	own                       [maxLevel + 1][]rank // what the slot being linked chose, per layer
	candidates, kept, dropped []rank
	newcomers                 []rank // to a list, see chooseBeside
	out                       []uint32
	distances                 []float64
	old, stay, more, dead     []uint32 // see purge
	alone                     bool     // nobody else is linking: slots need not come in order
}

// onlyLinker returns the linker of who holds linking and links alone: one at a time. Its lists keep their memory, which to
// make anew is a tenth of what it takes to replace a vector.
func (g *Graph) onlyLinker() *linker {
	if g.only == nil {
		g.only = &linker{alone: true}
	}
	g.only.scratch = g.borrow()
	return g.only
}

// twin is a slot found to hold the same row as an earlier one.
type twin struct{ slot, first uint32 }

// Link wires at most limit appended slots into the graph, in slot order, advancing the mark after each; 0 means all
// that are there when it is called. Those killed by then are passed over, and cost nothing. It returns how many
// slots the mark has advanced, and stops early with the context's error. Searches and Append may run meanwhile;
// other calls that link wait.
func (g *Graph) Link(ctx context.Context, limit int) (int, error) {
	return g.LinkParallel(ctx, limit, 1)
}

// LinkParallel is Link with several goroutines, all of which have ended when it returns. The graph then depends
// on timing, and the mark advances in larger steps. More than 1,024 are as many.
func (g *Graph) LinkParallel(ctx context.Context, limit, workers int) (int, error) {
	workers = min(workers, maxWorkers)
	g.lockLinks()
	defer g.linking.Unlock()
	from, to := g.mark.Load(), g.bound.Load()
	if limit > 0 && uint32(min(limit, MaxSlots)) < to-from {
		to = from + uint32(limit)
	}
	err := g.linkRange(ctx, to, workers)
	g.reclaim()
	mark := g.mark.Load()
	// Checking reachability reads every list once. Doing it each time the graph has grown by a third keeps that
	// a small share of linking, however small the portions.
	if mark > from && uint64(mark-g.repaired)*4 >= uint64(mark) {
		g.repair()
	}
	if err != nil {
		err = fmt.Errorf("hnsw: link: %w", err)
	}
	return int(mark - from), err
}

// linkStep is the number of slots per worker that are linked from one mark to the next: about 25 ms. In the end of
// each they wait for one another.
const linkStep = 512

func (g *Graph) linkRange(ctx context.Context, to uint32, workers int) error {
	if g.mark.Load() >= to {
		return nil
	}
	c := &linker{scratch: g.borrow()}
	defer g.release(c.scratch)
	// The first slots decide what a graph looks like from above. They are linked in order until there are so many that those
	// linked at the same time, which do not see one another, are few beside them.
	inOrder := uint32(min(256, 32*workers))
	for slot := g.mark.Load(); slot < to && (workers <= 1 || slot < inOrder); slot++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.passable(slot) {
			g.part(slot)
		} else if first, found := g.linkSlot(c, slot); found {
			g.chain(twin{slot, first})
		}
		g.mark.Store(slot + 1)
	}
	for g.mark.Load() < to {
		step := uint32(linkStep * workers)
		if err := g.linkSome(ctx, min(to, g.mark.Load()+step), workers); err != nil {
			return err
		}
	}
	return nil
}

// linkSome links the slots from the mark to the given one with several goroutines, all or, when the context
// ends, those up to the first that was not begun.
func (g *Graph) linkSome(ctx context.Context, to uint32, workers int) error {
	var next atomic.Uint32
	next.Store(g.mark.Load())
	twins, passed := make([][]twin, workers), make([][]uint32, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			c := &linker{scratch: g.borrow()}
			defer g.release(c.scratch)
			for ctx.Err() == nil {
				slot := next.Add(1) - 1
				if slot >= to {
					return
				}
				if g.passable(slot) {
					passed[w] = append(passed[w], slot)
				} else if first, found := g.linkSlot(c, slot); found {
					twins[w] = append(twins[w], twin{slot, first})
				}
			}
		})
	}
	group.Wait()
	// A slot taken is a slot linked: every goroutine finishes what it took.
	done := min(next.Load(), to)
	all := slices.Concat(twins...)
	slices.SortFunc(all, func(a, b twin) int { return int(a.slot) - int(b.slot) })
	for _, t := range all {
		g.chain(t)
	}
	for _, slot := range slices.Concat(passed...) {
		g.part(slot)
	}
	g.mark.Store(done)
	if done < to {
		return ctx.Err()
	}
	return nil
}

// passable says whether a slot that is to be linked next died before, so that there is nothing to link: nobody names it.
// Slot 0 is linked whatever became of it, for it is what a word of a list stands for that was not written yet.
func (g *Graph) passable(slot uint32) bool { return slot > 0 && g.table.Load().dead(slot) }

// chain puts a twin into its chain, which ascends from the second on.
func (g *Graph) chain(w twin) {
	t := g.hold()
	defer g.let()
	last, ok := g.tails[w.first]
	if ok && w.slot < last {
		before := w.first
		for t.nextTwin(before) < w.slot {
			before = t.nextTwin(before)
		}
		t.setTwin(w.slot, t.nextTwin(before))
		t.setTwin(before, w.slot)
		return
	}
	if !ok {
		last = w.first
	}
	t.setTwin(last, w.slot)
	if !ok {
		setTwins(t.zero(w.first), true)
	}
	g.tails[w.first] = w.slot
}

// linkSlot is algorithm 1 of the paper. A slot whose row an earlier node holds already is not linked: found is
// true then, and first is that node.
func (g *Graph) linkSlot(c *linker, slot uint32) (first uint32, found bool) {
	level := levelOf(g.o.Seed, slot, g.o.M)
	entry := g.entry.Load()
	if entry == noEntry || level > int(entry>>32) {
		// It is to become the entry: two such slots wait for each other, so that the second sees the first.
		g.top.Lock()
		defer g.top.Unlock()
		entry = g.entry.Load()
	}
	n, t := g.bound.Load(), g.hold()
	defer g.let()
	if entry == noEntry {
		g.entry.Store(uint64(level)<<32 | uint64(slot))
		return 0, false
	}
	c.aimAt(t, slot)
	at, top := c.start(t, entry)
	at = c.descend(g, t, n, at, top, level)
	reach := min(level, top)
	for layer := reach; layer >= 0; layer-- {
		g.candidates(c, t, n, layer, at)
		if layer == 0 {
			if first, found := c.sameRow(t, slot); found {
				return first, true
			}
		}
		c.own[layer], c.dropped = t.choose(c.scratch, slot, c.found, g.o.M, c.own[layer][:0], c.dropped[:0])
		at = c.found[0]
	}
	// Other linkers may have written to these lists last. To wait for one after the other takes a twentieth of linking: they
	// are asked for all at once.
	t.prefetchWrite(c.own[0])
	// The slot's own lists are complete before anything points to it.
	for layer := range reach + 1 {
		out := c.out[:0]
		for _, r := range c.own[layer] {
			out = append(out, r.slot())
			if layer == 0 {
				t.inDegree(r.slot()).Add(1)
			}
		}
		c.out = out
		replace(g.list(t, slot, layer), out)
	}
	for layer := reach; layer >= 0; layer-- {
		for _, r := range c.own[layer] {
			g.addLink(c, t, r.slot(), slot, r.near(), layer)
		}
	}
	if t.inDegree(slot).Load() == 0 {
		g.attach(c, t, c.own[0][0].slot(), slot)
	}
	if level > top {
		g.entry.Store(uint64(level)<<32 | uint64(slot))
	}
	return 0, false
}

// candidates collects into c.found the best slots to link with, live ones when there are any.
func (g *Graph) candidates(c *linker, t *table, n uint32, layer int, at rank) {
	if g.dead.Load() > 0 {
		c.found = append(c.found[:0], at)
		c.walkPast(g, t, n, layer, g.o.EfConstruction, g.fewDead())
		if len(c.found) > 0 {
			return
		}
	}
	c.found = append(c.found[:0], at)
	c.walkAll(g, t, n, layer, g.o.EfConstruction, 0, false, false)
}

// walkPast collects into c.found, which on entry holds where to begin, the ef best slots to link with, past the dead. few
// says that these are.
func (c *scratch) walkPast(g *Graph, t *table, n uint32, layer, ef int, few bool) {
	at := c.found[0]
	if few && c.walkAll(g, t, n, layer, ef, 0, false, true) {
		return
	}
	f := filter{t: t, limit: n, dead: true, linking: true}
	c.walkSome(g, t, n, layer, ef, 0, at, at, &f, unlimited)
}

// sameRow looks for an earlier slot with the very row of slot, which c aims at, among the best in c.found.
func (c *linker) sameRow(t *table, slot uint32) (uint32, bool) {
	row := t.row(slot)
	self := c.compare(t, append(c.ids[:0], slot))[0]
	for _, r := range c.found {
		if r.near() < self {
			break
		}
		if (c.alone || r.slot() < slot) && r.near() == self && slices.Equal(t.row(r.slot()), row) {
			return r.slot(), true
		}
	}
	return 0, false
}
