package format

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// A seal is written when a store is closed, and removed before it is written
// to again. It lists every file, so that one that is missing, cut short or
// altered is noticed before the key-value store opens: that store takes a
// damaged list of its files for a shorter one. Little endian:
//
//	magic "GVSEAL\r\n" ‖ version u32 ‖ commit u64 ‖ documents, chunks, entities,
//	relations, fragments, segments, sum u64 ‖ files u32 ‖ file* ‖ crc u32
//	file := name length u16 ‖ name ‖ size u64 ‖ has crc u8 ‖ [crc u32]
//
// Files ascend by name. The last field is the CRC32C of all before it.
const (
	sealMagic   = "GVSEAL\r\n"
	sealVersion = 1
	sealFixed   = 8 + 4 + 8*8 + 4
)

// Seal is the state of a cleanly closed store.
type Seal struct {
	Commit    uint64 // sequence of the last commit
	Documents uint64 // counts, and Sum, as in Counters
	Chunks    uint64
	Entities  uint64
	Relations uint64
	Fragments uint64
	Segments  uint64
	Sum       uint64
	Files     []SealedFile
}

// SealedFile is one file of a sealed store.
type SealedFile struct {
	Name   string // relative to the store, with forward slashes
	Size   int64
	CRC    uint32 // CRC32C of its bytes, if HasCRC
	HasCRC bool   // false for files that carry checksums themselves
}

// numbers lists the fixed fields in the order of the bytes.
func (s *Seal) numbers() [8]*uint64 {
	return [8]*uint64{&s.Commit, &s.Documents, &s.Chunks, &s.Entities, &s.Relations, &s.Fragments, &s.Segments, &s.Sum}
}

// AppendSeal appends the encoding of s to dst. Files may be in any order. The
// error matches ErrInvalid if two have one name, a name is empty or longer than
// 65,535 bytes, a size is negative, or there is a CRC without HasCRC.
func AppendSeal(dst []byte, s *Seal) ([]byte, error) {
	files := slices.Clone(s.Files)
	slices.SortFunc(files, func(a, b SealedFile) int { return cmp.Compare(a.Name, b.Name) })
	for i, f := range files {
		switch {
		case f.Name == "" || len(f.Name) > math.MaxUint16 || i > 0 && f.Name == files[i-1].Name:
			return dst, invalidf("seal: file name %.100q", f.Name)
		case f.Size < 0 || !f.HasCRC && f.CRC != 0:
			return dst, invalidf("seal: file %q of %d bytes, checksum %08x", f.Name, f.Size, f.CRC)
		}
	}
	start := len(dst)
	dst = append(dst, sealMagic...)
	dst = le.AppendUint32(dst, sealVersion)
	for _, n := range s.numbers() {
		dst = le.AppendUint64(dst, *n)
	}
	dst = le.AppendUint32(dst, uint32(len(files)))
	for _, f := range files {
		dst = append(le.AppendUint16(dst, uint16(len(f.Name))), f.Name...)
		dst = le.AppendUint64(dst, uint64(f.Size))
		if f.HasCRC {
			dst = le.AppendUint32(append(dst, 1), f.CRC)
		} else {
			dst = append(dst, 0)
		}
	}
	return le.AppendUint32(dst, crc32c(0, dst[start:])), nil
}

// DecodeSeal reads what AppendSeal wrote. Errors are a *CorruptionError or
// match ErrTooNew; s is then of no use.
func DecodeSeal(b []byte, s *Seal) error {
	*s = Seal{}
	damage := CorruptionError{Part: "seal", Block: -1, Length: int64(len(b))}
	body, why, err := checkSeal(b, &damage)
	switch {
	case err != nil:
		return err
	case why == "":
		why = s.decode(body)
	}
	if why != "" {
		damage.Err = errors.New(why)
		return &damage
	}
	return nil
}

// checkSeal verifies what stays the same in all versions, and returns what
// lies between the version and the checksum.
func checkSeal(b []byte, damage *CorruptionError) (body []byte, why string, err error) {
	if len(b) < sealFixed+4 {
		return nil, "cut short", nil
	}
	if string(b[:len(sealMagic)]) != sealMagic {
		return nil, "not a seal", nil
	}
	body, sum := b[:len(b)-4], le.Uint32(b[len(b)-4:])
	if got := crc32c(0, body); got != sum {
		damage.Want, damage.Got = sum, got
		return nil, "", damage
	}
	switch v := le.Uint32(body[8:]); {
	case v > sealVersion:
		return nil, "", &TooNewError{What: "seal", Have: sealVersion, Need: v}
	case v == 0:
		return nil, "version 0", nil
	}
	return body[12:], "", nil
}

// decode reads the body of version 1.
func (s *Seal) decode(b []byte) string {
	c := cut{b: b}
	for _, n := range s.numbers() {
		*n = c.fixed(8)
	}
	n := c.fixed(4)
	if n > uint64(len(c.b)/(2+1+8+1)) {
		return "more files than bytes"
	}
	if n > 0 {
		s.Files = make([]SealedFile, n)
	}
	for i := range s.Files {
		f := &s.Files[i]
		f.Name = string(c.take(c.fixed(2)))
		size := c.fixed(8)
		if size > math.MaxInt64 || f.Name == "" || i > 0 && f.Name <= s.Files[i-1].Name {
			c.fail("file out of order or without name or size")
		}
		f.Size = int64(size)
		switch c.byte() {
		case 0:
		case 1:
			f.HasCRC, f.CRC = true, uint32(c.fixed(4))
		default:
			c.fail("unknown flag of a file")
		}
		if c.bad != "" {
			return c.bad
		}
	}
	if c.bad == "" && len(c.b) > 0 {
		c.fail("bytes after the last file")
	}
	return c.bad
}

// fixed reads a little-endian integer of n <= 8 bytes.
func (c *cut) fixed(n int) uint64 {
	var w [8]byte
	copy(w[:], c.take(uint64(n)))
	return le.Uint64(w[:])
}
