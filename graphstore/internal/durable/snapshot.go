package durable

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// Snapshot is the state of the database at one moment. It may be read by many
// goroutines, none of which may still be reading when Close is called.
type Snapshot struct {
	db     *DB
	snap   *pebble.Snapshot // nil when the store was already closed
	closed atomic.Bool
}

// Snapshot pins what has been applied so far. Close it: until then the disk
// keeps every version it sees, and DB.Close waits. Of a closed DB, every read
// returns ErrClosed.
func (d *DB) Snapshot() *Snapshot {
	s := &Snapshot{db: d}
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return s
	}
	d.snapshots.Lock()
	d.open++
	d.snapshots.Unlock()
	s.snap = d.kv.NewSnapshot()
	return s
}

// Get implements Reader.
func (s *Snapshot) Get(key []byte) ([]byte, io.Closer, error) {
	if s.snap == nil || s.closed.Load() {
		return nil, nil, fmt.Errorf("durable: get: %w", ErrClosed)
	}
	return get(s.snap, key)
}

// NewIter implements Reader.
func (s *Snapshot) NewIter(lower, upper []byte) (*pebble.Iterator, error) {
	if s.snap == nil || s.closed.Load() {
		return nil, fmt.Errorf("durable: iterate: %w", ErrClosed)
	}
	return newIter(s.snap, lower, upper)
}

// Close releases what the snapshot pins. It is idempotent.
func (s *Snapshot) Close() {
	if s.snap == nil || s.closed.Swap(true) {
		return
	}
	if err := s.snap.Close(); err != nil {
		s.db.log.Warn("closing a snapshot", "error", err)
	}
	d := s.db
	d.snapshots.Lock()
	defer d.snapshots.Unlock()
	if d.open--; d.open == 0 && d.idle != nil {
		close(d.idle)
		d.idle = nil
	}
}
