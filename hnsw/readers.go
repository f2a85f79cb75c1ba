package hnsw

import "sync/atomic"

// readers tells when everybody who may still see something has left: epochs, as in section 5.2.3 of Fraser,
// Practical lock-freedom, 2004.
//
// A search enters before it loads anything, and leaves when it is done. Who has made something unreachable notes
// the epoch; two epochs later nobody is left who could have reached it, and its memory may be overwritten. The
// epoch advances only when those who entered in the last one have left, so that all searches under way are of the
// present epoch and the one before.
//
// The number of searches is kept in a fixed number of places, so that there is nothing to register and nothing
// that grows; a scratch always uses the same one, so that searches do not write to each other's cache lines.
type readers struct {
	epoch  atomic.Uint64
	places [readerPlaces]readerPlace
	next   atomic.Uint32 // place of the next scratch
}

const readerPlaces = 32

type readerPlace struct {
	in [2]atomic.Int64 // searches of even and of odd epochs
	_  [128 - 16]byte  // processors fetch cache lines in pairs
}

// enter returns what leave has to be told. It takes no lock, and waits for nobody.
func (r *readers) enter(place uint32) (epoch uint64) {
	in := &r.places[place%readerPlaces].in
	for {
		epoch = r.epoch.Load()
		in[epoch&1].Add(1)
		// Only if the epoch is the same still, everybody who advances it from now on sees this one counted.
		if r.epoch.Load() == epoch {
			return epoch
		}
		in[epoch&1].Add(-1)
	}
}

func (r *readers) leave(place uint32, epoch uint64) { r.places[place%readerPlaces].in[epoch&1].Add(-1) }

// advance moves the epoch on as far as those inside allow, at most two steps: as far as it takes for what
// was made unreachable just now to be left alone if nobody is inside.
func (r *readers) advance() {
	for range 2 {
		epoch := r.epoch.Load()
		for i := range r.places {
			if r.places[i].in[(epoch+1)&1].Load() != 0 {
				return
			}
		}
		if !r.epoch.CompareAndSwap(epoch, epoch+1) {
			return
		}
	}
}

// left reports whether everybody has left who was inside in an epoch, noted after something had become
// unreachable.
func (r *readers) left(epoch uint64) bool { return r.epoch.Load() >= epoch+2 }
