//go:build (linux || darwin) && !race

package arena

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile puts pages of a file at the beginning, where nothing is usable yet. It returns false, leaving everything
// as it was, where that cannot be done.
func (r *reservation) mapFile(f *os.File, off int64, bytes uint64) (base unsafe.Pointer, usable uint64, ok bool) {
	page := uint64(unix.Getpagesize())
	if uint64(off)%page != 0 || off < 0 {
		return nil, 0, false
	}
	// Beyond the last page of the file there is nothing to read, nor an error to return.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || uint64(info.Size()) < uint64(off)+bytes {
		return nil, 0, false
	}
	usable = (bytes + page - 1) &^ (page - 1)
	// Where the file lies in memory as it does in huge pages of the page cache, the system maps those as a whole.
	first := (uint64(off) - uint64(uintptr(unsafe.Pointer(&r.mapped[0])))) & (step - 1)
	memory := r.mapped[first : first+uint64(len(r.memory))]
	base = unsafe.Pointer(&memory[0])
	const fixed = unix.MAP_PRIVATE | unix.MAP_FIXED
	if _, err := unix.MmapPtr(int(f.Fd()), off, base, uintptr(usable), unix.PROT_READ|unix.PROT_WRITE, fixed|unix.MAP_NORESERVE); err != nil {
		_, _ = unix.MmapPtr(-1, 0, base, uintptr(usable), unix.PROT_NONE, fixed|unix.MAP_ANON|unix.MAP_NORESERVE)
		return nil, 0, false
	}
	r.memory, r.usable = memory, usable
	r.huge = (usable + step - 1) &^ (step - 1)
	return base, usable, true
}
