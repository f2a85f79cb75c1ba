package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// reference8 multiplies what the codes stand for.
func reference8(q, row []uint8) int32 {
	var sum int64
	for i, c := range q {
		sum += (int64(c) - 128) * (int64(row[i]) - 128)
	}
	return int32(sum)
}

// guardedMatrix8 has rows that begin or end at a guard page.
func guardedMatrix8(t testing.TB, r *rand.Rand, dim, rows int, end bool) *Matrix8 {
	m := NewMatrix8(dim)
	m.Data = guarded[uint8](t, rows*m.Stride, end)
	fillBytes(r, m.Data)
	return &m
}

// guardedQuery is a loaded query whose codes lie before a guard page.
func guardedQuery(t testing.TB, codes []uint8) *Query8 {
	q := NewQuery8(len(codes))
	q.codes = guarded[uint8](t, len(q.codes), true)
	q.Load(codes)
	return &q
}

// extremes are codes at which sums are largest and narrower arithmetic would saturate.
var extremes = []uint8{0, 1, 127, 128, 129, 254, 255}

func TestDot8IsExact(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, dim := range lengths() {
			codes := guarded[uint8](t, dim, true)
			fillBytes(r, codes)
			row := guarded[uint8](t, stride8(dim), true)
			fillBytes(r, row)
			if got, want := Dot8(guardedQuery(t, codes), row), reference8(codes, row); got != want {
				t.Errorf("%d codes: %d, want %d", dim, got, want)
			}
		}
		for _, dim := range []int{64, 100, 1536, 8192, 65536} {
			codes, row := make([]uint8, dim), make([]uint8, stride8(dim))
			for _, x := range extremes {
				for _, y := range extremes {
					for i := range codes {
						codes[i] = x
					}
					for i := range row {
						row[i] = y
					}
					q := NewQuery8(dim)
					q.Load(codes)
					if got, want := Dot8(&q, row), reference8(codes, row); got != want {
						t.Errorf("%d codes of %d and %d: %d, want %d", dim, x, y, got, want)
					}
				}
			}
		}
	})
}

func TestDotMany8AndDotRange8AreDot8OfEachRow(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, dim := range []int{1, 63, 64, 65, 128, 129, 192, 200, 320, 384, 768, 1536} {
			m := guardedMatrix8(t, r, dim, 24, dim%2 == 0)
			codes := make([]uint8, dim)
			fillBytes(r, codes)
			q := guardedQuery(t, codes)
			for _, ids := range idLists(r, 24) {
				out := guarded[int32](t, len(ids)+1, true)
				out[len(ids)] = sentinel
				DotMany8(q, m, ids, out)
				for i, id := range ids {
					if want := reference8(codes, m.Row(id)); out[i] != want {
						t.Fatalf("dim %d, %d of %d ids, row %d: %d, want %d", dim, i, len(ids), id, out[i], want)
					}
				}
				if out[len(ids)] != sentinel {
					t.Fatalf("dim %d, %d ids: wrote beyond them", dim, len(ids))
				}
			}
			for first := range 24 {
				for n := range 24 - first + 1 {
					out := make([]int32, n+1)
					out[n] = sentinel
					DotRange8(q, m, uint32(first), out[:n])
					for i := range n {
						if want := reference8(codes, m.Row(uint32(first+i))); out[i] != want {
							t.Fatalf("dim %d, row %d of %d+%d: %d, want %d", dim, i, first, n, out[i], want)
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

func TestDotMany8OfEveryDimension(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		out := guarded[int32](t, 15, true)
		for _, dim := range lengths() {
			m := guardedMatrix8(t, r, dim, 9, dim%2 == 0)
			codes := make([]uint8, dim)
			fillBytes(r, codes)
			q := guardedQuery(t, codes)
			for n := range 16 {
				ids, out := make([]uint32, n), out[15-n:]
				for i := range ids {
					ids[i] = r.Uint32N(9)
				}
				DotMany8(q, m, ids, out)
				for i, id := range ids {
					if want := reference8(codes, m.Row(id)); out[i] != want {
						t.Fatalf("dim %d, %d of %d ids, row %d: %d, want %d", dim, i, n, id, out[i], want)
					}
				}
			}
		}
	})
}

func TestLoadForgetsTheVectorBefore(t *testing.T) {
	eachTier(t, testLoadForgetsTheVectorBefore)
}

func testLoadForgetsTheVectorBefore(t *testing.T) {
	r := newRand(t)
	for _, dim := range []int{1, 7, 8, 9, 31, 32, 33, 63, 64, 384, 1031, 3000} {
		q, row := NewQuery8(dim), make([]uint8, stride8(dim))
		fillBytes(r, row)
		codes := guarded[uint8](t, dim, true)
		for i := range 4 {
			fillBytes(r, codes)
			if i == 3 { // the largest sum
				for j := range codes {
					codes[j] = 255
				}
			}
			q.Load(codes)
			if got, want := Dot8(&q, row), reference8(codes, row); got != want {
				t.Errorf("dim %d: %d, want %d", dim, got, want)
			}
		}
	}
}

func TestCodesRefuseWhatIsNotThere(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		m := guardedMatrix8(t, newRand(t), 100, 16, true)
		q, other, out := NewQuery8(100), NewQuery8(129), make([]int32, 32)
		for n := range 12 { // every place in a group, and of a group
			for at := range n {
				for _, bad := range []uint32{16, 17, 1 << 25, math.MaxUint32} {
					ids := make([]uint32, n)
					ids[at] = bad
					mustPanic(t, "id", func() { DotMany8(&q, m, ids, out) })
				}
			}
		}
		empty := NewMatrix8(100)
		mustPanic(t, "id of no row", func() { DotMany8(&q, &empty, []uint32{0}, out) })
		mustPanic(t, "range of no row", func() { DotRange8(&q, &empty, 0, out[:1]) })
		mustPanic(t, "range beyond all ids", func() { DotRange8(&q, m, math.MaxUint32, out[:2]) })
		DotMany8(&q, &empty, nil, out)
		DotRange8(&q, &empty, 0, nil)
		mustPanic(t, "out", func() { DotMany8(&q, m, []uint32{0, 1}, out[:1:1]) })
		mustPanic(t, "range", func() { DotRange8(&q, m, 15, out[:2]) })
		mustPanic(t, "query", func() { DotMany8(&other, m, []uint32{0}, out) })
		mustPanic(t, "range of another query", func() { DotRange8(&other, m, 0, out[:1]) })
		mustPanic(t, "row", func() { Dot8(&q, make([]uint8, 127)) })
		mustPanic(t, "codes", func() { q.Load(make([]uint8, 99)) })
	})
}
