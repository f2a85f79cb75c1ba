package format

import (
	"fmt"
	"math"
)

// Codec says how the floats of a segment are stored.
type Codec uint8

// The codecs. Both that exist are lossless to the bit, for NaNs too.
const (
	// CodecRaw stores little-endian float32 rows, 64-byte aligned in the
	// file: a mapped block can be used in place once it is verified.
	CodecRaw Codec = 0
	// CodecPlanes splits floats into byte planes and compresses those that
	// shrink: 15 % off for normalised rows, half for rows of float16 precision.
	CodecPlanes Codec = 1

	codecFloat16 Codec = 2 // reserved
	codecInt8    Codec = 3 // reserved
)

// String returns the codec's name.
func (c Codec) String() string {
	switch c {
	case CodecRaw:
		return "raw"
	case CodecPlanes:
		return "planes"
	case codecFloat16:
		return "float16"
	case codecInt8:
		return "int8"
	}
	return fmt.Sprintf("codec(%d)", uint8(c))
}

func (c Codec) known() bool { return c == CodecRaw || c == CodecPlanes }

// appendFloats appends the encoding of src, at most maxBlockFloats of them.
func (c Codec) appendFloats(dst []byte, src []float32, s *planeScratch) []byte {
	if c == CodecPlanes {
		return appendPlanes(dst, src, s)
	}
	return appendRaw(dst, src)
}

// decodeFloats fills dst with the floats in b, all of which must be used. It
// returns what is wrong with b, or "".
func (c Codec) decodeFloats(dst []float32, b []byte, s *planeScratch) string {
	if c == CodecPlanes {
		return decodePlanes(dst, b, s)
	}
	return decodeRaw(dst, b)
}

func appendRaw(dst []byte, src []float32) []byte {
	for _, x := range src {
		dst = le.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

func decodeRaw(dst []float32, b []byte) string {
	if len(b) != 4*len(dst) {
		return "length does not fit the rows"
	}
	for len(dst) >= 4 && len(b) >= 16 {
		dst[0] = math.Float32frombits(le.Uint32(b))
		dst[1] = math.Float32frombits(le.Uint32(b[4:]))
		dst[2] = math.Float32frombits(le.Uint32(b[8:]))
		dst[3] = math.Float32frombits(le.Uint32(b[12:]))
		dst, b = dst[4:], b[16:]
	}
	for i := range dst {
		dst[i] = math.Float32frombits(le.Uint32(b[4*i:]))
	}
	return ""
}
