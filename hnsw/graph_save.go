package hnsw

import (
	"fmt"
	"io"
	"math/bits"
)

// Save writes the graph after a Repair: codes, links, and what is dead, but not the rows, which are the caller's. What
// own returns, when it is told how many slots are saved, is written as well, for LoadGraph to return; own may be nil.
// Searches, Append and Kill may run meanwhile; calls that link wait. The
// same graph gives the same bytes. Durability is the caller's: sync the file, then rename it into place.
func (g *Graph) Save(w io.Writer, own func(slots uint32) []byte) error {
	g.lockLinks()
	defer g.linking.Unlock()
	g.repair()
	h := g.headerOf() // before the table, which has all its slots then
	t := g.hold()
	defer g.let()
	p := picture{g: g, t: t, fileHeader: h, dead: make([]uint64, (h.slots+63)/64)}
	for i := range p.dead {
		p.dead[i] = t.meta[i*64/chunkSlots].dead[i%(chunkSlots/64)].Load()
	}
	if own != nil {
		p.own = own(h.slots)
	}
	if err := p.write(w); err != nil {
		return fmt.Errorf("hnsw: save: %w", err)
	}
	return nil
}

// picture is a graph about to be written. Nobody links meanwhile.
type picture struct {
	g *Graph
	t *table
	fileHeader
	dead, free []uint64
	own        []byte
	c          *contents // nil unless of an Index
	diff       *differ   // nil unless changes are to be saved later
}

func (p *picture) write(w io.Writer) error {
	words := p.prepare()
	f, err := newFileWriter(w, &p.fileHeader, words)
	if err != nil {
		return err
	}
	f.diff = p.diff
	if err := p.sections(f, false); err != nil {
		return err
	}
	return f.finish()
}

// prepare completes the header and returns the number of words of upper lists.
func (p *picture) prepare() (words uint64) {
	last := uint64(1)<<(p.slots%64) - 1
	if n := len(p.dead); n > 0 && p.slots%64 != 0 {
		p.dead[n-1] &= last // slots appended since
	}
	p.free = make([]uint64, len(p.dead))
	copy(p.free, p.g.upkeep.apart)
	p.fileHeader.own = uint64(len(p.own))
	p.live, p.twins = p.slots, 0
	for _, word := range p.dead {
		p.live -= uint32(bits.OnesCount64(word))
	}
	for slot := range p.mark {
		if p.t.nextTwin(slot) != 0 && !p.isFree(slot) {
			p.twins++
		}
		words += uint64(levelOf(p.seed, slot, p.g.o.M))
	}
	return words * uint64(1+p.m)
}

// sections writes them in order, or only those that do not follow from what slots were written to.
func (p *picture) sections(f *fileWriter, some bool) error {
	for s, write := range [sections]func(*fileWriter) error{
		secLost: p.writeLost, secDead: words64(p.dead), secFree: words64(p.free), secTwins: p.writeTwins,
		secUpper: p.writeUpper, secOwn: p.writeOwn, secIDs: p.writeIDs, secLinks: p.writeLinks,
		secCodes: p.writeCodes, secRows: p.writeRows, secRowSums: p.writeRowSums,
	} {
		if f.layout.spans[s].length == 0 || some && section(s).bySlot() {
			continue
		}
		if err := f.section(section(s), func() error { return write(f) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *picture) isFree(slot uint32) bool { return p.free[slot>>6]>>(slot&63)&1 != 0 }

func words64(words []uint64) func(f *fileWriter) error {
	return func(f *fileWriter) error {
		for _, x := range words {
			f.buf = le.AppendUint64(f.buf, x)
			if err := f.flush(false); err != nil {
				return err
			}
		}
		return f.flush(true)
	}
}

func (p *picture) writeOwn(f *fileWriter) error {
	f.put(p.own)
	return f.err
}

func (p *picture) writeLost(f *fileWriter) error {
	for i := range len(p.dead) { // one per as many slots
		const perChunk = chunkSlots / scanBlock
		f.buf = le.AppendUint32(f.buf, p.t.meta[i/perChunk].lost[i%perChunk].Load())
	}
	return f.flush(true)
}

func (p *picture) writeTwins(f *fileWriter) error {
	for slot := range p.mark {
		if next := p.t.nextTwin(slot); next != 0 && !p.isFree(slot) {
			f.buf = le.AppendUint32(le.AppendUint32(f.buf, slot), next)
		}
		if err := f.flush(false); err != nil {
			return err
		}
	}
	return f.flush(true)
}

func (p *picture) writeUpper(f *fileWriter) error {
	f.buf = le.AppendUint32(f.buf, 0)
	for slot := range p.mark {
		for layer := range levelOf(p.seed, slot, p.g.o.M) {
			f.buf = p.appendList(f.buf, slot, layer+1)
		}
		if err := f.flush(false); err != nil {
			return err
		}
	}
	return f.flush(true)
}

func (p *picture) writeLinks(f *fileWriter) error {
	for slot := range p.mark {
		f.buf = p.appendList(f.buf, slot, 0)
		if err := f.flush(false); err != nil {
			return err
		}
	}
	return f.flush(true)
}

// appendList writes a list, its unused words as zeros: what they hold is history. So are the lists of free slots.
func (p *picture) appendList(b []byte, slot uint32, layer int) []byte {
	list := p.g.list(p.t, slot, layer)
	head := list[0]
	if p.isFree(slot) {
		head = 0
	}
	used := 1 + int(head&countMask)
	b = le.AppendUint32(b, head)
	for _, id := range list[1:used] {
		b = le.AppendUint32(b, id)
	}
	for range list[used:] {
		b = le.AppendUint32(b, 0)
	}
	return b
}

func (p *picture) writeCodes(f *fileWriter) error {
	if p.t.lazy != nil {
		if err := p.t.lazy.allCodes(); err != nil {
			return err
		}
	}
	f.put(p.t.codes.Data[:f.layout.spans[secCodes].length])
	return f.err
}
