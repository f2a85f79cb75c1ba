package hnsw

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"
)

// lists checks the lists and chains of a file against each other. Nothing that a walk, a linker or a consolidation
// does with them can go wrong then: it stays within bounds, ends, and meets nobody twice.
type lists struct {
	*indexFile
	g     *Graph
	t     *table
	none  slotSet // nobody may name them, nor do they name anybody: free slots, and twins but the first of each chain
	some  bool    // whether there are any
	heads slotSet // slots that begin a chain
}

func (l *lists) check() error {
	free := 0
	for _, word := range l.none {
		if word != 0 {
			free++
		}
	}
	var err error
	if l.heads, err = l.chains(); err != nil {
		return err
	}
	l.some = free > 0 || l.twins > 0
	if l.mark == 0 {
		return nil
	}
	entry := uint32(l.entry)
	if int(l.entry>>32) != l.t.level(entry) || l.none.has(entry) {
		return l.corrupt(nil, 0, "impossible entry")
	}
	if err := l.links(); err != nil {
		return err
	}
	l.checks = append(l.checks, l.upper)
	return nil
}

// chains reads twins, and returns who begins a chain.
func (l *lists) chains() (heads slotSet, err error) {
	p, err := l.section(secTwins)
	if err != nil || len(p) == 0 {
		return nil, err
	}
	free, later := l.none, clearedBits(nil, l.slots)
	n := int(l.twins)
	for i := range n {
		slot, next := l.word(p, 2*i), l.word(p, 2*i+1)
		if i > 0 && slot <= l.word(p, 2*i-2) || slot >= l.mark || next == 0 || next >= l.mark || free.has(slot) || free.has(next) ||
			slotSet(later).has(next) {
			return nil, l.bad(secTwins, "impossible twins %d, %d", slot, next)
		}
		(*slotSet)(&later).add(next)
		l.t.setTwin(slot, next)
	}
	for i := range n {
		slot, next := l.word(p, 2*i), l.word(p, 2*i+1)
		if !slotSet(later).has(slot) {
			heads.add(slot)
		} else if next <= slot { // else it might be a ring
			return nil, l.bad(secTwins, "twins %d, %d are out of order", slot, next)
		}
	}
	for i := range later {
		later[i] |= free[i]
	}
	l.none = later
	return heads, nil
}

// links checks all lists of layer 0. Where they are mapped they are not even read: most of the time it takes to open an
// index would be that. Then each is checked before it is used (see lazy).
func (l *lists) links() error {
	const some = 1 << 13
	if l.unread {
		return nil
	}
	return inParts(int(l.mark), some, runtime.GOMAXPROCS(0), func(from, to int) error {
		return l.layer0(uint32(from), uint32(to))
	})
}

// block checks the lists, of layer 0, that one checksum covers.
func (l *lists) block(i int) error {
	p := bytesOf(l.t.links[:l.lengths[secLinks]/4])
	if err := l.indexFile.check(secLinks, p, i, i+1); err != nil {
		return err
	}
	return l.layer0(uint32(i*listBlock), uint32(min((i+1)*listBlock, int(l.mark))))
}

// layer0 checks the lists of slots from to below to.
func (l *lists) layer0(from, to uint32) error {
	n, heads, some := 2*l.t.m, l.heads, l.some
	for slot := from; slot < to; slot++ {
		list := l.t.links[int(slot)*n:][:n:n]
		head := list[0]
		count := head &^ hasTwins
		if count >= uint32(n) || head&hasTwins != 0 != heads.has(slot) || some && count > 0 && l.none.has(slot) {
			return l.badList(slot, 0, "impossible count %#x", head)
		}
		// Words behind the count are loaded by nobody before they are written again, but have to be slots.
		if !below(list, l.mark) {
			return l.badList(slot, 0, "impossible neighbour %d", slices.Max(list[1:]))
		}
		if some {
			for _, id := range list[1:][:count] {
				if l.none.has(id) {
					return l.badList(slot, 0, "neighbour %d is free, or a twin", id)
				}
			}
		}
	}
	return nil
}

// below reports whether all words of a list of layer 0 but the first are below limit. It looks at two at a time: where
// both are below 2^31, and limit too, one minus the other is negative in either half where a word is not below. No
// half borrows from the other unless it is negative itself.
func below(list []uint32, limit uint32) bool {
	if limit > 1<<31 {
		return slices.Max(list[1:]) < limit
	}
	const signs = 1<<63 | 1<<31
	most := uint64(limit-1) * (1<<32 + 1)
	var a, b uint64
	pairs := unsafe.Slice((*uint64)(unsafe.Pointer(&list[2])), len(list)/2-1) // lists begin at multiples of 8 bytes
	for len(pairs) >= 2 {
		x, y := pairs[0], pairs[1]
		a |= x | (most - x)
		b |= y | (most - y)
		pairs = pairs[2:]
	}
	for _, x := range pairs {
		a |= x | (most - x)
	}
	return list[1] < limit && (a|b)&signs == 0
}

func (l *lists) upper() error {
	if l.t.upper[0] != 0 {
		return l.bad(secUpper, "the first word is in use")
	}
	for chunk, m := range l.t.meta {
		for word, has := range m.has {
			for ; has != 0; has &= has - 1 {
				slot := uint32(chunk<<chunkShift + word*64 + bits.TrailingZeros64(has))
				if slot >= l.mark {
					return nil
				}
				for layer := l.t.level(slot); layer > 0; layer-- {
					if err := l.layer(slot, layer); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// layer checks one list above layer 0.
func (l *lists) layer(slot uint32, layer int) error {
	list := l.g.list(l.t, slot, layer)
	count := list[0]
	if count >= uint32(len(list)) || count > 0 && l.none.has(slot) {
		return l.badList(slot, layer, "impossible count %#x", count)
	}
	for i, id := range list[1:] {
		if uint32(i) >= count {
			if id != 0 {
				return l.badList(slot, layer, "unused word %d", id)
			}
		} else if id >= l.mark || !l.t.reaches(id, layer) || l.none.has(id) {
			return l.badList(slot, layer, "impossible neighbour %d", id)
		}
	}
	return nil
}

func (l *lists) badList(slot uint32, layer int, what string, args ...any) error {
	s := secLinks
	if layer > 0 {
		s = secUpper
	}
	return l.bad(s, "slot %d, layer %d: %s", slot, layer, fmt.Sprintf(what, args...))
}
