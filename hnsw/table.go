package hnsw

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
	"github.com/lightctl/lightrag/hnsw/simd"
)

const (
	chunkShift = 10
	chunkSlots = 1 << chunkShift
	chunkMask  = chunkSlots - 1
)

// table is everything a reader needs, published by one pointer. It is immutable but for the words inside the
// chunks; growing it makes a new one that shares them.
type table struct {
	rows  simd.Matrix
	codes simd.Matrix8 // of rotated rows (see codes.go), in the arena
	arena *arena.Arena[uint8]
	turn  *simd.Rotator // nil where no codes are kept
	meta  []*meta
	upper [][]uint32 // lists above layer 0, upperWords per chunk
}

// meta is what a chunk of slots has beside its rows. All of it but level-0 list bodies is fixed in size.
type meta struct {
	// links holds layer 0: per slot one word with the number of neighbours, then 2M words. All are accessed
	// atomically. A zero word is a valid neighbour, for slot 0 is the first to be linked.
	links []uint32
	// up is where the lists above layer 0 begin, in words of the upper arena; 0 means there are none. Written
	// before the slot is published, never after.
	up [chunkSlots]uint32
	// twin is the next slot with the very same row, higher than this one; 0 means there is none. Only the
	// first of them is a node of the graph.
	twin [chunkSlots]atomic.Uint32
	// inDegree counts layer-0 lists that name the slot. Only linkers use it.
	inDegree [chunkSlots]atomic.Uint32
	dead     [chunkSlots / 64]atomic.Uint64
	// coded is written with the row.
	coded [chunkSlots]coded
}

// hasTwins is set in the count word of a layer-0 list whose slot begins a chain of twins: a walk reads that
// word anyway.
const hasTwins = 1 << 31

// upperWords is the size of one upper chunk. The lists of one slot never straddle two.
const upperWords = 1 << 16

func (t *table) row(slot uint32) []float32 { return t.rows.Row(slot) }

func (t *table) at(slot uint32) (*meta, uint32) {
	return t.meta[slot>>chunkShift], slot & chunkMask
}

func (t *table) dead(slot uint32) bool {
	m, i := t.at(slot)
	return m.dead[i>>6].Load()>>(i&63)&1 != 0
}

func (t *table) nextTwin(slot uint32) uint32 {
	m, i := t.at(slot)
	return m.twin[i].Load()
}

// list returns the words of one neighbour list: count, then room for as many neighbours as the layer allows.
// The slot must reach that layer.
func (g *Graph) list(t *table, slot uint32, layer int) []uint32 {
	m, i := t.at(slot)
	if layer == 0 {
		n := 1 + 2*g.o.M
		return m.links[int(i)*n : int(i+1)*n]
	}
	n := uint32(1 + g.o.M)
	at := m.up[i] + uint32(layer-1)*n
	chunk := t.upper[at/upperWords]
	at %= upperWords
	return chunk[at : at+n]
}

// neighbours appends the slots below n in a list to ids, and says whether the owner begins a chain of twins.
// The list may be changing meanwhile.
func neighbours(list []uint32, n uint32, ids []uint32) ([]uint32, bool) {
	count := atomic.LoadUint32(&list[0])
	for i := range list[1:][:count&^hasTwins] {
		if id := atomic.LoadUint32(&list[1+i]); id < n {
			ids = append(ids, id)
		}
	}
	return ids, count&hasTwins != 0
}

// replace writes a list so that readers see valid neighbours at every moment: words are stored before the
// count grows over them, and the count shrinks only to drop words that stay valid.
func replace(list, ids []uint32) {
	for i, id := range ids {
		atomic.StoreUint32(&list[1+i], id)
	}
	atomic.StoreUint32(&list[0], atomic.LoadUint32(&list[0])&hasTwins|uint32(len(ids)))
}

// with returns a table that has room for a slot, whose upper lists are in the given chunk of the arena. It is t
// itself when t has. Readers of t are not disturbed: what is added lies beyond its lengths.
func (t *table) with(slot uint32, upperChunk, m int) (*table, error) {
	next := *t
	if !t.rows.Holds(slot) {
		next.rows = t.rows.Grow()
	}
	if end := (int(slot) + 1) * t.codes.Stride; t.turn != nil && end > len(t.codes.Data) {
		var err error
		if next.codes.Data, err = t.arena.Grow(end); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
	if int(slot>>chunkShift) == len(t.meta) {
		next.meta = append(t.meta, &meta{links: make([]uint32, chunkSlots*(1+2*m))})
	}
	if upperChunk == len(t.upper) {
		next.upper = append(t.upper, make([]uint32, upperWords))
	}
	if len(next.rows.Chunks) == len(t.rows.Chunks) && len(next.codes.Data) == len(t.codes.Data) &&
		len(next.meta) == len(t.meta) && len(next.upper) == len(t.upper) {
		return t, nil
	}
	return &next, nil
}

// codesLimit is the most bytes of codes a graph has: address space is reserved for as many.
func codesLimit(stride int) int { return int(min(uint64(stride)*MaxSlots, 1<<38, math.MaxInt)) }

// reserveUpper finds room for the lists of a slot with the given top layer, at or after word free. It returns
// where they begin and the first free word after them; ok is false when the arena is full.
func reserveUpper(free uint64, level, m int) (at, next uint64, ok bool) {
	n := uint64(level * (1 + m))
	if free%upperWords+n > upperWords {
		free += upperWords - free%upperWords
	}
	return free, free + n, free+n <= 1<<32-upperWords
}
