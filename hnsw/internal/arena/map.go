package arena

import (
	"fmt"
	"io"
	"os"
	"unsafe"
)

// Map fills an empty arena with n elements that begin at byte off of a file, in the byte order of this machine, and
// returns Slice. Where it can, it maps the file instead of reading it: pages are read when they are touched, shared
// with the page cache until they are written to, and writing changes the arena alone, never the file. Its base is then
// as far from a multiple of 2 MiB as byte off is, so that huge pages of the page cache are mapped as such. The file may
// be closed afterwards and renamed or removed, but must not be cut short or written to.
//
// What follows the elements in their last page of the file becomes what the arena grows into, and has to be zeros.
// The error is that of the file, or a *GrowError; the arena stays empty then.
func (a *Arena[T]) Map(f *os.File, off int64, n int) ([]T, error) {
	a.growing.Lock()
	defer a.growing.Unlock()
	if len(a.Slice()) > 0 {
		return nil, fmt.Errorf("arena: map a file: the arena is not empty")
	}
	if n > a.limit {
		return nil, &GrowError{Want: n, Limit: a.limit, Err: ErrLimit}
	}
	if n <= 0 {
		return a.Slice(), nil
	}
	if !a.Moves() {
		if base, usable, ok := a.reserved.mapFile(f, off, uint64(n)*size[T]()); ok {
			next := unsafe.Slice((*T)(base), min(int(usable/size[T]()), a.limit))
			a.slice.Store(&next)
			return next, nil
		}
	}
	next, err := a.grown(n)
	if err != nil {
		return nil, err
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(next))), uint64(n)*size[T]())
	if got, err := f.ReadAt(bytes, off); got < len(bytes) {
		clear(bytes[:got])
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	a.slice.Store(&next)
	return next, nil
}

// Release gives the memory back now rather than when the arena has become unreachable. Nobody may use the arena or a
// slice of it any more.
func (a *Arena[T]) Release() {
	a.growing.Lock()
	defer a.growing.Unlock()
	a.slice.Store(new([]T))
	if a.limit = 0; a.reserved != nil {
		a.cleanup.Stop()
		a.reserved.release()
		a.reserved = &reservation{}
	}
}

// grown is Slice grown to n elements, not yet stored. The caller holds growing.
func (a *Arena[T]) grown(n int) (next []T, err error) {
	if a.Moves() {
		next, err = move(a.Slice(), n, a.limit)
	} else {
		var base unsafe.Pointer
		var usable uint64
		base, usable, err = a.reserved.grow(uint64(n) * size[T]())
		next = unsafe.Slice((*T)(base), min(int(usable/size[T]()), a.limit))
	}
	if err != nil {
		return nil, &GrowError{Want: n, Limit: a.limit, Err: err}
	}
	return next, nil
}
