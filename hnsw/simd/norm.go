package simd

import "math"

// Norm returns the Euclidean norm of v, summed in float64: no float32 vector overflows or underflows it. It is
// NaN or infinite exactly when an element is. Every tier returns the same number.
func Norm(v []float32) float64 {
	var s [8]float64
	squares(&s, v)
	return math.Sqrt(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])))
}

// Scale writes v divided by norm to dst, dividing in float64 and rounding each element once: every tier writes the
// same numbers. dst and v have equal length and are the same slice or do not overlap.
func Scale(dst, v []float32, norm float64) { divide(dst[:len(v)], v, norm) }

// squaresGo adds the square of element i to sums[i%8].
func squaresGo(sums *[8]float64, v []float32) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	for len(v) >= 8 {
		x := (*[8]float32)(v)
		s0 += float64(x[0]) * float64(x[0])
		s1 += float64(x[1]) * float64(x[1])
		s2 += float64(x[2]) * float64(x[2])
		s3 += float64(x[3]) * float64(x[3])
		s4 += float64(x[4]) * float64(x[4])
		s5 += float64(x[5]) * float64(x[5])
		s6 += float64(x[6]) * float64(x[6])
		s7 += float64(x[7]) * float64(x[7])
		v = v[8:]
	}
	*sums = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	for i, x := range v {
		sums[i] += float64(x) * float64(x)
	}
}

func divideGo(dst, v []float32, by float64) {
	dst = dst[:len(v)]
	for i, x := range v {
		dst[i] = float32(float64(x) / by)
	}
}
