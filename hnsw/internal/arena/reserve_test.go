//go:build (linux || darwin) && !race

package arena

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const alwaysMoves = unsafe.Sizeof(uintptr(0)) < 8

// resident returns how many pages of a slice are in memory.
func resident(t *testing.T, s []uint8) (bytes int) {
	t.Helper()
	page := unix.Getpagesize()
	pages := make([]byte, (len(s)+page-1)/page)
	if err := mincore(s, pages); err != nil {
		t.Skip("no mincore: ", err)
	}
	for _, p := range pages {
		bytes += int(p&1) * page
	}
	return bytes
}

func TestSmallArenasTakeSmallPages(t *testing.T) {
	if alwaysMoves {
		t.Skip("no address space is reserved here")
	}
	a := New[uint8](1 << 30)
	s := mustGrow(t, a, 100*384)
	if len(s) > 1<<17 {
		t.Errorf("%d bytes usable for 100 rows", len(s))
	}
	for i := range 100 * 384 {
		s[i] = 1
	}
	if got := resident(t, s); got > 100*384+unix.Getpagesize() {
		t.Errorf("%d bytes in memory for 100 rows", got)
	}
	// Nor does one step too many cost a huge page.
	s = mustGrow(t, a, 3*step+1)
	for i := range 3*step + 1 {
		s[i] = 1
	}
	if got := resident(t, s); got > 3*step+unix.Getpagesize() {
		t.Errorf("%d bytes in memory for %d", got, 3*step+1)
	}
	runtime.KeepAlive(a)
}

func TestRefusedMemoryIsAnError(t *testing.T) {
	if alwaysMoves {
		t.Skip("no address space is reserved here")
	}
	a := New[uint8](1 << 22)
	if s := mustGrow(t, a, 100); len(s) < 100 {
		t.Fatal(len(s))
	}
	// Put a file opened for reading in place of the next pages: they cannot be made writable.
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rest := a.reserved.memory[a.reserved.usable:]
	if _, err := unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(&rest[0]), uintptr(len(rest)), unix.PROT_READ,
		unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		t.Fatal(err)
	}
	s, err := a.Grow(1 << 22)
	var e *GrowError
	if s != nil || !errors.Is(err, ErrNoMemory) || !errors.Is(err, unix.EACCES) || !errors.As(err, &e) || e.Want != 1<<22 {
		t.Errorf("%d bytes, %v", len(s), err)
	}
	if !strings.Contains(err.Error(), "grow to 4194304 elements") {
		t.Errorf("text: %v", err)
	}
	if len(a.Slice()) < 100 || len(a.Slice()) >= 1<<22 {
		t.Errorf("%d bytes afterwards", len(a.Slice()))
	}
}

func TestAnUnreachableArenaIsUnmapped(t *testing.T) {
	if alwaysMoves {
		t.Skip("no address space is reserved here")
	}
	mapped := func() []byte {
		a := New[uint8](1 << 30)
		mustGrow(t, a, step)[0] = 1
		return a.reserved.mapped
	}()
	page := make([]byte, 1)
	for range 100 {
		runtime.GC()
		if err := mincore(mapped[:1], page); errors.Is(err, unix.ENOMEM) {
			return
		} else if err != nil {
			t.Skip("no mincore: ", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("still mapped")
}

// BenchmarkGrowAndTouch grows row by row to 64 MiB.
func BenchmarkGrowAndTouch(b *testing.B) {
	const bytes = 64 << 20
	for b.Loop() {
		a := New[uint8](bytes)
		s := a.Slice()
		for n := 0; n < bytes; n += 512 {
			if len(s) < n+512 {
				var err error
				if s, err = a.Grow(n + 512); err != nil {
					b.Fatal(err)
				}
			}
			s[n] = 1
		}
		a.reserved.release()
		runtime.KeepAlive(a)
	}
}
