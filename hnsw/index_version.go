package hnsw

import (
	"math"
	"sync/atomic"
)

// contents is a graph with the ids of its slots, and since when and until when they are. A search works on one from
// begin to end.
type contents struct {
	g       *Graph
	ids     atomic.Pointer[[]*idChunk]
	version atomic.Uint64
	// bound is the number of slots that may be visible in the version loaded before it.
	bound atomic.Uint32
	// hidden is the number of slots that are alive in the graph, but not visible in the newest version: not yet
	// published, or retired. A search that asks for as many more sees enough.
	hidden atomic.Int32

	retired []retiree // slots that are to be killed when nobody is left who may see them; of writers
}

// retiree is a slot whose vector was replaced or deleted.
type retiree struct {
	slot, heir uint32
	inherited  bool // heir has its place
	epoch      uint64
}

// idChunk is what a chunk of slots is called.
type idChunk struct {
	id       []uint64 // written before the slot is published, not after
	versions atomic.Pointer[versions]
}

// versions tells since when and until when a chunk of slots is. There is none while all of them are from the beginning
// on, as in a file: most of what has been opened is never written to.
type versions struct {
	// A slot is visible in versions from born on, below until if that is not 0.
	born, until [chunkSlots]atomic.Uint64
	// from has the signs of the vector whose place was inherited first, 0 where none was; see put.
	from [chunkSlots]uint64
}

// unborn is later than any version.
const unborn = math.MaxUint64

func newContents(dim int, o Options) (*contents, error) {
	o.RowFile = nil // slots of an Index are written again
	g, err := NewGraph(dim, o)
	if err != nil {
		return nil, err
	}
	g.upkeep.reuse = true
	c := &contents{g: g}
	c.ids.Store(new([]*idChunk))
	return c, nil
}

func (c *contents) at(slot uint32) (*idChunk, uint32) {
	return (*c.ids.Load())[slot>>chunkShift], slot & chunkMask
}

// visible reports whether a slot belongs to a version. A slot is used again only when no search is left in a version
// that had it. Whoever comes by meanwhile, scanning, sees the end of the old use, or then the beginning of the new
// one: reuse writes them in the opposite order of this.
func (c *contents) visible(slot uint32, version uint64) bool {
	chunk, i := c.at(slot)
	v := chunk.versions.Load()
	if v == nil {
		return true
	}
	until := v.until[i].Load()
	return (until == 0 || version < until) && v.born[i].Load() <= version
}

// versionsOf is where to write about a slot.
func (c *contents) versionsOf(slot uint32) (*versions, uint32) {
	chunk, i := c.at(slot)
	v := chunk.versions.Load()
	if v == nil {
		v = new(versions)
		chunk.versions.Store(v)
	}
	return v, i
}

// reserve makes room for what belongs to a slot and writes it, before the slot is appended.
func (c *contents) reserve(slot uint32, id, born uint64) {
	chunks := *c.ids.Load()
	if int(slot>>chunkShift) == len(chunks) {
		more := append(chunks, &idChunk{id: make([]uint64, chunkSlots)})
		c.ids.Store(&more)
	}
	c.reuse(slot, id, born)
}

func (c *contents) reuse(slot uint32, id, born uint64) {
	chunk, i := c.at(slot)
	v, _ := c.versionsOf(slot)
	v.born[i].Store(born)
	v.until[i].Store(0)
	chunk.id[i] = id
	v.from[i] = 0
}

// bury kills the retired whom nobody sees any more.
func (c *contents) bury() {
	c.g.readers.advance()
	done := 0
	for _, p := range c.retired {
		if !c.g.readers.left(p.epoch) {
			break
		}
		c.g.Kill(p.slot)
		if p.inherited {
			c.g.leave(p.slot, p.heir)
		}
		done++
	}
	c.retired = c.retired[:copy(c.retired, c.retired[done:])]
	c.hidden.Add(int32(-done))
}
