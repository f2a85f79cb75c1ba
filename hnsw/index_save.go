package hnsw

import (
	"bufio"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
)

// Save writes everything, vectors included, but not Options.Workers. Searches go on meanwhile, writers wait. What is
// loaded saves the same bytes. Durability is the caller's; SaveFile takes care of it.
func (ix *Index) Save(w io.Writer) error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if err := ix.save(w, nil); err != nil {
		return fmt.Errorf("hnsw: save: %w", err)
	}
	return nil
}

func (ix *Index) save(w io.Writer, d *differ) error {
	if ix.closed.Load() {
		return ErrClosed
	}
	if l := ix.cur.g.table.Load().lazy; l != nil {
		if err := l.allLists(); err != nil {
			return err
		}
	}
	ix.cur.g.Repair()
	p, unlock := ix.cur.picture()
	defer unlock()
	if p.diff = d; d != nil {
		d.is.slots = p.slots
	}
	return p.write(w)
}

// SaveFile is Save to a file, which replaces what is there, at once and durably: after a crash there is the old file or
// the new one. Its permissions stay; a new file is its owner's. A symbolic link stays too, what it names is replaced. The
// index may be one that was opened from that very file.
// SaveChanges is about this file from now on.
func (ix *Index) SaveFile(path string) error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	return ix.saveFile(path)
}

func (ix *Index) saveFile(path string) (err error) {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	f, err := os.CreateTemp(filepath.Dir(target), filepath.Base(target)+".tmp*")
	if err != nil {
		return fmt.Errorf("hnsw: save: %w", err)
	}
	if info, err := os.Stat(target); err == nil {
		_ = f.Chmod(info.Mode().Perm()) // where that cannot be, only its owner reads the file
	}
	d := &differ{is: &remembered{seed: maphash.MakeSeed()}}
	next := &home{path: path, content: d.is}
	w := bufio.NewWriterSize(f, writeSize)
	if err = errors.Join(ix.save(w, d), w.Flush()); err == nil {
		if err = f.Sync(); err == nil {
			err = next.look(f)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return fmt.Errorf("hnsw: save: %w", errors.Join(err, os.Remove(f.Name())))
	}
	ix.home, ix.moved = next, false
	return syncDir(filepath.Dir(target))
}

// writeSize is how much of a file is written at a time: of whole huge pages, for then the page cache consists of such,
// and who maps the file touches few pages.
const writeSize = 2 << 20

// look notes what is in a file that was just written.
func (h *home) look(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.base, h.at = info.Size(), info.Size()
	h.header = make([]byte, headerSize)
	var sum [crcSize]byte
	if _, err := f.ReadAt(h.header, 0); err != nil {
		return err
	}
	_, err = f.ReadAt(sum[:], h.at-crcSize)
	h.after = le.Uint32(sum[:])
	h.foot = h.after
	return err
}

// picture is the newest version, about to be written. Nobody may write to it, nor link, until unlock is called.
func (c *contents) picture() (p *picture, unlock func()) {
	g := c.g
	g.lockLinks()
	t := g.hold()
	h := g.headerOf()
	h.index = true
	p = &picture{g: g, t: t, fileHeader: h, c: c, dead: make([]uint64, (h.slots+63)/64)}
	version := c.version.Load()
	for slot := range h.slots {
		if !c.visible(slot, version) {
			p.dead[slot>>6] |= 1 << (slot & 63)
		}
	}
	return p, func() {
		g.let()
		g.linking.Unlock()
	}
}

func (p *picture) writeIDs(f *fileWriter) error {
	for slot := range p.slots {
		chunk, i := p.c.at(slot)
		f.buf = le.AppendUint64(f.buf, chunk.id[i])
		if err := f.flush(false); err != nil {
			return err
		}
	}
	return f.flush(true)
}

// Rows that were not verified yet are now: a damaged one does not get a new checksum.
func (p *picture) writeRows(f *fileWriter) error {
	for slot := range p.slots {
		if p.t.lazy != nil {
			if err := p.t.lazy.row(p.t, slot); err != nil {
				return err
			}
		}
		start := len(f.buf)
		f.buf = append(f.buf, bytesOf(p.t.row(slot))...)
		toHost(f.buf[start:], 4)
		if err := f.flush(false); err != nil {
			return err
		}
	}
	return f.flush(true)
}

func (p *picture) writeRowSums(f *fileWriter) error {
	for slot := range p.slots {
		f.buf = le.AppendUint32(f.buf, rowSum(p.t.row(slot)))
		if err := f.flush(false); err != nil {
			return err
		}
	}
	return f.flush(true)
}
