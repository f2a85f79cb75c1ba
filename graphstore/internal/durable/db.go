package durable

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// DB is an open store. Open makes it, Close ends it.
type DB struct {
	dir      string
	fs       vfs.FS
	log      *slog.Logger
	readOnly bool
	fresh    bool
	clean    bool

	lock   io.Closer
	cache  *pebble.Cache
	health *health
	shield *shield
	kv     *pebble.DB

	use       sync.RWMutex // held while a call is inside kv; Close takes it for good
	closed    atomic.Bool
	snapshots sync.Mutex // guards open and idle
	open      int        // snapshots
	idle      chan struct{}

	segmentsMu sync.Mutex
	segments   []SegmentInfo // published
	retired    []string      // files of segments that were published: Close removes them

	closing  sync.Mutex // one Close at a time
	done     bool
	closeErr error
}

// Fresh reports whether this Open created the store.
func (d *DB) Fresh() bool { return d.fresh }

// Clean reports whether the store was closed cleanly before: its SEAL was
// there and described the files exactly. A fresh store is clean.
func (d *DB) Clean() bool { return d.clean }

// ReadOnly reports whether the store refuses writes.
func (d *DB) ReadOnly() bool { return d.readOnly }

// FS returns the file system of the store, for the files in idx/.
func (d *DB) FS() vfs.FS { return d.fs }

// Path returns the path of a file in the store's directory.
func (d *DB) Path(elem ...string) string {
	return d.fs.PathJoin(append([]string{d.dir}, elem...)...)
}

// Health returns nil, or the sticky failure of the store: an error that
// matches ErrFailed and its cause.
func (d *DB) Health() error { return d.health.err() }

// Fail makes err the sticky failure of the store, unless it already has one.
func (d *DB) Fail(err error) { d.health.fail(err) }

// NewBatch returns an empty batch. Close it after SyncWait returned nil, or
// without ever applying it. After an error of Apply or SyncWait leave it to the
// garbage collector: Close would recycle a batch that the log may still write.
func (d *DB) NewBatch() *pebble.Batch { return d.kv.NewBatch() }

// Apply makes b visible to later snapshots and starts to write it. Calls take
// effect in their order; the caller serialises them when the order matters.
// After an error of Apply b is not visible, or the store has failed; SyncWait
// must not be called then.
func (d *DB) Apply(b *pebble.Batch) error {
	if d.readOnly {
		return fmt.Errorf("durable: apply: %w", ErrReadOnly)
	}
	return d.enter("apply", func() error {
		before := d.health.fatals.Load()
		if err := d.kv.ApplyNoSyncWait(b, pebble.Sync); err != nil {
			return err
		}
		if d.health.fatals.Load() != before {
			// Perhaps it was this batch that Pebble gave up on. Then
			// nobody will ever end its SyncWait.
			return d.health.err()
		}
		return nil
	})
}

// SyncWait waits until b, which Apply has taken, is durable. An error means
// that the store has failed: whether b survives a reopen is then unknown.
func (d *DB) SyncWait(b *pebble.Batch) error {
	if err := b.SyncWait(); err != nil {
		d.health.fail(err)
	}
	// The shield hides errors of the log from Pebble, after it has failed
	// the store. So this look must come after the wait.
	return d.health.err()
}

// Commit applies b, waits until it is durable, and closes it.
func (d *DB) Commit(b *pebble.Batch) error {
	if err := d.Apply(b); err != nil {
		return err
	}
	if err := d.SyncWait(b); err != nil {
		return err
	}
	return b.Close()
}

// Flush writes everything that is only in the log into tables.
func (d *DB) Flush() error {
	if d.readOnly {
		return fmt.Errorf("durable: flush: %w", ErrReadOnly)
	}
	if err := d.enter("flush", d.kv.Flush); err != nil {
		return err
	}
	return d.health.err()
}

// Metrics returns Pebble's numbers, or nil when the store is closed. It takes
// Pebble's lock: ask at most about once a second.
func (d *DB) Metrics() *pebble.Metrics {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return nil
	}
	return d.kv.Metrics()
}

// TableBytes estimates what the rows of a table take on disk, without what is
// still in the log; 0 when the store is closed.
func (d *DB) TableBytes(t format.Table) uint64 {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return 0
	}
	n, err := d.kv.EstimateDiskUsage(format.TableBounds(t))
	if err != nil {
		d.log.Warn("estimating the size of a table", "table", t, "error", err)
	}
	return n
}

// Get implements Reader on the newest applied state, durable or not. It is for
// the writer and for opening; everybody else reads from a Snapshot.
func (d *DB) Get(key []byte) ([]byte, io.Closer, error) {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return nil, nil, fmt.Errorf("durable: get: %w", ErrClosed)
	}
	return get(d.kv, key)
}

// NewIter implements Reader on the newest applied state; see Get.
func (d *DB) NewIter(lower, upper []byte) (*pebble.Iterator, error) {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return nil, fmt.Errorf("durable: iterate: %w", ErrClosed)
	}
	return newIter(d.kv, lower, upper)
}

func get(r pebble.Reader, key []byte) ([]byte, io.Closer, error) {
	value, closer, err := r.Get(key)
	switch {
	case err == nil:
		return value, closer, nil
	case errors.Is(err, pebble.ErrNotFound):
		return nil, nil, ErrNotFound
	}
	return nil, nil, fmt.Errorf("durable: get: %w", classify(err))
}

func newIter(r pebble.Reader, lower, upper []byte) (*pebble.Iterator, error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, fmt.Errorf("durable: iterate: %w", classify(err))
	}
	return it, nil
}

// enter runs a call that changes the database, if the store is healthy. It is
// the last net under Pebble's panics: they fail the store.
func (d *DB) enter(op string, call func() error) (err error) {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return fmt.Errorf("durable: %s: %w", op, ErrClosed)
	}
	if err := d.health.err(); err != nil {
		return err
	}
	if err := guard(call); err != nil {
		if p := (*panicError)(nil); errors.As(err, &p) {
			d.health.fail(err) // whatever it was doing is half done
		}
		return fmt.Errorf("durable: %s: %w", op, classify(err))
	}
	return nil
}

// panicError is a panic of Pebble, caught.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// guard runs call and returns its panic as an error.
func guard(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return call()
}
