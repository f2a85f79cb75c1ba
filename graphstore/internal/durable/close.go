package durable

import (
	"errors"
	"fmt"
	"time"

	"github.com/lightctl/lightrag/format"
)

// patience is how long Close waits for snapshots, and for a failed store.
const patience = 5 * time.Second

// Close flushes, closes the database and, if the store is healthy, writes the
// SEAL with the counters c. It is idempotent and returns the same error again,
// with one exception: when snapshots are still open after 5 s, nothing is
// closed, the error says so, and Close can be called again. On a failed store
// it returns after 5 s at the latest, with an error that matches ErrFailed.
func (d *DB) Close(c format.Counters) error {
	d.closing.Lock()
	defer d.closing.Unlock()
	if d.done {
		return d.closeErr
	}
	if err := d.waitSnapshots(); err != nil {
		return err
	}
	d.done = true
	result := make(chan error, 1)
	go func() { result <- d.shut(c) }()
	d.closeErr = d.await(result)
	return d.closeErr
}

// waitSnapshots waits until no snapshot is open.
func (d *DB) waitSnapshots() error {
	d.snapshots.Lock()
	open := d.open
	if open == 0 {
		d.snapshots.Unlock()
		return nil
	}
	if d.idle == nil {
		d.idle = make(chan struct{})
	}
	idle := d.idle
	d.snapshots.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-idle:
		return nil
	case <-timer.C:
		return fmt.Errorf("durable: close %s: %d snapshots are still open", d.dir, open)
	}
}

// await waits for shut, but not longer than patience once the store has failed.
func (d *DB) await(result <-chan error) error {
	select {
	case err := <-result:
		return err
	case <-d.health.failed:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-result:
		return err
	case <-timer.C:
		return fmt.Errorf("durable: close %s: gave up waiting: %w", d.dir, d.health.err())
	}
}

func (d *DB) shut(c format.Counters) error {
	d.use.Lock() // waits for the calls that are inside
	d.closed.Store(true)
	d.use.Unlock()
	var errs []error
	if !d.readOnly && d.health.ok() {
		if err := guard(d.kv.Flush); err != nil {
			errs = append(errs, wrap("flush", d.dir, classify(err)))
		}
	}
	d.shield.hurry()
	if err := guard(d.kv.Close); err != nil {
		errs = append(errs, wrap("close", d.dir, err))
	}
	d.cache.Unref()
	errs = append(errs, d.health.err())
	err := errors.Join(errs...)
	if err == nil && !d.readOnly {
		d.sweep()
		err = d.writeSeal(c)
	}
	if e := d.lock.Close(); e != nil {
		err = errors.Join(err, wrap("unlock", d.dir, e))
	}
	return err
}
