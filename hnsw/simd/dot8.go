package simd

import "encoding/binary"

// Query8 is a quantised vector ready to be multiplied with rows of a [Matrix8]. Its elements are signed where
// those of rows are shifted by 128: sum(q*(c-128)) = sum(q*c) - 128*sum(q), one unsigned-by-signed product (which
// processors have) and a correction that is the same for every row. It may be used by any number of goroutines
// between two Loads.
type Query8 struct {
	dim   int
	codes []uint8 // two's complement; zero from dim to the stride, so that padding of rows counts for nothing
	bias  int32   // 128 times the sum of the elements
	form  query8Form
}

// NewQuery8 returns a query of zeros for rows of dim codes.
func NewQuery8(dim int) Query8 {
	return Query8{dim: dim, codes: make([]uint8, stride8(dim)), form: newQuery8Form(dim)}
}

// Load makes q the vector whose codes are in a row: of a Matrix8, or what [Quantise] wrote. It reads as many as
// the query has dimensions and panics when the row has fewer.
func (q *Query8) Load(row []uint8) {
	sum := flip(q.codes, row[:q.dim])
	q.bias = int32(128 * (int64(sum) - 128*int64(q.dim)))
	q.form.load(q.codes)
}

// flipGo writes src with the upper bit of each byte flipped to dst, and returns the sum of the bytes of src.
func flipGo(dst, src []uint8) uint64 {
	var sum uint64
	dst = dst[:len(src)]
	for len(src) >= 8 {
		// 16-bit lanes take two bytes a step: 128 steps before they can overflow.
		var lanes uint64
		for range min(len(src)/8, 128) {
			x := binary.LittleEndian.Uint64(src)
			lanes += x&0x00FF00FF00FF00FF + x>>8&0x00FF00FF00FF00FF
			binary.LittleEndian.PutUint64(dst, x^0x8080808080808080)
			src, dst = src[8:], dst[8:]
		}
		sum += lanes&0xFFFF + lanes>>16&0xFFFF + lanes>>32&0xFFFF + lanes>>48
	}
	for i, x := range src {
		sum += uint64(x)
		dst[i] = x ^ 0x80
	}
	return sum
}

// Dot8 returns the inner product of a query with one row of Stride bytes, of the quantised elements: exact, the
// same on every machine.
func Dot8(q *Query8, row []uint8) int32 { return dot8(q, row[:len(q.codes)]) }

// DotMany8 writes the inner product of q with row ids[i] of m to out[i]: [DotMany] for codes. The query must
// have the dimension of m. It panics when m has no row of an id, or out is too short.
func DotMany8(q *Query8, m *Matrix8, ids []uint32, out []int32) {
	q.fits(m)
	dotMany8(q, m, ids, out[:len(ids)])
}

// DotRange8 writes the inner product of q with row first+i of m to out[i], as many as out has: [DotRange] for
// codes. The query must have the dimension of m. It panics when m has not so many rows.
func DotRange8(q *Query8, m *Matrix8, first uint32, out []int32) {
	q.fits(m)
	dotRange8(q, m, first, out)
}

func (q *Query8) fits(m *Matrix8) {
	if len(q.codes) != m.Stride {
		panic("simd: query and matrix differ in dimension")
	}
}

func dot8Go(q *Query8, row []uint8) int32 {
	var s0, s1, s2, s3 int32
	codes := q.codes
	row = row[:len(codes)]
	for i := 0; i+4 <= len(codes); i += 4 { // a multiple of 64
		x, y := (*[4]uint8)(codes[i:]), (*[4]uint8)(row[i:])
		s0 += int32(int8(x[0])) * int32(y[0])
		s1 += int32(int8(x[1])) * int32(y[1])
		s2 += int32(int8(x[2])) * int32(y[2])
		s3 += int32(int8(x[3])) * int32(y[3])
	}
	return s0 + s1 + s2 + s3 - q.bias
}

func dotMany8Go(q *Query8, m *Matrix8, ids []uint32, out []int32) {
	for i, id := range ids {
		out[i] = dot8Go(q, m.Row(id))
	}
}

func dotRange8Go(q *Query8, m *Matrix8, first uint32, out []int32) {
	at := uint64(first) * uint64(m.Stride)
	rows := m.Data[at : at+uint64(len(out)*m.Stride)]
	for i := range out {
		out[i] = dot8Go(q, rows[i*m.Stride:])
	}
}
