package durable

import (
	"errors"
	"io"
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// stageSuffix is added to the name of a store that is being made.
const stageSuffix = ".unfinished"

// Staging is the place where a store is made that is to appear whole or not at
// all: a directory beside its own, which holds a lock and the unfinished store.
// What a crash leaves there is removed by the next Stage of the same name.
type Staging struct {
	fs         vfs.FS
	stage, dir string
	lock       io.Closer
}

// Stage prepares to make the store dir, which must not exist or be an empty
// directory: otherwise the error matches ErrExists. It matches ErrLocked while
// another Staging of the same name is in use. FS nil is the operating system's.
func Stage(fs vfs.FS, dir string) (*Staging, error) {
	if fs == nil {
		fs = vfs.Default
	}
	dir, err := resolve(fs, dir)
	if err != nil {
		return nil, err
	}
	s := &Staging{fs: fs, stage: dir + stageSuffix, dir: dir}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(wrap("stage", dir, err), s.Close())
	}
	return s, nil
}

func (s *Staging) prepare() error {
	if err := s.vacant(); err != nil {
		// A crash just after the store got its name left the place: Close tidies up.
		if _, serr := s.fs.Stat(s.stage); serr == nil {
			_ = s.take()
		}
		return err
	}
	if err := makeDir(s.fs, s.stage); err != nil {
		return err
	}
	if err := s.take(); err != nil {
		_ = s.fs.Remove(s.stage) // if it is empty
		return err
	}
	// Whoever held the lock until now may have finished.
	if err := s.vacant(); err != nil {
		return err
	}
	return s.fs.RemoveAll(s.Dir())
}

// vacant returns an error unless dir can be given to a new store.
func (s *Staging) vacant() error {
	info, err := s.fs.Stat(s.dir)
	if isNotExist(err) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return errorf(ErrExists, "there is a file of that name")
	}
	names, lerr := s.fs.List(s.dir)
	if err = errors.Join(err, lerr); err == nil && len(names) > 0 {
		err = errorf(ErrExists, "the directory is not empty")
	}
	return err
}

// take takes the lock. Close removes its file: a lock that somebody else was
// about to remove is not one, since the next to come would make another file.
func (s *Staging) take() error {
	lock, err := s.fs.Lock(s.lockPath())
	if err == nil {
		if _, err = s.fs.Stat(s.lockPath()); err == nil {
			s.lock = lock
			return nil
		}
		err = errors.Join(err, lock.Close())
	}
	if isLocked(err) || isNotExist(err) {
		return errorf(ErrLocked, "another backup or import is making it in %s, wait for its end", s.stage)
	}
	return err
}

// Dir returns where the unfinished store is to be made.
func (s *Staging) Dir() string { return s.fs.PathJoin(s.stage, "store") }

// Publish gives the store, which must be closed, its name.
func (s *Staging) Publish() error {
	err := s.vacant() // still, though others need no lock to take the name
	if err == nil {
		err = ignoreMissing(s.fs.Remove(s.dir))
	}
	if err == nil {
		err = s.fs.Rename(s.Dir(), s.dir)
	}
	if err != nil {
		return wrap("publish", s.dir, err)
	}
	return syncDir(s.fs, s.fs.PathDir(s.dir))
}

// Close removes what is left of the unfinished store and gives the name free.
// Without a Publish before nothing is left.
func (s *Staging) Close() error {
	if s.lock == nil {
		return nil
	}
	err := s.fs.RemoveAll(s.Dir())
	_ = s.fs.Remove(s.lockPath()) // before anybody else can take it
	err = errors.Join(err, s.lock.Close())
	s.lock = nil
	if runtime.GOOS == "windows" { // where nobody can remove a file that is open
		_ = s.fs.Remove(s.lockPath())
	}
	_ = s.fs.Remove(s.stage) // stays if somebody has use for it
	return wrap("clean up", s.stage, err)
}

func (s *Staging) lockPath() string { return s.fs.PathJoin(s.stage, "lock") }
