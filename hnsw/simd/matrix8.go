package simd

// lineBytes is what the stride of a row of codes is rounded up to: kernels read whole cache lines.
const lineBytes = 64

// Matrix8 is a table of rows of one-byte codes, grown and copied as [Matrix] is. A code c stands for the number
// c-128 of a quantised element (see [Quantise]). What lies between Dim and Stride in a row means nothing.
type Matrix8 struct {
	Dim    int
	Stride int       // bytes from row to row: Dim rounded up to 64
	Shift  uint8     // log2 of the rows per chunk, below 32
	Chunks [][]uint8 // each of Stride<<Shift bytes
}

// NewMatrix8 returns an empty matrix whose chunks hold 1,024 rows, or fewer where those were above 4 MiB. Inner
// products are exact for up to 65,536 dimensions.
func NewMatrix8(dim int) Matrix8 {
	m := Matrix8{Dim: dim, Stride: stride8(dim), Shift: 10}
	for m.Shift > 0 && m.Stride<<m.Shift > 1<<22 {
		m.Shift--
	}
	return m
}

func stride8(dim int) int { return (dim + lineBytes - 1) &^ (lineBytes - 1) }

// Holds reports whether a chunk for row i is there.
func (m *Matrix8) Holds(i uint32) bool { return int(i>>(m.Shift&31)) < len(m.Chunks) }

// Grow returns a copy of m with one more chunk of zeros. Only the last copy may be grown again.
func (m *Matrix8) Grow() Matrix8 {
	next := *m
	next.Chunks = append(m.Chunks, make([]uint8, m.Stride<<(m.Shift&31)))
	return next
}

// Row returns the Stride bytes of row i, borrowed. It panics when no chunk holds it.
func (m *Matrix8) Row(i uint32) []uint8 {
	shift := m.Shift & 31
	at := int(i&(1<<shift-1)) * m.Stride
	return m.Chunks[i>>shift][at : at+m.Stride : at+m.Stride]
}
