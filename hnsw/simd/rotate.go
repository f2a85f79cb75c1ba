package simd

import "math"

// Rotator is a fixed random rotation: it spreads every vector's length evenly over its elements, so that one scale
// quantises all of them well, and leaves inner products as they are but for rounding. It is immutable.
//
// Twice, signs are flipped at random and a Walsh-Hadamard transform mixes the elements: all of them where the dimension
// is a power of two, else in blocks that are powers of two, the largest first, and the second time the largest last.
// Between the two, unless there is only one block, sums and differences of the halves carry every block's share to the
// others. (Fast Johnson-Lindenstrauss transform: Ailon and Chazelle, "Approximate nearest neighbors and the fast
// Johnson-Lindenstrauss transform", STOC 2006; two rounds as in Andoni et al., "Practical and optimal LSH for angular
// distance", NIPS 2015.)
type Rotator struct {
	first, second []float32 // per element, a random sign over the root of its block
}

// NewRotator returns the rotation of a dimension that a seed stands for. It is the same on every machine and in
// every version: rotated vectors may be stored.
func NewRotator(dim int, seed uint64) *Rotator {
	r := &Rotator{first: make([]float32, dim), second: make([]float32, dim)}
	for i := range dim {
		bits := mix(seed + uint64(i))
		r.first[i] = math.Float32frombits(0x3F800000 | uint32(bits)<<31)
		r.second[i] = math.Float32frombits(0x3F800000 | uint32(bits>>1)<<31)
	}
	if half := r.halves(); half > 0 {
		for i := range half {
			r.second[i] *= math.Sqrt2 / 2
			r.second[dim-1-i] *= math.Sqrt2 / 2
		}
	}
	for at, rest := 0, dim; rest > 0; {
		n := block(rest)
		root := float32(1 / math.Sqrt(float64(n)))
		for i := at; i < at+n; i++ {
			r.first[i] *= root
			r.second[dim-1-i] *= root
		}
		at, rest = at+n, rest-n
	}
	return r
}

// halves is the length of the halves to be mixed: none of a single block, whose own last level would be undone.
func (r *Rotator) halves() int {
	dim := len(r.first)
	if dim == 0 || block(dim) == dim {
		return 0
	}
	return dim / 2
}

// block is the largest power of two that fits.
func block(rest int) int {
	n := 1
	for n <= rest/2 {
		n *= 2
	}
	return n
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Rotate writes v, rotated, to dst. Both have the length of the rotation and are the same slice or do not overlap.
// Every tier writes the same numbers.
func (r *Rotator) Rotate(dst, v []float32) {
	dst = dst[:len(r.first)]
	copy(dst, v[:len(dst)])
	multiply(dst, r.first)
	for at := 0; at < len(dst); {
		n := block(len(dst) - at)
		hadamard(dst[at : at+n])
		at += n
	}
	half := r.halves()
	butterfly(dst[:half], dst[len(dst)-half:])
	multiply(dst, r.second)
	for end := len(dst); end > 0; {
		n := block(end)
		hadamard(dst[end-n : end])
		end -= n
	}
}

// hadamardGo is the transform without its factor 1/sqrt(n), of a power of two.
func hadamardGo(x []float32) {
	for h := 1; h < len(x); h *= 2 {
		for at := 0; at < len(x); at += 2 * h {
			butterflyGo(x[at:at+h], x[at+h:at+2*h])
		}
	}
}

// butterflyGo replaces a and b, of equal length, by a+b and a-b.
func butterflyGo(a, b []float32) {
	a = a[:len(b)]
	for i, y := range b {
		x := a[i]
		a[i], b[i] = x+y, x-y
	}
}

func multiplyGo(x, by []float32) {
	by = by[:len(x)]
	for i := range x {
		x[i] *= by[i]
	}
}
