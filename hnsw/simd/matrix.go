package simd

// Matrix is a table of float32 rows that never move: chunk i>>Shift holds row i. Chunks are only ever added, so a
// copy of the struct stays valid while its owner grows another one.
type Matrix struct {
	Dim    int
	Shift  uint8       // log2 of the rows per chunk, below 32
	Chunks [][]float32 // each of Dim<<Shift elements
}

// NewMatrix returns an empty matrix whose chunks hold 1,024 rows, or fewer where those were above 4 MiB.
func NewMatrix(dim int) Matrix {
	m := Matrix{Dim: dim, Shift: 10}
	for m.Shift > 0 && dim<<m.Shift > 1<<20 {
		m.Shift--
	}
	return m
}

// Holds reports whether a chunk for row i is there.
func (m *Matrix) Holds(i uint32) bool { return int(i>>(m.Shift&31)) < len(m.Chunks) }

// Grow returns a copy of m with one more chunk of zeros. Only the last copy may be grown again.
func (m *Matrix) Grow() Matrix {
	next := *m
	next.Chunks = append(m.Chunks, make([]float32, m.Dim<<(m.Shift&31)))
	return next
}

// Row returns row i, borrowed. It panics when no chunk holds it.
func (m *Matrix) Row(i uint32) []float32 {
	shift := m.Shift & 31
	at := int(i&(1<<shift-1)) * m.Dim
	return m.Chunks[i>>shift][at : at+m.Dim : at+m.Dim]
}
