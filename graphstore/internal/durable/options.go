package durable

import (
	"io"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of Open. The zero value is a store on the operating system's files
// with the documented sizes.
type Options struct {
	// FS is where everything lives; nil = the operating system's.
	FS vfs.FS
	// Logger is told what the store survives; nil = silent.
	Logger *slog.Logger
	// ReadOnly opens without creating, renaming or removing anything.
	ReadOnly bool
	// MustExist refuses to create a store (ErrNotFound).
	MustExist bool
	// CacheBytes of Pebble's block cache; 0 = 64 MiB. Ignored with Cache.
	CacheBytes int64
	// Cache is a block cache shared with other stores; nil = an own one.
	Cache *pebble.Cache
	// MemTableBytes of one memtable; 0 = 64 MiB. Large enough that buffered
	// vectors are deleted before they ever reach a table.
	MemTableBytes int64
	// Verify is called while a store that was not closed cleanly is open
	// read-only, before anything is modified; r is the *DB. An error refuses
	// the store.
	Verify func(r Reader) error
}

// Reader reads one state of the database.
type Reader interface {
	// Get returns the value of key, valid until the closer is closed, or
	// ErrNotFound with a nil closer.
	Get(key []byte) ([]byte, io.Closer, error)
	// NewIter iterates over lower <= key < upper. Close it before the
	// snapshot or the DB that made it.
	NewIter(lower, upper []byte) (*pebble.Iterator, error)
}

const (
	defaultCacheBytes    = 64 << 20
	defaultMemTableBytes = 64 << 20
)

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.MemTableBytes <= 0 {
		o.MemTableBytes = defaultMemTableBytes
	}
	return o
}
