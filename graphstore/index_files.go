package graphstore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// IndexFiles is the folder of a store in which its owner keeps files that can
// be made again from the store: indexes. They are not sealed; whoever reads
// one verifies it.
type IndexFiles struct {
	fs       vfs.FS
	dir      string
	readOnly bool
}

// IndexFile is an index file open for reading.
type IndexFile struct {
	vfs.File
	size int64
}

// Size returns the length of the file in bytes.
func (f *IndexFile) Size() int64 { return f.size }

// Open opens a file for reading. A missing one is os.ErrNotExist.
func (x IndexFiles) Open(name string) (*IndexFile, error) {
	f, err := x.fs.Open(x.fs.PathJoin(x.dir, name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &IndexFile{File: f, size: info.Size()}, nil
}

// Write replaces a file as a whole: a crash leaves the old one or the new one.
func (x IndexFiles) Write(name string, write func(io.Writer) error) (err error) {
	if err := x.fs.MkdirAll(x.dir, 0o755); err != nil {
		return err
	}
	path := x.fs.PathJoin(x.dir, name)
	tmp := path + ".tmp"
	f, err := x.fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err = write(durable.Writer(f)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, x.fs.Remove(tmp))
	}
	if err := x.fs.Rename(tmp, path); err != nil {
		return err
	}
	return x.sync()
}

// Remove removes a file; a missing one is no error.
func (x IndexFiles) Remove(name string) error {
	err := x.fs.Remove(x.fs.PathJoin(x.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// scratchName is what a scratch file is called as long as it has a name.
const scratchName = "scratch.tmp"

// Scratch returns an empty file that is in no folder: its disk space is free
// when it is closed, or the process ends. It is nil where there is none to be
// had: on a FS that is not the operating system's, where a file cannot be removed
// while it is open, and in a store that is open for reading only unless the
// system makes files that never have a name (Linux).
func (x IndexFiles) Scratch() (*os.File, error) {
	if !x.readOnly && removesOpenFiles {
		if err := x.fs.MkdirAll(x.dir, 0o755); err != nil {
			return nil, err
		}
	}
	if own := x.nameless(); own != nil || x.readOnly || !removesOpenFiles {
		return own, nil
	}
	path := x.fs.PathJoin(x.dir, scratchName)
	f, err := x.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	own, err := duplicate(f)
	if err = errors.Join(err, x.fs.Remove(path), f.Close()); err != nil && own != nil {
		err = errors.Join(err, own.Close())
		own = nil
	}
	return own, err
}

func (x IndexFiles) sync() error {
	d, err := x.fs.OpenDir(x.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Store) indexFiles() IndexFiles {
	return IndexFiles{fs: s.db.FS(), dir: s.db.Path("idx"), readOnly: s.opts.ReadOnly}
}
