package format

import (
	"encoding/binary"
	"math/bits"
)

// Wire types of a tagged field: how many bytes its value has.
const (
	wireVarint = 0 // minimal uvarint; signed values zigzag
	wireFixed8 = 1 // 8 bytes, little endian
	wireBytes  = 2 // uvarint length, bytes
)

var le = binary.LittleEndian

func appendTag(dst []byte, field, wire int) []byte {
	return binary.AppendUvarint(dst, uint64(field)<<3|uint64(wire))
}

func appendUint(dst []byte, field int, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return binary.AppendUvarint(appendTag(dst, field, wireVarint), v)
}

func appendInt(dst []byte, field int, v int64) []byte {
	return appendUint(dst, field, zigzag(v))
}

func appendBool(dst []byte, field int, v bool) []byte {
	if !v {
		return dst
	}
	return appendUint(dst, field, 1)
}

func appendFixed8(dst []byte, field int, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return le.AppendUint64(appendTag(dst, field, wireFixed8), v)
}

func appendString(dst []byte, field int, s string) []byte {
	if s == "" {
		return dst
	}
	return appendText(appendTag(dst, field, wireBytes), s)
}

func appendHash(dst []byte, field int, h *[32]byte) []byte {
	if *h == ([32]byte{}) {
		return dst
	}
	return append(append(appendTag(dst, field, wireBytes), 32), h[:]...)
}

// appendStrings writes a list: uvarint count, then each string with its length.
func appendStrings(dst []byte, field int, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	size := uvarintLen(uint64(len(list)))
	for _, s := range list {
		size += textLen(s)
	}
	dst = appendBytesHead(dst, field, size)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, s := range list {
		dst = appendText(dst, s)
	}
	return dst
}

// appendBytesHead writes the tag and length of a bytes field of size bytes,
// which the caller appends.
func appendBytesHead(dst []byte, field, size int) []byte {
	return binary.AppendUvarint(appendTag(dst, field, wireBytes), uint64(size))
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func textLen(s string) int { return uvarintLen(uint64(len(s))) + len(s) }

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// cut is a cursor over untrusted bytes. After the first failure every read
// returns zero and bad says what was wrong, so that callers check once.
type cut struct {
	b   []byte
	bad string
}

func (c *cut) fail(why string) {
	if c.bad == "" {
		c.bad = why
	}
	c.b = nil
}

// uvarint reads a minimal uvarint: one value has one encoding.
func (c *cut) uvarint() uint64 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		v := uint64(c.b[0])
		c.b = c.b[1:]
		return v
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 || c.b[n-1] == 0 {
		c.fail("bad varint")
		return 0
	}
	c.b = c.b[n:]
	return v
}

// upto reads a uvarint that may be at most limit.
func (c *cut) upto(limit uint64) uint64 {
	v := c.uvarint()
	if v > limit {
		c.fail("value out of range")
		return 0
	}
	return v
}

// count reads a number of items that take at least size bytes each, so that
// what a caller allocates for them is bounded by the bytes that are there.
func (c *cut) count(size int) int {
	n := c.uvarint()
	if n > uint64(len(c.b)/size) {
		c.fail("count exceeds the bytes")
		return 0
	}
	return int(n)
}

func (c *cut) byte() byte {
	if len(c.b) == 0 {
		c.fail("truncated")
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

// take returns the next n bytes, which alias the input.
func (c *cut) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.fail("truncated")
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

// text reads a string with its length. It returns old if that is equal, which
// saves the copy when a struct is decoded over and over.
func (c *cut) text(old string) string {
	b := c.take(c.uvarint())
	if string(b) == old {
		return old
	}
	return string(b)
}

// fields walks the tagged fields of one record.
type fields struct {
	cut
	version byte
	field   int
	wire    int
}

// openFields checks the version byte of a record.
func openFields(b []byte) fields {
	f := fields{cut: cut{b: b}}
	f.version = f.byte()
	if f.bad == "" && f.version != RecordVersion {
		f.fail("version")
	}
	return f
}

// next moves to the next field, and reports whether there is one.
func (f *fields) next() bool {
	if len(f.b) == 0 {
		return false
	}
	tag := f.upto(1<<32 - 1)
	field := int(tag >> 3)
	switch {
	case f.bad != "":
		return false
	case field <= f.field:
		f.fail("field out of order")
		return false
	}
	f.field, f.wire = field, int(tag&7)
	return true
}

// skip passes over a field that this version does not know.
func (f *fields) skip() {
	switch f.wire {
	case wireVarint:
		f.cut.uvarint()
	case wireFixed8:
		f.take(8)
	case wireBytes:
		f.take(f.cut.uvarint())
	default:
		f.fail("unknown wire type")
	}
}

// want checks the wire type of the current field.
func (f *fields) want(wire int) bool {
	if f.wire != wire {
		f.fail("wrong wire type")
		return false
	}
	return true
}

// uint reads a value of 1 to limit: zero is written as no field at all.
func (f *fields) uint(limit uint64) uint64 {
	if !f.want(wireVarint) {
		return 0
	}
	v := f.upto(limit)
	if v == 0 {
		f.fail("zero field")
	}
	return v
}

func (f *fields) uint64() uint64 { return f.uint(1<<64 - 1) }
func (f *fields) uint32() uint32 { return uint32(f.uint(1<<32 - 1)) }
func (f *fields) uint8() uint8   { return uint8(f.uint(1<<8 - 1)) }
func (f *fields) int64() int64   { return unzigzag(f.uint64()) }
func (f *fields) bool() bool     { return f.uint(1) == 1 }

func (f *fields) fixed8() uint64 {
	if !f.want(wireFixed8) {
		return 0
	}
	b := f.take(8)
	if b == nil {
		return 0
	}
	v := le.Uint64(b)
	if v == 0 {
		f.fail("zero field")
	}
	return v
}

// bytes returns the current field, which aliases the input and is not empty.
func (f *fields) bytes() []byte {
	if !f.want(wireBytes) {
		return nil
	}
	b := f.take(f.cut.uvarint())
	if len(b) == 0 {
		f.fail("empty field")
	}
	return b
}

func (f *fields) string(old string) string {
	b := f.bytes()
	if string(b) == old {
		return old
	}
	return string(b)
}

func (f *fields) hash() (h [32]byte) {
	b := f.bytes()
	if f.bad == "" && len(b) != len(h) {
		f.fail("hash is not 32 bytes")
	}
	copy(h[:], b)
	if f.bad == "" && h == ([32]byte{}) {
		f.fail("zero field")
	}
	return h
}

// list opens a bytes field that begins with the count of its items, each of at
// least size bytes. The caller reads them from the cursor and gives that to
// endList.
func (f *fields) list(size int) (cut, int) {
	c := cut{b: f.bytes()}
	n := c.count(size)
	if n == 0 {
		c.fail("empty list")
	}
	return c, n
}

func (f *fields) endList(c *cut) {
	if c.bad == "" && len(c.b) > 0 {
		c.fail("bytes after the last item")
	}
	if c.bad != "" {
		f.fail(c.bad)
	}
}

// strings reads a list into the capacity of dst.
func (f *fields) strings(dst []string) []string {
	c, n := f.list(1)
	dst = resize(dst, n)
	for i := range dst {
		dst[i] = c.text(dst[i])
	}
	f.endList(&c)
	return dst
}

// close returns the error of the walk, if any.
func (f *fields) close(what string) error {
	switch {
	case f.bad == "":
		return nil
	case f.bad == "version" && f.version > RecordVersion:
		return &TooNewError{What: what, Have: uint32(RecordVersion), Need: uint32(f.version)}
	case f.bad == "version":
		return corruptf("%s: version %d", what, f.version)
	}
	return corruptf("%s: field %d: %s", what, f.field, f.bad)
}

// resize returns a slice of length n that keeps the elements and the storage
// of s as far as they go.
func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	out := make([]T, n)
	copy(out, s[:cap(s)])
	return out
}
