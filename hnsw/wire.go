package hnsw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// Both files of this package begin with a header of headerSize bytes: magic (8), version (2), oldest version
// whose readers understand it (2), flags (4, zero), 44 bytes of the file's own, CRC32C of all that (4).
// Blocks follow, each with its CRC32C, which also covers the header's checksum and the block's number: a block
// of another file, or of another place, does not pass. All integers are little-endian.
const (
	headerSize    = 64
	formatVersion = 1
	crcSize       = 4
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)

func putHeader(magic string, own []byte) []byte {
	h := make([]byte, headerSize)
	copy(h, magic)
	le.PutUint16(h[8:], formatVersion)
	le.PutUint16(h[10:], formatVersion)
	copy(h[16:60], own)
	le.PutUint32(h[60:], crc32.Checksum(h[:60], castagnoli))
	return h
}

// blockSum is the checksum of a block, salted with what file it is in and where.
func blockSum(salt uint32, number int, payload []byte) uint32 {
	var place [12]byte
	le.PutUint32(place[:], salt)
	le.PutUint64(place[4:], uint64(number))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, payload)
}

type blockWriter struct {
	w      io.Writer
	salt   uint32
	number int
}

func newBlockWriter(w io.Writer, header []byte) (*blockWriter, error) {
	_, err := w.Write(header)
	return &blockWriter{w: w, salt: le.Uint32(header[60:])}, err
}

// write appends the checksum to payload and writes both. It returns the buffer, emptied, for reuse.
func (b *blockWriter) write(payload []byte) ([]byte, error) {
	payload = le.AppendUint32(payload, blockSum(b.salt, b.number, payload))
	b.number++
	_, err := b.w.Write(payload)
	return payload[:0], err
}

type blockReader struct {
	r      io.ReaderAt
	off    int64
	size   int64
	salt   uint32
	number int
	buf    []byte
}

// openBlocks checks a header and returns its own bytes.
func openBlocks(r io.ReaderAt, size int64, magic string) (*blockReader, []byte, error) {
	b := &blockReader{r: r, size: size}
	if size < headerSize {
		return nil, nil, b.corrupt("header", "too short", nil)
	}
	h := make([]byte, headerSize)
	if err := b.readAt(h, "header"); err != nil {
		return nil, nil, err
	}
	if string(h[:8]) != magic {
		return nil, nil, b.corrupt("header", "not such a file", nil)
	}
	if le.Uint32(h[60:]) != crc32.Checksum(h[:60], castagnoli) {
		return nil, nil, b.corrupt("header", "checksum", nil)
	}
	if oldest := le.Uint16(h[10:]); oldest > formatVersion {
		return nil, nil, fmt.Errorf("hnsw: load: %w: needs format %d, this reads %d", ErrTooNew, oldest, formatVersion)
	}
	if le.Uint32(h[12:]) != 0 {
		return nil, nil, b.corrupt("header", "unknown flags", nil)
	}
	b.off, b.salt = headerSize, le.Uint32(h[60:])
	return b, h[16:60], nil
}

func (b *blockReader) corrupt(part, reason string, err error) error {
	return &CorruptionError{Part: part, Offset: b.off, Reason: reason, Err: err}
}

// readAt fills p from the current place, which it leaves where it is.
func (b *blockReader) readAt(p []byte, part string) error {
	n, err := b.r.ReadAt(p, b.off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return b.corrupt(part, "shorter than it says", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("hnsw: load %s: %w", part, err)
}

// next reads and checks a block of n bytes, valid until the next call. Nothing is allocated for bytes
// that the file does not have.
func (b *blockReader) next(part string, n int64) ([]byte, error) {
	if n > b.size-b.off-crcSize {
		return nil, b.corrupt(part, "beyond the end", nil)
	}
	if total := n + crcSize; int64(cap(b.buf)) < total {
		b.buf = make([]byte, total)
	}
	p := b.buf[:n+crcSize]
	if err := b.readAt(p, part); err != nil {
		return nil, err
	}
	if le.Uint32(p[n:]) != blockSum(b.salt, b.number, p[:n]) {
		return nil, b.corrupt(part, "checksum", nil)
	}
	b.number++
	b.off += n + crcSize
	return p[:n], nil
}

func appendRow(p []byte, row []float32) []byte {
	for _, x := range row {
		p = le.AppendUint32(p, math.Float32bits(x))
	}
	return p
}

// blocks calls f with the bounds of each run of chunkSlots slots below n.
func blocks(n uint32, f func(from, to uint32) error) error {
	for from := uint32(0); from < n; {
		to := from + min(chunkSlots, n-from)
		if err := f(from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}
