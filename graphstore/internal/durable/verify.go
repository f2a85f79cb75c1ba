package durable

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/sstable"
	sst "github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// VerifyTables compares every block of every table with its checksum, those
// too that reading rows passes over, such as filters, and reads the files, not the
// cache. It calls bad with each table that is damaged, and returns its error,
// or that of a table which cannot be read. Writers may go on meanwhile.
func (d *DB) VerifyTables(ctx context.Context, bad func(path string, err error) error) error {
	names, err := d.tables()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := d.Path(kvName, name)
		err := verifyTable(ctx, d.fs, path)
		if isNotExist(err) { // a compaction may have replaced it
			if now, e := d.tables(); e != nil || !slices.Contains(now, name) {
				if e != nil {
					return e
				}
				continue
			}
			err = corrupt(path, "table", errors.New("missing"))
		}
		if err = classify(err); errors.Is(err, ErrCorrupt) {
			err = bad(path, err)
		}
		if err != nil {
			return wrap("verify", path, err)
		}
	}
	return nil
}

// tables lists the files of the newest version of the database.
func (d *DB) tables() (names []string, err error) {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return nil, fmt.Errorf("durable: list tables: %w", ErrClosed)
	}
	levels, err := d.kv.SSTables()
	if err != nil {
		return nil, fmt.Errorf("durable: list tables: %w", classify(err))
	}
	for _, level := range levels {
		for _, t := range level {
			names = append(names, fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func verifyTable(ctx context.Context, fs vfs.FS, path string) (err error) {
	f, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	var r *sstable.Reader
	if err := guard(func() (err error) { // what it makes of damage is not ours to trust
		r, err = sstable.NewReader(ctx, readable, sstable.ReaderOptions{Merger: postingsMerger()})
		return err
	}); err != nil {
		return errors.Join(corrupt(path, "table", &brief{err}), f.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var layout *sstable.Layout
	if err := guard(func() (err error) {
		layout, err = r.Layout()
		return err
	}); err != nil {
		return corrupt(path, "table", &brief{err})
	}
	return verifyBlocks(f, path, layout)
}

// maskedCRC is the checksum of a block and the byte behind it that says how it
// is compressed: CRC32C, turned and shifted as in every table since LevelDB.
// Pebble's own function looks for the bit that flipped, for a second a block.
func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// verifyBlocks reads blocks in the order of the file. They fill it up to the
// footer, which whoever opened the table has verified. One may be empty, as the
// filter of a table that deletes a range and has no rows.
func verifyBlocks(f io.ReaderAt, path string, l *sstable.Layout) error {
	handles := slices.Concat(l.Index, l.ValueBlock,
		[]sst.Handle{l.TopIndex, l.RangeDel, l.RangeKey, l.ValueIndex, l.Properties, l.MetaIndex, l.BlobReferenceIndex})
	for i := range l.Data {
		handles = append(handles, l.Data[i].Handle)
	}
	for i := range l.Filter {
		handles = append(handles, l.Filter[i].Handle)
	}
	handles = slices.DeleteFunc(handles, func(h sst.Handle) bool { return h == sst.Handle{} })
	slices.SortFunc(handles, func(a, b sst.Handle) int { return cmp.Compare(a.Offset, b.Offset) })
	end := uint64(0)
	var buf []byte
	for _, h := range handles {
		if h.Offset != end || h.Length > l.Footer.Offset {
			return corrupt(path, "table", fmt.Errorf("a block of %d bytes at %d, where the one before it ends at %d", h.Length, h.Offset, end))
		}
		n := int(h.Length) + sst.TrailerLen
		buf = slices.Grow(buf[:0], n)[:n]
		if _, err := f.ReadAt(buf, int64(h.Offset)); err != nil {
			if errors.Is(err, io.EOF) {
				err = corrupt(path, "table", io.ErrUnexpectedEOF)
			}
			return err
		}
		body, want := buf[:h.Length+1], binary.LittleEndian.Uint32(buf[h.Length+1:])
		if got := maskedCRC(body); got != want {
			return &format.CorruptionError{Path: path, Part: "block", Block: -1, Offset: int64(h.Offset), Length: int64(h.Length), Want: want, Got: got}
		}
		end = h.Offset + uint64(n)
	}
	if end != l.Footer.Offset {
		return corrupt(path, "table", fmt.Errorf("the last block ends at %d, the footer begins at %d", end, l.Footer.Offset))
	}
	return nil
}
