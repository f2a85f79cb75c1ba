package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// SlotOwner says whose vector a slot of an index holds, and what it was.
type SlotOwner struct {
	Owner   uint32
	Version uint32
	Sum     uint32 // VectorSum
}

// IndexHead is the store's part of an index file: which vector belongs into
// which slot. The vectors themselves are those of the store.
type IndexHead struct {
	Kind  Kind
	Dim   uint32
	Slots []SlotOwner
}

const (
	indexHeadMagic   = "GVIDX\x00\r\n"
	indexHeadVersion = 2
	indexHeadFixed   = 8 + 4 + 4 + 4 + 4 // magic, version, kind, dim, slots
	slotOwnerSize    = 12
	maxIndexSlots    = math.MaxUint32 - 1
)

// VectorSum is the CRC32C of a vector in little-endian numbers: it tells an
// index whether a vector is the one that it was made of.
func VectorSum(v []float32) uint32 {
	var buf [1024]byte
	sum := uint32(0)
	for len(v) > 0 {
		n := min(len(v), len(buf)/4)
		for i, x := range v[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(x))
		}
		sum = crc32.Update(sum, castagnoli, buf[:4*n])
		v = v[n:]
	}
	return sum
}

// AppendIndexHead appends the encoded head.
func AppendIndexHead(dst []byte, h *IndexHead) []byte {
	start := len(dst)
	le := binary.LittleEndian
	dst = append(dst, indexHeadMagic...)
	dst = le.AppendUint32(dst, indexHeadVersion)
	dst = le.AppendUint32(dst, uint32(h.Kind))
	dst = le.AppendUint32(dst, h.Dim)
	dst = le.AppendUint32(dst, uint32(len(h.Slots)))
	for _, o := range h.Slots {
		dst = le.AppendUint32(dst, o.Owner)
		dst = le.AppendUint32(dst, o.Version)
		dst = le.AppendUint32(dst, o.Sum)
	}
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// ReadIndexHead decodes and verifies the head, which is all of b.
func ReadIndexHead(b []byte, h *IndexHead) error {
	corrupt := func(what string, args ...any) error {
		return fmt.Errorf("format: index head: %w: "+what, append([]any{ErrCorrupt}, args...)...)
	}
	if len(b) < indexHeadFixed+4 {
		return corrupt("%d bytes are too few", len(b))
	}
	le := binary.LittleEndian
	if string(b[:8]) != indexHeadMagic {
		return corrupt("wrong magic")
	}
	body, sum := b[:len(b)-4], le.Uint32(b[len(b)-4:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return corrupt("checksum %08x, want %08x", got, sum)
	}
	switch v := le.Uint32(b[8:]); {
	case v > indexHeadVersion:
		return fmt.Errorf("format: index head: %w: version %d, this build reads %d", ErrTooNew, v, indexHeadVersion)
	case v < indexHeadVersion:
		return corrupt("version %d", v)
	}
	kind, dim, slots := le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint32(b[20:])
	if kind > math.MaxUint8 || dim == 0 || dim > 1<<16 || slots > maxIndexSlots {
		return corrupt("kind %d, dimension %d, %d slots", kind, dim, slots)
	}
	if want := indexHeadFixed + slotOwnerSize*int64(slots) + 4; want != int64(len(b)) {
		return corrupt("%d bytes for %d slots, want %d", len(b), slots, want)
	}
	h.Kind, h.Dim = Kind(kind), dim
	h.Slots = make([]SlotOwner, slots)
	at := body[indexHeadFixed:]
	for i := range h.Slots {
		h.Slots[i] = SlotOwner{le.Uint32(at), le.Uint32(at[4:]), le.Uint32(at[8:])}
		at = at[slotOwnerSize:]
	}
	return nil
}
