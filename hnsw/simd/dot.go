package simd

// Dot returns the inner product of two vectors of equal length, 0 of empty ones. It panics when b is shorter
// than a.
func Dot(a, b []float32) float32 { return dot(a, b[:len(a)]) }

// DotMany writes the inner product of q with row ids[i] of m to out[i]. len(q) must be m.Dim and len(out) at
// least len(ids). It panics when m has no row of an id. This is the shape of a step in a graph walk: four rows
// are read at a time, and the first lines of the next four asked for meanwhile.
func DotMany(q []float32, m *Matrix, ids []uint32, out []float32) {
	dotMany(q[:m.Dim], m, ids, out[:len(ids)])
}

// DotRange writes the inner product of q with row first+i of m to out[i], as many as out has. len(q) must be
// m.Dim. It panics when m has not so many rows. This is the shape of an exact scan.
func DotRange(q []float32, m *Matrix, first uint32, out []float32) {
	dotRange(q[:m.Dim], m, int(first), out)
}

// dotGo keeps four independent sums so that additions need not wait for each other; the fixed-size windows
// let the compiler drop the bounds checks.
func dotGo(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := (*[4]float32)(a[i:]), (*[4]float32)(b[i:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func dotManyGo(q []float32, m *Matrix, ids []uint32, out []float32) {
	for i, id := range ids {
		out[i] = dotGo(q, m.Row(id))
	}
}

func dotRangeGo(q []float32, m *Matrix, first int, out []float32) {
	for i := range out {
		out[i] = dotGo(q, m.Row(uint32(first+i)))
	}
}
