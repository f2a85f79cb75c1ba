package durable

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// Open opens the store in dir, or creates it. The errors match ErrNotFound
// (with MustExist or ReadOnly), ErrLocked, ErrCorrupt, ErrTooNew, ErrDiskFull,
// ErrInvalid (dir is a file, or holds something else), or what Options.Verify
// returned. A failed Open leaves no goroutine, lock or descriptor behind, and
// unless it came after every check, every file as it was.
func Open(dir string, o Options) (*DB, error) {
	o = o.withDefaults()
	dir, err := resolve(o.FS, dir)
	if err != nil {
		return nil, err
	}
	exists, err := look(o.FS, dir)
	if err != nil {
		return nil, err
	}
	if !exists && (o.ReadOnly || o.MustExist) {
		return nil, wrap("open", dir, errorf(ErrNotFound, "no store here"))
	}
	d := &DB{dir: dir, fs: o.FS, log: o.Logger, readOnly: o.ReadOnly, health: newHealth(o.Logger)}
	if err := d.start(o); err != nil {
		d.abandon()
		return nil, err
	}
	return d, nil
}

func (d *DB) start(o Options) (err error) {
	if !o.ReadOnly {
		if err := makeDir(d.fs, d.dir); err != nil {
			return err
		}
	}
	if d.lock, err = lockDir(d.fs, d.dir, o.ReadOnly); err != nil {
		return err
	}
	// The lock may have been waited for, in effect: look again.
	exists, err := look(d.fs, d.dir)
	if err != nil {
		return err
	}
	if d.cache = o.Cache; d.cache == nil {
		// Pebble takes memtables out of the block cache's budget: the one that
		// is written, and one that it keeps for the next time.
		d.cache = pebble.NewCache(o.CacheBytes + 2*o.MemTableBytes)
	} else {
		d.cache.Ref()
	}
	if !exists {
		if err := d.create(o); err != nil {
			return err
		}
		d.fresh, d.clean = true, true
	} else if err := d.inspect(o); err != nil || o.ReadOnly {
		return err
	}
	if err := d.tidy(); err != nil {
		return err
	}
	if err := d.unseal(); err != nil {
		return err
	}
	if err := d.openKV(o, kvName, false); err != nil {
		return err
	}
	return d.collect(d.clean || o.Verify != nil)
}

// inspect checks an existing store without changing anything. A read-only
// store stays open.
func (d *DB) inspect(o Options) (err error) {
	if err := d.checkMarker(); err != nil {
		return err
	}
	if d.clean, err = d.checkSeal(); err != nil {
		return err
	}
	if err := d.openKV(o, kvName, true); err != nil {
		return err
	}
	if err := checkFormat(d); err != nil {
		return wrap("open", d.dir, err)
	}
	if d.segments, err = d.readSegments(d); err != nil {
		return wrap("open", d.dir, err)
	}
	if !d.clean {
		d.log.Warn("store was not closed cleanly", "dir", d.dir)
		if o.Verify != nil {
			if err := o.Verify(d); err != nil {
				return err
			}
		}
	}
	if o.ReadOnly {
		return nil
	}
	return d.closeKV()
}

// tidy removes what a crash while creating or sealing left behind.
func (d *DB) tidy() error {
	for _, name := range []string{kvNewName, sealName + tmpSuffix} {
		path := d.Path(name)
		if _, err := d.fs.Stat(path); isNotExist(err) {
			continue
		}
		if err := d.fs.RemoveAll(path); err != nil {
			return wrap("remove", path, err)
		}
	}
	return nil
}

// create makes the database under another name and renames it when it is
// whole, so that a crash leaves either no store or one that opens. The log that
// it is created with, whose damage Pebble would not notice, ends here.
func (d *DB) create(o Options) error {
	for _, name := range []string{segName, idxName} {
		if err := makeDir(d.fs, d.Path(name)); err != nil {
			return err
		}
	}
	if err := d.fs.RemoveAll(d.Path(kvNewName)); err != nil && !isNotExist(err) {
		return wrap("create", d.dir, err)
	}
	if err := d.openKV(o, kvNewName, false); err != nil {
		return err
	}
	b := d.NewBatch()
	if err := b.Set(formatKey(), appendFormat(nil), nil); err != nil {
		return wrap("create", d.dir, err)
	}
	if err := d.Commit(b); err != nil {
		return wrap("create", d.dir, err)
	}
	if err := d.Flush(); err != nil {
		return wrap("create", d.dir, err)
	}
	if err := d.closeKV(); err != nil {
		return err
	}
	if err := d.fs.Rename(d.Path(kvNewName), d.Path(kvName)); err != nil {
		return wrap("create", d.dir, err)
	}
	return syncDir(d.fs, d.dir)
}

// openKV opens the database in the directory name. Errors that the shield
// hides from Pebble are errors of opening.
func (d *DB) openKV(o Options, name string, readOnly bool) error {
	path := d.Path(name)
	d.shield = newShield(d.fs, path, d.health, readOnly)
	options := pebbleOptions(o, d.shield, d.health, d.cache, readOnly)
	options.ErrorIfNotExists = name != kvNewName
	err := guard(func() (err error) {
		d.kv, err = pebble.Open(path, options)
		return err
	})
	switch {
	case err == nil:
		return d.health.err()
	case errors.Is(err, pebble.ErrDBDoesNotExist) || isNotExist(err):
		return wrap("open", d.dir, corrupt(path, "database", err))
	case strings.Contains(err.Error(), "merger name"): // of a store that had no postings
		return wrap("open", d.dir, format.CheckVersion(1, 1))
	}
	return wrap("open", d.dir, err)
}

func (d *DB) closeKV() error {
	kv := d.kv
	d.kv = nil
	d.shield.hurry()
	if err := guard(kv.Close); err != nil {
		return wrap("close", d.dir, err)
	}
	return d.health.err()
}

// abandon undoes a failed Open.
func (d *DB) abandon() {
	if d.kv != nil {
		if err := d.closeKV(); err != nil {
			d.log.Warn("closing after a failed open", "error", err)
		}
	}
	if d.cache != nil {
		d.cache.Unref()
	}
	if d.lock != nil {
		if err := d.lock.Close(); err != nil {
			d.log.Warn("unlocking after a failed open", "error", err)
		}
	}
}

// checkMarker refuses a database of a newer Pebble, which this one must not
// touch. The version stands in the name of a file: marker.format-version.N.V.
func (d *DB) checkMarker() error {
	names, err := d.fs.List(d.Path(kvName))
	if err != nil {
		return wrap("open", d.dir, err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "marker.format-version.") {
			continue
		}
		v, err := strconv.ParseUint(name[strings.LastIndexByte(name, '.')+1:], 10, 32)
		if err == nil && v > uint64(formatMajorVersion) {
			return wrap("open", d.dir, &format.TooNewError{What: "database", Have: uint32(formatMajorVersion), Need: uint32(v)})
		}
	}
	return nil
}

func formatKey() []byte { return format.AppendMetaKey(nil, "format") }

// checkFormat decides by the meta row "format" whether this code may read the
// store.
func checkFormat(r Reader) error {
	value, closer, err := r.Get(formatKey())
	if errors.Is(err, ErrNotFound) {
		return corrupt("", "database", errors.New("no format row"))
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	return decodeFormat(value)
}

func errorf(sentinel error, text string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(text, args...), sentinel)
}
