//go:build !purego && !race

package simd

import (
	"math"
	"testing"
	"unsafe"
)

// However far ahead the kernel asks for rows, it reads no pointer behind the last, and rounds as ever.
func TestRowsAskedForAheadRoundAsOthers(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		if active != tierAVX512 {
			t.Skip("this kernel does not ask")
		}
		const most = 41
		r := newRand(t)
		for _, dim := range []int{1, 15, 16, 63, 64, 65, 128, 200, 384, 401} {
			rows, q := make([][]float32, most), guarded[float32](t, dim, true)
			pointers := guarded[unsafe.Pointer](t, most, true) // rows keeps what they point at
			for i := range rows {
				rows[i] = guarded[float32](t, dim, true)
				fillNormal(r, rows[i])
				pointers[i] = unsafe.Pointer(&rows[i][0])
			}
			fillNormal(r, q)
			for n := 1; n <= most; n++ {
				some := pointers[most-n:]
				for _, ahead := range []int{0, 4, 8, 12, 16, 40} {
					out := guarded[float32](t, n, true)
					dotRows(&q[0], &some[0], nil, 0, n, dim, ahead, &out[0])
					for i, x := range out {
						if want := Dot(q, rows[most-n+i]); math.Float32bits(x) != math.Float32bits(want) {
							t.Fatalf("dim %d, row %d of %d, %d ahead: %v, want %v", dim, i, n, ahead, x, want)
						}
					}
				}
			}
		}
	})
}
