package format

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A shard of an adjacency list holds the low 16 bits of those neighbours of an
// entity whose high 16 bits are the shard's number. It is a version byte and
// one roaring bitmap in the portable serialisation (github.com/RoaringBitmap/
// RoaringFormatSpec) with at most one container, whose key is 0:
//
//	empty  := 12346 u32 ‖ 0 u32
//	array  := 12346 u32 ‖ 1 u32 ‖ 0 u16 ‖ n-1 u16 ‖ 16 u32 ‖ value u16 [n], n <= 4096
//	bitmap := the same ‖ word u64 [1024], n > 4096
//	runs   := 12347 u16 ‖ 0 u16 ‖ 1 u8 ‖ 0 u16 ‖ n-1 u16 ‖ r u16 ‖ (start u16 ‖ length-1 u16)[r]
//
// Written is the form whose values take the fewest bytes, so that one set has
// one encoding; the others are read as well.
const (
	adjacencyVersion = 1
	cookiePlain      = 12346
	cookieRuns       = 12347
	arrayMax         = 4096
	bitmapSize       = 8192
	plainHead        = 16
	runsHead         = 11

	// MaxAdjacencySize is the most bytes that a shard takes.
	MaxAdjacencySize = 1 + plainHead + bitmapSize
)

// AppendAdjacency appends the encoding of a shard. The error matches
// ErrInvalid if the bitmap has values above 65,535.
func AppendAdjacency(dst []byte, set *roaring.Bitmap) ([]byte, error) {
	if !set.IsEmpty() && set.Maximum() > 1<<16-1 {
		return dst, invalidf("adjacency shard: value %d", set.Maximum())
	}
	return appendShard(dst, set.ToArray()), nil
}

// AppendNeighbours is AppendAdjacency for a list of neighbours that are all of
// one shard, ascending and distinct; else the error matches ErrInvalid.
func AppendNeighbours(dst []byte, list []EntityID) ([]byte, error) {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] || list[i-1]>>16 != list[i]>>16 {
			return dst, invalidf("adjacency shard: %d before %d", list[i-1], list[i])
		}
	}
	return appendShard(dst, list), nil
}

// appendShard writes the low halves of ascending values.
func appendShard[T ~uint32](dst []byte, list []T) []byte {
	dst = append(dst, adjacencyVersion)
	if len(list) == 0 {
		return le.AppendUint32(le.AppendUint32(dst, cookiePlain), 0)
	}
	runs := 1
	for i := 1; i < len(list); i++ {
		if list[i] != list[i-1]+1 {
			runs++
		}
	}
	if 2+4*runs < min(2*len(list), bitmapSize) {
		dst = le.AppendUint16(le.AppendUint16(dst, cookieRuns), 0)
		dst = le.AppendUint16(append(dst, 1), 0)
		dst = le.AppendUint16(dst, uint16(len(list)-1))
		dst = le.AppendUint16(dst, uint16(runs))
		for i := 0; i < len(list); {
			j := i + 1
			for j < len(list) && list[j] == list[j-1]+1 {
				j++
			}
			dst = le.AppendUint16(le.AppendUint16(dst, uint16(list[i])), uint16(j-i-1))
			i = j
		}
		return dst
	}
	dst = le.AppendUint32(le.AppendUint32(dst, cookiePlain), 1)
	dst = le.AppendUint16(le.AppendUint16(dst, 0), uint16(len(list)-1))
	dst = le.AppendUint32(dst, plainHead)
	if len(list) <= arrayMax {
		for _, v := range list {
			dst = le.AppendUint16(dst, uint16(v))
		}
		return dst
	}
	at := len(dst)
	dst = append(dst, make([]byte, bitmapSize)...)
	for _, v := range list {
		dst[at+int(uint16(v)>>3)] |= 1 << (v & 7)
	}
	return dst
}

// DecodeAdjacency reads a shard into set, whose former content is lost and
// which does not alias b afterwards. After an error set is empty. Errors match
// ErrCorrupt or ErrTooNew.
func DecodeAdjacency(b []byte, set *roaring.Bitmap) error {
	set.Clear()
	body, _, err := checkShard(b)
	if err != nil {
		return err
	}
	// A reader of streams copies; FromBuffer would alias b.
	n, err := set.ReadFrom(bytes.NewReader(body))
	if err == nil {
		err = set.Validate()
	}
	if err != nil || n != int64(len(body)) {
		set.Clear()
		return corruptf("adjacency shard: %d of %d bytes, %v", n, len(body), err)
	}
	return nil
}

// DecodeNeighbours appends the neighbours in shard number shard to dst, in
// ascending order. It allocates nothing but what dst needs. After an error dst
// is returned as it was. Errors match ErrCorrupt or ErrTooNew.
func DecodeNeighbours(dst []EntityID, shard uint16, b []byte) ([]EntityID, error) {
	body, n, err := checkShard(b)
	if err != nil || n == 0 {
		return dst, err
	}
	high := EntityID(shard) << 16
	dst = slices.Grow(dst, n)
	switch {
	case le.Uint16(body) == cookieRuns:
		for r := body[runsHead:]; len(r) > 0; r = r[4:] {
			first := high | EntityID(le.Uint16(r))
			for i := range EntityID(le.Uint16(r[2:])) + 1 {
				dst = append(dst, first+i)
			}
		}
	case n <= arrayMax:
		for v := body[plainHead:]; len(v) >= 2; v = v[2:] {
			dst = append(dst, high|EntityID(le.Uint16(v)))
		}
	default:
		for i := range bitmapSize / 8 {
			for w := le.Uint64(body[plainHead+8*i:]); w != 0; w &= w - 1 {
				dst = append(dst, high|EntityID(64*i+bits.TrailingZeros64(w)))
			}
		}
	}
	return dst, nil
}

// checkShard verifies everything about a shard. It returns the bitmap, which
// aliases b, and the number of its values.
func checkShard(b []byte) (body []byte, n int, err error) {
	switch {
	case len(b) < 1+8 || len(b) > MaxAdjacencySize:
		return nil, 0, corruptf("adjacency shard of %d bytes", len(b))
	case b[0] > adjacencyVersion:
		return nil, 0, &TooNewError{What: "adjacency shard", Have: adjacencyVersion, Need: uint32(b[0])}
	case b[0] != adjacencyVersion:
		return nil, 0, corruptf("adjacency shard: version %d", b[0])
	}
	body = b[1:]
	bad := ""
	switch cookie := le.Uint32(body); {
	case cookie == cookieRuns:
		n, bad = checkRuns(body)
	case cookie != cookiePlain:
		bad = "not a bitmap of one container"
	case le.Uint32(body[4:]) == 0 && len(body) == 8:
		// empty
	case le.Uint32(body[4:]) != 1 || len(body) < plainHead || le.Uint16(body[8:]) != 0 || le.Uint32(body[12:]) != plainHead:
		bad = "not one container with key 0"
	default:
		n = int(le.Uint16(body[10:])) + 1
		bad = checkPlain(body[plainHead:], n)
	}
	if bad != "" {
		return nil, 0, corruptf("adjacency shard: %s", bad)
	}
	return body, n, nil
}

// checkPlain verifies an array or a bitmap of n values.
func checkPlain(v []byte, n int) string {
	if n > arrayMax {
		if len(v) != bitmapSize {
			return "bitmap of the wrong size"
		}
		for i := 0; i < bitmapSize; i += 8 {
			n -= bits.OnesCount64(le.Uint64(v[i:]))
		}
		if n != 0 {
			return "count does not match the bitmap"
		}
		return ""
	}
	if len(v) != 2*n {
		return "array of the wrong size"
	}
	for last := -1; len(v) >= 2; v = v[2:] {
		x := int(le.Uint16(v))
		if x <= last {
			return "array out of order"
		}
		last = x
	}
	return ""
}

// checkRuns verifies a bitmap of runs that do not touch.
func checkRuns(body []byte) (n int, bad string) {
	if len(body) < runsHead || body[4] != 1 || le.Uint16(body[5:]) != 0 {
		return 0, "not one container of runs with key 0"
	}
	runs := body[runsHead:]
	if r := int(le.Uint16(body[9:])); r == 0 || len(runs) != 4*r {
		return 0, "runs of the wrong size"
	}
	for next := 0; len(runs) >= 4; runs = runs[4:] {
		start, length := int(le.Uint16(runs)), int(le.Uint16(runs[2:]))+1
		if start < next || start+length > 1<<16 {
			return 0, "runs out of order"
		}
		n += length
		next = start + length + 1
	}
	if n != int(le.Uint16(body[7:]))+1 {
		return 0, "count does not match the runs"
	}
	return n, ""
}
