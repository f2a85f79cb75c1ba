package graphstore

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// nameless returns a file in the folder that never has a name, so that the folder
// stays as it is, or nil where there is none to be had.
func (x IndexFiles) nameless() *os.File {
	dir, err := x.fs.OpenDir(x.dir)
	if err != nil {
		return nil
	}
	var own *os.File
	if fd := dir.Fd(); fd != vfs.InvalidFd {
		if n, err := unix.Openat(int(fd), ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
			own = os.NewFile(uintptr(n), scratchName)
		}
	}
	_ = dir.Close() // nothing was written
	return own
}
