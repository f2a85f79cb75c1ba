//go:build (amd64 || arm64) && !purego && !race

package simd

import (
	"unsafe"

	"github.com/viterin/vek/vek32"
)

// The functions here look rows up, with every bound checked, and hand their addresses to kernels that check
// nothing. A kernel cannot be preempted, so one call reads at most callBytes (or four rows): 10 to 30 us even
// out of memory.
const (
	batch     = 32 // row addresses per call; a walk asks for a node's neighbours, about as many
	callBytes = 1 << 18
)

func (m *Matrix) mask() int { return 1<<(m.Shift&31) - 1 }

func (m *Matrix8) mask() int { return 1<<(m.Shift&31) - 1 }

func callRows(rowBytes int) int { return max(4, callBytes/rowBytes) }

func dotMany(q []float32, m *Matrix, ids []uint32, out []float32) {
	if active == tierGo || m.Dim == 0 {
		dotManyGo(q, m, ids, out)
		return
	}
	most := batch
	if len(q) > callBytes/4/batch {
		most = callRows(4 * len(q))
	}
	for ; len(ids) > most; ids, out = ids[most:], out[most:] {
		dotBatch(q, m, ids[:most], out)
	}
	if len(ids) > 0 {
		dotBatch(q, m, ids, out)
	}
}

// dotBatch is DotMany of 1 to batch ids. It is a function of its own so that the loop has registers enough.
//
//go:noinline
func dotBatch(q []float32, m *Matrix, ids []uint32, out []float32) {
	var rows [batch]unsafe.Pointer
	for i, id := range ids {
		rows[i&(batch-1)] = unsafe.Pointer(unsafe.SliceData(m.Row(id)))
	}
	dotRows(&q[0], &rows[0], nil, 0, len(ids), len(q), &out[0])
}

func dotRange(q []float32, m *Matrix, first int, out []float32) {
	if active == tierGo || m.Dim == 0 {
		dotRangeGo(q, m, first, out)
		return
	}
	most := callRows(4 * len(q))
	for len(out) > 0 {
		at := first & m.mask()
		n := min(len(out), m.mask()+1-at, most)
		rows := m.Chunks[first>>(m.Shift&31)][at*m.Dim : (at+n)*m.Dim]
		dotRows(&q[0], nil, unsafe.Pointer(&rows[0]), 4*m.Dim, n, m.Dim, &out[0])
		first, out = first+n, out[n:]
	}
}

func dot8(q *Query8, row []uint8) int32 {
	if active == tierGo || len(row) == 0 {
		return dot8Go(q, row)
	}
	var out int32
	dot8Rows(&q.codes[0], nil, unsafe.Pointer(&row[0]), len(q.codes), 1, q.bias, &out)
	return out
}

func dotMany8(q *Query8, m *Matrix8, ids []uint32, out []int32) {
	if active == tierGo || m.Dim == 0 {
		dotMany8Go(q, m, ids, out)
		return
	}
	most := batch
	if m.Stride > callBytes/batch {
		most = callRows(m.Stride)
	}
	for ; len(ids) > most; ids, out = ids[most:], out[most:] {
		dotBatch8(q, m, ids[:most], out)
	}
	if len(ids) > 0 {
		dotBatch8(q, m, ids, out)
	}
}

//go:noinline
func dotBatch8(q *Query8, m *Matrix8, ids []uint32, out []int32) {
	var rows [batch]unsafe.Pointer
	for i, id := range ids {
		rows[i&(batch-1)] = unsafe.Pointer(unsafe.SliceData(m.Row(id)))
	}
	dot8Rows(&q.codes[0], &rows[0], nil, m.Stride, len(ids), q.bias, &out[0])
}

func dotRange8(q *Query8, m *Matrix8, first int, out []int32) {
	if active == tierGo || m.Dim == 0 {
		dotRange8Go(q, m, first, out)
		return
	}
	most := callRows(m.Stride)
	for len(out) > 0 {
		at := first & m.mask()
		n := min(len(out), m.mask()+1-at, most)
		rows := m.Chunks[first>>(m.Shift&31)][at*m.Stride : (at+n)*m.Stride]
		dot8Rows(&q.codes[0], nil, unsafe.Pointer(&rows[0]), m.Stride, n, q.bias, &out[0])
		first, out = first+n, out[n:]
	}
}

// multiply is the one thing vek has in exactly the shape wanted here. Vectors have equal length and are not
// one another.
func multiply(x, by []float32) {
	if active == tierGo {
		multiplyGo(x, by)
	} else {
		vek32.Mul_Inplace(x, by)
	}
}
