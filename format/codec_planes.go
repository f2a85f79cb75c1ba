package format

import (
	"bytes"
	"math"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// Codec 1. Each float, as a word rotated left by one bit, has its exponent in
// byte 3 and its sign below the low end of the mantissa in byte 0. Byte p of
// all words makes plane p. Exponents of embeddings have about three bits of
// entropy; the mantissa is noise, unless the rows were computed with less
// precision than they are stored with. So each plane is coded on its own:
//
//	data := method u8 [4] ‖ length u32 [4] ‖ plane 0 ‖ .. ‖ plane 3
//
// The entropy coder is Huffman without matches: there are none to find.
const planesHead = 4 + 4*4

// Methods of a plane.
const (
	planeRaw      = 0 // one byte per float
	planeConstant = 1 // one byte that all have
	planeHuffman  = 2 // huff0: table, four streams
)

// planeScratch is the memory that one coder or decoder reuses.
type planeScratch struct {
	planes [4][]byte
	huff   *huff0.Scratch
}

// grow makes room for planes of n bytes and returns them.
func (s *planeScratch) grow(n int) *[4][]byte {
	for p := range s.planes {
		s.planes[p] = resize(s.planes[p], n)
	}
	return &s.planes
}

func appendPlanes(dst []byte, src []float32, s *planeScratch) []byte {
	planes := s.grow(len(src))
	splitPlanes(planes, src)
	head := len(dst)
	dst = append(dst, make([]byte, planesHead)...)
	for p, plane := range planes {
		method, body := compressPlane(plane, s)
		dst[head+p] = method
		le.PutUint32(dst[head+4+4*p:], uint32(len(body)))
		dst = append(dst, body...)
	}
	return dst
}

// compressPlane returns the shortest form of a plane. The result is good
// until s is used again.
func compressPlane(plane []byte, s *planeScratch) (method byte, body []byte) {
	if len(plane) > 1 && bytes.Count(plane, plane[:1]) == len(plane) {
		return planeConstant, plane[:1]
	}
	if s.huff == nil {
		s.huff = &huff0.Scratch{}
	}
	s.huff.Reuse = huff0.ReusePolicyNone
	out, _, err := huff0.Compress4X(plane, s.huff)
	if err != nil || len(out) >= len(plane) {
		return planeRaw, plane // an error here means: does not shrink
	}
	return planeHuffman, out
}

func decodePlanes(dst []float32, b []byte, s *planeScratch) string {
	if len(b) < planesHead {
		return "planes cut short"
	}
	head, b := b[:planesHead], b[planesHead:]
	n := len(dst)
	own := s.grow(n)
	var planes [4][]byte
	for p := range planes {
		size := uint64(le.Uint32(head[4+4*p:]))
		if size > uint64(len(b)) {
			return "plane longer than the block"
		}
		body := b[:size]
		b = b[size:]
		switch method := head[p]; {
		case method == planeRaw && len(body) == n:
			planes[p] = body
		case method == planeConstant && len(body) == 1:
			planes[p] = own[p]
			fill(own[p], body[0])
		case method == planeHuffman && len(body) < n:
			if !expandPlane(own[p], body, s) {
				return "plane does not decode"
			}
			planes[p] = own[p]
		default:
			return "unknown method or length of a plane"
		}
	}
	if len(b) > 0 {
		return "bytes after the last plane"
	}
	joinPlanes(dst, &planes)
	return ""
}

func expandPlane(dst, body []byte, s *planeScratch) bool {
	huff, rest, err := huff0.ReadTable(body, s.huff)
	if err != nil {
		s.huff = nil
		return false
	}
	s.huff = huff
	out, err := huff.Decoder().Decompress4X(dst[:0:len(dst)], rest)
	return err == nil && len(out) == len(dst) && (len(dst) == 0 || &out[0] == &dst[0])
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

func splitPlanes(planes *[4][]byte, src []float32) {
	n := len(src)
	p0, p1, p2, p3 := planes[0][:n], planes[1][:n], planes[2][:n], planes[3][:n]
	for i, x := range src {
		w := bits.RotateLeft32(math.Float32bits(x), 1)
		p0[i], p1[i], p2[i], p3[i] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
	}
}

// joinPlanes is the inverse of splitPlanes. Eight floats a turn, whose bounds
// are checked once: 2.5 times as fast as widening 64-bit lanes by shift and
// mask.
func joinPlanes(dst []float32, planes *[4][]byte) {
	n := len(dst)
	p0, p1, p2, p3 := planes[0][:n], planes[1][:n], planes[2][:n], planes[3][:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		a, b, c, d := (*[8]byte)(p0[i:]), (*[8]byte)(p1[i:]), (*[8]byte)(p2[i:]), (*[8]byte)(p3[i:])
		out := (*[8]float32)(dst[i:])
		out[0] = joinBytes(a[0], b[0], c[0], d[0])
		out[1] = joinBytes(a[1], b[1], c[1], d[1])
		out[2] = joinBytes(a[2], b[2], c[2], d[2])
		out[3] = joinBytes(a[3], b[3], c[3], d[3])
		out[4] = joinBytes(a[4], b[4], c[4], d[4])
		out[5] = joinBytes(a[5], b[5], c[5], d[5])
		out[6] = joinBytes(a[6], b[6], c[6], d[6])
		out[7] = joinBytes(a[7], b[7], c[7], d[7])
	}
	for ; i < n; i++ {
		dst[i] = joinBytes(p0[i], p1[i], p2[i], p3[i])
	}
}

func joinBytes(a, b, c, d byte) float32 {
	w := uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24
	return math.Float32frombits(bits.RotateLeft32(w, -1))
}
