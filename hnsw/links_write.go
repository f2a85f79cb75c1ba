package hnsw

import (
	"fmt"
	"hash/crc32"
	"io"
)

// linksMagic begins a file of links.
const linksMagic = "HNSWlnk\n"

// A file of links holds, after a header with dim, M, seed, mark and entry, for each run of 1,024 slots one block:
//
//	CRC32C of the rows, as little-endian float32   4 bytes
//	layer 0, per slot: count | flag, 2M-1 slots    4*2M bytes, unused words zero
//	per slot: its next twin or 0                   4 bytes
//	upper layers, per slot, from layer 1 up        4*(1+M) bytes each, unused words zero
//
// How many upper layers a slot has follows from seed and M. The rows themselves are not in the file: their
// checksum ties it to them.
type linksHeader struct {
	dim, m     uint32
	seed       uint64
	mark, pad  uint32
	entrySlot  uint32
	entryLevel uint32
}

func (h *linksHeader) encode() []byte {
	p := le.AppendUint32(nil, h.dim)
	p = le.AppendUint32(p, h.m)
	p = le.AppendUint64(p, h.seed)
	p = le.AppendUint32(p, h.mark)
	p = le.AppendUint32(p, h.pad)
	p = le.AppendUint32(p, h.entrySlot)
	return le.AppendUint32(p, h.entryLevel)
}

func (h *linksHeader) decode(p []byte) {
	h.dim, h.m, h.seed = le.Uint32(p), le.Uint32(p[4:]), le.Uint64(p[8:])
	h.mark, h.pad, h.entrySlot, h.entryLevel = le.Uint32(p[16:]), le.Uint32(p[20:]), le.Uint32(p[24:]), le.Uint32(p[28:])
}

// linksBlockSize is the size of the block of slots [from, to), without its checksum.
func (g *Graph) linksBlockSize(from, to uint32) int64 {
	size := int64(4) + int64(to-from)*int64(4*(1+2*g.o.M))
	for slot := from; slot < to; slot++ {
		size += int64(4 * levelOf(g.o.Seed, slot, g.o.M) * (1 + g.o.M))
	}
	return size
}

// linksSize is the size of a whole file of links.
func (g *Graph) linksSize(mark uint32) int64 {
	size := int64(headerSize)
	_ = blocks(mark, func(from, to uint32) error {
		size += g.linksBlockSize(from, to) + crcSize
		return nil
	})
	return size
}

// SaveLinks writes the links of all slots below the mark, after a Repair. Searches and Append may run
// meanwhile; calls that link wait. The same graph gives the same bytes.
func (g *Graph) SaveLinks(w io.Writer) error {
	g.linking.Lock()
	defer g.linking.Unlock()
	g.repair()
	if err := g.writeLinks(w); err != nil {
		return fmt.Errorf("hnsw: save links: %w", err)
	}
	return nil
}

func (g *Graph) writeLinks(w io.Writer) error {
	h := linksHeader{dim: uint32(g.dim), m: uint32(g.o.M), seed: g.o.Seed, mark: g.mark.Load()}
	if h.mark > 0 {
		entry := g.entry.Load()
		h.entrySlot, h.entryLevel = uint32(entry), uint32(entry>>32)
	}
	out, err := newBlockWriter(w, putHeader(linksMagic, h.encode()))
	if err != nil {
		return err
	}
	t := g.table.Load()
	var p, rows []byte
	return blocks(h.mark, func(from, to uint32) error {
		var sum uint32
		sum, rows = t.rowsSum(from, to, rows)
		p = le.AppendUint32(p, sum)
		for slot := from; slot < to; slot++ {
			p = appendList(p, g.list(t, slot, 0))
		}
		for slot := from; slot < to; slot++ {
			p = le.AppendUint32(p, t.nextTwin(slot))
		}
		for slot := from; slot < to; slot++ {
			for layer := range levelOf(g.o.Seed, slot, g.o.M) {
				p = appendList(p, g.list(t, slot, layer+1))
			}
		}
		p, err = out.write(p)
		return err
	})
}

// appendList writes a list, its unused words as zeros: what they hold is history.
func appendList(p []byte, list []uint32) []byte {
	count := list[0] &^ hasTwins
	p = le.AppendUint32(p, list[0])
	for i, id := range list[1:] {
		if uint32(i) >= count {
			id = 0
		}
		p = le.AppendUint32(p, id)
	}
	return p
}

// rowsSum is the CRC32C of the rows of [from, to). buf is scratch.
func (t *table) rowsSum(from, to uint32, buf []byte) (uint32, []byte) {
	var sum uint32
	for slot := from; slot < to; slot++ {
		buf = appendRow(buf[:0], t.row(slot))
		sum = crc32.Update(sum, castagnoli, buf)
	}
	return sum, buf
}
