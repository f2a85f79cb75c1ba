package hnsw

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// Index is a vector index over ids of the caller's choice: a Graph and what it takes to upsert and delete.
// Writers wait for each other; any number of searches run beside them without waiting.
//
// A replaced or deleted vector keeps its memory, and a little of every search's time, until Compact.
type Index struct {
	o Options

	writing sync.Mutex
	unit    []float32 // scratch of writers

	names sync.RWMutex // guards the two below, and is held for no longer than a map access
	slots map[uint64]uint32
	cur   *contents

	current atomic.Pointer[contents] // cur, for searches
	finders sync.Pool
}

// contents is a graph with the ids of its slots. A search works on one from begin to end.
type contents struct {
	g     *Graph
	ids   atomic.Pointer[[]*idChunk]
	stale atomic.Uint32 // slots replaced or deleted
	// bound is the number of slots a search may see. It is published after an older slot of the same id is
	// marked, so that a search sees one of the two, never both or none.
	bound atomic.Uint32
}

type idChunk struct {
	id [chunkSlots]uint64
	// until is 0 while the slot is its id's vector, otherwise the first bound with which it no longer is.
	until [chunkSlots]atomic.Uint32
}

func (c *contents) at(slot uint32) (*idChunk, uint32) {
	return (*c.ids.Load())[slot>>chunkShift], slot & chunkMask
}

func (c *contents) visible(slot, bound uint32) bool {
	chunk, i := c.at(slot)
	until := chunk.until[i].Load()
	return until == 0 || bound < until
}

// reserve makes room for the id of a slot and writes it, before the slot can be seen.
func (c *contents) reserve(slot uint32, id uint64) {
	chunks := *c.ids.Load()
	if int(slot>>chunkShift) == len(chunks) {
		more := append(chunks, new(idChunk))
		c.ids.Store(&more)
		chunks = more
	}
	chunks[slot>>chunkShift].id[slot&chunkMask] = id
}

func newContents(dim int, o Options) (*contents, error) {
	g, err := NewGraph(dim, o)
	if err != nil {
		return nil, err
	}
	c := &contents{g: g}
	c.ids.Store(new([]*idChunk))
	return c, nil
}

// New returns an empty index for vectors of dim elements.
func New(dim int, o Options) (*Index, error) {
	c, err := newContents(dim, o)
	if err != nil {
		return nil, err
	}
	return newIndex(c), nil
}

func newIndex(c *contents) *Index {
	ix := &Index{o: c.g.o, unit: make([]float32, c.g.dim), slots: map[uint64]uint32{}, cur: c}
	ix.current.Store(c)
	ix.finders.New = func() any { return newFinder() }
	return ix
}

// Dim returns the dimension of the vectors.
func (ix *Index) Dim() int { return len(ix.unit) }

// Len returns the number of ids.
func (ix *Index) Len() int {
	ix.names.RLock()
	defer ix.names.RUnlock()
	return len(ix.slots)
}

// Has reports whether an id is in the index.
func (ix *Index) Has(id uint64) bool {
	ix.names.RLock()
	defer ix.names.RUnlock()
	_, ok := ix.slots[id]
	return ok
}

// Add puts a copy of vec under id, replacing what was there: a search sees the old or the new one. The vector
// is linked when Add returns. A bad vector is refused as by Graph.Append and changes nothing.
func (ix *Index) Add(id uint64, vec []float32) error {
	return ix.AddBatch([]uint64{id}, [][]float32{vec})
}

// AddBatch is Add for many; where an id comes twice, the later vector stays. All vectors are checked before the
// first is added. Options.Workers goroutines link them.
func (ix *Index) AddBatch(ids []uint64, vecs [][]float32) error {
	if len(ids) != len(vecs) {
		return fmt.Errorf("hnsw: add: %w: %d ids, %d vectors", ErrInvalid, len(ids), len(vecs))
	}
	for i, v := range vecs {
		if _, err := checkVector(v, len(ix.unit)); err != nil {
			return fmt.Errorf("hnsw: add %d: %w", ids[i], err)
		}
	}
	ix.writing.Lock()
	defer ix.writing.Unlock()
	var err error
	for i, v := range vecs {
		if err = ix.put(ids[i], v); err != nil {
			err = fmt.Errorf("hnsw: add %d: %w", ids[i], err)
			break
		}
	}
	// What was appended is linked even if the index is full now.
	if _, linkErr := ix.cur.g.LinkParallel(context.Background(), 0, ix.o.Workers); err == nil {
		err = linkErr
	}
	return err
}

// put appends one vector and makes it the one of its id.
func (ix *Index) put(id uint64, vec []float32) error {
	c := ix.cur
	simd.Scale(ix.unit, vec, simd.Norm(vec))
	old, replaces := ix.slots[id]
	if replaces && slices.Equal(ix.unit, c.g.Row(old)) {
		return nil
	}
	slot := c.g.Bound()
	c.reserve(slot, id)
	if _, err := c.g.append(func(row []float32) { copy(row, ix.unit) }); err != nil {
		return err
	}
	ix.names.Lock()
	ix.slots[id] = slot
	if replaces {
		c.retire(old, slot+1)
	}
	c.bound.Store(slot + 1)
	ix.names.Unlock()
	if replaces {
		c.g.Kill(old)
	}
	return nil
}

func (c *contents) retire(slot, until uint32) {
	chunk, i := c.at(slot)
	chunk.until[i].Store(until)
	c.stale.Add(1)
}

// Delete removes an id and reports whether it was there.
func (ix *Index) Delete(id uint64) bool {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	slot, ok := ix.slots[id]
	if !ok {
		return false
	}
	c := ix.cur
	ix.names.Lock()
	delete(ix.slots, id)
	c.retire(slot, 1)
	ix.names.Unlock()
	c.g.Kill(slot)
	if len(ix.slots) == 0 {
		// Nothing is left to keep the dead for. The options were valid before.
		if empty, err := newContents(len(ix.unit), ix.o); err == nil {
			ix.swap(empty, ix.slots)
		}
	}
	return true
}

func (ix *Index) swap(c *contents, slots map[uint64]uint32) {
	ix.names.Lock()
	ix.slots, ix.cur = slots, c
	ix.current.Store(c)
	ix.names.Unlock()
}

// Compact builds the index anew without what was replaced or deleted, in the order of the remaining slots, and
// frees the old one when the last search leaves it. Searches go on meanwhile, writers wait. When the
// context ends first, nothing has changed.
func (ix *Index) Compact(ctx context.Context) error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if ix.cur.stale.Load() == 0 {
		return nil
	}
	next, err := newContents(len(ix.unit), ix.o)
	if err != nil {
		return err
	}
	slots := make(map[uint64]uint32, len(ix.slots))
	bound := ix.cur.bound.Load()
	for slot := range bound {
		if !ix.cur.visible(slot, bound) {
			continue
		}
		chunk, i := ix.cur.at(slot)
		to := next.g.Bound()
		next.reserve(to, chunk.id[i])
		if _, err := next.g.append(func(row []float32) { copy(row, ix.cur.g.Row(slot)) }); err != nil {
			return err
		}
		slots[chunk.id[i]] = to
	}
	if _, err := next.g.LinkParallel(ctx, 0, ix.o.Workers); err != nil {
		return fmt.Errorf("hnsw: compact: %w", err)
	}
	next.bound.Store(next.g.Bound())
	ix.swap(next, slots)
	return nil
}
