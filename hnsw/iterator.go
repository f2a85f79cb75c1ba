package hnsw

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// Iterator yields the slots nearest to a query batch by batch, each going on where the last one ended. It is for one
// goroutine, sees the slots that were there when it was made, and holds memory for a few bytes per slot it has
// met until Close.
//
// Within a batch, hits have the order of a search. From one batch to the next this is as good as the walk: it is
// always Ef candidates ahead of what it yields, so that the first k of several batches are about those that a search for
// k would find; but a hit that it finds later than that comes later, though it may be nearer than earlier ones. None is
// yielded twice, and what the walk cannot reach is scanned for in the end, so that all who are eligible come. With
// Exact, or where so few are eligible that they are scanned at once, the order of batches is that of one exact search.
type Iterator struct {
	c       *scratch // nil when closed
	t       *table
	n       uint32 // slots that the walk may step on
	scanned uint32 // from here on slots are not linked, and were scanned
	limit   uint32 // slots below may be yielded
	ef      int
	price   int // of a scan of all
	o       SearchOptions
	filter  filter
	effort  effort
	yielded int
	wide    int      // how many slots the next step looks at the neighbours of
	busy    bool     // Next is under way, or has panicked
	over    bool     // the walk is; everything else is in c.iteration.sorted
	only    []uint32 // not nil: the slots to choose from
	hold    hold
	forgot  runtime.Cleanup
}

// hold is what an iterator keeps from being overwritten: whatever was visible in an epoch.
type hold struct {
	g     *Graph
	place uint32
	epoch uint64
}

func (h hold) end() { h.g.readers.leave(h.place, h.epoch) }

// iteration is the memory of an iterator, of which the scratch has the rest.
type iteration struct {
	pending []rank   // heap of what passes the filter and had its neighbours looked at, by products of codes
	window  []rank   // heap of what is nearer than all the walk has yet to look at, by scores
	sorted  []rank   // what scans have found, by scores, best first
	taken   []uint64 // one bit per slot that is in window or was yielded
}

// Iterate starts to look for the slots nearest to q, as Search does, for as many as Next will be asked for.
// SearchOptions.Ef is how many candidates the walk is to be ahead. The iterator should be closed.
func (g *Graph) Iterate(q []float32, o SearchOptions) (*Iterator, error) {
	norm, err := checkVector(q, g.dim)
	if err != nil {
		return nil, fmt.Errorf("hnsw: iterate: %w", err)
	}
	if o.Ef < 0 || o.Ef > maxEf || o.MinScore != o.MinScore {
		return nil, fmt.Errorf("hnsw: iterate: %w: ef %d, minimum score %v", ErrInvalid, o.Ef, o.MinScore)
	}
	c := g.borrow()
	epoch := g.readers.enter(c.place)
	simd.Scale(c.q, q, norm)
	bound := o.Bound
	if bound == 0 {
		bound = MaxSlots
	}
	it := new(Iterator)
	begun := false
	defer func() {
		if !begun { // Accept has panicked
			g.readers.leave(c.place, epoch)
			g.release(c)
		}
	}()
	it.begin(c, hold{g, c.place, epoch}, &o, bound, nil)
	begun = true
	it.forgot = runtime.AddCleanup(it, hold.end, it.hold)
	return it, nil
}

// begin aims at the query in c.q.
func (it *Iterator) begin(c *scratch, h hold, o *SearchOptions, bound uint32, only []uint32) {
	g := h.g
	mark, entry, n, t := g.mark.Load(), g.entry.Load(), g.bound.Load(), g.table.Load()
	limit := min(n, bound)
	ef := o.Ef
	if ef == 0 {
		ef = g.o.EfSearch
	}
	*it = Iterator{c: c, t: t, n: n, scanned: min(mark, limit), limit: limit, ef: ef, wide: 1, o: *o, only: only, hold: h}
	it.filter = filter{t: t, limit: limit, dead: g.dead.Load() > 0, accept: o.Accept}
	it.filter.reused = it.filter.dead && g.upkeep.reuse
	if c.iteration == nil {
		c.iteration = new(iteration)
	}
	w := c.iteration
	w.pending, w.window, w.sorted, w.taken = w.pending[:0], w.window[:0], w.sorted[:0], clearedBits(w.taken, n)
	it.filter.not = w.taken
	c.err = nil

	// A scan scores all, and sorts them.
	it.price = int(limit)
	if o.Allow != nil {
		it.price = int(min(o.Allow.GetCardinality(), uint64(limit)))
	}
	if only != nil {
		it.price = len(only)
	}
	if o.Exact || only != nil || mark == 0 || it.price == 0 || g.scanIsCheaper(it.price, it.price, n, ef) {
		it.scan()
		return
	}
	if o.Allow != nil {
		c.dense(o.Allow, limit)
		it.filter.allow = c.allow
	}
	if it.scanned < limit {
		b := it.best()
		c.scan(t, c.q, it.scanned, limit, &it.filter, &b)
		it.keep(&b)
	}
	if t.lazy != nil {
		c.fail(t.lazy.someCodes())
	}
	c.aim(t, c.q)
	from, top := c.start(t, entry)
	at := c.descend(g, t, n, from, top, 0)
	c.forget(n)
	c.frontier = c.frontier[:0]
	it.meet(at)
	if at != from {
		it.meet(from)
	}
}

// meet notes a slot that the walk has come to.
func (it *Iterator) meet(r rank) {
	it.c.visit(r.slot())
	it.c.frontier = push(it.c.frontier, r)
}

// offer notes a slot if it may be yielded.
func (it *Iterator) offer(r rank) {
	if it.effort.asked++; r.slot() < it.scanned && it.filter.ok(r.slot()) {
		it.effort.passed++
		it.c.iteration.pending = push(it.c.iteration.pending, r)
	}
}

// Next yields the n nearest of what was not yielded, fewer when fewer are left, and none in the end. They overwrite dst,
// which is grown when its capacity is below their number; with enough, and once warm, nothing is allocated. After an
// error, or a panic of Accept, nothing more is yielded.
func (it *Iterator) Next(n int, dst []Hit) ([]Hit, error) {
	dst = dst[:0]
	if n < 0 || it.c == nil || it.busy {
		return dst, fmt.Errorf("hnsw: next of iterator: %w: %d hits, closed %v, interrupted %v", ErrInvalid, n, it.c == nil, it.busy)
	}
	it.busy = true
	n = min(n, int(it.limit))
	it.settle(n)
	ordered := true
	for len(dst) < n {
		r, ok := it.pop()
		if !ok || it.o.HasMinScore && r.score() < it.o.MinScore {
			if it.over {
				break
			}
			// Nothing near is left, but perhaps something that the walk has not come to.
			it.scan()
			ordered = false
			continue
		}
		dst = append(dst, r.hit())
	}
	it.busy = false
	it.yielded += len(dst)
	if it.c.err != nil {
		return dst[:0], fmt.Errorf("hnsw: next of iterator: %w", it.c.err)
	}
	if !ordered {
		slices.SortFunc(dst, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Slot, b.Slot))
		})
	}
	return dst, nil
}

// settle walks until n candidates and ef more are known that are nearer than all that is to be looked at.
func (it *Iterator) settle(n int) {
	if it.over {
		return
	}
	c, w := it.c, it.c.iteration
	known := len(w.window)
	ready := 0 // those that follow in window, not in the heap yet and with products of codes
	for known+ready < n+it.ef {
		if len(w.pending) > 0 && (len(c.frontier) == 0 || w.pending[0] <= c.frontier[0]) {
			var r rank
			r, w.pending = pop(w.pending)
			w.take(r.slot())
			w.window = append(w.window, r)
			ready++
			continue
		}
		if len(c.frontier) == 0 || it.effort.hopeless(it.price, it.yielded+n+it.ef, it.yielded+known+ready) {
			it.scan()
			break
		}
		it.step()
	}
	// By scores from here on.
	for all := w.window; known < len(all); {
		ids := c.ids[:0]
		for _, r := range all[known:min(len(all), known+scanBlock)] {
			ids = append(ids, r.slot())
		}
		c.trust(it.t, ids)
		simd.DotMany(c.q, &it.t.rows, ids, c.scores)
		for i, id := range ids {
			push(all[:known], makeRank(c.scores[i], id))
			known++
		}
	}
}

// step looks at the neighbours of the nearest slots that were not looked at, of as many at a time as walkAll would. What it
// offers waits until nothing nearer is to be looked at.
func (it *Iterator) step() {
	c := it.c
	ids, last, steps := c.ids[:0], rank(0), 0
	chains := make([]rank, 0, abreast)
	for ; steps < it.wide && len(c.frontier) > 0; steps++ {
		last, c.frontier = pop(c.frontier)
		it.offer(last)
		var chain bool
		if ids, chain = c.look(it.hold.g, it.t, it.n, last.slot(), 0, ids); chain {
			chains = append(chains, last)
		}
	}
	it.wide = min(2*it.wide, abreast)
	it.effort.compared += len(ids)
	it.effort.steps += steps
	for i, near := range c.compare(it.t, ids) {
		r := rankOf(near, ids[i])
		if r < last {
			it.wide = 1
		}
		c.frontier = push(c.frontier, r)
	}
	for _, r := range chains {
		for twin := it.t.nextTwin(r.slot()); twin != 0 && twin < it.n; twin = it.t.nextTwin(twin) {
			it.effort.steps++
			if c.visit(twin) {
				it.offer(rankOf(r.near(), twin))
			}
		}
	}
}

// scan ends the walk: all that may be yielded yet, but for what is in window, is scanned for.
func (it *Iterator) scan() {
	it.over = true
	c, f := it.c, &it.filter
	b := it.best()
	b.list = b.list[:0]
	if it.only != nil {
		c.scanList(it.t, c.q, it.only, true, f, &b)
	} else if it.o.Allow != nil {
		f.allow = nil
		c.scanBitmap(it.t, c.q, it.o.Allow, it.price, true, f, &b)
	} else {
		c.scan(it.t, c.q, 0, it.limit, f, &b)
	}
	it.keep(&b)
}

// best returns what gathers all that is good enough.
func (it *Iterator) best() best {
	b := best{list: it.c.iteration.sorted[:0], k: max(1, int(it.limit))}
	if it.o.HasMinScore {
		b.demand(it.o.MinScore)
	}
	return b
}

func (it *Iterator) keep(b *best) {
	b.finish()
	it.c.iteration.sorted = b.list
	slices.Reverse(b.list) // to be taken from the end
}

// pop takes the nearest of what is known.
func (it *Iterator) pop() (r rank, ok bool) {
	w := it.c.iteration
	last := len(w.sorted) - 1
	if last >= 0 && (len(w.window) == 0 || w.sorted[last] < w.window[0]) {
		r, w.sorted = w.sorted[last], w.sorted[:last]
		w.take(r.slot())
		return r, true
	}
	if len(w.window) == 0 {
		return 0, false
	}
	r, w.window = pop(w.window)
	return r, true
}

func (w *iteration) take(slot uint32) { w.taken[slot>>6] |= 1 << (slot & 63) }

// Close lets go of what the iterator holds. It may be called more than once, and an iterator that nobody can use any
// more is closed by the garbage collector, some time.
func (it *Iterator) Close() {
	if it.c == nil {
		return
	}
	it.forgot.Stop()
	it.tidy()
	it.hold.end()
	it.hold.g.release(it.c)
	*it = Iterator{}
}

// tidy drops memory that an extraordinary iterator has made big.
func (it *Iterator) tidy() {
	const keep = 1 << 17
	if w := it.c.iteration; max(cap(w.pending), cap(w.window), cap(w.sorted)) > keep {
		it.c.iteration = nil
	}
}
