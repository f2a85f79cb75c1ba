package hnsw

import (
	"fmt"
	"math"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// rowsLimit is how many elements an arena of rows asks for at most.
func rowsLimit(dim int) int {
	return int(min(uint64(MaxSlots)*uint64(dim), uint64(reserveBytes)/4, math.MaxInt/8))
}

// rowInFile says whether the row of a slot is in Options.RowFile, where it is read as elsewhere but not written. Those
// before it are too, so that the file has a prefix of all rows.
func (g *Graph) rowInFile(t *table, slot uint32) bool {
	rows := g.memory.rows
	return rows != nil && rows.InFile() && (int(slot>>t.rows.Shift)+1)*t.rows.Dim<<t.rows.Shift <= len(rows.Slice())
}

// growRows returns a matrix with one more chunk, which lies behind those before: memory that is taken in large pieces costs
// a tenth of what small pages of the heap do when they are touched first. It is on the heap where arenas move, and from the
// first that a file or the address space has no room for. Only the last matrix may be grown again.
func (g *Graph) growRows(m simd.Matrix) simd.Matrix {
	rows, size := g.memory.rows, m.Dim<<m.Shift
	at := len(m.Chunks) * size
	if rows == nil || rows.Moves() || len(rows.Slice()) < at {
		return m.Grow()
	}
	all, err := rows.Grow(at + size)
	if err != nil { // as on a full disk, where what there is can be searched nevertheless
		return m.Grow()
	}
	m.Chunks = append(m.Chunks, all[at:at+size:at+size])
	return m
}

// rowFor returns where to write the row of a slot, for putRow.
func (g *Graph) rowFor(c *scratch, t *table, slot uint32) []float32 {
	if g.rowInFile(t, slot) {
		return c.q
	}
	return t.row(slot)
}

// putRow makes what was written to rowFor the row of a slot, which nobody reads yet, and its code, if that is wanted.
func (g *Graph) putRow(c *scratch, t *table, slot uint32, row []float32, coded bool) error {
	if coded {
		g.encode(c, t, slot, row)
	}
	if !g.rowInFile(t, slot) {
		return nil
	}
	if err := g.memory.rows.Write(int(slot)*g.dim, row); err != nil {
		return fmt.Errorf("row of slot %d: %w", slot, err)
	}
	return nil
}
