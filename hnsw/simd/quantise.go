package simd

import "math"

// UnitScale is the factor to quantise rotated unit vectors of a dimension with. Rotation makes their elements
// about normal with deviation 1/sqrt(dim), whatever the data; of those, one in 150,000 lies beyond four and a
// half deviations and is clamped. Nothing needs training, and codes of vectors inserted later fit the earlier
// ones.
func UnitScale(dim int) float32 { return float32(127 / 4.5 * math.Sqrt(float64(dim))) }

// Quantise writes the codes of v to dst: each element times scale, rounded to the nearest integer (half to
// even), limited to -127 and 127, plus 128. It leaves what dst has beyond len(v), and panics when dst is
// shorter. Every tier writes the same bytes. What a NaN becomes is not specified.
func Quantise(dst []uint8, v []float32, scale float32) { quantise(dst[:len(v)], v, scale) }

func quantiseGo(dst []uint8, v []float32, scale float32) {
	dst = dst[:len(v)]
	for i, x := range v {
		// Adding 1.5*2^23 leaves no room for a fraction: the sum is rounded to even by the addition itself. The
		// conversions keep the compiler from fusing the product with it.
		y := min(127, max(-127, float32(x*scale)))
		dst[i] = uint8(int32(math.Float32bits(y+(3<<22))) + 128)
	}
}
