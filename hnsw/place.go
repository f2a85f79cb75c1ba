package hnsw

import (
	"fmt"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// Grow appends n slots whose rows are still to be placed. It is how a store loads rows in any order, straight
// into their slots, before the first search: until every one of them is placed, neither search nor link.
func (g *Graph) Grow(n uint32) error {
	_, err := g.append(int(min(n, MaxSlots)), 1, nil)
	return err
}

// Place writes the row of a slot made by Grow: a normalised copy of vec, refused as in Append. Rows of
// different slots may be placed concurrently.
func (g *Graph) Place(slot uint32, vec []float32) error {
	norm, err := checkVector(vec, g.dim)
	if err != nil {
		return fmt.Errorf("hnsw: place slot %d: %w", slot, err)
	}
	if slot >= g.bound.Load() {
		return fmt.Errorf("hnsw: place: %w: slot %d was not made", ErrInvalid, slot)
	}
	return g.place(slot, func(row []float32) { simd.Scale(row, vec, norm) })
}

// PlaceRow is Place for a row that came from Row: it is taken as it is, bit by bit.
func (g *Graph) PlaceRow(slot uint32, row []float32) error {
	if _, err := checkVector(row, g.dim); err != nil {
		return fmt.Errorf("hnsw: place slot %d: %w", slot, err)
	}
	if slot >= g.bound.Load() {
		return fmt.Errorf("hnsw: place: %w: slot %d was not made", ErrInvalid, slot)
	}
	return g.place(slot, func(to []float32) { copy(to, row) })
}

func (g *Graph) place(slot uint32, fill func(row []float32)) error {
	t := g.hold()
	defer g.let()
	c := g.borrow()
	defer g.release(c)
	row := g.rowFor(c, t, slot)
	fill(row)
	if err := g.putRow(c, t, slot, row, slot >= g.coded); err != nil {
		return fmt.Errorf("hnsw: place slot %d: %w", slot, err)
	}
	return nil
}
