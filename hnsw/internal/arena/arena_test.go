package arena

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// each runs a test with arenas of both kinds, where there are two.
func each(t *testing.T, f func(t *testing.T, moves bool)) {
	for _, moves := range []bool{false, true} {
		name := map[bool]string{false: "reserved", true: "heap"}[moves]
		t.Run(name, func(t *testing.T) {
			if !moves && New[uint8](1).Moves() {
				t.Skip("no address space is reserved here")
			}
			f(t, moves)
		})
	}
}

func arenaOf[T Element](limit int, moves bool) *Arena[T] {
	if moves {
		return NewHeap[T](limit)
	}
	return New[T](limit)
}

func mustGrow[T Element](t testing.TB, a *Arena[T], n int) []T {
	t.Helper()
	s, err := a.Grow(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGrowingKeepsWhatWasWritten(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		const limit = 3_000_000
		a := arenaOf[uint32](limit, moves)
		if s := a.Slice(); len(s) != 0 {
			t.Fatalf("%d elements at first", len(s))
		}
		var first *uint32
		written := 0
		for n := 1; written < limit; n = min(limit, n+1+n/3) {
			s := mustGrow(t, a, n)
			if len(s) < n || len(s) > limit {
				t.Fatalf("%d elements, asked for %d of at most %d", len(s), n, limit)
			}
			if first != nil && !moves && &s[0] != first {
				t.Fatal("moved")
			}
			first = &s[0]
			for i := written; i < len(s); i++ {
				if s[i] != 0 {
					t.Fatalf("new element %d is %d", i, s[i])
				}
				s[i] = uint32(i) ^ 0xABCD
			}
			written = len(s)
			for i := 0; i < written; i += 1 + written/1000 {
				if s[i] != uint32(i)^0xABCD {
					t.Fatalf("element %d is %d after growing to %d", i, s[i], written)
				}
			}
			if now := a.Slice(); len(now) != len(s) || &now[0] != first {
				t.Fatal("Slice is not what Grow returned")
			}
		}
		if s := mustGrow(t, a, 5); len(s) != limit {
			t.Errorf("growing to less returned %d elements", len(s))
		}
		runtime.KeepAlive(a)
	})
}

func TestBasesAreAligned(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		want := uintptr(2 << 20)
		if moves {
			want = 64
		}
		for n := 1; n < 100_000; n = n*2 + 1 {
			a, b, c, d := arenaOf[uint8](n, moves), arenaOf[uint32](n, moves), arenaOf[uint64](n, moves), arenaOf[float32](n, moves)
			for i, base := range []unsafe.Pointer{
				unsafe.Pointer(&mustGrow(t, a, n)[0]), unsafe.Pointer(&mustGrow(t, b, n)[0]),
				unsafe.Pointer(&mustGrow(t, c, n)[0]), unsafe.Pointer(&mustGrow(t, d, n)[0]),
			} {
				if uintptr(base)%want != 0 {
					t.Errorf("%d elements of type %d begin at %p", n, i, base)
				}
			}
			runtime.KeepAlive([]any{a, b, c, d})
		}
	})
}

func TestTheLimitIsKept(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		a := arenaOf[uint64](1000, moves)
		s := mustGrow(t, a, 1000)
		s[999] = 1
		if len(s) != 1000 {
			t.Errorf("%d elements", len(s))
		}
		for _, n := range []int{1001, math.MaxInt} {
			got, err := a.Grow(n)
			var e *GrowError
			if got != nil || !errors.Is(err, ErrLimit) || !errors.As(err, &e) || e.Want != n || e.Limit != 1000 {
				t.Errorf("growing to %d: %d elements, %v", n, len(got), err)
			}
		}
		if s = a.Slice(); len(s) != 1000 || s[999] != 1 {
			t.Error("refusing has changed the arena")
		}
		for _, limit := range []int{0, -1} {
			a := arenaOf[uint8](limit, moves)
			if s, err := a.Grow(0); len(s) != 0 || err != nil {
				t.Errorf("limit %d: %d elements, %v", limit, len(s), err)
			}
			if _, err := a.Grow(1); !errors.Is(err, ErrLimit) {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
	})
}

// A limit that no address space has room for is a reservation refused; so much heap is memory refused.
func TestWhatNobodyCanHoldIsAnError(t *testing.T) {
	for _, limit := range []int{math.MaxInt, math.MaxInt / 2} {
		a := New[uint64](limit)
		if !a.Moves() {
			t.Fatalf("a limit of %d words was reserved", limit)
		}
		if s, err := a.Grow(limit); s != nil || !errors.Is(err, ErrNoMemory) {
			t.Errorf("growing to %d words: %d, %v", limit, len(s), err)
		}
		if s := mustGrow(t, a, 10); len(s) < 10 {
			t.Errorf("%d words afterwards", len(s))
		}
	}
}

// Readers use the slice they loaded while the arena grows, and find later slices longer. Under the race detector
// this is a test of the heap.
func TestReadersHoldOlderSlices(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		const limit = 1 << 20
		a := arenaOf[uint32](limit, moves)
		for i := range mustGrow(t, a, 100)[:100] {
			a.Slice()[i] = uint32(i) + 1
		}
		held := a.Slice()[:100]
		var written atomic.Int64 // elements before it are
		written.Store(100)
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for n := 0; n < limit; {
					n = int(written.Load())
					s := a.Slice()
					for i := 0; i < n; i += 1 + n/64 {
						if s[i] != uint32(i)+1 {
							t.Errorf("element %d of %d is %d", i, n, s[i])
							return
						}
					}
					for i, x := range held {
						if x != uint32(i)+1 {
							t.Errorf("element %d of an old slice is %d", i, x)
							return
						}
					}
					runtime.Gosched()
				}
			})
		}
		for n := 100; n < limit; {
			to := min(limit, n+n/2)
			s := mustGrow(t, a, to)
			for ; n < to; n++ {
				s[n] = uint32(n) + 1
			}
			written.Store(int64(n))
		}
		readers.Wait()
	})
}

func TestSeveralMayGrow(t *testing.T) {
	each(t, func(t *testing.T, moves bool) {
		a := arenaOf[uint8](1<<22, moves)
		var growing sync.WaitGroup
		for w := range 4 {
			growing.Go(func() {
				for n := w + 1; n <= 1<<22; n += 1 << 16 {
					if s, err := a.Grow(n); err != nil || len(s) < n || len(a.Slice()) < n {
						t.Errorf("growing to %d: %d, %v", n, len(s), err)
					}
				}
			})
		}
		growing.Wait()
	})
}

func TestFallsBackToTheHeapWhereItMust(t *testing.T) {
	if moves := New[uint8](100).Moves(); moves != alwaysMoves {
		t.Errorf("moves: %v, want %v", moves, alwaysMoves)
	}
	if !NewHeap[uint8](100).Moves() {
		t.Error("an arena on the heap says it does not move")
	}
}
