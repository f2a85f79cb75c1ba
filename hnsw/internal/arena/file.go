package arena

import (
	"fmt"
	"os"
	"unsafe"
)

// NewFile returns an empty arena for at most limit elements that lies in a file, which has to be empty and belongs to
// the arena from then on: its pages are the page cache's, which the system writes out and takes back as it likes, rather
// than memory of the process. Slices of it are only for reading; Write writes. It is nil, and the file as it was, where
// files cannot be mapped.
func NewFile[T Element](limit int, f *os.File) *Arena[T] {
	if a := New[T](limit); !a.Moves() {
		a.reserved.file = f
		return a
	}
	return nil
}

// InFile says whether the arena lies in a file. It never changes.
func (a *Arena[T]) InFile() bool { return a.reserved != nil && a.reserved.file != nil }

// Write writes elements from the given one on, which the arena of a file has to have. Who reads them meanwhile may see
// some of both.
func (a *Arena[T]) Write(at int, p []T) error {
	if n := len(a.Slice()); at < 0 || at > n || len(p) > n-at {
		return fmt.Errorf("arena: write elements %d to %d of %d", at, at+len(p), n)
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), uint64(len(p))*size[T]())
	if _, err := a.reserved.file.WriteAt(bytes, int64(at)*int64(size[T]())); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	return nil
}
