package graphstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// stageSuffix is added to the name of a store that is being made.
const stageSuffix = ".importing"

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
func Stage(fsys FS, dir string) (*Staging, error) {
	if fsys == nil {
		fsys = vfs.Default
	}
	s := &Staging{fs: fsys, stage: dir + stageSuffix, dir: dir}
	if err := s.prepare(); err != nil {
		return nil, opError("make store", dir, errors.Join(err, s.unlock()))
	}
	return s, nil
}

func (s *Staging) prepare() error {
	switch names, err := s.fs.List(s.dir); {
	case err == nil && len(names) > 0:
		return fmt.Errorf("the directory is not empty: %w", ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.fs.MkdirAll(s.stage, 0o755); err != nil {
		return err
	}
	lock, err := s.fs.Lock(s.lockPath())
	if err != nil {
		return fmt.Errorf("%s is in use (%w): %w", s.stage, err, ErrLocked)
	}
	s.lock = lock
	return s.fs.RemoveAll(s.Dir())
}

// Dir returns where the unfinished store is to be made.
func (s *Staging) Dir() string { return s.fs.PathJoin(s.stage, "store") }

// Publish gives the store, which must be closed, its name.
func (s *Staging) Publish() error {
	return opError("make store", s.dir, s.publish())
}

func (s *Staging) publish() error {
	if _, err := s.fs.Stat(s.dir); err == nil { // an empty directory, or it came to be meanwhile
		if err := s.fs.Remove(s.dir); err != nil {
			return errors.Join(err, ErrExists)
		}
	}
	if err := s.fs.Rename(s.Dir(), s.dir); err != nil {
		return err
	}
	parent, err := s.fs.OpenDir(s.fs.PathDir(s.dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// Close removes what is left of the unfinished store and gives the name free.
// Without a Publish before nothing is left.
func (s *Staging) Close() error {
	err := errors.Join(s.fs.RemoveAll(s.Dir()), s.unlock())
	// Whoever takes the name now has use for both: no error if they stay.
	_ = s.fs.Remove(s.lockPath())
	_ = s.fs.Remove(s.stage)
	return opError("clean up", s.stage, err)
}

func (s *Staging) lockPath() string { return s.fs.PathJoin(s.stage, "lock") }

func (s *Staging) unlock() error {
	if s.lock == nil {
		return nil
	}
	lock := s.lock
	s.lock = nil
	return lock.Close()
}
