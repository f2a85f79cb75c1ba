package simd

// lineBytes is what the stride of a row of codes is rounded up to: kernels read whole cache lines.
const lineBytes = 64

// Matrix8 is a table of rows of one-byte codes that follow one another in memory: row i begins at i*Stride. A code c
// stands for the number c-128 of a quantised element (see [Quantise]). What lies between Dim and Stride in a row
// means nothing. Data belongs to whoever set it and is best aligned to 64 bytes; there are as many rows as it has
// room for. A copy of the struct stays valid while its owner makes one with longer Data.
type Matrix8 struct {
	Dim    int
	Stride int // bytes from row to row: Dim rounded up to 64
	Data   []uint8
}

// NewMatrix8 returns a matrix without rows. Inner products are exact for up to 65,536 dimensions.
func NewMatrix8(dim int) Matrix8 { return Matrix8{Dim: dim, Stride: stride8(dim)} }

func stride8(dim int) int { return (dim + lineBytes - 1) &^ (lineBytes - 1) }

// Row returns the Stride bytes of row i, borrowed. It panics when there is no such row.
func (m *Matrix8) Row(i uint32) []uint8 {
	at := uint64(i) * uint64(m.Stride)
	return m.Data[at : at+uint64(m.Stride) : at+uint64(m.Stride)]
}
