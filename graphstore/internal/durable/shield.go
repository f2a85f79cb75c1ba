package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// shield is the file system that Pebble sees. Pebble answers an error of its
// log or its manifest by exiting the process, by panicking, or by unlocking a
// mutex it does not hold, which no recover can stop. So it never meets one:
//
//   - An error on a log, a manifest, a marker or the directory fails the store
//     and is then hidden from Pebble. SyncWait reports it, because it looks at
//     the store's health after Pebble believes that the batch is durable.
//   - Once the store has failed, the directory is frozen: writes to those files
//     go nowhere, new files live in memory, removes and renames do nothing.
//     What is on disk stays what the last good sync made of it, and Pebble can
//     still finish a flush, serve reads, and close.
//   - Errors on tables are returned: Pebble retries those. A pause before each
//     return keeps the retries from spinning.
//   - An error of syncing the directory of a copy is hidden too, and kept for
//     whoever makes the copy: it is nothing to the store.
//
// Beside those copies only the files directly in dir are shielded. With readOnly, nothing in dir
// can be changed at all.
type shield struct {
	vfs.FS
	dir      string
	health   *health
	readOnly bool
	closing  chan struct{} // closed when the store begins to close: no more pauses
	closed   sync.Once

	mu     sync.Mutex
	memory *vfs.MemFS          // files created after the failure
	names  map[string]struct{} // base names of those
	copies map[string]error    // directories that the database is being copied to
}

func newShield(fs vfs.FS, dir string, h *health, readOnly bool) *shield {
	return &shield{FS: fs, dir: dir, health: h, readOnly: readOnly, closing: make(chan struct{})}
}

// hurry ends every pause.
func (s *shield) hurry() { s.closed.Do(func() { close(s.closing) }) }

// mine reports whether name is a file in the shielded directory.
func (s *shield) mine(name string) bool { return s.FS.PathDir(name) == s.dir }

// vital reports whether Pebble dies of an error on this file.
func (s *shield) vital(name string) bool {
	base := s.FS.PathBase(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST-") || strings.HasPrefix(base, "marker.")
}

func (s *shield) isTable(name string) bool {
	base := s.FS.PathBase(name)
	return strings.HasSuffix(base, ".sst") || strings.HasSuffix(base, ".blob")
}

// absorb fails the store for err and hides err.
func (s *shield) absorb(op, name string, err error) {
	if err != nil {
		s.health.fail(fmt.Errorf("%s %s: %w", op, name, err))
	}
}

const (
	firstPause = 25 * time.Millisecond
	longPause  = 400 * time.Millisecond
)

// pause waits before an error on a table is returned.
func (s *shield) pause() {
	wait := firstPause << min(max(s.health.background.Load(), 0), 4)
	if !s.health.ok() {
		wait = longPause
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.closing:
	}
}

// Create implements vfs.FS.
func (s *shield) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if !s.mine(name) {
		return s.FS.Create(name, category)
	}
	if s.readOnly {
		return nil, &os.PathError{Op: "create", Path: name, Err: ErrReadOnly}
	}
	if !s.health.ok() {
		return s.createFrozen(name, category)
	}
	if strings.HasPrefix(s.FS.PathBase(name), "marker.manifest.") {
		// Pebble syncs the new manifest's entry together with the marker
		// that names it. A disk that keeps only the marker has no store.
		if err := syncDir(s.FS, s.dir); err != nil {
			s.health.fail(err)
			return s.createFrozen(name, category)
		}
	}
	f, err := s.FS.Create(name, category)
	switch {
	case err == nil:
		return s.cover(name, f), nil
	case s.vital(name):
		s.absorb("create", name, err)
		return s.createFrozen(name, category)
	case s.isTable(name):
		s.pause()
	}
	return nil, err
}

// createFrozen creates name in memory: a flush must be able to end, or a write
// that waits for it never returns. Compactions can wait until the reopen.
func (s *shield) createFrozen(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if s.isTable(name) && category != "pebble-memtable-flush" {
		s.pause()
		return nil, s.health.err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		s.memory, s.names = vfs.NewMem(), make(map[string]struct{})
	}
	base := s.FS.PathBase(name)
	s.names[base] = struct{}{}
	return s.memory.Create(base, category)
}

// inMemory returns the memory file system and the name in it, if name was
// created after the failure.
func (s *shield) inMemory(name string) (*vfs.MemFS, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.FS.PathBase(name)
	if _, ok := s.names[base]; ok {
		return s.memory, base
	}
	return nil, ""
}

// cover wraps a file that is open for writing.
func (s *shield) cover(name string, f vfs.File) vfs.File {
	switch {
	case s.vital(name):
		return &vitalFile{File: f, shield: s, name: name}
	case s.isTable(name):
		return &tableFile{File: f, shield: s}
	}
	return f
}

// Open implements vfs.FS.
func (s *shield) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if s.mine(name) {
		if fs, base := s.inMemory(name); fs != nil {
			return fs.Open(base)
		}
	}
	return s.FS.Open(name, opts...)
}

// OpenReadWrite implements vfs.FS.
func (s *shield) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if s.mine(name) {
		return nil, &os.PathError{Op: "open for writing", Path: name, Err: errors.ErrUnsupported}
	}
	return s.FS.OpenReadWrite(name, category, opts...)
}

// OpenDir implements vfs.FS.
func (s *shield) OpenDir(name string) (vfs.File, error) {
	f, err := s.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	if name == s.dir {
		return &vitalFile{File: f, shield: s, name: name}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.copies[name]; ok {
		return &copyDir{File: f, shield: s, name: name}, nil
	}
	return f, nil
}

// copying runs call, which makes Pebble copy the database to dir.
func (s *shield) copying(dir string, call func() error) error {
	s.mu.Lock()
	if s.copies == nil {
		s.copies = make(map[string]error)
	}
	s.copies[dir] = nil
	s.mu.Unlock()
	err := call()
	s.mu.Lock()
	defer s.mu.Unlock()
	hidden := s.copies[dir]
	delete(s.copies, dir)
	return errors.Join(err, hidden)
}

// copyDir keeps the errors of syncing the directory of a copy.
type copyDir struct {
	vfs.File
	shield *shield
	name   string
}

func (f *copyDir) Sync() error {
	if err := f.File.Sync(); err != nil {
		f.shield.mu.Lock()
		defer f.shield.mu.Unlock()
		f.shield.copies[f.name] = err
	}
	return nil
}

// ReuseForWrite implements vfs.FS.
func (s *shield) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if !s.mine(newname) || s.readOnly {
		return nil, &os.PathError{Op: "reuse", Path: oldname, Err: errors.ErrUnsupported}
	}
	if !s.health.ok() {
		return s.createFrozen(newname, category)
	}
	f, err := s.FS.ReuseForWrite(oldname, newname, category)
	if err != nil {
		s.absorb("reuse", oldname, err)
		return s.createFrozen(newname, category)
	}
	return s.cover(newname, f), nil
}

// Remove implements vfs.FS.
func (s *shield) Remove(name string) error {
	if s.mine(name) {
		if fs, base := s.inMemory(name); fs != nil {
			return fs.Remove(base)
		}
		if s.readOnly || !s.health.ok() {
			return nil
		}
	}
	return s.FS.Remove(name)
}

// Rename implements vfs.FS.
func (s *shield) Rename(oldname, newname string) error {
	if s.mine(newname) && (s.readOnly || !s.health.ok()) {
		return nil
	}
	return s.FS.Rename(oldname, newname)
}

// Stat implements vfs.FS.
func (s *shield) Stat(name string) (vfs.FileInfo, error) {
	if s.mine(name) {
		if fs, base := s.inMemory(name); fs != nil {
			return fs.Stat(base)
		}
	}
	return s.FS.Stat(name)
}

// Lock implements vfs.FS. The store's own lock covers the database, and a
// read-only file system cannot give a second one.
func (s *shield) Lock(string) (io.Closer, error) { return noLock{}, nil }

// Unwrap implements vfs.FS.
func (s *shield) Unwrap() vfs.FS { return s.FS }

type noLock struct{}

func (noLock) Close() error { return nil }

// vitalFile hides every error of a log, a manifest, a marker or the directory.
type vitalFile struct {
	vfs.File
	shield *shield
	name   string
}

func (f *vitalFile) do(op string, fn func() error) error {
	if f.shield.health.ok() {
		f.shield.absorb(op, f.name, guard(fn))
	}
	return nil
}

func (f *vitalFile) Write(p []byte) (int, error) {
	n := len(p)
	return n, f.do("write", func() error { _, err := f.File.Write(p); return err })
}

func (f *vitalFile) WriteAt(p []byte, off int64) (int, error) {
	n := len(p)
	return n, f.do("write", func() error { _, err := f.File.WriteAt(p, off); return err })
}

func (f *vitalFile) Preallocate(offset, length int64) error {
	return f.do("preallocate", func() error { return f.File.Preallocate(offset, length) })
}

func (f *vitalFile) Sync() error { return f.do("sync", f.File.Sync) }

func (f *vitalFile) SyncData() error { return f.do("sync", f.File.SyncData) }

func (f *vitalFile) SyncTo(length int64) (full bool, err error) {
	return full, f.do("sync", func() (err error) { full, err = f.File.SyncTo(length); return err })
}

// Stat is asked for the size of a recycled log, for accounting only.
func (f *vitalFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err == nil {
		return info, nil
	}
	f.shield.absorb("stat", f.name, err)
	return vfs.NewMemFile(nil).Stat()
}

// Close closes the file in any case, so that no descriptor leaks.
func (f *vitalFile) Close() error {
	f.shield.absorb("close", f.name, f.File.Close())
	return nil
}

// tableFile slows down the retries of a failing flush or compaction.
type tableFile struct {
	vfs.File
	shield *shield
}

func (f *tableFile) check(err error) error {
	if err != nil {
		f.shield.pause()
	}
	return err
}

func (f *tableFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.check(err)
}

func (f *tableFile) Sync() error { return f.check(f.File.Sync()) }

func (f *tableFile) SyncData() error { return f.check(f.File.SyncData()) }
