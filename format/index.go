package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// SlotOwner says whose vector a slot of an index holds.
type SlotOwner struct {
	Owner   uint32
	Version uint32
}

// DeadRow is the row of a slot that no owner names any more but that the links
// of the index still lead through.
type DeadRow struct {
	Slot uint32
	Row  []float32
}

// IndexHead opens an index file: which vector belongs into which slot. The
// links follow it. Rows of live slots are not in the file, they are those of
// the store.
type IndexHead struct {
	Kind   Kind
	Dim    uint32
	Owners []SlotOwner // by slot
	Dead   []DeadRow
}

const (
	indexFileMagic   = "GVIDX\x00\r\n"
	indexFileVersion = 1
	indexFileFixed   = 8 + 4 + 4 + 4 + 4 + 4 // magic, version, kind, dim, slots, dead
	maxIndexSlots    = math.MaxUint32 - 1
)

// AppendIndexHead appends the encoded head.
func AppendIndexHead(dst []byte, h *IndexHead) []byte {
	start := len(dst)
	le := binary.LittleEndian
	dst = append(dst, indexFileMagic...)
	dst = le.AppendUint32(dst, indexFileVersion)
	dst = le.AppendUint32(dst, uint32(h.Kind))
	dst = le.AppendUint32(dst, h.Dim)
	dst = le.AppendUint32(dst, uint32(len(h.Owners)))
	dst = le.AppendUint32(dst, uint32(len(h.Dead)))
	for _, o := range h.Owners {
		dst = le.AppendUint32(dst, o.Owner)
		dst = le.AppendUint32(dst, o.Version)
	}
	for _, d := range h.Dead {
		dst = le.AppendUint32(dst, d.Slot)
		for _, x := range d.Row {
			dst = le.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// ReadIndexHead reads and verifies the head of an index file of size bytes and
// returns where the links begin. Sizes are checked against the file before
// anything is allocated.
func ReadIndexHead(r io.ReaderAt, size int64, h *IndexHead) (links int64, err error) {
	corrupt := func(what string, args ...any) (int64, error) {
		return 0, fmt.Errorf("format: index head: %w: "+what, append([]any{ErrCorrupt}, args...)...)
	}
	if size < indexFileFixed+4 {
		return corrupt("%d bytes are too few", size)
	}
	var fixed [indexFileFixed]byte
	if _, err := r.ReadAt(fixed[:], 0); err != nil {
		return 0, fmt.Errorf("format: index head: %w", err)
	}
	le := binary.LittleEndian
	if string(fixed[:8]) != indexFileMagic {
		return corrupt("wrong magic")
	}
	if v := le.Uint32(fixed[8:]); v > indexFileVersion {
		return 0, fmt.Errorf("format: index head: %w: version %d, this build reads %d", ErrTooNew, v, indexFileVersion)
	}
	kind, dim, slots, dead := le.Uint32(fixed[12:]), le.Uint32(fixed[16:]), le.Uint32(fixed[20:]), le.Uint32(fixed[24:])
	if kind > math.MaxUint8 || dim == 0 || dim > 1<<16 || slots > maxIndexSlots || dead > slots {
		return corrupt("kind %d, dimension %d, %d slots, %d dead", kind, dim, slots, dead)
	}
	// Each factor is below 2^32 and 2^19, so the sum cannot overflow.
	total := int64(indexFileFixed) + int64(slots)*8 + int64(dead)*(4+4*int64(dim)) + 4
	if total > size {
		return corrupt("%d slots and %d dead rows do not fit into %d bytes", slots, dead, size)
	}
	buf := make([]byte, total)
	if _, err := r.ReadAt(buf, 0); err != nil && err != io.EOF {
		return 0, fmt.Errorf("format: index head: %w", err)
	}
	body, sum := buf[:total-4], le.Uint32(buf[total-4:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return corrupt("checksum %08x, want %08x", got, sum)
	}
	h.Kind, h.Dim = Kind(kind), dim
	h.Owners = make([]SlotOwner, slots)
	at := body[indexFileFixed:]
	for i := range h.Owners {
		h.Owners[i] = SlotOwner{le.Uint32(at), le.Uint32(at[4:])}
		at = at[8:]
	}
	h.Dead = make([]DeadRow, dead)
	rows := make([]float32, int(dead)*int(dim))
	for i := range h.Dead {
		d := DeadRow{Slot: le.Uint32(at), Row: rows[i*int(dim) : (i+1)*int(dim)]}
		if d.Slot >= slots {
			return corrupt("dead slot %d of %d", d.Slot, slots)
		}
		at = at[4:]
		for j := range d.Row {
			d.Row[j] = math.Float32frombits(le.Uint32(at[4*j:]))
		}
		at = at[4*dim:]
		h.Dead[i] = d
	}
	return total, nil
}
