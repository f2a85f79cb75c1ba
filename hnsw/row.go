package hnsw

import (
	"errors"
	"fmt"
	"math"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// rowsLimit is how many elements an arena of rows asks for at most.
func rowsLimit(dim int) int {
	return int(min(uint64(MaxSlots)*uint64(dim), uint64(reserveBytes)/4, math.MaxInt/8))
}

// rowsInFile says whether rows are in Options.RowFile, where they are read as elsewhere but not written.
func (g *Graph) rowsInFile() bool { return g.memory.rows != nil && g.memory.rows.InFile() }

// growRows returns a matrix with one more chunk. Only the last may be grown again.
func (g *Graph) growRows(m simd.Matrix) (simd.Matrix, error) {
	if !g.rowsInFile() {
		return m.Grow(), nil
	}
	size := m.Dim << m.Shift
	at := len(m.Chunks) * size
	rows, err := g.memory.rows.Grow(at + size)
	if errors.Is(err, arena.ErrLimit) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err != nil {
		return m, fmt.Errorf("rows: %w", err)
	}
	m.Chunks = append(m.Chunks, rows[at:at+size:at+size])
	return m, nil
}

// rowFor returns where to write the row of a slot, for putRow.
func (g *Graph) rowFor(c *scratch, t *table, slot uint32) []float32 {
	if g.rowsInFile() {
		return c.q
	}
	return t.row(slot)
}

// putRow makes what was written to rowFor the row of a slot, which nobody reads yet, and its code, if that is wanted.
func (g *Graph) putRow(c *scratch, t *table, slot uint32, row []float32, coded bool) error {
	if coded {
		g.encode(c, t, slot, row)
	}
	if !g.rowsInFile() {
		return nil
	}
	if err := g.memory.rows.Write(int(slot)*g.dim, row); err != nil {
		return fmt.Errorf("row of slot %d: %w", slot, err)
	}
	return nil
}
