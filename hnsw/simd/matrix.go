package simd

const (
	// ChunkShift is log2 of ChunkRows.
	ChunkShift = 10
	// ChunkRows is the number of rows in one chunk of a Matrix.
	ChunkRows = 1 << ChunkShift
	chunkMask = ChunkRows - 1
)

// Matrix is a table of float32 rows that never move: row i is in chunk i/ChunkRows. Chunks are only ever
// added, so a copy of the struct stays valid while its owner grows another one.
type Matrix struct {
	Dim    int
	Chunks [][]float32 // each of ChunkRows*Dim elements
}

// Row returns row i, borrowed. It panics when no chunk holds it.
func (m *Matrix) Row(i uint32) []float32 {
	at := int(i&chunkMask) * m.Dim
	return m.Chunks[i>>ChunkShift][at : at+m.Dim : at+m.Dim]
}

// DotMany writes the inner product of q with row ids[i] of m to out[i]. len(q) must be m.Dim and len(out) at
// least len(ids).
func DotMany(q []float32, m *Matrix, ids []uint32, out []float32) {
	out = out[:len(ids)]
	for i, id := range ids {
		out[i] = Dot(q, m.Row(id))
	}
}
