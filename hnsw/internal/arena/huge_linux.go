//go:build !race

package arena

import "golang.org/x/sys/unix"

// enlarge asks for huge pages behind memory of whole steps. Where some of it is in small pages already they are
// merged at once (Linux 6.1 and up; else the kernel does so by and by). All of it is advice: errors do not matter.
func enlarge(memory []byte, touched bool) {
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE)
	if touched {
		_ = unix.Madvise(memory[:step], unix.MADV_COLLAPSE)
	}
}

// keepSmall asks for small pages, where the system's default is huge ones.
func keepSmall(memory []byte) { _ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) }
