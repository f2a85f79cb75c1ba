package hnsw

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// scratch is what one search or one link needs to write to. It is reused, so that a warm search does
// not allocate.
type scratch struct {
	place uint32 // see readers

	q         []float32 // the normalised query
	visited   []uint64  // one bit per slot
	ids       []uint32  // slots about to be compared; its capacity is never exceeded
	near      []int32   // as long as the capacity of ids: how near they are
	scores    []float32 // likewise
	news      []rank    // likewise
	frontier  []rank    // heap of slots whose neighbours are yet to be looked at
	found     []rank    // collected, best first
	allow     []uint64  // one bit per allowed slot
	iterator  roaring.ManyIntIterator
	lot       *lot       // of the scan of a list; nil before the first
	sifter    *sieve     // of the scan in order; nil before the first
	iteration *iteration // of an iterator; nil before the first

	// What slots are compared with: a row or, where there are codes, a code.
	row  []float32
	code simd.Query8
	one  float64 // the product of the code of a query with one that stands for the same

	others []other // what neighbours are compared with, when some are to be chosen
	left   []rank  // of them

	backwards bool // which way the last scan went

	coding coding    // the query, where a scan looks at codes
	turned []float32 // a rotated row
	bytes  []uint8   // its code

	err           error // of a row or code that could not be verified
	compared      int   // slots in all, with what c aimed at; for benchmarks
	asked, passed int   // questions to the filter of a scan, and how many slots passed
}

const (
	scanBlock  = 64  // rows that a scan scores per kernel call, and slots whose codes have one lost
	codesBlock = 512 // codes that a scan looks at per call, at most
)

func newScratch(g *Graph) *scratch {
	n := max(abreast*2*g.o.M, codesBlock)
	c := &scratch{
		q: make([]float32, g.dim), ids: make([]uint32, 0, n),
		near: make([]int32, n), scores: make([]float32, n), news: make([]rank, n),
	}
	c.place = g.readers.next.Add(1)
	if g.dim >= codesFromDim {
		c.code = simd.NewQuery8(g.dim)
		c.turned, c.bytes = make([]float32, g.dim), make([]uint8, g.dim)
	}
	return c
}

func (g *Graph) borrow() *scratch { return g.scratches.Get().(*scratch) }

// release returns a scratch to the pool, unless an extraordinary search has made it big.
func (g *Graph) release(c *scratch) {
	const keep = 1 << 17
	c.row = nil
	if cap(c.found) <= keep && cap(c.frontier) <= keep {
		g.scratches.Put(c)
	}
}

// forget clears the visited set and sizes it for n slots.
func (c *scratch) forget(n uint32) {
	c.visited = clearedBits(c.visited, n)
}

func clearedBits(bits []uint64, n uint32) []uint64 {
	words := int(n+63) / 64
	if cap(bits) < words {
		return make([]uint64, words, words+words/4)
	}
	bits = bits[:words]
	clear(bits)
	return bits
}

// visit reports whether a slot had not been visited, and marks it.
func (c *scratch) visit(slot uint32) bool {
	word, bit := &c.visited[slot>>6], uint64(1)<<(slot&63)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}
