//go:build (amd64 || arm64) && !purego && !race

package simd

import (
	"unsafe"

	"github.com/viterin/vek/vek32"
)

// The functions here check every bound but that of ids of codes, and kernels check nothing but that, as they turn ids
// into addresses. Rows of float32 are looked up here. A kernel cannot be preempted, so one call reads at most callBytes
// (or four rows): 10 to 30 us even out of memory.
const (
	batch     = 64 // addresses of float32 rows per call; few steps of a walk ask for more rows
	callBytes = 1 << 18
)

// Rows here and there that are in no cache are asked for some time before they are multiplied: kernels wait for
// what they read, so that few requests of theirs are under way at a time. Where all rows take less than farBytes a
// cache is likely to have most of them, and asking for more than a beginning costs more than it saves.
const (
	farBytes   = 16 << 20
	aheadBytes = 9 << 10 // of codes: a part of the first cache

	nearBytes   = 2 << 20 // what the second cache has most of
	floatsAhead = 12 << 10
)

// reach says which rows a kernel of codes asks for: touch bytes of the one that is so many ahead.
type reach struct{ ahead, touch int }

// near is for rows that some cache is likely to have: two lines of each of the next four.
var near = reach{4, 128}

// far is for rows that are in no cache.
func far(row int) reach {
	touch := fetchBytes(row)
	return reach{min(max(4, aheadBytes/touch&^3), 32), touch}
}

// fetchBytes is how much of a row to ask for. Of a long one the processor asks for the rest itself, and sooner when it is
// not busy with too many requests.
func fetchBytes(row int) int {
	if row > 2<<10 {
		return 512
	}
	return row
}

// ask asks for float32 rows of a batch, all rows being of so many bytes, and one of so many, and returns how many rows
// ahead the kernel should. To ask for all of a batch first takes half of the time on processors that look some 250
// instructions ahead. Those with AVX-512 look twice as far: it takes them 3 to 8 % more, where to ask for a few rows ahead
// takes 4 to 10 % less. Of rows so long that four of them are most of the first cache nothing is asked for.
func ask(rows []unsafe.Pointer, all, row int) (ahead int) {
	switch {
	case !fetches:
	case active < tierAVX512:
		if all > farBytes {
			fetchRows(&rows[0], len(rows), fetchBytes(row))
		}
	case all > nearBytes && row <= 8<<10:
		ahead = min(max(4, floatsAhead/row&^3), 16)
	}
	return ahead
}

func (m *Matrix) mask() int { return 1<<(m.Shift&31) - 1 }

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
	ahead := ask(rows[:len(ids)], 4*len(m.Chunks)*len(m.Chunks[0]), 4*len(q))
	dotRows(&q[0], &rows[0], nil, 0, len(ids), len(q), ahead, &out[0])
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
		dotRows(&q[0], nil, unsafe.Pointer(&rows[0]), 4*m.Dim, n, m.Dim, 0, &out[0])
		first, out = first+n, out[n:]
	}
}

func dot8(q *Query8, row []uint8) int32 {
	if active == tierGo || len(row) == 0 {
		return dot8Go(q, row)
	}
	var out int32
	dot8Rows(q, nil, unsafe.Pointer(&row[0]), 0, len(q.codes), 1, near, &out)
	return out
}

func dotMany8(q *Query8, m *Matrix8, ids []uint32, out []int32) {
	last := len(m.Data) - m.Stride
	if active == tierGo || m.Stride == 0 || last < 0 {
		dotMany8Go(q, m, ids, out)
		return
	}
	most := len(ids)
	if most*m.Stride > callBytes {
		most = min(most, callRows(m.Stride))
	}
	r := near
	if fetches && len(m.Data) > farBytes {
		r = far(m.Stride)
	}
	for len(ids) > 0 {
		n := min(len(ids), most)
		if r != near {
			fetchIDs(unsafe.Pointer(&m.Data[0]), m.Stride, r.touch, &ids[0], min(n, r.ahead))
		}
		if !dot8Rows(q, &ids[0], unsafe.Pointer(&m.Data[0]), last, m.Stride, n, r, &out[0]) {
			dotMany8Go(q, m, ids[:n], out) // panics at the id
		}
		ids, out = ids[n:], out[n:]
	}
}

func dotRange8(q *Query8, m *Matrix8, first uint32, out []int32) {
	if active == tierGo || m.Stride == 0 || len(out) == 0 {
		dotRange8Go(q, m, first, out)
		return
	}
	at := uint64(first) * uint64(m.Stride)
	rows := m.Data[at : at+uint64(len(out)*m.Stride)]
	for len(out) > 0 {
		n := min(len(out), callRows(m.Stride))
		dot8Rows(q, nil, unsafe.Pointer(&rows[0]), 0, m.Stride, n, near, &out[0])
		rows, out = rows[n*m.Stride:], out[n:]
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
