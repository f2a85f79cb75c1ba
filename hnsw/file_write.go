package hnsw

import (
	"hash/crc32"
	"io"
)

// fileWriter writes the sections of a file one after the other.
type fileWriter struct {
	w      io.Writer
	err    error
	at     uint64 // bytes written
	header []byte
	layout *layout

	sum   uint32 // of the block being written
	block int    // its bytes
	left  int    // those that are yet to come
	sums  []uint32
	free  bool    // of sums: the present section has none
	diff  *differ // nil unless pieces are to be remembered
	told  bool    // about the present section
	m     uint32
	buf   []byte
}

func newFileWriter(w io.Writer, h *fileHeader, words uint64) (*fileWriter, error) {
	l, err := h.place(words)
	if err != nil {
		return nil, err
	}
	f := &fileWriter{w: w, header: h.encode(l), layout: l, m: h.m}
	f.raw(f.header)
	return f, f.err
}

func (f *fileWriter) raw(p []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(p)
		f.at += uint64(len(p))
	}
}

// section writes one section, by what write calls put with.
func (f *fileWriter) section(s section, write func() error) error {
	told := f.diff != nil && !s.bySlot()
	if f.w == io.Discard {
		f.at = f.layout.spans[s].offset
	}
	f.pad(f.layout.spans[s].offset)
	f.block = int(f.layout.spans[s].block)
	f.left, f.sum, f.free = f.block, 0, s == secRows || f.w == io.Discard
	if f.told = told; told {
		f.diff.begin(s, pieceOf(s, f.m))
	}
	err := write()
	if told {
		f.diff.end()
	}
	if f.left < f.block && !f.free {
		f.sums = append(f.sums, f.sum)
	}
	if err == nil {
		err = f.err
	}
	return err
}

// put writes bytes of the present section.
func (f *fileWriter) put(p []byte) {
	f.raw(p)
	if f.told {
		f.diff.put(p)
	}
	for len(p) > 0 && !f.free {
		n := min(len(p), f.left)
		f.sum = crc32.Update(f.sum, castagnoli, p[:n])
		p = p[n:]
		if f.left -= n; f.left == 0 {
			f.sums = append(f.sums, f.sum)
			f.left, f.sum = f.block, 0
		}
	}
}

// flush puts what has gathered in f.buf, if that is worth it or everything has to go.
func (f *fileWriter) flush(all bool) error {
	if all || len(f.buf) >= 1<<16 {
		f.put(f.buf)
		f.buf = f.buf[:0]
	}
	return f.err
}

func (f *fileWriter) pad(to uint64) {
	var zeros [1 << 10]byte
	for f.at < to && f.err == nil {
		f.raw(zeros[:min(uint64(len(zeros)), to-f.at)])
	}
}

// finish writes what follows the sections.
func (f *fileWriter) finish() error {
	f.pad(f.layout.sums)
	p := f.buf[:0]
	for _, sum := range f.sums {
		p = le.AppendUint32(p, sum)
	}
	sum := crc32.Checksum(p, castagnoli)
	p = append(p, footerOf(f.header, sum, f.layout.size)...)
	f.raw(p)
	return f.err
}

// footerOf ties a header, the sums, and the length of a file together.
func footerOf(header []byte, sums uint32, size uint64) []byte {
	p := append(make([]byte, 0, footerSize), footerMagic...)
	p = le.AppendUint64(p, size)
	p = le.AppendUint32(p, sums)
	p = le.AppendUint32(p, le.Uint32(header[headerSize-crcSize:]))
	p = le.AppendUint32(p, 0)
	return le.AppendUint32(p, crc32.Checksum(p, castagnoli))
}
