package hnsw

import (
	"fmt"
	"io"
	"math"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// indexMagic begins a file of a whole Index.
const indexMagic = "HNSWidx\n"

// A file of an index holds, after a header with dim, M, efConstruction, efSearch, exactBelow, seed and the number
// of slots, for each run of 1,024 slots one block, and then a file of links:
//
//	ids                  8 bytes each
//	alive                1 byte each, 0 or 1
//	normalised rows      4*dim bytes each
type indexHeader struct {
	dim, m, efConstruction, efSearch, exactBelow uint32
	seed                                         uint64
	bound                                        uint32
}

func (h *indexHeader) encode() []byte {
	var p []byte
	for _, x := range []uint32{h.dim, h.m, h.efConstruction, h.efSearch, h.exactBelow} {
		p = le.AppendUint32(p, x)
	}
	p = le.AppendUint64(p, h.seed)
	return le.AppendUint32(p, h.bound)
}

func (h *indexHeader) decode(p []byte) {
	for i, x := range []*uint32{&h.dim, &h.m, &h.efConstruction, &h.efSearch, &h.exactBelow} {
		*x = le.Uint32(p[4*i:])
	}
	h.seed, h.bound = le.Uint64(p[20:]), le.Uint32(p[28:])
}

func (h *indexHeader) rowSize() int64 { return 8 + 1 + 4*int64(h.dim) }

// Save writes everything, vectors and replaced ones included (see Compact), but not Options.Workers. Searches go
// on meanwhile, writers wait. Durability is the caller's: sync the file, then rename it into place.
func (ix *Index) Save(w io.Writer) error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if err := ix.cur.write(w); err != nil {
		return fmt.Errorf("hnsw: save: %w", err)
	}
	return nil
}

func (c *contents) write(w io.Writer) error {
	o, bound, version := c.g.o, c.bound.Load(), c.version.Load()
	h := indexHeader{uint32(c.g.dim), uint32(o.M), uint32(o.EfConstruction), uint32(o.EfSearch),
		uint32(int32(min(max(o.ExactBelow, -1), math.MaxInt32))), o.Seed, bound}
	out, err := newBlockWriter(w, putHeader(indexMagic, h.encode()))
	if err != nil {
		return err
	}
	var p []byte
	err = blocks(bound, func(from, to uint32) error {
		for slot := from; slot < to; slot++ {
			chunk, i := c.at(slot)
			p = le.AppendUint64(p, chunk.id[i])
		}
		for slot := from; slot < to; slot++ {
			alive := byte(0)
			if c.visible(slot, version) {
				alive = 1
			}
			p = append(p, alive)
		}
		for slot := from; slot < to; slot++ {
			p = appendRow(p, c.g.Row(slot))
		}
		p, err = out.write(p)
		return err
	})
	if err != nil {
		return err
	}
	return c.g.SaveLinks(w)
}

// Load reads what Save wrote. Everything is checked before use; a damaged file matches ErrCorrupt, one of a
// later format ErrTooNew.
func Load(r io.ReaderAt, size int64) (*Index, error) {
	in, own, err := openBlocks(r, size, indexMagic)
	if err != nil {
		return nil, err
	}
	var h indexHeader
	h.decode(own)
	for _, x := range own[32:] {
		if x != 0 {
			return nil, in.corrupt("header", "reserved bytes in use", nil)
		}
	}
	o := Options{M: int(h.m), EfConstruction: int(h.efConstruction), EfSearch: int(h.efSearch),
		ExactBelow: int(int32(h.exactBelow)), Seed: h.seed}
	// Zero is a default to an Options, and never in effect: no file holds it.
	if h.m == 0 || h.efConstruction == 0 || h.efSearch == 0 || h.exactBelow == 0 || h.bound > MaxSlots {
		return nil, in.corrupt("header", "impossible options", nil)
	}
	c, err := newContents(int(h.dim), o)
	if err != nil {
		return nil, in.corrupt("header", "impossible options", err)
	}
	if int64(h.bound)*h.rowSize() > size {
		return nil, in.corrupt("vectors", "beyond the end", nil)
	}
	ix := newIndex(c)
	err = blocks(h.bound, func(from, to uint32) error {
		p, err := in.next("vectors", int64(to-from)*h.rowSize())
		if err != nil {
			return err
		}
		return ix.loadBlock(in, int(to-from), p)
	})
	if err != nil {
		return nil, err
	}
	if len(ix.slots) == 0 && h.bound > 0 {
		return nil, in.corrupt("vectors", "nothing alive among them", nil)
	}
	c.bound.Store(h.bound)
	if err := c.g.LoadLinks(io.NewSectionReader(r, in.off, size-in.off), size-in.off); err != nil {
		return nil, fmt.Errorf("hnsw: load index: links from byte %d: %w", in.off, err)
	}
	if c.g.Mark() != h.bound {
		return nil, in.corrupt("links", "not of all vectors", nil)
	}
	return ix, nil
}

// loadBlock appends the n slots of one block.
func (ix *Index) loadBlock(in *blockReader, n int, p []byte) error {
	ids, alive, rows := p[:8*n], p[8*n:9*n], p[9*n:]
	c := ix.cur
	for i := range n {
		for j := range ix.unit {
			ix.unit[j] = math.Float32frombits(le.Uint32(rows[4*j:]))
		}
		rows = rows[4*len(ix.unit):]
		slot, id := c.g.Bound(), le.Uint64(ids[8*i:])
		// Rounding each element once leaves the norm of a unit vector well within this.
		if d := simd.Norm(ix.unit) - 1; !(math.Abs(d) < 1e-4) {
			return in.corrupt("vectors", fmt.Sprintf("slot %d is not a unit vector", slot), nil)
		}
		_, named := ix.slots[id]
		if alive[i] > 1 || alive[i] == 1 && named {
			return in.corrupt("vectors", fmt.Sprintf("slot %d: id %d", slot, id), nil)
		}
		born := uint64(0)
		if alive[i] == 0 {
			born = unborn
		}
		c.reserve(slot, id, born)
		if _, err := c.g.append(func(row []float32) { copy(row, ix.unit) }); err != nil {
			return err
		}
		if alive[i] == 1 {
			ix.slots[id] = slot
		} else {
			c.g.Kill(slot)
		}
	}
	return nil
}
