package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// Compact rewrites every table without the rows that were deleted, as far as
// no snapshot needs them. Others may go on meanwhile. What the files say beside
// their rows, such as the first and the last key of tables that are gone, goes
// when the store is opened and closed once more.
func (d *DB) Compact(ctx context.Context) error {
	if d.readOnly {
		return fmt.Errorf("durable: compact: %w", ErrReadOnly)
	}
	// Pebble rewrites those tables only that newer ones overlap. The deletions of
	// two rows that cannot be, before and behind all others, overlap every one.
	first, last := []byte{0}, []byte{0xff}
	b := d.NewBatch()
	for _, key := range [][]byte{first, last} {
		if err := b.Delete(key, nil); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	if err := d.Commit(b); err != nil {
		return err
	}
	if err := d.Flush(); err != nil {
		return err
	}
	if err := d.enter("compact", func() error { return d.kv.Compact(ctx, first, append(last, 0xff), false) }); err != nil {
		return err
	}
	return d.health.err()
}

// CompactSegment replaces the segment by one of the vectors that live says are
// still wanted, or by none, and returns how many are not. finish commits the
// batch, as that of Seal does; more is how many segments there are more. The
// file stays until Close, for older snapshots. One Seal or CompactSegment runs
// at a time.
func (d *DB) CompactSegment(old SegmentInfo, live func(kind format.Kind, owner, version uint32) (bool, error),
	finish func(b *pebble.Batch, more int) error) (dropped int, err error) {
	f, s, err := d.openSegment(old.Path, old)
	if err != nil {
		return 0, wrap("compact", old.Path, err)
	}
	keep := make(map[format.VectorID]struct{})
	for i := range s.Rows() {
		id := s.ID(i)
		ok, e := live(id.Kind, id.Owner, id.Version)
		if err = e; err != nil {
			break
		}
		if ok {
			keep[id] = struct{}{}
		}
	}
	o := SealOptions{Dim: s.Dim(), Codec: s.Codec()}
	dropped = s.Rows() - len(keep)
	if err = errors.Join(err, f.Close()); err != nil || dropped == 0 {
		return 0, err
	}
	info := SegmentInfo{UUID: newUUID()}
	if info.Path = d.segmentPath(info.UUID); len(keep) > 0 {
		if info.SegmentRow, err = d.writeSegment(info, o, func(w *format.SegmentWriter) error {
			return d.loadSegment(old, func(kind format.Kind, owner, version uint32, vec []float32) error {
				if _, ok := keep[format.VectorID{Kind: kind, Owner: owner, Version: version}]; !ok {
					return nil
				}
				return w.Add(kind, owner, version, vec)
			})
		}); err != nil {
			return 0, wrap("compact", old.Path, err)
		}
	}
	if err := d.replaceSegment(old, info, len(keep) > 0, finish); err != nil {
		return 0, err
	}
	return dropped, nil
}

// replaceSegment publishes a segment, if there is one, in the place of another.
func (d *DB) replaceSegment(old, info SegmentInfo, there bool, finish func(b *pebble.Batch, more int) error) error {
	b := d.NewBatch()
	err := b.Delete(format.AppendSegmentKey(nil, old.UUID), nil)
	more := -1
	if there && err == nil {
		more, err = 0, b.Set(format.AppendSegmentKey(nil, info.UUID), format.AppendSegmentRow(nil, &info.SegmentRow), nil)
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	if err := finish(b, more); err != nil {
		return err // as with Seal: the next open collects what no row names
	}
	d.segmentsMu.Lock()
	defer d.segmentsMu.Unlock()
	if d.retire(old); there {
		d.segments = append(d.segments, info)
	}
	return nil
}
