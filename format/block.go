package format

import "errors"

// A block is a header of 64 bytes, the coded floats of its rows, the ids of
// its rows, and zeros up to a multiple of 64. It can be read with nothing but
// the segment's UUID and its own offset, so that a file without its header,
// index or footer still gives up every sound block.
//
//	magic "GVBK" ‖ codec u8 ‖ 0 u8[3] ‖ block u32 ‖ rows u32 ‖ first row u32
//	‖ dim u32 ‖ floats length u32 ‖ 0 [32] ‖ crc u32

// blockHead is the fixed part of a block.
type blockHead struct {
	codec Codec
	block int
	rows  int
	first int // ordinal of the first row
	dim   int
	size  int // bytes of coded floats
}

// length is that of the whole block in the file.
func (h *blockHead) length() int {
	n := partSize + h.size + h.rows*rowIDSize
	return (n + partSize - 1) &^ (partSize - 1)
}

// appendBlock appends a block that will stand at offset. floats has
// len(ids)/rowIDSize rows. h.size is filled in.
func appendBlock(dst []byte, uuid UUID, offset int64, h *blockHead, floats []float32, ids []byte, s *planeScratch) []byte {
	start := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, byte(h.codec), 0, 0, 0)
	dst = le.AppendUint32(dst, uint32(h.block))
	dst = le.AppendUint32(dst, uint32(h.rows))
	dst = le.AppendUint32(dst, uint32(h.first))
	dst = le.AppendUint32(dst, uint32(h.dim))
	dst = append(dst, make([]byte, partSize-24)...)
	body := len(dst)
	dst = h.codec.appendFloats(dst, floats, s)
	h.size = len(dst) - body
	le.PutUint32(dst[start+24:], uint32(h.size))
	dst = append(dst, ids...)
	dst = append(dst, make([]byte, h.length()-(len(dst)-start))...)
	le.PutUint32(dst[start+60:], blockCRC(uuid, offset, dst[start:]))
	return dst
}

func blockCRC(uuid UUID, offset int64, b []byte) uint32 {
	return crc32c(crc32c(salt(uuid, offset), b[:60]), b[partSize:])
}

var (
	errBlockMagic  = errors.New("not a block")
	errBlockHead   = errors.New("block header out of range")
	errBlockLength = errors.New("length does not fit the header")
	errBlockPad    = errors.New("padding is not zero")
	errBlockFloats = errors.New("floats do not decode")
	errBlockIndex  = errors.New("block differs from the index")
)

// decodeBlockHead reads the fixed part of a block from at least partSize
// bytes. Its numbers are in range and small, but not yet verified.
func decodeBlockHead(b []byte) (blockHead, error) {
	var h blockHead
	if string(b[:4]) != blockMagic {
		return h, errBlockMagic
	}
	block, rows, first := le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])
	dim, size := le.Uint32(b[20:]), le.Uint32(b[24:])
	h.codec = Codec(b[4])
	switch {
	case !h.codec.known() || !zero(b[5:8]) || !zero(b[28:60]):
		return h, errBlockHead
	case dim == 0 || dim > MaxDim || rows == 0 || rows > uint32(rowsPerBlock(int(dim))):
		return h, errBlockHead
	case first > MaxSegmentRows || uint64(first) != uint64(block)*uint64(rowsPerBlock(int(dim))):
		return h, errBlockHead
	case uint64(size) > 4*uint64(rows)*uint64(dim)+planesHead:
		return h, errBlockHead
	}
	h.block, h.rows, h.first, h.dim, h.size = int(block), int(rows), int(first), int(dim), int(size)
	return h, nil
}

// verifyBlock checks that b is one whole block and that its checksum is right.
// want and got are the checksums if they differ.
func verifyBlock(b []byte, uuid UUID, offset int64) (h blockHead, want, got uint32, err error) {
	if len(b) < partSize {
		return h, 0, 0, errBlockLength
	}
	want, got = le.Uint32(b[60:]), blockCRC(uuid, offset, b)
	if want != got {
		return h, want, got, nil
	}
	if h, err = decodeBlockHead(b); err != nil {
		return h, want, got, err
	}
	if h.length() != len(b) {
		return h, want, got, errBlockLength
	}
	if !zero(b[partSize+h.size+h.rows*rowIDSize:]) {
		return h, want, got, errBlockPad
	}
	return h, want, got, nil
}

// blockIDs returns the ids of the rows of a verified block.
func blockIDs(b []byte, h *blockHead) []byte {
	return b[partSize+h.size:][:h.rows*rowIDSize]
}

// blockFloats decodes the rows of a verified block into dst, which has
// rows*dim floats.
func blockFloats(dst []float32, b []byte, h *blockHead, s *planeScratch) error {
	if bad := h.codec.decodeFloats(dst, b[partSize:][:h.size], s); bad != "" {
		return errBlockFloats
	}
	return nil
}
