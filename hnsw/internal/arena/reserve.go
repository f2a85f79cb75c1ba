//go:build (linux || darwin) && !race

package arena

import (
	"fmt"
	"math/bits"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// step is what address space is made usable in, and the size of a huge page.
	step = 2 << 20
	// tailSteps is how many steps make an arena so large that one of them, taken as a whole, is a small part.
	tailSteps = 8
)

// reservation is a range of address space, usable up to a point.
type reservation struct {
	mapped []byte   // as mmap returned it
	memory []byte   // the part of it that is aligned to step
	usable uint64   // bytes of memory
	huge   uint64   // bytes of memory that huge pages were asked for
	file   *os.File // that memory shows, from its beginning on; nil for memory of the process
}

// reserve returns address space for so many bytes, or nil where it is refused.
func reserve(bytes uint64) *reservation {
	// Half of what 47 bits address is more than a process is ever given.
	if bits.UintSize < 64 || bytes > 1<<46 {
		return nil
	}
	bytes = (bytes + step - 1) &^ (step - 1)
	mapped, err := unix.Mmap(-1, 0, int(bytes+step), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	at := -uint64(uintptr(unsafe.Pointer(&mapped[0]))) & (step - 1)
	return &reservation{mapped: mapped, memory: mapped[at : at+bytes]}
}

func (r *reservation) release() {
	// There is nobody left to tell of an error, and no cause of one.
	if len(r.mapped) > 0 {
		_ = unix.Munmap(r.mapped)
	}
	if r.file != nil {
		_ = r.file.Close()
	}
}

// grow makes the first want bytes usable, or more. It is given no more than was reserved.
func (r *reservation) grow(want uint64) (base unsafe.Pointer, usable uint64, err error) {
	base = unsafe.Pointer(&r.memory[0])
	to := (want + step - 1) &^ (step - 1)
	if want < step {
		// Whole pages, a power of two of them so that few calls are made.
		to = min(step, max(uint64(unix.Getpagesize()), 1<<bits.Len64(want-1)))
	}
	if to > r.usable && r.file != nil {
		if err := r.growFile(to); err != nil {
			return nil, 0, err
		}
	} else if to > r.usable {
		if err := unix.Mprotect(r.memory[r.usable:to], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil, 0, fmt.Errorf("%w: %w", ErrNoMemory, err)
		}
		// The step that has only begun waits until it is full.
		full := want &^ (step - 1)
		if to >= tailSteps*step {
			full = to
		}
		if full > r.huge {
			enlarge(r.memory[r.huge:full], r.usable > r.huge)
			r.huge = full
		}
		if full < to {
			keepSmall(r.memory[full:to])
		}
		r.usable = to
	}
	return base, r.usable, nil
}

// growFile makes the file longer, with all its blocks, and shows what is new of it.
func (r *reservation) growFile(to uint64) error {
	if err := r.file.Truncate(int64(to)); err != nil {
		return err
	}
	if err := takeRoom(r.file, int64(r.usable), int64(to-r.usable)); err != nil {
		return err
	}
	_, err := unix.MmapPtr(int(r.file.Fd()), int64(r.usable), unsafe.Pointer(&r.memory[r.usable]), uintptr(to-r.usable), unix.PROT_READ,
		unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return err
	}
	// What is asked for lies here and there: pages beside it need not be read.
	_ = unix.Madvise(r.memory[r.usable:to], unix.MADV_RANDOM)
	r.usable = to
	return nil
}
