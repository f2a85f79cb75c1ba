package format

import (
	"fmt"
	"io"
)

// SegmentOptions say what a segment holds.
type SegmentOptions struct {
	UUID  UUID  // must not be zero
	Dim   int   // floats per vector, 1 to MaxDim
	Codec Codec // CodecRaw if zero
}

// SegmentWriter writes one segment file front to back. It holds one block of
// rows, and nine bytes for every row written. It is not safe for concurrent
// use.
type SegmentWriter struct {
	w      io.Writer
	head   header
	offset int64  // bytes written
	first  []byte // the encoded header
	floats []float32
	ids    []byte // of all rows
	table  []byte // index entries of the blocks written
	rows   int
	blocks int
	buf    []byte
	s      planeScratch
	err    error // sticky
}

// NewSegmentWriter returns a writer to w. It writes whole parts: no buffering
// is needed below. Bad options are reported by Add and Close.
func NewSegmentWriter(w io.Writer, o SegmentOptions) *SegmentWriter {
	sw := &SegmentWriter{w: w, head: header{uuid: o.UUID, dim: o.Dim, codec: o.Codec}}
	switch {
	case o.UUID == UUID{}:
		sw.err = invalidf("segment: no uuid")
	case o.Dim < 1 || o.Dim > MaxDim:
		sw.err = invalidf("segment: dimension %d", o.Dim)
	case !o.Codec.known():
		sw.err = invalidf("segment: codec %s", o.Codec)
	default:
		sw.first = sw.head.append(nil)
		sw.floats = make([]float32, 0, rowsPerBlock(o.Dim)*o.Dim)
		sw.write(sw.first)
	}
	return sw
}

// Add appends one vector, which is copied, bit for bit. Rows keep the order in
// which they are added. Errors of the underlying writer are sticky; a vector of
// the wrong length matches ErrInvalid and changes nothing.
func (w *SegmentWriter) Add(kind Kind, owner, version uint32, vec []float32) error {
	switch {
	case w.err != nil:
		return w.err
	case len(vec) != w.head.dim:
		return invalidf("segment: vector of %d floats, dimension %d", len(vec), w.head.dim)
	case w.rows >= MaxSegmentRows:
		return invalidf("segment: full at %d rows", w.rows)
	}
	w.floats = append(w.floats, vec...)
	w.ids = appendRowID(w.ids, VectorID{kind, owner, version})
	w.rows++
	if len(w.floats) == cap(w.floats) {
		w.flush()
	}
	return w.err
}

// Rows returns how many vectors were added.
func (w *SegmentWriter) Rows() int { return w.rows }

// Size returns the bytes written so far.
func (w *SegmentWriter) Size() int64 { return w.offset }

// Close writes what is left, the index and the footer, and returns the row
// that names this segment. It neither syncs nor closes the underlying writer.
// The writer is of no use afterwards.
func (w *SegmentWriter) Close() (SegmentRow, error) {
	if w.err == nil && len(w.floats) > 0 {
		w.flush()
	}
	if w.err != nil {
		return SegmentRow{}, w.err
	}
	f := footer{indexOffset: w.offset, rows: w.rows, blocks: w.blocks, uuid: w.head.uuid}
	w.buf = append(w.buf[:0], indexMagic...)
	w.buf = le.AppendUint32(w.buf, uint32(w.blocks))
	w.buf = append(append(w.buf, w.table...), w.ids...)
	f.indexLength = int64(len(w.buf))
	f.indexCRC = crc32c(salt(w.head.uuid, f.indexOffset), w.buf)
	f.fileLength = f.indexOffset + f.indexLength + partSize
	w.write(f.append(w.buf, w.first))
	if w.err != nil {
		return SegmentRow{}, w.err
	}
	w.err = invalidf("segment: closed")
	return SegmentRow{Rows: uint32(w.rows), Dim: uint32(w.head.dim), Length: uint64(w.offset), FooterCRC: f.crc}, nil
}

// flush writes the rows gathered so far as one block.
func (w *SegmentWriter) flush() {
	rows := len(w.floats) / w.head.dim
	h := blockHead{codec: w.head.codec, block: w.blocks, rows: rows, first: w.rows - rows, dim: w.head.dim}
	offset := w.offset
	w.buf = appendBlock(w.buf[:0], w.head.uuid, offset, &h, w.floats, w.ids[h.first*rowIDSize:], &w.s)
	w.table = le.AppendUint64(w.table, uint64(offset))
	w.table = le.AppendUint32(w.table, uint32(len(w.buf)))
	w.table = le.AppendUint32(w.table, uint32(rows))
	w.table = append(w.table, w.buf[60:partSize]...) // the block's checksum
	w.write(w.buf)
	w.floats = w.floats[:0]
	w.blocks++
}

func (w *SegmentWriter) write(b []byte) {
	n, err := w.w.Write(b)
	w.offset += int64(n)
	switch {
	case err != nil:
		w.err = fmt.Errorf("format: write segment %s at byte %d: %w", w.head.uuid, w.offset, err)
	case n != len(b):
		w.err = fmt.Errorf("format: write segment %s at byte %d: %w", w.head.uuid, w.offset, io.ErrShortWrite)
	}
}
