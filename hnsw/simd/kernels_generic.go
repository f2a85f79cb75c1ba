//go:build (!amd64 && !arm64) || purego || race

package simd

func supported() []tier { return []tier{tierGo} }

func dot(a, b []float32) float32 { return dotGo(a, b) }

func dotMany(q []float32, m *Matrix, ids []uint32, out []float32) { dotManyGo(q, m, ids, out) }

func dotRange(q []float32, m *Matrix, first int, out []float32) { dotRangeGo(q, m, first, out) }

type query8Form struct{}

func newQuery8Form(int) query8Form { return query8Form{} }

func (*query8Form) load([]uint8) {}

func dot8(q *Query8, row []uint8) int32 { return dot8Go(q, row) }

func dotMany8(q *Query8, m *Matrix8, ids []uint32, out []int32) { dotMany8Go(q, m, ids, out) }

func dotRange8(q *Query8, m *Matrix8, first uint32, out []int32) { dotRange8Go(q, m, first, out) }

func above(products []int32, least int32, first uint32, ids []uint32) int {
	return aboveGo(products, least, first, ids)
}

func prefetch32(*uint32) {}

func prefetchWrite(*uint32) {}

func hadamard(x []float32) { hadamardGo(x) }

func butterfly(a, b []float32) { butterflyGo(a, b) }

func multiply(x, by []float32) { multiplyGo(x, by) }

func quantise(dst []uint8, v []float32, scale float32) { quantiseGo(dst, v, scale) }

func flip(dst, src []uint8) uint64 { return flipGo(dst, src) }

func squares(sums *[8]float64, v []float32) { squaresGo(sums, v) }

func divide(dst, v []float32, by float64) { divideGo(dst, v, by) }

func hammingRows(q, rows []uint64, out []int32) { hammingRowsGo(q, rows, out) }
