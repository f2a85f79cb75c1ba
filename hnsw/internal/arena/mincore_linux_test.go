//go:build !race

package arena

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincore sets the first bit of a byte of pages for each page of s that is in memory.
func mincore(s []uint8, pages []byte) error {
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&s[0]))&^uintptr(unix.Getpagesize()-1), uintptr(len(s)),
		uintptr(unsafe.Pointer(&pages[0]))); e != 0 {
		return e
	}
	return nil
}
