package arena

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Sentinels for errors.Is.
var (
	ErrLimit    = errors.New("limit reached")
	ErrNoMemory = errors.New("memory refused")
)

// GrowError says why an arena did not grow. It stays as it was.
type GrowError struct {
	Want, Limit int   // elements
	Err         error // ErrLimit, ErrNoMemory with what the operating system said, or what a file refused
}

func (e *GrowError) Error() string {
	return fmt.Sprintf("arena: grow to %d elements of at most %d: %v", e.Want, e.Limit, e.Err)
}

func (e *GrowError) Unwrap() error { return e.Err }

// Element is what an arena may hold: numbers, for nothing here is scanned for pointers.
type Element interface {
	~uint8 | ~uint32 | ~uint64 | ~float32
}

// Arena is an array that grows, of zeros first. Any number of goroutines may call its methods at a time, and
// use slices of it; what they write to the elements is between them.
type Arena[T Element] struct {
	limit int
	slice atomic.Pointer[[]T]

	growing  sync.Mutex
	reserved *reservation // nil where the heap is used
	cleanup  runtime.Cleanup
}

// New returns an empty arena for at most limit elements, which are reserved but take no memory. It cannot fail:
// where the reservation is refused the arena lives on the heap.
func New[T Element](limit int) *Arena[T] {
	a := NewHeap[T](limit)
	if most := uint64(a.limit) * size[T](); a.limit > 0 && most/size[T]() == uint64(a.limit) {
		if r := reserve(most); r != nil {
			a.reserved = r
			a.cleanup = runtime.AddCleanup(a, (*reservation).release, r)
		}
	}
	return a
}

// NewHeap returns an arena that lives on the heap and moves, as New does where there is no other way.
func NewHeap[T Element](limit int) *Arena[T] {
	a := &Arena[T]{limit: max(0, limit)}
	a.slice.Store(new([]T))
	return a
}

// Moves says whether growing moves the elements, leaving those of older slices behind. It never changes.
func (a *Arena[T]) Moves() bool { return a.reserved == nil }

// Slice returns the elements there are. Its base is aligned to 64 bytes, to 2 MiB unless the arena moves or shows a
// file (see Map). It is valid as long as the arena is reachable.
func (a *Arena[T]) Slice() []T { return *a.slice.Load() }

// Grow returns Slice with n elements or more, new ones being zero. The error is a *GrowError.
func (a *Arena[T]) Grow(n int) ([]T, error) {
	a.growing.Lock()
	defer a.growing.Unlock()
	now := a.Slice()
	if n <= len(now) {
		return now, nil
	}
	if n > a.limit {
		return nil, &GrowError{Want: n, Limit: a.limit, Err: ErrLimit}
	}
	next, err := a.grown(n)
	if err != nil {
		return nil, err
	}
	a.slice.Store(&next)
	return next, nil
}

func size[T Element]() uint64 {
	var x T
	return uint64(unsafe.Sizeof(x))
}
