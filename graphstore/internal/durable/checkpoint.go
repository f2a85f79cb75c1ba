package durable

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// Checkpoint makes a sealed copy of the newest durable state in dst, which must
// not exist (ErrExists) and lies on the same file system. Tables and segments
// are linked where that is possible. Writes go on meanwhile. Index files are
// not copied: they are made again. The copy is made in a Staging, so that it
// appears whole or not at all; while another store is made in dst, the error
// matches ErrLocked.
func (d *DB) Checkpoint(dst string) (err error) {
	if d.readOnly {
		return fmt.Errorf("durable: checkpoint: %w", ErrReadOnly)
	}
	stage, err := Stage(d.fs, dst)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	if _, err := d.fs.Stat(dst); !isNotExist(err) { // an empty directory too
		if err == nil {
			err = errorf(ErrExists, "cannot copy a store over it")
		}
		return wrap("checkpoint", dst, err)
	}
	if err := d.checkpoint(stage.Dir()); err != nil {
		return err
	}
	return stage.Publish()
}

func (d *DB) checkpoint(dst string) error {
	if err := d.Flush(); err != nil {
		return err
	}
	c := &DB{dir: dst, fs: d.fs, log: d.log, readOnly: true, health: newHealth(d.log), cache: d.cache}
	for _, name := range []string{segName, idxName} {
		if err := makeDir(d.fs, c.Path(name)); err != nil {
			return err
		}
	}
	kv := c.Path(kvName)
	err := d.enter("checkpoint", func() error {
		return d.shield.copying(kv, func() error { return d.kv.Checkpoint(kv, pebble.WithFlushedWAL()) })
	})
	if err != nil {
		return err
	}
	// Without its logs, which were written over older ones, the copy is what was
	// flushed: everything from before the call.
	c.sweep()
	// The segments are those that the copy names, not those of this moment.
	counters, err := c.readCopy()
	if err != nil {
		return wrap("checkpoint", dst, err)
	}
	for _, s := range c.segments {
		if err := vfs.LinkOrCopy(d.fs, d.segmentPath(s.UUID), s.Path); err != nil {
			return wrap("checkpoint", s.Path, err)
		}
	}
	for _, dir := range []string{c.Path(segName), dst} {
		if err := syncDir(d.fs, dir); err != nil {
			return err
		}
	}
	return c.writeSeal(counters)
}

// readCopy reads what the SEAL of a fresh copy needs, and closes it again.
func (c *DB) readCopy() (counters format.Counters, err error) {
	if err := c.openKV(Options{Logger: c.log}.withDefaults(), kvName, true); err != nil {
		return counters, err
	}
	defer func() { err = errors.Join(err, c.closeKV()) }()
	if c.segments, err = c.readSegments(c); err != nil {
		return counters, err
	}
	value, closer, err := c.Get(format.AppendMetaKey(nil, "counters"))
	if errors.Is(err, ErrNotFound) {
		return counters, nil
	}
	if err != nil {
		return counters, err
	}
	err = format.DecodeCounters(value, &counters)
	return counters, errors.Join(err, closer.Close())
}
