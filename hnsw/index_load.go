package hnsw

import (
	"errors"
	"io"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

// Load reads what Save wrote, into memory: the file is not needed afterwards. Everything is checked before it is used.
// A damaged file matches ErrCorrupt, one of a later format ErrTooNew. See also Open.
func Load(r io.ReaderAt, size int64) (*Index, error) {
	f, err := readFileHeader(r, size, "", false)
	if err != nil {
		return nil, err
	}
	ix, err := f.load(true)
	if err != nil {
		return nil, err
	}
	if ix.ensureNames(); len(ix.slots) != int(f.live) {
		return nil, f.bad(secIDs, "%d ids in %d slots", len(ix.slots), f.live)
	}
	return ix, nil
}

// load makes the index of a file. With all everything is verified, else what is mapped is verified when it is used.
func (f *indexFile) load(all bool) (*Index, error) {
	if !f.index {
		return nil, f.corrupt(nil, 0, "not of an Index")
	}
	if f.live == 0 && f.slots > 0 {
		return nil, f.corrupt(nil, 0, "nothing alive in it")
	}
	if own := f.own; own != 0 {
		return nil, f.bad(secOwn, "an Index has none")
	}
	g, err := f.graph(f.options())
	if err != nil {
		return nil, err
	}
	c := &contents{g: g}
	if err := f.loadIDs(c); err != nil {
		return nil, err
	}
	t := *g.table.Load()
	if err := f.loadRows(c, &t, all); err != nil {
		return nil, err
	}
	g.table.Store(&t)
	if g.coded < f.slots && t.turn != nil { // a file from where there are none
		_ = inParts(int(f.slots), appendPart, runtime.GOMAXPROCS(0), func(from, to int) error {
			for slot := from; slot < to; slot++ {
				g.encodeRow(&t, uint32(slot))
			}
			return nil
		})
	}
	f.reuse(g)
	c.bound.Store(f.slots)
	ix := newIndex(c)
	ix.slots, ix.unnamed = nil, int(f.live)
	return ix, nil
}

func (f *indexFile) loadIDs(c *contents) error {
	n := (int(f.slots) + chunkMask) >> chunkShift
	all, chunks := make([]idChunk, n), make([]*idChunk, n)
	c.g.memory.ids = arena.New[uint64](n * chunkSlots)
	ids, err := verified(f, secIDs, c.g.memory.ids)
	if err != nil {
		return err
	}
	ids = ids[:f.slots]
	for i := range all {
		if len(ids) < chunkSlots { // more are to follow
			ids = append(make([]uint64, 0, chunkSlots), ids...)[:chunkSlots]
		}
		all[i].id, ids = ids[:chunkSlots:chunkSlots], ids[chunkSlots:]
		chunks[i] = &all[i]
	}
	c.ids.Store(&chunks)
	t := c.g.table.Load()
	for slot := uint32(0); slot < f.slots && c.g.dead.Load() > 0; slot++ {
		if t.dead(slot) {
			v, i := c.versionsOf(slot)
			v.born[i].Store(unborn)
		}
	}
	return nil
}

// loadRows makes chunks of the rows in the file. In the last one there may be room for more.
func (f *indexFile) loadRows(c *contents, t *table, all bool) error {
	l := t.lazy
	if l == nil {
		l = &lazy{f: f}
	}
	c.g.memory.sums = arena.New[uint32](int(f.slots))
	sums, _, err := into(f, secRowSums, c.g.memory.sums) // a sum that is damaged is not that of its row
	if err != nil {
		return err
	}
	l.sums = sums[:f.slots]
	l.good = make([]atomic.Uint64, (f.slots+63)/64)
	dim := int(f.dim)
	size := dim << t.rows.Shift
	whole := (int(f.slots)*dim + size - 1) / size * size
	if whole > rowsLimit(dim) { // they were on the heap when they were written, and can be mapped all the same
		c.g.memory.rows = arena.New[float32](whole)
	}
	rows, mapped, err := into(f, secRows, c.g.memory.rows)
	if err != nil {
		return err
	}
	rows = rows[:int(f.slots)*dim]
	if !c.g.memory.rows.Moves() { // else the last chunk is copied
		if more, err := c.g.memory.rows.Grow(whole); err == nil {
			rows = more[:whole]
		}
	}
	for ; len(rows) > 0; rows = rows[min(size, len(rows)):] {
		if len(rows) >= size {
			t.rows.Chunks = append(t.rows.Chunks, rows[:size:size])
		} else {
			t.rows = t.rows.Grow()
			copy(t.rows.Chunks[len(t.rows.Chunks)-1], rows)
		}
	}
	if err := f.settle(); err != nil {
		return err
	}
	if all || !mapped || !t.walks { // walks by rows read them in too many places to ask each time
		if err := l.all(t); err != nil {
			return err
		}
		l = nil
	}
	t.lazy = l
	return nil
}

// reuse makes free slots available.
func (f *indexFile) reuse(g *Graph) {
	u := &g.upkeep
	u.reuse = true
	for i, word := range u.apart {
		for ; word != 0; word &= word - 1 {
			if slot := uint32(64*i + bits.TrailingZeros64(word)); slot != 0 { // see reclaim
				g.addSpare(slot)
			}
		}
	}
}

// ensureNames makes the map of ids, which a loaded index does without until somebody asks for an id. Where a file gives
// an id to two slots, which no writer does, the first has it and the others are hidden.
func (ix *Index) ensureNames() {
	ix.names.RLock()
	have := ix.slots != nil
	ix.names.RUnlock()
	if have {
		return
	}
	ix.names.Lock()
	defer ix.names.Unlock()
	if ix.slots != nil {
		return
	}
	c := ix.cur
	slots := make(map[uint64]uint32, ix.unnamed)
	version := c.version.Load()
	for slot := range c.bound.Load() {
		if !c.visible(slot, version) {
			continue
		}
		chunk, i := c.at(slot)
		if _, twice := slots[chunk.id[i]]; twice {
			v, _ := c.versionsOf(slot)
			v.born[i].Store(unborn)
			c.g.Kill(slot)
			continue
		}
		slots[chunk.id[i]] = slot
	}
	ix.slots = slots
}

// ready is called by who is going to write. What is linked is chosen by codes, and lists are written to, so both are
// verified first.
func (ix *Index) ready() error {
	if ix.closed.Load() {
		return ErrClosed
	}
	ix.ensureNames()
	if l := ix.cur.g.table.Load().lazy; l != nil {
		if err := errors.Join(l.allLists(), l.allCodes()); err != nil {
			return err
		}
	}
	return ix.remember()
}
