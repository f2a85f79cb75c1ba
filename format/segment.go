package format

import (
	"errors"
	"fmt"
)

// Segment files (GVS1), all integers little endian:
//
//	file := header(64) block* index footer(64)
//
// FORMAT.md has the layout of each part. Every part carries a CRC32C that is
// salted with the segment's UUID and the part's offset.
const (
	segmentVersion = 1 // newest layout written and read
	partSize       = 64
	indexHead      = 8
	indexEntry     = 20
	rowIDSize      = 9 // kind u8, owner u32, version u32

	// MaxDim is the largest number of floats of one vector.
	MaxDim = 1 << 16
	// maxBlockFloats bounds a block: 256 KiB of floats, at least one row.
	maxBlockFloats = 1 << 16
	// MaxSegmentRows is the largest number of vectors of one segment.
	MaxSegmentRows = 1<<31 - 1
)

const (
	segmentMagic = "GVSEG\x00\r\n"
	footerMagic  = "GVSEGEND"
	blockMagic   = "GVBK"
	indexMagic   = "GVIX"
)

// VectorID says whose vector a row is. Versions are never reused, so that a
// row is live if and only if its owner's record names its version.
type VectorID struct {
	Kind    Kind
	Owner   uint32
	Version uint32
}

// rowsPerBlock is how many rows all blocks but the last have.
func rowsPerBlock(dim int) int { return max(1, maxBlockFloats/dim) }

func appendRowID(dst []byte, id VectorID) []byte {
	return le.AppendUint32(le.AppendUint32(append(dst, byte(id.Kind)), id.Owner), id.Version)
}

// rowID reads row i of a table of row ids that is known to have it.
func rowID(table []byte, i int) VectorID {
	b := table[i*rowIDSize:][:rowIDSize]
	return VectorID{Kind: Kind(b[0]), Owner: le.Uint32(b[1:]), Version: le.Uint32(b[5:])}
}

// header is the first part of a segment.
type header struct {
	uuid  UUID
	dim   int
	codec Codec
}

func (h *header) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, segmentMagic...)
	dst = le.AppendUint16(dst, segmentVersion) // written by
	dst = le.AppendUint16(dst, segmentVersion) // readable from
	dst = le.AppendUint32(dst, 0)              // flags
	dst = append(dst, h.uuid[:]...)
	dst = le.AppendUint32(dst, uint32(h.dim))
	dst = append(dst, byte(h.codec), 0, 0, 0) // codec, element f32, reserved
	dst = le.AppendUint32(dst, uint32(rowsPerBlock(h.dim)))
	dst = append(dst, make([]byte, partSize-4-(len(dst)-start))...)
	return le.AppendUint32(dst, crc32c(0, dst[start:]))
}

// decodeHeader checks b, which has partSize bytes.
func decodeHeader(b []byte) (header, *CorruptionError, error) {
	var h header
	bad := func(why string) (header, *CorruptionError, error) {
		return h, &CorruptionError{Part: "header", Block: -1, Length: partSize, Err: errors.New(why)}, nil
	}
	if string(b[:8]) != segmentMagic {
		return bad("not a segment")
	}
	if want, got := le.Uint32(b[60:]), crc32c(0, b[:60]); want != got {
		return h, &CorruptionError{Part: "header", Block: -1, Length: partSize, Want: want, Got: got}, nil
	}
	// The bytes are as they were written: what is unknown is newer.
	if v := le.Uint16(b[10:]); v > segmentVersion {
		return h, nil, &TooNewError{What: "segment", Have: segmentVersion, Need: uint32(v)}
	}
	if flags := le.Uint32(b[12:]) >> 16; flags != 0 {
		return h, nil, &TooNewError{What: "segment with required flags", Have: 0, Need: flags}
	}
	copy(h.uuid[:], b[16:])
	h.codec = Codec(b[36])
	if !h.codec.known() || b[37] != 0 {
		return h, nil, &TooNewError{What: "segment codec", Have: uint32(CodecPlanes), Need: uint32(b[36]) | uint32(b[37])<<8}
	}
	dim := le.Uint32(b[32:])
	if dim == 0 || dim > MaxDim {
		return bad("dimension out of range")
	}
	h.dim = int(dim)
	if le.Uint32(b[40:]) != uint32(rowsPerBlock(h.dim)) || !zero(b[38:40]) || !zero(b[44:60]) {
		return bad("reserved bytes or rows per block")
	}
	if h.uuid == (UUID{}) || le.Uint16(b[8:]) < segmentVersion || le.Uint16(b[10:]) == 0 {
		return bad("no version or no uuid")
	}
	return h, nil, nil
}

// footer is the last part of a segment.
type footer struct {
	indexOffset int64
	indexLength int64
	fileLength  int64
	rows        int
	blocks      int
	uuid        UUID
	indexCRC    uint32
	crc         uint32 // of the footer, and of the header before its own checksum
}

// append also sets crc. head is the encoded header.
func (f *footer) append(dst, head []byte) []byte {
	start := len(dst)
	dst = le.AppendUint64(dst, uint64(f.indexOffset))
	dst = le.AppendUint64(dst, uint64(f.indexLength))
	dst = le.AppendUint64(dst, uint64(f.fileLength))
	dst = le.AppendUint32(dst, uint32(f.rows))
	dst = le.AppendUint32(dst, uint32(f.blocks))
	dst = append(dst, f.uuid[:]...)
	dst = le.AppendUint32(dst, f.indexCRC)
	f.crc = footerCRC(head, dst[start:])
	return append(le.AppendUint32(dst, f.crc), footerMagic...)
}

// footerCRC binds the header to the footer. The header's own checksum stays
// out: a CRC over data followed by its CRC is the same for all data.
func footerCRC(head, foot []byte) uint32 {
	return crc32c(crc32c(0, head[:60]), foot[:52])
}

// decodeFooter checks b, the last partSize bytes of a file of size bytes whose
// header is head. It returns what is wrong.
func decodeFooter(b, head []byte, h *header, size int64) (footer, *CorruptionError) {
	var f footer
	damage := CorruptionError{Part: "footer", Segment: h.uuid, Block: -1, Offset: size - partSize, Length: partSize}
	bad := func(why string) (footer, *CorruptionError) {
		damage.Err = errors.New(why)
		return f, &damage
	}
	if string(b[56:]) != footerMagic {
		return bad("no end mark: the file is cut short or torn")
	}
	f.crc = le.Uint32(b[52:])
	if got := footerCRC(head, b); got != f.crc {
		damage.Want, damage.Got = f.crc, got
		return f, &damage
	}
	offset, length, file := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])
	rows, blocks := le.Uint32(b[24:]), le.Uint32(b[28:])
	copy(f.uuid[:], b[32:])
	f.indexCRC = le.Uint32(b[48:])
	per := uint64(rowsPerBlock(h.dim))
	switch {
	case file != uint64(size):
		return bad(fmt.Sprintf("file has %d bytes, %d were written", size, file))
	case f.uuid != h.uuid:
		return bad("uuid differs from the header's")
	case rows > MaxSegmentRows || uint64(blocks) != (uint64(rows)+per-1)/per:
		return bad("number of blocks does not fit the rows")
	case length != uint64(blocks)*indexEntry+uint64(rows)*rowIDSize+indexHead:
		return bad("length of the index does not fit the rows")
	case offset < partSize || offset > file || offset+length+partSize != file:
		return bad("index out of place")
	}
	f.indexOffset, f.indexLength, f.fileLength = int64(offset), int64(length), size
	f.rows, f.blocks = int(rows), int(blocks)
	return f, nil
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
