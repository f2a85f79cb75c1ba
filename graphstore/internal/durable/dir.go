package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Names in the store's directory.
const (
	lockName  = "LOCK"
	sealName  = "SEAL"
	kvName    = "kv"
	kvNewName = "kv.tmp" // a database that is still being created
	segName   = "seg"
	idxName   = "idx"
	trashName = "trash"
	tmpSuffix = ".tmp"
)

// resolve makes dir the one name of its directory, because the operating
// system's lock does not exclude a second name within a process.
func resolve(fs vfs.FS, dir string) (string, error) {
	if dir == "" {
		return "", wrap("open", "store", errorf(ErrInvalid, "no directory given"))
	}
	if vfs.Root(fs) != vfs.Default {
		return fs.PathJoin(dir), nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", wrap("open", dir, err)
	}
	return realPath(dir), nil
}

// realPath follows the links in as much of path as exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(realPath(parent), filepath.Base(path))
}

// look reports whether dir holds a store (or what is left of one), and refuses
// a directory that holds something else. It changes nothing.
func look(fs vfs.FS, dir string) (ours bool, err error) {
	info, err := fs.Stat(dir)
	switch {
	case isNotExist(err):
		return false, nil
	case err != nil:
		return false, wrap("open", dir, err)
	case !info.IsDir():
		return false, wrap("open", dir, errorf(ErrInvalid, "not a directory"))
	}
	names, err := fs.List(dir)
	if err != nil {
		return false, wrap("open", dir, err)
	}
	foreign := ""
	sealed := false
	for _, name := range names {
		switch name {
		case kvName:
			ours = true
		case sealName:
			sealed = true
		case lockName, kvNewName, segName, idxName, sealName + tmpSuffix:
		default:
			foreign = name
		}
	}
	switch {
	case ours:
		return true, nil
	case sealed:
		return false, wrap("open", dir, corrupt(fs.PathJoin(dir, kvName), "file", errors.New("missing")))
	case foreign != "":
		return false, wrap("open", dir, errorf(ErrInvalid, "not a store and not empty (%s)", foreign))
	}
	return false, refuseOrphans(fs, dir)
}

// refuseOrphans makes sure that a directory without a database has no segments
// either: creating a new store around them would be the end of them.
func refuseOrphans(fs vfs.FS, dir string) error {
	names, err := fs.List(fs.PathJoin(dir, segName))
	if err != nil && !isNotExist(err) {
		return wrap("open", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, segmentSuffix) {
			return wrap("open", dir, corrupt(fs.PathJoin(dir, kvName), "file", errors.New("missing, but there are segments")))
		}
	}
	return nil
}

// lockDir takes the lock of a store. A read-only open of a directory that
// cannot be written to, or that never had a lock, goes without.
func lockDir(fs vfs.FS, dir string, readOnly bool) (io.Closer, error) {
	path := fs.PathJoin(dir, lockName)
	if readOnly {
		if _, err := fs.Stat(path); isNotExist(err) {
			return noLock{}, nil
		}
	}
	lock, err := fs.Lock(path)
	switch {
	case err == nil:
		return lock, nil
	case isLocked(err):
		return nil, wrap("open", dir, errorf(ErrLocked, "%s is held by another store or process", path))
	case readOnly && (errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)):
		return noLock{}, nil
	}
	return nil, wrap("lock", path, err)
}

// isLocked tells a lock that somebody holds from one that cannot be taken.
func isLocked(err error) bool {
	var path *os.PathError
	if errors.As(err, &path) {
		return false // the file could not be opened
	}
	const sharingViolation = syscall.Errno(32) // of Windows
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) ||
		runtime.GOOS == "windows" && errors.Is(err, sharingViolation) ||
		strings.Contains(err.Error(), "lock held by current process")
}

// makeDir creates dir with its parents so that it survives power loss.
func makeDir(fs vfs.FS, dir string) error {
	var parents []string // that get a new entry, the innermost first
	for path := dir; ; {
		if _, err := fs.Stat(path); err == nil {
			break
		} else if !isNotExist(err) {
			return wrap("create", dir, err)
		}
		parent := fs.PathDir(path)
		if parent == path {
			break
		}
		parents = append(parents, parent)
		path = parent
	}
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return wrap("create", dir, err)
	}
	for i := len(parents) - 1; i >= 0; i-- {
		if err := syncDir(fs, parents[i]); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes the entries of dir survive power loss.
func syncDir(fs vfs.FS, dir string) error {
	f, err := fs.OpenDir(dir)
	if err != nil {
		return wrap("sync", dir, err)
	}
	err = f.Sync()
	return wrap("sync", dir, errors.Join(err, f.Close()))
}
