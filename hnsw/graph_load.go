package hnsw

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

// LoadGraph returns the graph that Save wrote, and the caller's part. Its rows are yet to be placed, before the first
// search, and each has to be the one that was there when the graph was saved: that is the caller's to know. A slot
// whose row is not there any more is killed; it stays a stepping stone as long as walks need none but its code (see
// HasCodes).
//
// Of o, M and Seed have to be those of the file, and dim too (ErrMismatch); the rest is taken as it is. Everything is
// checked before use: what is damaged, and what does not match, is ErrCorrupt, what a later version wrote ErrTooNew.
func LoadGraph(r io.ReaderAt, size int64, dim int, o Options) (g *Graph, own []byte, err error) {
	f, err := readFileHeader(r, size, "", false)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range []struct {
		name       string
		have, want uint64
	}{{"dimension", uint64(f.dim), uint64(dim)}, {"M", uint64(f.m), uint64(o.withDefaults().M)}, {"seed", f.seed, o.Seed}} {
		if x.have != x.want {
			reason := fmt.Sprintf("%s %d, want %d", x.name, x.have, x.want)
			return nil, nil, &CorruptionError{Part: "header", Reason: reason, Err: ErrMismatch}
		}
	}
	if f.index {
		return nil, nil, &CorruptionError{Part: "header", Reason: "of an Index", Err: ErrMismatch}
	}
	if own, err = f.section(secOwn); err != nil {
		return nil, nil, err
	}
	if g, err = f.graph(o); err != nil {
		return nil, nil, err
	}
	if err = f.settle(); err != nil {
		return nil, nil, err
	}
	t := *g.table.Load()
	for f.slots > 0 && !t.rows.Holds(f.slots-1) {
		t.rows = g.growRows(t.rows)
	}
	g.table.Store(&t)
	return g, own, nil
}

// HasCodes says whether all slots there are have codes, whatever becomes of their rows.
func (g *Graph) HasCodes() bool { return g.table.Load().walks }

// Free returns the number of killed slots that Consolidate has taken out of all lists.
func (g *Graph) Free() uint32 { return uint32(g.upkeep.aparts.Load()) }

// graph makes the graph of a file, but for the rows. It is not to be used before settle has returned no error.
func (f *indexFile) graph(o Options) (*Graph, error) {
	g, err := NewGraph(int(f.dim), o)
	if err != nil {
		return nil, err
	}
	t := *g.table.Load()
	if err := f.loadMeta(g, &t); err != nil {
		return nil, err
	}
	if err := f.loadLists(g, &t); err != nil {
		return nil, err
	}
	if err := f.loadState(g, &t); err != nil {
		return nil, err
	}
	if err := f.loadCodes(g, &t); err != nil {
		return nil, err
	}
	g.table.Store(&t)
	g.repaired, g.uncounted = f.mark, f.mark > 0
	g.bound.Store(f.slots)
	g.entry.Store(f.entry)
	g.mark.Store(f.mark)
	return g, nil
}

// newTies returns so many, zeroed. They are not on the heap, which zeroes what was in use before by writing to it.
func (a *arenas) newTies(n int) []ties {
	const size = int(unsafe.Sizeof(ties{}))
	memory := arena.New[uint8](n * size)
	if p, err := memory.Grow(n * size); err == nil && n > 0 && !memory.Moves() {
		a.ties = memory
		return unsafe.Slice((*ties)(unsafe.Pointer(unsafe.SliceData(p))), n) // they have no pointers
	}
	return make([]ties, n)
}

// loadMeta makes what chunks have besides, and so knows where the lists above layer 0 are.
func (f *indexFile) loadMeta(g *Graph, t *table) error {
	chunks := (int(f.slots) + chunkMask) >> chunkShift
	f.makeUppers(f.slots)
	metas, all := make([]meta, chunks), g.memory.newTies(chunks)
	t.meta, t.ties = make([]*meta, chunks), make([]*ties, chunks)
	for i := range chunks {
		metas[i].uppers = f.uppers[i]
		t.meta[i], t.ties[i] = &metas[i], &all[i]
	}
	if t.upperEnd(f.slots) > 1<<32 {
		return f.bad(secUpper, "no room for upper layers")
	}
	return nil
}

func (f *indexFile) loadLists(g *Graph, t *table) error {
	var err error
	if t.upper, err = verified(f, secUpper, g.memory.upper); err != nil {
		return err
	}
	if t.upper, err = g.memory.upper.Grow((int(t.upperEnd(f.slots)) + upperStep - 1) &^ (upperStep - 1)); err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	if t.links, f.unread, err = into(f, secLinks, g.memory.links); err != nil {
		return err
	}
	if t.links, err = g.memory.links.Grow(len(t.meta) * chunkSlots * 2 * t.m); err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return nil
}

func (f *indexFile) loadCodes(g *Graph, t *table) error {
	if t.turn == nil {
		return nil
	}
	var err error
	if f.codes != 0 {
		lost, err := f.section(secLost)
		if err != nil {
			return err
		}
		for i := range len(lost) / 4 {
			bits := f.word(lost, i)
			if x := math.Float32frombits(bits); !(x >= 0) {
				return f.bad(secLost, "%v", x)
			}
			const perChunk = chunkSlots / scanBlock
			m := t.meta[i/perChunk]
			m.lost[i%perChunk].Store(bits)
			if float64(math.Float32frombits(bits)) > t.usual {
				m.odd[i%perChunk].Store(math.MaxUint64) // whose code it is, is not in the file
			}
		}
		var mapped bool
		if t.codes.Data, mapped, err = into(f, secCodes, g.memory.codes); err != nil {
			return err
		}
		if mapped {
			if t.lazy == nil {
				t.lazy = &lazy{f: f}
			}
			t.lazy.codes = t.codes.Data[:f.lengths[secCodes]]
		}
		g.coded = f.slots
	}
	if t.codes.Data, err = g.memory.codes.Grow(len(t.meta) * chunkSlots * t.codes.Stride); err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return nil
}

// word returns a number of a section that was filled.
func (f *indexFile) word(p []byte, i int) uint32 { return ne.Uint32(p[4*i:]) }

// loadState reads who is dead, free, and whose twin, and then checks lists against it.
func (f *indexFile) loadState(g *Graph, t *table) error {
	dead, err := f.bitset(secDead)
	if err != nil {
		return err
	}
	free, err := f.bitset(secFree)
	if err != nil {
		return err
	}
	live, apart := f.slots, 0
	for i, word := range dead {
		if free[i]&^word != 0 || free[i] != 0 && uint64(64*i+bits.Len64(free[i])) > uint64(f.mark) {
			return f.bad(secFree, "slots near %d are free, but not dead, or not linked", 64*i)
		}
		t.meta[i*64/chunkSlots].dead[i%(chunkSlots/64)].Store(word)
		live -= uint32(bits.OnesCount64(word))
		apart += bits.OnesCount64(free[i])
	}
	if live != f.live {
		return f.bad(secDead, "%d slots are not dead, want %d", live, f.live)
	}
	u := &g.upkeep
	g.dead.Store(f.slots - live)
	if apart > 0 {
		u.apart = free
		u.aparts.Store(int32(apart))
	}
	l := &lists{indexFile: f, g: g, t: t, none: free}
	if f.unread {
		l.none = slices.Clone(free) // writers change the other
		t.lazy = &lazy{f: f, lists: l, goodLists: make([]atomic.Uint64, (f.spans[secLinks].blocks()+63)/64)}
	}
	return l.check()
}

func (f *indexFile) bitset(s section) ([]uint64, error) {
	p, err := f.section(s)
	if err != nil {
		return nil, err
	}
	set := make([]uint64, len(p)/8)
	for i := range set {
		set[i] = ne.Uint64(p[8*i:])
	}
	if n := f.slots % 64; n != 0 && set[len(set)-1]>>n != 0 {
		return nil, f.bad(s, "slots beyond the last")
	}
	return set, nil
}

// lockLinks is linking.Lock for who reads in-degrees or the ends of chains. After loading somebody has to count them.
func (g *Graph) lockLinks() {
	g.linking.Lock()
	if g.uncounted {
		g.uncounted = false
		g.recount()
	}
}

// recount makes what only linkers need: in-degrees, and the ends of chains.
func (g *Graph) recount() {
	t := g.hold()
	defer g.let()
	isTwin := clearedBits(nil, g.mark.Load())
	for slot := range g.mark.Load() {
		for _, id := range listed(t.zero(slot)) {
			t.inDegree(id).Add(1)
		}
		if next := t.nextTwin(slot); next != 0 {
			isTwin[next>>6] |= 1 << (next & 63)
		}
	}
	for slot := range g.mark.Load() {
		if t.nextTwin(slot) == 0 || isTwin[slot>>6]>>(slot&63)&1 != 0 {
			continue
		}
		last := slot
		for next := t.nextTwin(slot); next != 0; next = t.nextTwin(next) {
			last = next
		}
		g.tails[slot] = last
	}
}
