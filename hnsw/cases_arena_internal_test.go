package hnsw

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
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
