//go:build !race

package arena

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// takeRoom gives a file the blocks of a range. A file system in memory that is full has none for what was never
// written, and whoever reads that through a mapping is killed. What has no such call, as network file systems, reads it
// as zeros.
func takeRoom(f *os.File, at, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, at, n)
		switch {
		case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		}
		return os.NewSyscallError("fallocate", err)
	}
}
