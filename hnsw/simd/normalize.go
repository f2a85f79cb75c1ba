package simd

import "math"

// Norm returns the Euclidean norm of v, summed in float64: no float32 vector overflows or underflows it. It is
// NaN or infinite exactly when an element is.
func Norm(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// Scale writes v divided by norm to dst, rounding each element once. dst and v have equal length and may be
// the same slice.
func Scale(dst, v []float32, norm float64) {
	dst = dst[:len(v)]
	for i, x := range v {
		dst[i] = float32(float64(x) / norm)
	}
}
