package simd

import (
	"math"
	"math/bits"
)

// SignWords is the number of words [Signs] writes for a dimension.
func SignWords(dim int) int { return (dim + 63) / 64 }

// Signs writes the sign bits of v to dst, element i to bit i%64 of word i/64, with zeros in the rest of the last
// word. It panics when dst is shorter than SignWords(len(v)).
func Signs(dst []uint64, v []float32) {
	dst = dst[:SignWords(len(v))]
	for w := range dst {
		part := v[64*w : min(64*w+64, len(v))]
		var word uint64
		for i, x := range part {
			word |= uint64(math.Float32bits(x)>>31) << i
		}
		dst[w] = word
	}
}

// Hamming returns the number of bits in which two slices of equal length differ. For random rotations of unit
// vectors, that of their signs over the dimension estimates their angle over pi.
func Hamming(a, b []uint64) int {
	b = b[:len(a)]
	n := 0
	for i, x := range a {
		n += bits.OnesCount64(x ^ b[i])
	}
	return n
}

// HammingRange writes to out[i] the number of bits in which q differs from the i-th of the rows of len(q) words
// that follow one another in rows. It panics when there are fewer rows than out has elements.
func HammingRange(q, rows []uint64, out []int32) {
	rows = rows[:len(q)*len(out)]
	if len(rows) == 0 {
		clear(out)
		return
	}
	most := max(1, 1<<15/len(q)) // 256 KiB a call, which cannot be preempted
	for len(out) > 0 {
		n := min(len(out), most)
		hammingRows(q, rows[:n*len(q)], out[:n])
		rows, out = rows[n*len(q):], out[n:]
	}
}

func hammingRowsGo(q, rows []uint64, out []int32) {
	for i := range out {
		out[i] = int32(Hamming(q, rows[i*len(q):(i+1)*len(q)]))
	}
}
