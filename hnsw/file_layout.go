package hnsw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// A file of this package is an image of memory that says itself where everything is:
//
//	header     512 bytes: options, counts, a table of sections, a checksum
//	sections   from multiples of 64 bytes; those of 64 KiB and more from multiples of 16 KiB, so that they can be mapped
//	sums       the CRC32C of each MiB of each section, in order of the table, but of each 32 lists of layer 0; rows have
//	           theirs elsewhere
//	footer     32 bytes: the CRC32C of sums and of the header, the length of the file, a checksum
//
// All numbers are little-endian, gaps are zeros. Everything before sums is known before anything is written, so that a
// file is written in one go; and a file that ends too soon has no footer. Offsets and lengths of sections follow from
// the rest of the header. They are in it for whoever looks at a file without knowing what this package does.
//
// What a section holds, with slots and mark from the header, n = ceil(slots/64), and m = Options.M:
//
//	lost       float32[n]: per 64 slots, the most that a code of them is off
//	dead       uint64[n]: one bit per slot; in a file of an Index everything that is not in the newest version
//	free       uint64[n]: those of the dead that no list names and that name nobody
//	twins      (slot, next uint32)*, by slot: chains of slots with the same row, of which only the first is a node
//	upper      uint32: one zero, then the lists above layer 0, by slot, from layer 1 up: count, m slots
//	own        bytes of the caller
//	ids        uint64[slots], of an Index
//	links      uint32[mark][2m]: count, 2m-1 slots; the count has its highest bit set where a chain of twins begins
//	codes      [slots][dim rounded up to 64], where the header says so
//	rows       float32[slots][dim], of an Index
//	row sums   uint32[slots]: the CRC32C of each row
//
// How many upper layers a slot has follows from the seed. Words of lists behind the count are zeros.
type section uint8

const (
	secLost section = iota
	secDead
	secFree
	secTwins
	secUpper
	secOwn
	secIDs
	secLinks
	secCodes
	secRows
	secRowSums
	sections
)

var sectionNames = [sections]string{
	"lost", "dead", "free", "twins", "upper layers", "owner's part", "ids", "links", "codes", "rows", "row sums",
}

func (s section) String() string { return sectionNames[s] }

const (
	fileMagic   = "HNSW\r\n\x1a\n"
	footerMagic = "\nHNSWend"
	fileVersion = 1

	headerSize = 512
	tableAt    = 96
	entrySize  = 24 // of the table: section, size of its numbers, offset, length
	footerSize = 32
	crcSize    = 4

	fileBlock   = 1 << 20 // bytes that one checksum covers, but of links
	listBlock   = 32      // lists of layer 0 that one checksum covers: with M 16 a page, so that what is read in is verified
	smallAlign  = 64
	mapAlign    = 16 << 10 // a multiple of the page sizes in use
	mappedFrom  = 64 << 10 // bytes from which a section is worth mapping
	codesOfUnit = 1        // the kind of codes that codes.go makes
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
	ne         = binary.NativeEndian
)

// fileHeader is what a file says about its graph.
type fileHeader struct {
	dim, m, efConstruction, efSearch uint32
	exactBelow                       int32
	walk                             Walk
	seed                             uint64
	slots, mark                      uint32
	entry                            uint64 // noEntry while nothing is linked
	live                             uint32 // slots that are not dead
	codes                            uint32 // the kind of them, 0 for none
	index                            bool   // with ids and rows
	twins                            uint32
	own                              uint64 // bytes
}

// span is where a section lies.
type span struct {
	offset, length uint64
	unit           uint32 // bytes of the numbers it consists of
	block          uint64 // bytes that one checksum covers
}

// blocks returns the number of checksums.
func (s span) blocks() int { return int((s.length + s.block - 1) / s.block) }

// layout is where everything lies that a header speaks of.
type layout struct {
	spans [sections]span
	first [sections]int // of its sums
	sums  uint64        // offset
	count int           // of sums
	size  uint64        // of the file
}

var errTooLarge = errors.New("larger than any file")

// place computes the layout. words is the number of words of upper lists.
func (h *fileHeader) place(words uint64) (*layout, error) {
	slots, mark, blocks := uint64(h.slots), uint64(h.mark), (uint64(h.slots)+63)/64
	var l layout
	for s := range l.spans {
		l.spans[s].block = fileBlock
	}
	set := func(s section, unit uint32, count, size uint64) {
		l.spans[s] = span{length: count * size, unit: unit, block: fileBlock}
	}
	// Numbers of slots are below 2^32 and sizes below 2^20: nothing overflows but own.
	set(secDead, 8, blocks, 8)
	set(secFree, 8, blocks, 8)
	set(secTwins, 4, uint64(h.twins), 8)
	set(secUpper, 4, 1+words, 4)
	set(secOwn, 1, h.own, 1)
	set(secLinks, 4, mark, 4*2*uint64(h.m))
	l.spans[secLinks].block = listBlock * 4 * 2 * uint64(h.m)
	if h.codes != 0 {
		set(secLost, 4, blocks, 4)
		set(secCodes, 1, slots, uint64(simd.NewMatrix8(int(h.dim)).Stride))
	}
	if h.index {
		set(secIDs, 8, slots, 8)
		set(secRows, 4, slots, 4*uint64(h.dim))
		set(secRowSums, 4, slots, 4)
	}
	if h.own > math.MaxInt64/2 {
		return nil, errTooLarge
	}
	at := uint64(headerSize)
	for s := range sections {
		span := &l.spans[s]
		align := uint64(smallAlign)
		if span.length >= mappedFrom {
			align = mapAlign
		}
		at = roundUp(at, align)
		span.offset = at
		at = roundUp(at+span.length, align)
		l.first[s] = l.count
		if s != secRows {
			l.count += span.blocks()
		}
	}
	l.sums = at
	l.size = at + uint64(l.count)*crcSize + footerSize
	if l.size > math.MaxInt { // nor would it fit into memory
		return nil, errTooLarge
	}
	return &l, nil
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

const (
	flagIndex  = 1 << iota
	knownFlags = 1<<iota - 1
)

func (h *fileHeader) encode(l *layout) []byte {
	p := make([]byte, headerSize)
	copy(p, fileMagic)
	le.PutUint16(p[8:], fileVersion)
	le.PutUint16(p[10:], fileVersion)
	flags := uint32(0)
	if h.index {
		flags |= flagIndex
	}
	entrySlot, entryLevel := uint32(h.entry), uint32(h.entry>>32)
	if h.entry == noEntry {
		entrySlot, entryLevel = 0, 0
	}
	for i, x := range []uint32{
		flags, h.dim, h.m, h.efConstruction, h.efSearch, uint32(h.exactBelow), uint32(h.walk), h.codes,
		h.slots, h.mark, entrySlot, entryLevel, h.live, h.twins, uint32(sections),
	} {
		le.PutUint32(p[12+4*i:], x)
	}
	le.PutUint64(p[72:], h.seed)
	le.PutUint64(p[80:], h.own)
	le.PutUint64(p[88:], l.size)
	for s, span := range l.spans {
		e := p[tableAt+entrySize*s:]
		le.PutUint32(e, uint32(s))
		le.PutUint32(e[4:], span.unit)
		le.PutUint64(e[8:], span.offset)
		le.PutUint64(e[16:], span.length)
	}
	le.PutUint32(p[headerSize-crcSize:], crc32.Checksum(p[:headerSize-crcSize], castagnoli))
	return p
}

// decodeHeader is the opposite of encode, but for the table. It checks what can be checked without the rest.
func decodeHeader(p []byte) (*fileHeader, string) {
	var n [15]uint32
	for i := range n {
		n[i] = le.Uint32(p[12+4*i:])
	}
	h := &fileHeader{
		index: n[0]&flagIndex != 0, dim: n[1], m: n[2], efConstruction: n[3], efSearch: n[4], exactBelow: int32(n[5]),
		codes: n[7], slots: n[8], mark: n[9], entry: uint64(n[11])<<32 | uint64(n[10]), live: n[12], twins: n[13],
		seed: le.Uint64(p[72:]), own: le.Uint64(p[80:]),
	}
	switch {
	case n[0]&^knownFlags != 0:
		return nil, "unknown flags"
	case n[6] > uint32(WalkRows):
		return nil, "unknown walk"
	case n[7] > codesOfUnit:
		return nil, "unknown codes"
	case n[14] != uint32(sections):
		return nil, "another number of sections"
	case h.slots > MaxSlots, h.mark > h.slots, h.live > h.slots, h.twins > h.mark, h.index && h.mark != h.slots:
		return nil, fmt.Sprintf("%d slots, %d linked, %d live, %d twins", h.slots, h.mark, h.live, h.twins)
	case h.mark == 0 && h.entry != 0, h.mark > 0 && n[10] >= h.mark:
		return nil, "impossible entry"
	// Zero is a default to an Options, and never in effect: no file holds it.
	case h.m == 0 || h.efConstruction == 0 || h.efSearch == 0 || h.exactBelow == 0 || n[4] > maxEf || n[3] > maxEf:
		return nil, "impossible options"
	}
	if h.mark == 0 {
		h.entry = noEntry
	}
	h.walk = Walk(n[6])
	return h, ""
}

func (h *fileHeader) options() Options {
	return Options{
		M: int(h.m), EfConstruction: int(h.efConstruction), EfSearch: int(h.efSearch), ExactBelow: int(h.exactBelow),
		Seed: h.seed, Walk: h.walk,
	}
}

// headerOf describes a graph. Its caller keeps it from changing.
func (g *Graph) headerOf() fileHeader {
	o := g.o
	h := fileHeader{
		dim: uint32(g.dim), m: uint32(o.M), efConstruction: uint32(o.EfConstruction), efSearch: uint32(o.EfSearch),
		exactBelow: int32(min(max(o.ExactBelow, -1), math.MaxInt32)), walk: o.Walk, seed: o.Seed,
		slots: g.bound.Load(), mark: g.mark.Load(), entry: g.entry.Load(),
	}
	if g.table.Load().turn != nil {
		h.codes = codesOfUnit
	}
	return h
}
