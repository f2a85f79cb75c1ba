package hnsw

import (
	"fmt"
	"io"
	"slices"
)

// LoadLinks reads what SaveLinks wrote into a graph that has the same rows in the same slots, at least up to
// the saved mark, and nothing linked yet; rows beyond wait for Link. Every word is checked. Damaged
// links, and links of other rows or options (ErrMismatch), match ErrCorrupt; links of a later format match
// ErrTooNew; a graph that has links already is ErrInvalid. After an error the graph is as it was, and Link
// builds what could not be loaded.
func (g *Graph) LoadLinks(r io.ReaderAt, size int64) error {
	g.linking.Lock()
	defer g.linking.Unlock()
	if g.mark.Load() != 0 {
		return fmt.Errorf("hnsw: load links: %w: the graph has links", ErrInvalid)
	}
	in, own, err := openBlocks(r, size, linksMagic)
	if err != nil {
		return err
	}
	var h linksHeader
	h.decode(own)
	if err := g.checkHeader(in, &h, own); err != nil {
		return err
	}
	if h.mark == 0 {
		return nil
	}
	t := g.hold()
	defer g.let()
	l := linksLoader{g: g, t: t, in: in, mark: h.mark, members: clearedBits(nil, h.mark)}
	if err := l.load(&h); err != nil {
		l.undo()
		return err
	}
	l.count()
	g.repaired = h.mark
	g.entry.Store(uint64(h.entryLevel)<<32 | uint64(h.entrySlot))
	g.mark.Store(h.mark)
	return nil
}

func (g *Graph) checkHeader(in *blockReader, h *linksHeader, own []byte) error {
	mismatch := func(what string, have, want any) error {
		return in.corrupt("header", fmt.Sprintf("%s %v, want %v", what, have, want), ErrMismatch)
	}
	bound := g.bound.Load()
	switch {
	case h.dim != uint32(g.dim):
		return mismatch("dimension", h.dim, g.dim)
	case h.m != uint32(g.o.M):
		return mismatch("M", h.m, g.o.M)
	case h.seed != g.o.Seed:
		return mismatch("seed", h.seed, g.o.Seed)
	case h.mark > bound:
		return mismatch("number of slots", h.mark, bound)
	case h.pad != 0 || slices.Max(own[32:]) != 0:
		return in.corrupt("header", "reserved bytes in use", nil)
	case h.mark == 0 && h.entrySlot|h.entryLevel != 0,
		h.mark > 0 && (h.entrySlot >= h.mark || int(h.entryLevel) != levelOf(h.seed, h.entrySlot, g.o.M)):
		return in.corrupt("header", "impossible entry", nil)
	}
	if want := g.linksSize(h.mark); in.size != want {
		return in.corrupt("links", fmt.Sprintf("file of %d bytes, want %d", in.size, want), nil)
	}
	return nil
}

// linksLoader reads blocks into the lists of a graph that no search walks yet.
type linksLoader struct {
	g       *Graph
	t       *table
	in      *blockReader
	mark    uint32
	members []uint64 // slots that some twin precedes
}

func (l *linksLoader) load(h *linksHeader) error {
	var rows []byte
	err := blocks(l.mark, func(from, to uint32) error {
		p, err := l.in.next("links", l.g.linksBlockSize(from, to))
		if err != nil {
			return err
		}
		var sum uint32
		if sum, rows = l.t.rowsSum(from, to, rows); sum != le.Uint32(p) {
			return l.in.corrupt("links", fmt.Sprintf("slots %d to %d hold other rows", from, to-1), ErrMismatch)
		}
		return l.block(from, to, p[4:])
	})
	if err == nil && l.member(h.entrySlot) {
		err = l.in.corrupt("header", "the entry is not a node", nil)
	}
	if err == nil {
		err = l.onlyNodes()
	}
	return err
}

// onlyNodes refuses what cannot be told before all blocks are read, and with them who is a member of a chain. A walk
// would find a member twice if a list named it, as a neighbour and as a twin. Chains ascend from their second on, so
// they end.
func (l *linksLoader) onlyNodes() error {
	for slot := range l.mark {
		next, zero := l.t.nextTwin(slot), l.g.list(l.t, slot, 0)[0]
		if l.member(slot) {
			if next != 0 && next <= slot || zero != 0 {
				return l.in.corrupt("links", fmt.Sprintf("slot %d: impossible twin of others", slot), nil)
			}
		} else if (zero&hasTwins != 0) != (next != 0) {
			return l.in.corrupt("links", fmt.Sprintf("slot %d: flag of twins", slot), nil)
		}
		for layer := range levelOf(l.g.o.Seed, slot, l.g.o.M) + 1 {
			list := l.g.list(l.t, slot, layer)
			if layer > 0 && list[0] > 0 && l.member(slot) {
				return l.in.corrupt("links", fmt.Sprintf("slot %d, layer %d: neighbours of a twin", slot, layer), nil)
			}
			for _, id := range list[1:][:list[0]&^hasTwins] {
				if l.member(id) {
					return l.in.corrupt("links", fmt.Sprintf("slot %d, layer %d: neighbour %d is a twin", slot, layer, id), nil)
				}
			}
		}
	}
	return nil
}

func (l *linksLoader) member(slot uint32) bool { return l.members[slot>>6]>>(slot&63)&1 != 0 }

// block decodes and checks one block.
func (l *linksLoader) block(from, to uint32, p []byte) error {
	list := 4 * 2 * l.g.o.M
	zero, twins := p[:int(to-from)*list], p[int(to-from)*list:]
	for slot := from; slot < to; slot++ {
		next := le.Uint32(twins)
		twins = twins[4:]
		if next != 0 {
			if next == slot || next >= l.mark || l.member(next) || !slices.Equal(l.t.row(slot), l.t.row(next)) {
				return l.in.corrupt("links", fmt.Sprintf("slot %d: impossible twin %d", slot, next), nil)
			}
			l.members[next>>6] |= 1 << (next & 63)
			m, i := l.t.at(slot)
			m.twin[i].Store(next)
		}
		var err error
		if zero, err = l.list(slot, 0, zero); err != nil {
			return err
		}
	}
	upper := twins
	for slot := from; slot < to; slot++ {
		for layer := range levelOf(l.g.o.Seed, slot, l.g.o.M) {
			var err error
			if upper, err = l.list(slot, layer+1, upper); err != nil {
				return err
			}
		}
	}
	return nil
}

// list decodes one list and returns what follows it.
func (l *linksLoader) list(slot uint32, layer int, p []byte) ([]byte, error) {
	list := l.g.list(l.t, slot, layer)
	head := le.Uint32(p)
	count := head &^ hasTwins
	if int(count) >= len(list) || layer > 0 && head != count {
		return nil, l.in.corrupt("links", fmt.Sprintf("slot %d, layer %d: impossible count %d", slot, layer, head), nil)
	}
	for i := range list[1:] {
		id := le.Uint32(p[4+4*i:])
		bad := id >= l.mark || layer > 0 && levelOf(l.g.o.Seed, id, l.g.o.M) < layer
		if uint32(i) >= count {
			bad = id != 0
		}
		if bad {
			return nil, l.in.corrupt("links", fmt.Sprintf("slot %d, layer %d: impossible neighbour %d", slot, layer, id), nil)
		}
		list[1+i] = id
	}
	list[0] = head
	return p[4*len(list):], nil
}

// undo empties every list again. Words behind a count must be valid slots, and zero is.
func (l *linksLoader) undo() {
	for slot := range l.mark {
		m, i := l.t.at(slot)
		m.twin[i].Store(0)
		for layer := range levelOf(l.g.o.Seed, slot, l.g.o.M) + 1 {
			clear(l.g.list(l.t, slot, layer))
		}
	}
}

// count rebuilds what only linkers need: in-degrees and the ends of chains.
func (l *linksLoader) count() {
	var ids []uint32
	for slot := range l.mark {
		var chained bool
		ids, chained = neighbours(l.g.list(l.t, slot, 0), l.mark, ids[:0])
		for _, id := range ids {
			l.t.inDegree(id).Add(1)
		}
		if chained {
			last := slot
			for next := l.t.nextTwin(slot); next != 0; next = l.t.nextTwin(next) {
				last = next
			}
			l.g.tails[slot] = last
		}
	}
}
