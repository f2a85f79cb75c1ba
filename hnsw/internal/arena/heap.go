package arena

import (
	"fmt"
	"unsafe"
)

// lineBytes is the alignment of a slice on the heap: a cache line.
const lineBytes = 64

// move copies a slice to a larger one, for n elements and, so that growing one by one costs little, some more.
func move[T Element](from []T, n, limit int) ([]T, error) {
	spare := max(len(from)/4, 4096/int(size[T]()))
	to, err := allocate[T](n + min(limit-n, spare))
	if err != nil {
		return nil, err
	}
	copy(to, from)
	return to, nil
}

// allocate returns n zeros aligned to lineBytes. An n that no address space has room for is an error; that there
// is less memory than asked for, the Go runtime does not tell.
func allocate[T Element](n int) (s []T, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("%w: %v", ErrNoMemory, r)
		}
	}()
	more := lineBytes / int(size[T]())
	s = make([]T, n+more)
	at := 0
	if off := uintptr(unsafe.Pointer(unsafe.SliceData(s))) % lineBytes; off != 0 {
		at = int((lineBytes - off) / uintptr(size[T]()))
	}
	return s[at : at+n : at+n], nil
}
