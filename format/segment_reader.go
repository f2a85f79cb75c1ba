package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DecodeOptions bound and name what is read. The zero value is usable.
type DecodeOptions struct {
	// Path is repeated in every CorruptionError.
	Path string
	// MaxIndex is the most memory that an index may take, in bytes; a larger
	// one is ErrInvalid. 0 = no bound but the size of the file.
	MaxIndex int64
}

// SegmentReader reads one segment file. It holds the index: nine bytes per row
// and twenty per block. It is safe for concurrent use if the io.ReaderAt is.
type SegmentReader struct {
	r     io.ReaderAt
	opt   DecodeOptions
	head  header
	foot  footer
	table []byte // index entries, see blockEntry
	ids   []byte // of all rows
	pool  sync.Pool
}

// blockScratch is what one call of DecodeBlock works with.
type blockScratch struct {
	buf []byte
	planeScratch
}

// OpenSegment reads and verifies header, footer and index of a segment of size
// bytes; blocks are verified as they are read. want is the segment that should
// be there; the zero UUID accepts any. Errors are a *CorruptionError (which
// also matches ErrWrongSegment if the file is another segment's), match
// ErrTooNew, or are r's.
func OpenSegment(r io.ReaderAt, size int64, want UUID) (*SegmentReader, error) {
	return OpenSegmentOptions(r, size, want, DecodeOptions{})
}

// OpenSegmentOptions is OpenSegment with options.
func OpenSegmentOptions(r io.ReaderAt, size int64, want UUID, opt DecodeOptions) (*SegmentReader, error) {
	s := &SegmentReader{r: r, opt: opt}
	s.pool.New = func() any { return new(blockScratch) }
	if size < 2*partSize {
		return nil, s.damaged(&CorruptionError{Part: "file", Segment: want, Block: -1, Length: size, Err: errors.New("shorter than an empty segment")})
	}
	var head, foot [partSize]byte
	if err := s.read(head[:], 0, "header", -1); err != nil {
		return nil, err
	}
	h, damage, err := decodeHeader(head[:])
	if damage != nil {
		damage.Segment = want
		return nil, s.damaged(damage)
	}
	if err != nil {
		return nil, err
	}
	if want != (UUID{}) && h.uuid != want {
		return nil, s.damaged(&CorruptionError{Part: "header", Segment: want, Block: -1, Length: partSize,
			Err: fmt.Errorf("holds %s: %w", h.uuid, ErrWrongSegment)})
	}
	s.head = h
	if err := s.read(foot[:], size-partSize, "footer", -1); err != nil {
		return nil, err
	}
	if s.foot, damage = decodeFooter(foot[:], head[:], &h, size); damage != nil {
		return nil, s.damaged(damage)
	}
	return s, s.readIndex()
}

// readIndex reads the index, whose place and length are verified.
func (s *SegmentReader) readIndex() error {
	f := &s.foot
	if s.opt.MaxIndex > 0 && f.indexLength > s.opt.MaxIndex {
		return invalidf("segment %s: index of %d bytes, limit %d", s.head.uuid, f.indexLength, s.opt.MaxIndex)
	}
	if int64(int(f.indexLength)) != f.indexLength {
		return invalidf("segment %s: index of %d bytes does not fit this machine", s.head.uuid, f.indexLength)
	}
	b := make([]byte, f.indexLength)
	if err := s.read(b, f.indexOffset, "index", -1); err != nil {
		return err
	}
	damage := CorruptionError{Part: "index", Segment: s.head.uuid, Block: -1, Offset: f.indexOffset, Length: f.indexLength}
	if got := crc32c(salt(s.head.uuid, f.indexOffset), b); got != f.indexCRC {
		damage.Want, damage.Got = f.indexCRC, got
		return s.damaged(&damage)
	}
	if string(b[:4]) != indexMagic || le.Uint32(b[4:]) != uint32(f.blocks) {
		damage.Err = errors.New("not the index of these blocks")
		return s.damaged(&damage)
	}
	s.table = b[indexHead:][:f.blocks*indexEntry]
	s.ids = b[indexHead+len(s.table):]
	// Blocks must fill the space between header and index without a gap.
	at, per := int64(partSize), rowsPerBlock(s.head.dim)
	for i := range f.blocks {
		e := s.entry(i)
		if e.offset != at || e.rows != min(per, f.rows-i*per) || e.length%partSize != 0 || e.length < partSize || e.length > maxBlockLength(e.rows, s.head.dim) {
			damage.Err = fmt.Errorf("entry of block %d out of place", i)
			return s.damaged(&damage)
		}
		at += int64(e.length)
	}
	if at != f.indexOffset {
		damage.Err = errors.New("blocks do not end where the index begins")
		return s.damaged(&damage)
	}
	return nil
}

// maxBlockLength bounds what is allocated to read a block.
func maxBlockLength(rows, dim int) int {
	h := blockHead{rows: rows, dim: dim, size: 4*rows*dim + planesHead}
	return h.length()
}

// blockEntry is one line of the index.
type blockEntry struct {
	offset int64
	length int
	rows   int
	crc    uint32
}

func (s *SegmentReader) entry(i int) blockEntry {
	b := s.table[i*indexEntry:][:indexEntry]
	return blockEntry{int64(le.Uint64(b)), int(le.Uint32(b[8:])), int(le.Uint32(b[12:])), le.Uint32(b[16:])}
}

// UUID returns the segment's name.
func (s *SegmentReader) UUID() UUID { return s.head.uuid }

// Dim returns the floats per vector.
func (s *SegmentReader) Dim() int { return s.head.dim }

// Codec returns how the floats are stored.
func (s *SegmentReader) Codec() Codec { return s.head.codec }

// Rows returns the number of vectors.
func (s *SegmentReader) Rows() int { return s.foot.rows }

// Blocks returns the number of blocks.
func (s *SegmentReader) Blocks() int { return s.foot.blocks }

// BlockRows returns the rows of every block but the last, which may have
// fewer: row i is in block i/BlockRows.
func (s *SegmentReader) BlockRows() int { return rowsPerBlock(s.head.dim) }

// ID returns whose vector row i is. It panics unless 0 <= i < Rows, like an
// index into a slice.
func (s *SegmentReader) ID(i int) VectorID { return rowID(s.ids, i) }

// SegmentRow returns the row that names this file, as its writer's Close did.
// If it differs from the one in the store, the file is not the one that was
// published.
func (s *SegmentReader) SegmentRow() SegmentRow {
	return SegmentRow{Rows: uint32(s.foot.rows), Dim: uint32(s.head.dim), Length: uint64(s.foot.fileLength), FooterCRC: s.foot.crc}
}

// RawBlock says where the rows of block i stand in the file, for whoever maps
// it: rows*Dim little-endian float32 at a multiple of 64 bytes. ok is false
// unless the codec is CodecRaw. The bytes are to be verified first.
func (s *SegmentReader) RawBlock(i int) (offset int64, length int, ok bool) {
	if s.head.codec != CodecRaw || i < 0 || i >= s.foot.blocks {
		return 0, 0, false
	}
	e := s.entry(i)
	return e.offset + partSize, 4 * e.rows * s.head.dim, true
}

// DecodeBlock verifies block i and decodes its rows into dst, row after row;
// dst needs room for rows*Dim floats (BlockRows*Dim is always enough). first
// is the ordinal of the first row. It allocates nothing once warm.
func (s *SegmentReader) DecodeBlock(i int, dst []float32) (first, rows int, err error) {
	sc := s.pool.Get().(*blockScratch)
	defer s.pool.Put(sc)
	h, err := s.load(i, sc)
	if err != nil {
		return 0, 0, err
	}
	n := h.rows * h.dim
	if len(dst) < n {
		return 0, 0, invalidf("segment: block of %d floats into %d", n, len(dst))
	}
	if err := blockFloats(dst[:n], sc.buf, &h, &sc.planeScratch); err != nil {
		return 0, 0, s.blockDamage(i, err)
	}
	return h.first, h.rows, nil
}

// VerifyBlock checks the checksum of block i and that it agrees with the
// index, without decoding its floats.
func (s *SegmentReader) VerifyBlock(i int) error {
	sc := s.pool.Get().(*blockScratch)
	defer s.pool.Put(sc)
	_, err := s.load(i, sc)
	return err
}

// Verify decodes every block, and returns all damage joined. A writer that
// re-reads what it wrote needs no more.
func (s *SegmentReader) Verify() error {
	var errs []error
	dst := make([]float32, min(s.BlockRows(), s.Rows())*s.Dim())
	for i := range s.Blocks() {
		if _, _, err := s.DecodeBlock(i, dst); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Each calls fn with every row in order; vec is good until fn returns. It
// stops at the first error, which it returns.
func (s *SegmentReader) Each(fn func(row int, id VectorID, vec []float32) error) error {
	dim := s.Dim()
	dst := make([]float32, min(s.BlockRows(), s.Rows())*dim)
	for i := range s.Blocks() {
		first, rows, err := s.DecodeBlock(i, dst)
		if err != nil {
			return err
		}
		for r := range rows {
			if err := fn(first+r, s.ID(first+r), dst[r*dim:(r+1)*dim:(r+1)*dim]); err != nil {
				return err
			}
		}
	}
	return nil
}

// load reads block i into sc.buf and verifies it against its checksum, its
// offset and the index.
func (s *SegmentReader) load(i int, sc *blockScratch) (blockHead, error) {
	if i < 0 || i >= s.foot.blocks {
		return blockHead{}, invalidf("segment: block %d of %d", i, s.foot.blocks)
	}
	e := s.entry(i)
	sc.buf = resize(sc.buf, e.length)
	if err := s.read(sc.buf, e.offset, "block", i); err != nil {
		return blockHead{}, err
	}
	h, want, got, err := verifyBlock(sc.buf, s.head.uuid, e.offset)
	switch {
	case want != got:
		damage := s.blockDamage(i, nil)
		damage.Want, damage.Got = want, got
		return h, damage
	case err != nil:
		return h, s.blockDamage(i, err)
	case want != e.crc || h.block != i || h.rows != e.rows || h.dim != s.head.dim || h.codec != s.head.codec ||
		!bytes.Equal(blockIDs(sc.buf, &h), s.ids[h.first*rowIDSize:][:h.rows*rowIDSize]):
		return h, s.blockDamage(i, errBlockIndex)
	}
	return h, nil
}

func (s *SegmentReader) blockDamage(i int, err error) *CorruptionError {
	e := s.entry(i)
	return &CorruptionError{Path: s.opt.Path, Part: "block", Segment: s.head.uuid, Block: i, Offset: e.offset, Length: int64(e.length), Err: err}
}

func (s *SegmentReader) damaged(e *CorruptionError) error {
	e.Path = s.opt.Path
	return e
}

// read fills b. A file that ends early is damaged; other errors are r's.
func (s *SegmentReader) read(b []byte, offset int64, part string, block int) error {
	n, err := s.r.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return s.damaged(&CorruptionError{Part: part, Segment: s.head.uuid, Block: block, Offset: offset, Length: int64(len(b)),
			Err: fmt.Errorf("only %d bytes: %w", n, io.ErrUnexpectedEOF)})
	}
	return fmt.Errorf("format: read %s of segment %s at byte %d: %w", part, s.head.uuid, offset, err)
}
