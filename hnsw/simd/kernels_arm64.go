//go:build !purego && !race

package simd

import "unsafe"

// The kernels below are in the *_arm64.s files, which say what each does. They trust their arguments, ids of
// codes excepted.

//go:noescape
func dotNEON(a, b *float32, dim int) float32

//go:noescape
func dotRowsNEON(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim int, out *float32)

//go:noescape
func dot8RowsNEON(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n int, bias int32, out *int32) bool

//go:noescape
func dot8RowsSDOT(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n int, bias int32, out *int32) bool

//go:noescape
func prefetch32(p *uint32)

//go:noescape
func prefetchWrite(p *uint32)

//go:noescape
func quantiseNEON(dst *uint8, v *float32, n int, scale float32)

//go:noescape
func flipNEON(dst, src *uint8, n int) uint64

//go:noescape
func butterflyNEON(a, b *float32, n int)

// dot needs vectors of equal length.
func dot(a, b []float32) float32 {
	if active == tierGo {
		return dotGo(a, b)
	}
	return dotNEON(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
}

// dotRows needs a tier other than tierGo.
func dotRows(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim, _ int, out *float32) {
	dotRowsNEON(q, rows, first, stride, n, dim, out)
}

// query8Form would be what a kernel has instead of codes and bias: none here.
type query8Form struct{}

func newQuery8Form(int) query8Form { return query8Form{} }

func (*query8Form) load([]uint8) {}

// dot8Rows needs a tier other than tierGo.
func dot8Rows(q *Query8, ids *uint32, base unsafe.Pointer, last, stride, n int, _ reach, out *int32) bool {
	if active == tierSDOT {
		return dot8RowsSDOT(&q.codes[0], ids, base, last, stride, n, q.bias, out)
	}
	return dot8RowsNEON(&q.codes[0], ids, base, last, stride, n, q.bias, out)
}

// hadamard leaves the levels below a vector's width to Go.
func hadamard(x []float32) {
	if active == tierGo || len(x) < 8 {
		hadamardGo(x)
		return
	}
	for at := 0; at < len(x); at += 4 {
		v := (*[4]float32)(x[at:])
		a, b, c, d := v[0]+v[1], v[0]-v[1], v[2]+v[3], v[2]-v[3]
		v[0], v[1], v[2], v[3] = a+c, b+d, a-c, b-d
	}
	for h := 4; h < len(x); h *= 2 {
		for at := 0; at < len(x); at += 2 * h {
			butterflyNEON(&x[at], &x[at+h], h)
		}
	}
}

func butterfly(a, b []float32) {
	n := len(b) &^ 3
	if active == tierGo || n == 0 {
		n = 0
	} else {
		butterflyNEON(&a[0], &b[0], n)
	}
	butterflyGo(a[n:], b[n:])
}

// The compiler's comparison of a product takes a small part of the time of the product.
func above(products []int32, least int32, first uint32, ids []uint32) int {
	return aboveGo(products, least, first, ids)
}

func quantise(dst []uint8, v []float32, scale float32) {
	n := len(v) &^ 15
	if active == tierGo || n == 0 {
		n = 0
	} else {
		quantiseNEON(&dst[0], &v[0], n, scale)
	}
	quantiseGo(dst[n:], v[n:], scale)
}

func flip(dst, src []uint8) uint64 {
	n := len(src) &^ 15
	if active == tierGo || n == 0 || n >= 1<<24 {
		return flipGo(dst, src)
	}
	sum := flipNEON(&dst[0], &src[0], n)
	if n < len(src) {
		sum += flipGo(dst[n:], src[n:])
	}
	return sum
}

// What follows runs once per query: plain Go is fast enough.

func squares(sums *[8]float64, v []float32) { squaresGo(sums, v) }

func divide(dst, v []float32, by float64) { divideGo(dst, v, by) }

func hammingRows(q, rows []uint64, out []int32) { hammingRowsGo(q, rows, out) }
