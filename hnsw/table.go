package hnsw

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
	"github.com/lightctl/lightrag/hnsw/simd"
)

const (
	chunkShift = 10
	chunkSlots = 1 << chunkShift
	chunkMask  = chunkSlots - 1
)

// table is everything a reader needs, published by one pointer. It is immutable but for the words inside; growing
// it makes a new one that shares them.
//
// A walk reads codes and layer-0 lists, here and there: each lies in one piece, so that the address of either is a
// product away, and memory can be asked for before it is needed.
type table struct {
	rows  simd.Matrix
	codes simd.Matrix8  // of rotated rows (see codes.go)
	turn  *simd.Rotator // nil where no codes are kept
	walks bool          // by codes
	usual float64       // the most that a code loses which is not odd
	m     int           // Options.M
	links []uint32      // the lists of layer 0, 2M words each, accessed atomically (see list.go)
	upper []uint32      // lists above layer 0, 1+M words each; those of a slot follow one another
	meta  []*meta
	ties  []*ties
	lazy  *lazy // what is yet to be verified before it is used, nil where nothing is
}

// meta is what a chunk of slots has besides.
type meta struct {
	// lost is, per block of slots, the most that a code of it is off (see codes.go), as the bits of a float32.
	lost [chunkSlots / scanBlock]atomic.Uint32
	// odd has a bit for each slot whose code may lose more than usual (see codes.go).
	odd  [chunkSlots / scanBlock]atomic.Uint64
	dead [chunkSlots / 64]atomic.Uint64
	uppers
}

// ties are what a chunk of slots has that searches hardly ask for: where nobody does, as in an index that was opened and
// is not written to, no memory is taken.
type ties struct {
	// twin is the next slot with the very same row; 0 means there is none. Only the first of them is a node of
	// the graph; the others ascend.
	twin [chunkSlots]atomic.Uint32
	// inDegree counts layer-0 lists that name the slot. Only linkers use it.
	inDegree [chunkSlots]atomic.Uint32
}

// arenas is the memory of the parts of a table that lie in one piece. A graph keeps it as long as anybody reads.
type arenas struct {
	codes        *arena.Arena[uint8]
	links, upper *arena.Arena[uint32]
	rows         *arena.Arena[float32] // from the first on, up to those on the heap (see growRows); nil if all are
	ids          *arena.Arena[uint64]  // of an Index that was opened, but for those of its last chunk; else nil
	sums         *arena.Arena[uint32]  // of rows, likewise
	ties         *arena.Arena[uint8]   // of the chunks of a file; nil where those are on the heap
}

// reserveBytes is the address space an arena asks for at most. It costs nothing, but there is an end to it: with 384
// dimensions a graph asks for 450 GB in all, and a process has 128 TB.
const reserveBytes = 1 << 38

// newArenas reserves room for twice as many slots as there is for rows, the others of which are on the heap.
func newArenas(dim, codeBytes, m int) arenas {
	slots := min(uint64(MaxSlots), 2*uint64(rowsLimit(dim)/dim))
	limit := func(perSlot, size int) int {
		return int(min(slots*uint64(perSlot), uint64(reserveBytes)/uint64(size), math.MaxInt/8))
	}
	return arenas{
		codes: arena.New[uint8](limit(codeBytes, 1)),
		links: arena.New[uint32](limit(2*m, 4)),
		// One in m slots has a list, one in m of those has two, and so on: (1+m)/(m-1) words for each slot there is.
		upper: arena.New[uint32](upperStep + limit(1+2*(1+m)/(m-1), 4)),
	}
}

// upperStep is the number of words by which upper grows.
const upperStep = 1 << 14

func (t *table) row(slot uint32) []float32 { return t.rows.Row(slot) }

func (t *table) at(slot uint32) (*meta, uint32) {
	return t.meta[slot>>chunkShift], slot & chunkMask
}

func (t *table) dead(slot uint32) bool {
	m, i := t.at(slot)
	return m.dead[i>>6].Load()>>(i&63)&1 != 0
}

// alive returns the first run of slots that are not dead, from a slot on; it is empty at the end, and only there,
// whoever dies meanwhile.
func (t *table) alive(from, to uint32) (uint32, uint32) {
	for from < to {
		m, i := t.at(from)
		dead, rest := m.dead[i>>6].Load()>>(i&63), 64-i&63
		if skip := uint32(bits.TrailingZeros64(^dead)); skip > 0 {
			from += min(skip, rest)
			continue
		}
		end := from + min(uint32(bits.TrailingZeros64(dead)), rest)
		for run := uint32(64); end < to && end&63 == 0 && run == 64 && end-from < codesBlock; end += run {
			m, i := t.at(end)
			run = uint32(bits.TrailingZeros64(m.dead[i>>6].Load()))
		}
		return from, min(end, to)
	}
	return to, to
}

// reaches says whether a slot has a list on a layer above 0.
func (t *table) reaches(slot uint32, layer int) bool {
	m, i := t.at(slot)
	return m.uppers.reaches(i, layer, t.m)
}

// level is levelOf of a slot that there is room for.
func (t *table) level(slot uint32) int {
	m, i := t.at(slot)
	return m.uppers.level(i, t.m)
}

// upperEnd returns where, in upper, the lists of the slots below a number end.
func (t *table) upperEnd(slots uint32) uint64 {
	if slots == 0 {
		return firstUpper
	}
	m, i := t.at(slots - 1)
	return m.after(i)
}

func (t *table) odd(slot uint32) bool {
	m, i := t.at(slot)
	return m.odd[i>>6].Load()>>(i&63)&1 != 0
}

func (t *table) nextTwin(slot uint32) uint32 {
	return t.ties[slot>>chunkShift].twin[slot&chunkMask].Load()
}

func (t *table) inDegree(slot uint32) *atomic.Uint32 {
	return &t.ties[slot>>chunkShift].inDegree[slot&chunkMask]
}

// zero returns the words of a layer-0 list: head, then room for 2M-1 neighbours.
func (t *table) zero(slot uint32) []uint32 {
	n, at := 2*t.m, t.zeroAt(slot)
	return t.links[at : at+n : at+n]
}

// zeroAt is where a layer-0 list begins.
func (t *table) zeroAt(slot uint32) int { return int(slot) * 2 * t.m }

// prefetch asks for the layer-0 lists of slots.
func (t *table) prefetch(ranks []rank) {
	for _, r := range ranks {
		simd.Prefetch(t.links, t.zeroAt(r.slot()))
	}
}

// prefetchWrite asks for the layer-0 lists of slots, to write to them.
func (t *table) prefetchWrite(ranks []rank) {
	for _, r := range ranks {
		simd.PrefetchWrite(t.links, t.zeroAt(r.slot()))
	}
}

// list returns the words of one neighbour list: head, then room for as many neighbours as the layer allows.
// The slot must reach that layer.
func (g *Graph) list(t *table, slot uint32, layer int) []uint32 {
	if layer == 0 {
		return t.zero(slot)
	}
	m, i := t.at(slot)
	n := 1 + t.m
	at := m.listsOf(i) + (layer-1)*n
	return t.upper[at : at+n : at+n]
}

// hold returns the table for somebody who writes to lists or codes, and keeps it from being replaced by one that
// lies elsewhere until let is called; where memory grows in place it never is. Readers need neither. Holds of one
// goroutine must not nest.
func (g *Graph) hold() *table {
	if g.moves {
		g.moving.RLock()
	}
	return g.table.Load()
}

func (g *Graph) let() {
	if g.moves {
		g.moving.RUnlock()
	}
}

// reserve publishes a table that has room for a slot and its lists, and returns it. Only who
// appends may call it. Readers are not disturbed: what is added lies beyond what they have seen, and what moves,
// where memory cannot grow in place, stays for them as it was.
func (g *Graph) reserve(slot uint32) (*table, error) {
	t := g.table.Load()
	next := *t
	if !t.rows.Holds(slot) {
		next.rows = g.growRows(t.rows)
	}
	if int(slot>>chunkShift) == len(t.meta) {
		begin := uint64(firstUpper)
		if n := len(t.meta); n > 0 {
			begin = t.meta[n-1].end()
		}
		m := &meta{uppers: newUppers(g.o.Seed, t.m, len(t.meta), begin, make([]uint32, 0, roomOf(1, t.m)))}
		next.meta, next.ties = append(t.meta, m), append(t.ties, new(ties))
	}
	words := next.upperEnd(slot + 1)
	if words > 1<<32 {
		return nil, fmt.Errorf("%w: no room for upper layers", ErrFull)
	}
	slots := len(next.meta) * chunkSlots
	codes, links, upper := 0, slots*2*t.m, (int(words)+upperStep-1)&^(upperStep-1)
	if t.turn != nil {
		codes = slots * t.codes.Stride
	}
	if codes > len(t.codes.Data) || links > len(t.links) || upper > len(t.upper) {
		if g.moves {
			g.moving.Lock()
			defer g.moving.Unlock()
		}
		var err error
		if next.codes.Data, err = grown(g.memory.codes, t.codes.Data, codes); err == nil {
			if next.links, err = grown(g.memory.links, t.links, links); err == nil {
				next.upper, err = grown(g.memory.upper, t.upper, upper)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFull, err)
		}
	} else if len(next.meta) == len(t.meta) && len(next.rows.Chunks) == len(t.rows.Chunks) {
		return t, nil
	}
	g.table.Store(&next)
	return &next, nil
}

// grown returns a slice of n elements that begins with what now has, or now when that has as many. What an arena has
// in excess is counted by nobody.
func grown[T uint8 | uint32](a *arena.Arena[T], now []T, n int) ([]T, error) {
	if n <= len(now) {
		return now, nil
	}
	slice, err := a.Grow(n)
	if err != nil {
		return now, err
	}
	return slice[:n], nil
}
