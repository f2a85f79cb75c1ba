package simd

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guarded returns n zero elements whose last is followed by a page that cannot be read, or whose first is
// preceded by one: a kernel that reads a byte too many dies.
func guarded[T any](tb testing.TB, n int, end bool) []T {
	tb.Helper()
	var zero T
	size, page := n*int(unsafe.Sizeof(zero)), unix.Getpagesize()
	inner := (size + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			tb.Error(err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[page+inner:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			tb.Fatal(err)
		}
	}
	at := page
	if end {
		at = page + inner - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[at])), n)
}
