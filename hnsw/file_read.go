package hnsw

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

// indexFile is a file being read: its header and sums have been checked.
type indexFile struct {
	r      io.ReaderAt
	mapped *os.File // nil where it is only to be read
	path   string   // where known
	fileHeader
	layout
	sumOf  []uint32
	uppers []uppers // of the chunks of linked slots, then of all

	// What follows is about changes behind the file; fileHeader is that of the last of them. spans are where sections
	// lie without them, lengths are those with them.
	lengths [sections]uint64
	deltas  []delta
	number  uint32 // of them
	after   uint32 // checksum of the last
	end     uint64 // of the last
	mayTear bool   // the last may be incomplete
	torn    *CorruptionError
	header  []byte
	foot    uint32 // checksum of the footer

	unread bool // links are mapped, and yet to be verified

	// checks are put off until all is mapped: see settle.
	checks []func() error
}

func (f *indexFile) corrupt(part fmt.Stringer, at uint64, reason string) error {
	e := &CorruptionError{Path: f.path, Part: "header", Offset: int64(at), Reason: reason}
	if part != nil {
		e.Part = part.String()
	}
	return e
}

// bad says that a section cannot be believed.
func (f *indexFile) bad(s section, format string, args ...any) error {
	return f.corrupt(s, f.spans[s].offset, fmt.Sprintf(format, args...))
}

// readFileHeader checks everything there is beside the sections. Nothing is allocated that the file is too short for.
func readFileHeader(r io.ReaderAt, size int64, path string, mayTear bool) (*indexFile, error) {
	f := &indexFile{r: r, path: path, mayTear: mayTear}
	if size < headerSize+footerSize {
		return nil, f.corrupt(nil, 0, fmt.Sprintf("%d bytes are too few", size))
	}
	head := make([]byte, headerSize)
	if err := f.readAt(head, 0, nil); err != nil {
		return nil, err
	}
	if string(head[:8]) != fileMagic {
		return nil, f.corrupt(nil, 0, "not such a file")
	}
	if le.Uint32(head[headerSize-crcSize:]) != crc32.Checksum(head[:headerSize-crcSize], castagnoli) {
		return nil, f.corrupt(nil, 0, "checksum")
	}
	if oldest := le.Uint16(head[10:]); oldest > fileVersion {
		return nil, fmt.Errorf("hnsw: load: %w: needs format %d, this reads %d", ErrTooNew, oldest, fileVersion)
	}
	h, reason := decodeHeader(head)
	if h == nil {
		return nil, f.corrupt(nil, 0, reason)
	}
	f.fileHeader = *h
	if err := h.options().validate(int(h.dim)); err != nil {
		return nil, &CorruptionError{Path: path, Part: "header", Reason: "impossible options", Err: err}
	}
	// Levels take memory, too, and time.
	if uint64(h.mark)*uint64(h.m)*8 > uint64(size) {
		return nil, f.corrupt(nil, 0, "more slots than the file has room for")
	}
	l, err := h.place(f.upperWords())
	if err != nil || l.size > uint64(size) || l.size < uint64(size) && !h.index || l.size != le.Uint64(head[88:]) {
		return nil, f.corrupt(nil, 0, fmt.Sprintf("file of %d bytes, want %d", size, l.sized()))
	}
	f.layout = *l
	if !bytes.Equal(head, h.encode(l)) {
		return nil, f.corrupt(nil, tableAt, "wrong sections, or reserved bytes in use")
	}
	if err := f.readSums(head); err != nil {
		return nil, err
	}
	if err := f.checkGaps(); err != nil {
		return nil, err
	}
	f.header = head
	for s, span := range f.spans {
		f.lengths[s] = span.length
	}
	return f, f.readDeltas(uint64(size))
}

// checkGaps verifies that there are zeros where nothing is.
func (f *indexFile) checkGaps() error {
	var gap, zeros [mapAlign]byte
	for s, span := range f.spans { // the first follows the header, or is mapped and large
		at, to := span.offset+span.length, f.sums
		if s+1 < int(sections) {
			to = f.spans[s+1].offset
		}
		// Two sections that are to be mapped make two gaps, of less than mapAlign each.
		for at < to {
			n := min(to-at, mapAlign)
			if err := f.readAt(gap[:n], at, section(s)); err != nil {
				return err
			}
			if !bytes.Equal(gap[:n], zeros[:n]) {
				return f.corrupt(section(s), at, "not zero behind its end")
			}
			at += n
		}
	}
	return nil
}

func (l *layout) sized() uint64 {
	if l == nil {
		return 0
	}
	return l.size
}

func (f *indexFile) readSums(head []byte) error {
	tail := make([]byte, f.size-f.sums)
	if err := f.readAt(tail, f.sums, nil); err != nil {
		return err
	}
	sums, foot := tail[:crcSize*f.count], tail[crcSize*f.count:]
	if !bytes.Equal(foot, footerOf(head, crc32.Checksum(sums, castagnoli), f.size)) {
		return f.corrupt(partName("footer"), f.sums, "checksum")
	}
	f.foot = le.Uint32(foot[footerSize-crcSize:])
	f.after = f.foot
	f.sumOf = make([]uint32, f.count)
	for i := range f.sumOf {
		f.sumOf[i] = le.Uint32(sums[crcSize*i:])
	}
	return nil
}

type partName string

func (p partName) String() string { return string(p) }

// upperWords returns the number of words of all lists above layer 0 of linked slots. Changes behind the file never link
// less: it goes on where it was, for there may be thousands of them.
func (f *indexFile) upperWords() uint64 {
	if f.mark == 0 {
		return 0
	}
	f.makeUppers(f.mark)
	last := f.mark - 1
	return f.uppers[last>>chunkShift].after(last&chunkMask) - firstUpper
}

// makeUppers makes those of the chunks of the slots below one.
func (f *indexFile) makeUppers(slots uint32) {
	m, chunk, chunks := int(f.m), len(f.uppers), int((uint64(slots)+chunkMask)>>chunkShift)
	if chunk >= chunks {
		return
	}
	begin := uint64(firstUpper)
	if chunk > 0 {
		begin = f.uppers[chunk-1].end()
	}
	f.uppers = slices.Grow(f.uppers, chunks-chunk)
	room := make([]uint32, 0, roomOf(chunks-chunk, m))
	for ; chunk < chunks; chunk++ {
		u := newUppers(f.seed, m, chunk, begin, room)
		room, begin = room[min(len(u.at), cap(room)):cap(room)], u.end()
		f.uppers = append(f.uppers, u)
	}
}

// readAt fills p from the given offset.
func (f *indexFile) readAt(p []byte, off uint64, part fmt.Stringer) error {
	n, err := f.r.ReadAt(p, int64(off))
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		e := f.corrupt(part, off, "shorter than it says").(*CorruptionError)
		e.Err = io.ErrUnexpectedEOF
		return e
	}
	return fmt.Errorf("hnsw: load: %w", err)
}

// check verifies blocks from up to below to of a section that lies in p.
func (f *indexFile) check(s section, p []byte, from, to int) error {
	block := int(f.spans[s].block)
	for i := from; i < to; i++ {
		at := i * block
		if crc32.Checksum(p[at:min(at+block, len(p))], castagnoli) != f.sumOf[f.first[s]+i] {
			return f.corrupt(s, f.spans[s].offset+uint64(at), "checksum")
		}
	}
	return nil
}

// section reads a whole section and verifies it. The numbers in it are as the machine has them.
func (f *indexFile) section(s section) ([]byte, error) {
	p := make([]byte, f.lengths[s])
	return p, f.fill(s, p)
}

// fill is section for memory that is there already.
func (f *indexFile) fill(s section, p []byte) error {
	base := p[:min(uint64(len(p)), f.spans[s].length)]
	if uint64(len(base)) < f.spans[s].length { // changes have made it shorter
		base = make([]byte, f.spans[s].length)
	}
	if err := f.readAt(base, f.spans[s].offset, s); err != nil {
		return err
	}
	if s != secRows {
		if err := f.check(s, base, 0, f.spans[s].blocks()); err != nil {
			return err
		}
	}
	copy(p, base)
	f.patch(s, p)
	toHost(p, f.spans[s].unit)
	return nil
}

// into fills an empty arena with a section, which it maps where that can be done, and then leaves to be verified: it
// returns whether. What was changed behind the file is verified, but for rows.
func into[T arena.Element](f *indexFile, s section, a *arena.Arena[T]) (words []T, mapped bool, err error) {
	span := f.spans[s]
	n := int(f.lengths[s]) / int(span.unit)
	if f.mapped != nil && hostIsLittle && span.length >= mappedFrom {
		words, err = a.Map(f.mapped, int64(span.offset), int(span.length)/int(span.unit))
		if err != nil || !f.changed() {
			return words, true, err
		}
		if s != secRows {
			p := bytesOf(words)[:span.length]
			err := inParts(span.blocks(), 1+int(fileBlock/span.block), runtime.GOMAXPROCS(0), func(from, to int) error {
				return f.check(s, p, from, to)
			})
			if err != nil {
				return nil, false, err
			}
		}
		if words, err = a.Grow(n); err == nil {
			f.patch(s, bytesOf(words[:n]))
		}
		return words, s == secRows, err
	}
	if words, err = a.Grow(n); err != nil {
		return nil, false, err
	}
	return words, false, f.fill(s, bytesOf(words[:n]))
}

// verified is into for a section that is verified when settle has returned no error.
func verified[T arena.Element](f *indexFile, s section, a *arena.Arena[T]) ([]T, error) {
	words, mapped, err := into(f, s, a)
	if mapped && err == nil {
		p := bytesOf(words)[:f.spans[s].length]
		f.checks = append(f.checks, func() error {
			err := f.check(s, p, 0, f.spans[s].blocks())
			runtime.KeepAlive(a)
			return err
		})
	}
	return words, err
}

// settle does the checks that were put off, on all processors. They hold on to the graph, so none are left.
func (f *indexFile) settle() error {
	checks := f.checks
	f.checks = nil
	return inParallel(len(checks), runtime.GOMAXPROCS(0), func(i int) error { return checks[i]() })
}

// bytesOf is the memory of numbers.
func bytesOf[T arena.Element](s []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x)))
}

var hostIsLittle = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// toHost turns little-endian numbers of unit bytes into those of this machine, in place; or those of this machine into
// little-endian ones.
func toHost(p []byte, unit uint32) {
	if hostIsLittle || unit == 1 {
		return
	}
	for ; len(p) >= int(unit); p = p[unit:] {
		for i, j := 0, int(unit)-1; i < j; i, j = i+1, j-1 {
			p[i], p[j] = p[j], p[i]
		}
	}
}
