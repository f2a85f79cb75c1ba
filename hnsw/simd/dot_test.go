package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// reference returns the inner product and the bound on the error of any float32 summation of it: with n
// terms and unit roundoff u, (n+1)*u times the sum of their magnitudes, to first order (Higham, Accuracy and
// Stability of Numerical Algorithms, 3.1), and a hair for the second.
func reference(a, b []float32) (sum, bound float64) {
	var scale float64
	for i := range a {
		p := float64(a[i]) * float64(b[i])
		sum += p
		scale += math.Abs(p)
	}
	return sum, float64(len(a)+1) * 0x1p-24 * 1.01 * scale
}

func TestDotIsTheInnerProductUpToRounding(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, n := range lengths() {
			for _, end := range []bool{false, true} {
				a, b := guarded[float32](t, n, end), guarded[float32](t, n, end)
				fillNormal(r, a)
				fillNormal(r, b)
				got := Dot(a, b)
				if want, bound := reference(a, b); math.Abs(float64(got)-want) > bound {
					t.Errorf("%d elements: %v, want %v within %v", n, got, want, bound)
				}
				if back := Dot(b, a); back != got {
					t.Errorf("%d elements: %v one way, %v the other", n, got, back)
				}
				fillSmall(r, a)
				fillSmall(r, b)
				if want, _ := reference(a, b); float64(Dot(a, b)) != want {
					t.Errorf("%d small integers: %v, want exactly %v", n, Dot(a, b), want)
				}
			}
		}
	})
}

func TestDotOfUnalignedVectors(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		a, b := guarded[float32](t, 420, true), guarded[float32](t, 420, true)
		fillSmall(r, a)
		fillSmall(r, b)
		for i := range 17 {
			for j := range 17 {
				for _, n := range []int{0, 1, 15, 16, 31, 100, 384, 400} {
					x, y := a[i:i+n], b[j:j+n]
					if want, _ := reference(x, y); float64(Dot(x, y)) != want {
						t.Errorf("offsets %d and %d, %d elements: %v, want %v", i, j, n, Dot(x, y), want)
					}
				}
			}
		}
	})
}

func TestDotRefusesAShorterSecondVector(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		mustPanic(t, "Dot", func() { Dot(make([]float32, 3), make([]float32, 2)) })
	})
}

// guardedMatrix has chunks of eight rows, each between guard pages.
func guardedMatrix(t testing.TB, r *rand.Rand, dim, chunks int, end bool) *Matrix {
	m := &Matrix{Dim: dim, Shift: 3}
	for range chunks {
		c := guarded[float32](t, dim<<3, end)
		fillNormal(r, c)
		m.Chunks = append(m.Chunks, c)
	}
	return m
}

// idLists are the shapes of a gather: none, few, full and odd groups, several batches, any order, repeated.
func idLists(r *rand.Rand, rows int) [][]uint32 {
	var out [][]uint32
	for n := range 10 {
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = uint32(r.IntN(rows))
		}
		out = append(out, ids)
	}
	for _, n := range []int{31, 32, 33, 34, 35, 64, 67, 100} {
		up, down, same := make([]uint32, n), make([]uint32, n), make([]uint32, n)
		for i := range n {
			up[i], down[i], same[i] = uint32(i%rows), uint32((n-i)%rows), uint32(rows-1)
		}
		out = append(out, up, down, same)
	}
	return out
}

const sentinel = -12345

func TestDotManyIsBitForBitDotOfEachRow(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, dim := range lengths() {
			if dim == 0 || dim > 70 && dim%64 > 1 && dim != 385 && dim != 1537 {
				continue
			}
			m := guardedMatrix(t, r, dim, 3, dim%2 == 0)
			q := guarded[float32](t, dim, true)
			fillNormal(r, q)
			for _, ids := range idLists(r, 24) {
				out := guarded[float32](t, len(ids)+1, true)
				out[len(ids)] = sentinel
				DotMany(q, m, ids, out)
				for i, id := range ids {
					if want := Dot(q, m.Row(id)); out[i] != want {
						t.Fatalf("dim %d, %d of %d ids, row %d: %v, want %v", dim, i, len(ids), id, out[i], want)
					}
				}
				if out[len(ids)] != sentinel {
					t.Fatalf("dim %d, %d ids: wrote beyond them", dim, len(ids))
				}
			}
		}
	})
}

func TestDotRangeIsBitForBitDotOfEachRow(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, dim := range []int{1, 3, 8, 16, 17, 24, 40, 63, 64, 65, 100, 384, 385, 768} {
			m := guardedMatrix(t, r, dim, 3, dim%2 == 0)
			q := guarded[float32](t, dim, true)
			fillNormal(r, q)
			for first := range 24 {
				for n := range 24 - first + 1 {
					out := make([]float32, n+1)
					out[n] = sentinel
					DotRange(q, m, uint32(first), out[:n])
					for i := range n {
						if want := Dot(q, m.Row(uint32(first+i))); out[i] != want {
							t.Fatalf("dim %d, row %d of %d+%d: %v, want %v", dim, i, first, n, out[i], want)
						}
					}
					if out[n] != sentinel {
						t.Fatalf("dim %d, rows %d+%d: wrote beyond them", dim, first, n)
					}
				}
			}
		}
	})
}

// Rows beyond what one kernel call may read, in chunks of the usual size.
func TestLongScansAreSplit(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		const dim = 99
		m := NewMatrix(dim)
		for range 2 {
			m = m.Grow()
			fillNormal(r, m.Chunks[len(m.Chunks)-1])
		}
		q := make([]float32, dim)
		fillNormal(r, q)
		out := make([]float32, 2040)
		DotRange(q, &m, 5, out)
		for i, got := range out {
			if want := Dot(q, m.Row(uint32(5+i))); got != want {
				t.Fatalf("row %d: %v, want %v", 5+i, got, want)
			}
		}
	})
}

// Rows so long that a call may not even read four.
func TestRowsLongerThanACall(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		m := NewMatrix(callLimit + 5)
		for range 6 {
			m = m.Grow()
			fillSmall(r, m.Chunks[len(m.Chunks)-1][:100])
		}
		q, many, rows := make([]float32, m.Dim), make([]float32, 6), make([]float32, 6)
		fillSmall(r, q)
		DotMany(q, &m, []uint32{0, 1, 2, 3, 4, 5}, many)
		DotRange(q, &m, 0, rows)
		for i := range 6 {
			if want := Dot(q, m.Row(uint32(i))); many[i] != want || rows[i] != want {
				t.Errorf("row %d: %v and %v, want %v", i, many[i], rows[i], want)
			}
		}
	})
}

const callLimit = 1 << 18

func TestDotManyAndDotRangeRefuseWhatIsNotThere(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		m := guardedMatrix(t, newRand(t), 16, 2, true)
		q, out := make([]float32, 16), make([]float32, 32)
		mustPanic(t, "id", func() { DotMany(q, m, []uint32{0, 1, 2, 16}, out) })
		mustPanic(t, "largest id", func() { DotMany(q, m, []uint32{math.MaxUint32}, out) })
		mustPanic(t, "out", func() { DotMany(q, m, []uint32{0, 1}, out[:1:1]) })
		mustPanic(t, "query", func() { DotMany(q[:15:15], m, []uint32{0}, out) })
		mustPanic(t, "range", func() { DotRange(q, m, 15, out[:2]) })
		mustPanic(t, "range of a short query", func() { DotRange(q[:15:15], m, 0, out[:2]) })
		m.Chunks[1] = m.Chunks[1][: 7*16 : 7*16]
		mustPanic(t, "id in a short chunk", func() { DotMany(q, m, []uint32{15}, out) })
		mustPanic(t, "range in a short chunk", func() { DotRange(q, m, 8, out[:8]) })
	})
}

func TestKernelsDoNotAllocate(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		m := guardedMatrix(t, newRand(t), 64, 2, true)
		m8 := guardedMatrix8(t, newRand(t), 64, 16, true)
		q8 := NewQuery8(64)
		rot := NewRotator(64, 1)
		allocs := testing.AllocsPerRun(100, func() {
			var q, out [64]float32
			var codes [64]uint8
			var out8 [16]int32
			ids := [...]uint32{1, 2, 3, 4, 5, 6, 7}
			rot.Rotate(q[:], m.Row(0))
			Quantise(codes[:], q[:], UnitScale(64))
			q8.Load(codes[:])
			DotMany(q[:], m, ids[:], out[:])
			DotRange(q[:], m, 0, out[:16])
			DotMany8(&q8, m8, ids[:], out8[:])
			DotRange8(&q8, m8, 0, out8[:])
			out[0] = Dot(q[:], out[:]) + float32(Dot8(&q8, codes[:]))
			Scale(out[:], q[:], Norm(q[:]))
		})
		if allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	})
}
