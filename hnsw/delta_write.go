package hnsw

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"os"
)

// Behind what Save writes there may be changes, one after the other:
//
//	head      64 bytes: magic, number from 1 on, length in all, length of the patches, the checksum of what precedes
//	          (that of the footer, or of the last change's head), that of the rest, and one of the head
//	header    512 bytes: that of the whole file as it would be now
//	patches   (section, length uint32, offset uint64, bytes)*
//	zeros     up to a multiple of 64
const (
	deltaMagic = "HNSWdelt"
	deltaHead  = 64
	patchHead  = 16
)

// home is the file that an index was opened from, or last saved to.
type home struct {
	path    string
	base    int64 // length of it without changes
	at      int64 // and with them
	header  []byte
	foot    uint32 // checksum of the footer, which depends on all of it
	number  uint32 // of changes
	after   uint32 // checksum of the last
	tried   []byte // head of the one that was to be written last
	torn    *CorruptionError
	content *remembered // nil until there is something to remember
}

// remembered is what a file holds, in so far as it takes to tell what has changed since: hashes of pieces, and which
// slots were written.
type remembered struct {
	seed   maphash.Seed
	pieces [sections][]uint64
	slots  uint32
	rows   slotSet // below slots, written since
}

// bySlot says that a section changes only where slots are written.
func (s section) bySlot() bool {
	return s == secIDs || s == secCodes || s == secRows || s == secRowSums
}

// pieceOf returns the size of the pieces of a section: a list of layer 0, which change one here and one there, or
// a page.
func pieceOf(s section, m uint32) int {
	if s == secLinks {
		return 8 * int(m)
	}
	return 4096
}

// differ hashes a section while it is written, and collects what is not as it was.
type differ struct {
	was, is *remembered // was may be nil
	patches *patches    // nil where only hashes are wanted
	s       section
	size    int
	at      uint64
	rest    []byte
}

func (d *differ) begin(s section, size int) { d.s, d.size, d.at, d.rest = s, size, 0, d.rest[:0] }

func (d *differ) put(p []byte) {
	if len(d.rest) > 0 {
		n := min(len(p), d.size-len(d.rest))
		d.rest, p = append(d.rest, p[:n]...), p[n:]
		if len(d.rest) < d.size {
			return
		}
		d.piece(d.rest)
		d.rest = d.rest[:0]
	}
	for ; len(p) >= d.size; p = p[d.size:] {
		d.piece(p[:d.size])
	}
	d.rest = append(d.rest, p...)
}

func (d *differ) end() {
	if len(d.rest) > 0 {
		d.piece(d.rest)
	}
}

func (d *differ) piece(p []byte) {
	sum := maphash.Bytes(d.is.seed, p)
	i := len(d.is.pieces[d.s])
	d.is.pieces[d.s] = append(d.is.pieces[d.s], sum)
	if d.patches != nil && (i >= len(d.was.pieces[d.s]) || d.was.pieces[d.s][i] != sum) {
		d.patches.add(d.s, d.at, p)
	}
	d.at += uint64(len(p))
}

// patches gathers changes; those that follow one another become one.
type patches struct {
	buf  []byte
	last int // where the head of the last begins
	end  uint64
}

func (c *patches) add(s section, at uint64, p []byte) {
	const most = 1 << 30
	if len(c.buf) > 0 && section(le.Uint32(c.buf[c.last:])) == s && c.end == at && le.Uint32(c.buf[c.last+4:]) < most {
		le.PutUint32(c.buf[c.last+4:], le.Uint32(c.buf[c.last+4:])+uint32(len(p)))
	} else {
		c.last = len(c.buf)
		c.buf = le.AppendUint32(le.AppendUint32(c.buf, uint32(s)), uint32(len(p)))
		c.buf = le.AppendUint64(c.buf, at)
	}
	c.buf = append(c.buf, p...)
	c.end = at + uint64(len(p))
}

// SaveChanges makes the file that the index was opened from, or last saved to, hold what the index holds, by writing
// behind it what has changed: some hundred bytes for each list of neighbours that has, and of a new vector itself,
// its code and its id. It is durable when SaveChanges returns; a crash before leaves what was saved before. When all
// changes in the file take half as much as the rest, the file is written anew, as by SaveFile.
//
// Nobody else may write to the file meanwhile. One that has replaced it, or behind which a second Index of it has saved
// changes, is left alone (ErrMismatch): open it anew.
func (ix *Index) SaveChanges() error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	h := ix.home
	switch {
	case ix.closed.Load():
		return fmt.Errorf("hnsw: save changes: %w", ErrClosed)
	case h == nil:
		return fmt.Errorf("hnsw: save changes: %w: neither opened from a file nor saved to one", ErrInvalid)
	case h.content == nil && !ix.moved: // nothing was written since it was opened
		return nil
	case ix.moved || h.at-h.base > h.base/2:
		file, err := h.open()
		if errors.Is(err, ErrMismatch) {
			return fmt.Errorf("hnsw: save changes: %w", err)
		} else if err == nil {
			file.Close()
		}
		return ix.saveFile(h.path)
	}
	ix.cur.g.Repair()
	p, unlock := ix.cur.picture()
	defer unlock()
	words := p.prepare()
	f, err := newFileWriter(io.Discard, &p.fileHeader, words)
	if err != nil {
		return fmt.Errorf("hnsw: save changes: %w", err)
	}
	next := &remembered{seed: h.content.seed, slots: p.slots}
	var c patches
	f.diff = &differ{was: h.content, is: next, patches: &c}
	if err = p.sections(f, true); err == nil {
		err = p.patchSlots(&c, h.content)
	}
	if err == nil {
		err = h.append(f.header, c.buf)
	}
	if err != nil {
		return fmt.Errorf("hnsw: save changes: %w", err)
	}
	h.content = next
	return nil
}

// patchSlots adds what belongs to slots that were written.
func (p *picture) patchSlots(c *patches, was *remembered) error {
	each := func(f func(slot uint32)) {
		for i, word := range was.rows {
			for bit := uint32(0); word != 0; bit, word = bit+1, word>>1 {
				if slot := uint32(64*i) + bit; word&1 != 0 && slot < was.slots {
					f(slot)
				}
			}
		}
		for slot := was.slots; slot < p.slots; slot++ {
			f(slot)
		}
	}
	var buf []byte
	each(func(slot uint32) {
		chunk, i := p.c.at(slot)
		c.add(secIDs, 8*uint64(slot), le.AppendUint64(buf[:0], chunk.id[i]))
	})
	if p.codes != 0 {
		each(func(slot uint32) { c.add(secCodes, uint64(slot)*uint64(p.t.codes.Stride), p.t.codes.Row(slot)) })
	}
	each(func(slot uint32) {
		buf = append(buf[:0], bytesOf(p.t.row(slot))...)
		toHost(buf, 4)
		c.add(secRows, uint64(slot)*uint64(len(buf)), buf)
	})
	each(func(slot uint32) {
		c.add(secRowSums, 4*uint64(slot), le.AppendUint32(buf[:0], rowSum(p.t.row(slot))))
	})
	return nil
}

// open opens the file if it is the same still.
func (h *home) open() (*os.File, error) {
	file, err := os.OpenFile(h.path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	now := make([]byte, headerSize+crcSize)
	head, foot := now[:headerSize], now[headerSize:]
	_, err = file.ReadAt(head, 0)
	if err == nil {
		_, err = file.ReadAt(foot, h.base-crcSize)
	}
	var size int64
	if err == nil {
		size, err = file.Seek(0, io.SeekEnd)
	}
	if err != nil || size < h.at || !bytes.Equal(head, h.header) || le.Uint32(foot) != h.foot {
		return nil, errors.Join(fmt.Errorf("%w: %s is another file now", ErrMismatch, h.path), err, file.Close())
	}
	more, err := h.more(file, size)
	if more {
		err = fmt.Errorf("%w: behind %s, another index of it has saved changes", ErrMismatch, h.path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// more reports whether a whole change follows those that are known, and is none that append could not sync.
func (h *home) more(file *os.File, size int64) (bool, error) {
	head := make([]byte, deltaHead)
	if size-h.at < deltaHead {
		return false, nil
	}
	if _, err := file.ReadAt(head, h.at); err != nil {
		return false, err
	}
	if unfit(head, h.number, h.after, uint64(size-h.at)) != "" || bytes.Equal(head, h.tried) {
		return false, nil
	}
	sum := crc32.New(castagnoli)
	_, err := io.Copy(sum, io.NewSectionReader(file, h.at+deltaHead, int64(le.Uint64(head[16:]))-deltaHead))
	return sum.Sum32() == le.Uint32(head[36:]), err
}

// append writes a change behind what there is and syncs it. What a crash has left there goes.
func (h *home) append(header, patches []byte) (err error) {
	file, err := h.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Truncate(h.at); err != nil {
		return err
	}
	p := make([]byte, deltaHead, deltaHead+headerSize+len(patches)+smallAlign)
	p = append(append(p, header...), patches...)
	p = append(p, make([]byte, roundUp(uint64(len(p)), smallAlign)-uint64(len(p)))...)
	copy(p, deltaMagic)
	le.PutUint32(p[8:], h.number+1)
	le.PutUint64(p[16:], uint64(len(p)))
	le.PutUint64(p[24:], uint64(len(patches)))
	le.PutUint32(p[32:], h.after)
	le.PutUint32(p[36:], crc32.Checksum(p[deltaHead:], castagnoli))
	after := crc32.Checksum(p[:deltaHead-crcSize], castagnoli)
	le.PutUint32(p[deltaHead-crcSize:], after)
	h.tried = bytes.Clone(p[:deltaHead])
	if _, err := file.WriteAt(p, h.at); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	h.at += int64(len(p))
	h.number++
	h.after, h.torn = after, nil
	return nil
}

// remember is called before the first change of an opened index.
func (ix *Index) remember() error {
	h := ix.home
	if h == nil || h.content != nil || ix.moved {
		return nil
	}
	p, unlock := ix.cur.picture()
	defer unlock()
	f, err := newFileWriter(io.Discard, &p.fileHeader, p.prepare())
	if err != nil {
		return err
	}
	is := &remembered{seed: maphash.MakeSeed(), slots: p.slots}
	f.diff = &differ{is: is}
	if err := p.sections(f, true); err != nil {
		return err
	}
	h.content = is
	return nil
}

// wrote notes that a slot has another row.
func (ix *Index) wrote(slot uint32) {
	if h := ix.home; h != nil && h.content != nil && slot < h.content.slots {
		h.content.rows.add(slot)
	}
}
