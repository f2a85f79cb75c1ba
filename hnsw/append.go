package hnsw

import (
	"fmt"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// Append normalises a copy of vec into the next slot and returns it. The slot is searchable at once. A
// vector of another dimension, with a NaN or infinity, or with a norm below the smallest normal float32 is
// refused with a *VectorError and changes nothing.
func (g *Graph) Append(vec []float32) (uint32, error) {
	norm, err := checkVector(vec, g.dim)
	if err != nil {
		return 0, err
	}
	return g.append(1, 1, func(_ int, row []float32) { simd.Scale(row, vec, norm) })
}

// AppendBatch is Append for many, by several goroutines, all of which have ended when it returns: vecs[i] goes to
// slot first+i, whatever the number of workers. All of them are searchable at once, or none where one is refused, which
// the error names by its place in vecs, or where there is no room for all.
func (g *Graph) AppendBatch(vecs [][]float32, workers int) (first uint32, err error) {
	norms, err := checkVectors(vecs, g.dim, workers, func(i int, err error) error {
		return fmt.Errorf("hnsw: append vector %d: %w", i, err)
	})
	if err != nil {
		return 0, err
	}
	return g.append(len(vecs), workers, func(i int, row []float32) { simd.Scale(row, vecs[i], norms[i]) })
}

// appendPart is the number of slots that a goroutine fills at a time.
const appendPart = 4 * scanBlock

// append makes the next n slots, lets fill write their rows unless they are to be placed later, and publishes them. It
// returns the first.
func (g *Graph) append(n, workers int, fill func(i int, row []float32)) (first uint32, err error) {
	g.appending.Lock()
	defer g.appending.Unlock()
	first = g.bound.Load()
	if uint64(first)+uint64(n) > MaxSlots {
		return 0, fmt.Errorf("hnsw: append: %w: %d slots", ErrFull, first)
	}
	end := first + uint32(n)
	t := g.table.Load()
	for slot := first; slot < end; slot++ {
		if t, err = g.reserve(slot); err != nil {
			return 0, fmt.Errorf("hnsw: append: %w", err)
		}
	}
	if fill != nil {
		err := inParts(n, appendPart, workers, func(from, to int) error {
			c := g.borrow()
			defer g.release(c)
			for i := from; i < to; i++ {
				slot := first + uint32(i)
				row := g.rowFor(c, t, slot)
				fill(i, row)
				if err := g.putRow(c, t, slot, row, true); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("hnsw: append: %w", err)
		}
	}
	g.bound.Store(end)
	return first, nil
}

// checkVectors is checkVector for many. The error is that of the first that is refused, as wrap has it.
func checkVectors(vecs [][]float32, dim, workers int, wrap func(i int, err error) error) (norms []float64, err error) {
	norms = make([]float64, len(vecs))
	return norms, inParts(len(vecs), appendPart, workers, func(from, to int) error {
		for i := from; i < to; i++ {
			norm, err := checkVector(vecs[i], dim)
			if err != nil {
				return wrap(i, err)
			}
			norms[i] = norm
		}
		return nil
	})
}
