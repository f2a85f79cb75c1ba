package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

const (
	segmentSuffix = ".gvs"
	segmentWrites = "vector-segment" // category, for the statistics of the file system
)

// SegmentInfo is one published segment.
type SegmentInfo struct {
	UUID format.UUID
	Path string
	format.SegmentRow
}

// SealOptions say what Seal writes and which buffered vectors it replaces.
type SealOptions struct {
	Dim   int          // floats per vector
	Codec format.Codec // of the file; 0 = raw
	// UpTo ends the buffered rows that the segment replaces: all those with a
	// smaller sequence are deleted in the batch that publishes it.
	UpTo uint64
	// Finish commits the batch that publishes the segment, together with
	// whatever rows it adds; nil = DB.Commit. row is nil when next returned
	// nothing. Finish owns the batch, and only it runs in the writer's way.
	Finish func(b *pebble.Batch, row *format.SegmentRow) error
}

// BufferVector adds v to b as the buffered vector number seq. Sequence numbers
// are never used twice.
func (d *DB) BufferVector(b *pebble.Batch, seq uint64, v *format.BufferedVector) error {
	var key [16]byte
	return b.Set(format.AppendBufferedKey(key[:0], seq), format.AppendBufferedVector(nil, v), nil)
}

// Buffered calls fn with every buffered vector of r whose sequence is less than
// upTo, in sequence order. v is good until fn returns.
func Buffered(r Reader, upTo uint64, fn func(seq uint64, v *format.BufferedVector) error) (err error) {
	it, err := r.NewIter(format.AppendBufferedKey(nil, 0), format.AppendBufferedKey(nil, upTo))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, classify(it.Close())) }()
	var v format.BufferedVector
	for ok := it.First(); ok; ok = it.Next() {
		seq, err := format.DecodeBufferedKey(it.Key())
		if err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return classify(err)
		}
		if err := format.DecodeBufferedVector(value, &v); err != nil {
			return err
		}
		if err := fn(seq, &v); err != nil {
			return err
		}
	}
	return nil
}

// Seal writes the vectors that next returns into a new segment, and publishes
// it in one batch with the end of the buffered rows it replaces. A crash at any
// moment leaves either the buffered rows or the segment. One Seal runs at a
// time; it does not hold up Apply. If next returns nothing, no file is made and
// the result is zero. After an error other than ErrFailed nothing has changed
// and the store is usable: the vectors are still buffered.
func (d *DB) Seal(o SealOptions, next func() (kind format.Kind, owner, version uint32, vec []float32, ok bool)) (SegmentInfo, error) {
	if d.readOnly {
		return SegmentInfo{}, fmt.Errorf("durable: seal: %w", ErrReadOnly)
	}
	if err := d.health.err(); err != nil {
		return SegmentInfo{}, err
	}
	var info SegmentInfo
	var published *format.SegmentRow
	kind, owner, version, vec, ok := next()
	if ok {
		info.UUID = newUUID()
		info.Path = d.segmentPath(info.UUID)
		row, err := d.writeSegment(info, o, func(w *format.SegmentWriter) error {
			for ; ok; kind, owner, version, vec, ok = next() {
				if err := w.Add(kind, owner, version, vec); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return SegmentInfo{}, wrap("seal", info.Path, err)
		}
		info.SegmentRow, published = row, &row
	}
	b := d.NewBatch()
	if published != nil {
		if err := b.Set(format.AppendSegmentKey(nil, info.UUID), format.AppendSegmentRow(nil, published), nil); err != nil {
			return SegmentInfo{}, errors.Join(err, b.Close())
		}
	}
	if err := b.DeleteRange(format.AppendBufferedKey(nil, 0), format.AppendBufferedKey(nil, o.UpTo), nil); err != nil {
		return SegmentInfo{}, errors.Join(err, b.Close())
	}
	finish := o.Finish
	if finish == nil {
		finish = func(b *pebble.Batch, _ *format.SegmentRow) error { return d.Commit(b) }
	}
	if err := finish(b, published); err != nil {
		// The file stays: if the batch did reach the disk, it names it. If
		// not, the next open collects it.
		return SegmentInfo{}, err
	}
	if published == nil {
		return SegmentInfo{}, nil
	}
	d.segmentsMu.Lock()
	d.segments = append(d.segments, info)
	d.segmentsMu.Unlock()
	return info, nil
}

// writeSegment makes the file info.Path whole and durable: written under a
// temporary name, synced, read back, renamed, and the directory synced. On an
// error it is removed; a file whose sync failed is never synced again.
func (d *DB) writeSegment(info SegmentInfo, o SealOptions, fill func(*format.SegmentWriter) error) (row format.SegmentRow, err error) {
	tmp := strings.TrimSuffix(info.Path, segmentSuffix) + tmpSuffix
	defer func() {
		if err != nil {
			if e := d.fs.Remove(tmp); e != nil && !isNotExist(e) {
				d.log.Warn("removing a failed segment", "path", tmp, "error", e)
			}
		}
	}()
	f, err := d.fs.Create(tmp, segmentWrites)
	if err != nil {
		return row, err
	}
	w := format.NewSegmentWriter(Writer(f), format.SegmentOptions{UUID: info.UUID, Dim: o.Dim, Codec: o.Codec})
	if err = fill(w); err == nil {
		if row, err = w.Close(); err == nil {
			err = f.Sync()
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return row, err
	}
	info.SegmentRow = row
	if err = d.verifySegment(tmp, info); err != nil {
		return row, err
	}
	if err = d.fs.Rename(tmp, info.Path); err != nil {
		return row, err
	}
	return row, syncDir(d.fs, d.Path(segName))
}

// verifySegment reads every block of the file at path.
func (d *DB) verifySegment(path string, info SegmentInfo) error {
	f, s, err := d.openSegment(path, info)
	if err != nil {
		return err
	}
	return errors.Join(s.Verify(), f.Close())
}

// openSegment opens the file at path and checks that it is the one that info
// describes. The caller closes the file after the last use of the reader.
func (d *DB) openSegment(path string, info SegmentInfo) (vfs.File, *format.SegmentReader, error) {
	damaged := func(text string, args ...any) error {
		return &format.CorruptionError{Path: path, Part: "file", Segment: info.UUID, Block: -1, Err: fmt.Errorf(text, args...)}
	}
	stat, err := d.fs.Stat(path)
	switch {
	case isNotExist(err):
		return nil, nil, damaged("missing")
	case err != nil:
		return nil, nil, err
	case stat.Size() < 0 || uint64(stat.Size()) != info.Length:
		return nil, nil, damaged("%d bytes, published with %d", stat.Size(), info.Length)
	}
	f, err := d.fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return nil, nil, err
	}
	s, err := format.OpenSegmentOptions(f, stat.Size(), info.UUID, format.DecodeOptions{Path: path})
	if err == nil && s.SegmentRow() != info.SegmentRow {
		err = damaged("not the file that was published")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, s, nil
}

func newUUID() (id format.UUID) {
	rand.Read(id[:]) // never fails
	return id
}

func (d *DB) segmentPath(uuid format.UUID) string {
	return d.Path(segName, uuid.String()+segmentSuffix)
}

// Segments returns the published segments, sorted by UUID, in a fresh slice.
func (d *DB) Segments() []SegmentInfo {
	d.segmentsMu.Lock()
	defer d.segmentsMu.Unlock()
	out := slices.Clone(d.segments)
	slices.SortFunc(out, func(a, b SegmentInfo) int { return slices.Compare(a.UUID[:], b.UUID[:]) })
	return out
}

// readSegments lists the segments that r names.
func (d *DB) readSegments(r Reader) (list []SegmentInfo, err error) {
	it, err := r.NewIter(format.TableBounds(format.TableSegments))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, classify(it.Close())) }()
	for ok := it.First(); ok; ok = it.Next() {
		info := SegmentInfo{}
		if info.UUID, err = format.DecodeSegmentKey(it.Key()); err != nil {
			return nil, err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, classify(err)
		}
		if err := format.DecodeSegmentRow(value, &info.SegmentRow); err != nil {
			return nil, err
		}
		info.Path = d.segmentPath(info.UUID)
		list = append(list, info)
	}
	return list, nil
}
