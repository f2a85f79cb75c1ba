//go:build !purego && !race

package simd

import "unsafe"

// The kernels below are in the *_amd64.s files, which say what each does. They trust their arguments, ids of
// codes excepted.

//go:noescape
func dotAVX2(a, b *float32, dim int) float32

//go:noescape
func dotAVX512(a, b *float32, dim int) float32

//go:noescape
func dotRowsAVX2(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim int, out *float32)

//go:noescape
func dotRowsAVX512(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim, ahead int, out *float32)

//go:noescape
func dot8RowsAVX2(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n, ahead, touch int, bias int32, out *int32) bool

//go:noescape
func dot8RowsAVXVNNI(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n, ahead, touch int, bias int32, out *int32) bool

//go:noescape
func dot8RowsAVX512(q *uint8, ids *uint32, base unsafe.Pointer, last, stride, n, ahead, touch int, bias int32, out *int32) bool

//go:noescape
func foldAVX2(dst, q *uint8, n int) int64

//go:noescape
func hadamardAVX2(x *float32, n int)

//go:noescape
func butterflyAVX2(a, b *float32, n int)

//go:noescape
func quantiseAVX2(dst *uint8, v *float32, n int, scale float32)

//go:noescape
func flipAVX2(dst, src *uint8, n int) uint64

//go:noescape
func squaresAVX2(sums *[8]float64, v *float32, n int)

//go:noescape
func divideAVX2(dst, v *float32, n int, by float64)

//go:noescape
func aboveAVX2(products *int32, n int, least int32, first uint32, ids *uint32) int

//go:noescape
func aboveAVX512(products *int32, n int, least int32, first uint32, ids *uint32) int

//go:noescape
func prefetch32(p *uint32)

//go:noescape
func prefetchWrite(p *uint32)

//go:noescape
func hammingRowsAVX512(q, rows *uint64, words, n int, out *int32)

// dot needs vectors of equal length.
func dot(a, b []float32) float32 {
	switch active {
	case tierGo:
		return dotGo(a, b)
	case tierAVX512:
		return dotAVX512(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
	default:
		return dotAVX2(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
	}
}

// dotRows needs a tier other than tierGo.
func dotRows(q *float32, rows *unsafe.Pointer, first unsafe.Pointer, stride, n, dim, ahead int, out *float32) {
	if active == tierAVX512 {
		dotRowsAVX512(q, rows, first, stride, n, dim, ahead, out)
	} else {
		dotRowsAVX2(q, rows, first, stride, n, dim, out)
	}
}

// query8Form is what the AVX2 kernel has instead of codes and bias, while that tier is active.
type query8Form struct {
	folded []uint8
	bias   int32
}

func newQuery8Form(dim int) query8Form { return query8Form{folded: make([]uint8, 2*stride8(dim))} }

func (f *query8Form) load(codes []uint8) {
	if active == tierAVX2 && len(codes) > 0 {
		_ = f.folded[2*len(codes)-1]
		f.bias = int32(foldAVX2(&f.folded[0], &codes[0], len(codes)))
	}
}

// dot8Rows needs a tier other than tierGo.
func dot8Rows(q *Query8, ids *uint32, base unsafe.Pointer, last, stride, n int, r reach, out *int32) bool {
	switch active {
	case tierAVX512:
		return dot8RowsAVX512(&q.codes[0], ids, base, last, stride, n, r.ahead, r.touch, q.bias, out)
	case tierAVXVNNI:
		return dot8RowsAVXVNNI(&q.codes[0], ids, base, last, stride, n, r.ahead, r.touch, q.bias, out)
	default:
		return dot8RowsAVX2(&q.form.folded[0], ids, base, last, stride, n, r.ahead, r.touch, q.form.bias, out)
	}
}

func hadamard(x []float32) {
	if active == tierGo || len(x) < 64 {
		hadamardGo(x)
	} else {
		hadamardAVX2(&x[0], len(x))
	}
}

func butterfly(a, b []float32) {
	n := len(b) &^ 7
	if active == tierGo || n == 0 {
		n = 0
	} else {
		butterflyAVX2(&a[0], &b[0], n)
	}
	butterflyGo(a[n:], b[n:])
}

func quantise(dst []uint8, v []float32, scale float32) {
	n := len(v) &^ 31
	if active == tierGo || n == 0 {
		n = 0
	} else {
		quantiseAVX2(&dst[0], &v[0], n, scale)
	}
	quantiseGo(dst[n:], v[n:], scale)
}

func flip(dst, src []uint8) uint64 {
	n := len(src) &^ 31
	if active == tierGo || n == 0 {
		return flipGo(dst, src)
	}
	_ = dst[n-1]
	sum := flipAVX2(&dst[0], &src[0], n)
	if n < len(src) {
		sum += flipGo(dst[n:], src[n:])
	}
	return sum
}

func squares(sums *[8]float64, v []float32) {
	n := len(v) &^ 7
	if active == tierGo || n == 0 {
		n = 0
	} else {
		squaresAVX2(sums, &v[0], n)
	}
	squaresGo(sums, v[n:])
}

func divide(dst, v []float32, by float64) {
	n := len(v) &^ 3
	if active == tierGo || n == 0 {
		n = 0
	} else {
		divideAVX2(&dst[0], &v[0], n, by)
	}
	divideGo(dst[n:], v[n:], by)
}

func above(products []int32, least int32, first uint32, ids []uint32) int {
	n := len(products) &^ 7
	if active == tierAVX512 {
		n = len(products) &^ 15
	}
	if active == tierGo || n == 0 {
		return aboveGo(products, least, first, ids)
	}
	_ = ids[len(products)-1]
	kept := 0
	if active == tierAVX512 {
		kept = aboveAVX512(&products[0], n, least, first, &ids[0])
	} else {
		kept = aboveAVX2(&products[0], n, least, first, &ids[0])
	}
	for i, p := range products[n:] {
		if p >= least {
			ids[kept], products[kept] = first+uint32(n+i), p
			kept++
		}
	}
	return kept
}

func hammingRows(q, rows []uint64, out []int32) {
	if active == tierAVX512 {
		hammingRowsAVX512(&q[0], &rows[0], len(q), len(out), &out[0])
	} else {
		hammingRowsGo(q, rows, out)
	}
}
