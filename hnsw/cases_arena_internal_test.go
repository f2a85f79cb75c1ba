// Elsewhere an int may be too small to say five gigabytes.

//go:build amd64 || arm64

package hnsw

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// fiveGigabytes is an offset that needs more than 32 bits.
const fiveGigabytes = 5 << 30

// farArena returns five gigabytes of zeros. Only what is touched takes memory.
func farArena[T arena.Element](t *testing.T) (*arena.Arena[T], []T) {
	var x T
	n := fiveGigabytes / int(unsafe.Sizeof(x))
	a := arena.New[T](n)
	if a.Moves() {
		t.Skip("address space is not reserved here: five gigabytes would be of memory")
	}
	s, err := a.Grow(n)
	if errors.Is(err, arena.ErrNoMemory) {
		t.Skipf("five gigabytes of address space are not to be had: %v", err)
	}
	if err != nil || len(s) != n {
		t.Fatalf("%d elements, %v", len(s), err)
	}
	return a, s
}

// nmslib/hnswlib PR#370, nmslib/nmslib#184: an offset of more than 32 bits, or of 31, wrapped around, and a vector was
// written over another.
func TestArenasBeyondFourGigabytes(t *testing.T) {
	farOffsets(t, func(i int) uint8 { return uint8(1 + i) })
	farOffsets(t, func(i int) uint32 { return uint32(1 + i) })
	farOffsets(t, func(i int) uint64 { return uint64(1 + i) })
	farOffsets(t, func(i int) float32 { return float32(1 + i) })
}

func farOffsets[T arena.Element](t *testing.T, value func(int) T) {
	a, s := farArena[T](t)
	var at []int
	for _, bytes := range []int{0, 1 << 30, 1<<31 - 64, 1 << 31, 1<<31 + 64, 1<<32 - 64, 1 << 32, 1<<32 + 64, fiveGigabytes - 64} {
		at = append(at, bytes/int(unsafe.Sizeof(s[0])))
	}
	for i, to := range at {
		if s[to] != 0 {
			t.Fatalf("%T %d is another, or was not empty: %v", s[0], to, s[to])
		}
		s[to] = value(i)
	}
	for i, to := range at {
		if s[to] != value(i) || a.Slice()[to] != value(i) {
			t.Errorf("%T %d is %v, was %v", s[0], to, s[to], value(i))
		}
	}
	runtime.KeepAlive(a)
}

// The same reports, and microsoft/SPTAG#40: kernels compute where a row of codes is from its number.
func TestCodesBeyondFourGigabytes(t *testing.T) {
	a, s := farArena[uint8](t)
	for _, dim := range []int{384, 100, 1} {
		m := simd.NewMatrix8(dim)
		m.Data = s
		stride, rows := uint64(m.Stride), uint32(fiveGigabytes/m.Stride)
		q, elements := simd.NewQuery8(dim), make([]uint8, dim)
		for i := range elements {
			elements[i] = uint8(128 + i%5 + 1)
		}
		q.Load(elements)
		// A row of the code 128+c has the product c * sum(i%5 + 1).
		sum := int32(0)
		for i := range dim {
			sum += int32(i%5 + 1)
		}
		var ids []uint32
		for _, bytes := range []uint64{1 << 30, 1 << 31, 1 << 32, fiveGigabytes} {
			at := uint32(bytes / stride)
			for id := at - 3; id < min(at+3, rows); id++ {
				ids = append(ids, id)
			}
		}
		code := func(id uint32) uint8 { return uint8(129 + id%50) }
		for _, id := range ids {
			row := m.Row(id)
			for i := range row {
				row[i] = code(id)
			}
		}
		out := make([]int32, len(ids))
		simd.DotMany8(&q, &m, ids, out)
		for i, id := range ids {
			want := int32(code(id)-128) * sum
			one := make([]int32, 1)
			simd.DotRange8(&q, &m, id, one)
			if got := simd.Dot8(&q, m.Row(id)); got != want || out[i] != want || one[0] != want {
				t.Errorf("dimension %d, row %d, byte %d: one %d, listed %d, in a range %d, want %d",
					dim, id, uint64(id)*stride, got, out[i], one[0], want)
			}
		}
		for _, bytes := range []uint64{1 << 31, 1 << 32} { // ranges across
			first := uint32(bytes/stride) - 3
			simd.DotRange8(&q, &m, first, out[:6])
			for i, got := range out[:6] {
				if want := int32(code(first+uint32(i))-128) * sum; got != want {
					t.Errorf("dimension %d, row %d: in a range %d, want %d", dim, first+uint32(i), got, want)
				}
			}
		}
	}
	runtime.KeepAlive(a)
}

// nmslib/hnswlib PR#370: the lists of late slots were written over those of early ones. With M 128 a list of layer 0
// takes a kilobyte; only the lists that are written take memory.
func TestLinksBeyondFourGigabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes four million slots")
	}
	g := newTestGraph(t, 1, Options{M: maxM})
	if err := g.Grow(2); err != nil {
		t.Fatal(err)
	}
	tb := g.table.Load()
	perSlot := uintptr(unsafe.Pointer(&g.list(tb, 1, 0)[0])) - uintptr(unsafe.Pointer(&g.list(tb, 0, 0)[0]))
	if g.memory.links.Moves() {
		t.Skip("address space is not reserved here: the lists would take four gigabytes of memory")
	}
	last := uint32(1<<32/uint64(perSlot)) + 3
	if err := g.Grow(last - 1); err != nil {
		t.Fatal(err)
	}
	tb = g.table.Load()
	var slots []uint32
	for _, bytes := range []uint64{0, 1 << 30, 1 << 31, 1 << 32} {
		at := uint32(bytes / uint64(perSlot))
		slots = append(slots, at, at+1, at+2)
	}
	for _, slot := range slots {
		replace(g.list(tb, slot, 0), []uint32{slot ^ 1, slot ^ 2, last - slot})
	}
	for _, slot := range slots {
		got, _ := neighbours(g.list(tb, slot, 0), MaxSlots, nil)
		if !slices.Equal(got, []uint32{slot ^ 1, slot ^ 2, last - slot}) {
			t.Errorf("slot %d: %v", slot, got)
		}
	}
	runtime.KeepAlive(g)
}
