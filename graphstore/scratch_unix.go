//go:build unix

package graphstore

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

const removesOpenFiles = true

// duplicate returns a file of the operating system that is the same as f, or nil where f is none.
func duplicate(f vfs.File) (*os.File, error) {
	fd := f.Fd()
	if fd == vfs.InvalidFd {
		return nil, nil
	}
	own, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "dup", Path: scratchName, Err: err}
	}
	return os.NewFile(uintptr(own), scratchName), nil
}
