package hnsw

import (
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"
)

func TestEpochsWaitForThoseInside(t *testing.T) {
	var r readers
	seen := r.epoch.Load()
	r.advance()
	if !r.left(seen) {
		t.Error("nobody is inside, and yet somebody is")
	}
	first := r.enter(1)
	seen = r.epoch.Load()
	for range 5 {
		r.advance()
	}
	second := r.enter(1 + readerPlaces) // the same place
	for range 5 {
		r.advance()
	}
	if r.left(seen) || second == first {
		t.Errorf("epoch %d, the first is still inside since %d, the second since %d", r.epoch.Load(), first, second)
	}
	later := r.epoch.Load()
	r.leave(1, first)
	r.advance()
	if !r.left(seen) || r.left(later) {
		t.Errorf("epoch %d: noted %d and, with the second inside since %d, %d", r.epoch.Load(), seen, second, later)
	}
	r.leave(1+readerPlaces, second)
	if r.advance(); !r.left(later) {
		t.Error("all have left")
	}
}

// What is overwritten as soon as an epoch says that nobody sees it is not seen.
func TestNobodySeesBesideEpochsWhatIsGone(t *testing.T) {
	var r readers
	type thing struct{ valid int } // not atomic: the race detector looks on
	var shown atomic.Pointer[thing]
	shown.Store(&thing{1})
	var finished atomic.Bool
	writer := func() error {
		defer finished.Store(true)
		type old struct {
			*thing
			epoch uint64
		}
		var limbo []old
		for range 20_000 {
			was := shown.Swap(&thing{1})
			limbo = append(limbo, old{was, r.epoch.Load()})
			r.advance()
			for len(limbo) > 0 && r.left(limbo[0].epoch) {
				limbo[0].valid = 0
				limbo = limbo[1:]
			}
			if len(limbo) > 1000 {
				runtime.Gosched()
			}
		}
		return nil
	}
	reader := func(place uint32) func() error {
		return func() error {
			for !finished.Load() {
				epoch := r.enter(place)
				if p := shown.Load(); p.valid != 1 {
					t.Error("gone, and yet seen")
				}
				r.leave(place, epoch)
			}
			return nil
		}
	}
	race(t, writer, reader(1), reader(2), reader(1))
}

func TestReadersDoNotShareCacheLines(t *testing.T) {
	if n := unsafe.Sizeof(readerPlace{}); n != 128 {
		t.Errorf("a place takes %d bytes", n)
	}
}

func BenchmarkEnterAndLeave(b *testing.B) {
	var r readers
	b.ReportAllocs()
	for b.Loop() {
		r.leave(3, r.enter(3))
	}
}
