package format

import (
	"bytes"
	"math/bits"
)

// PostingsMerge makes one row or edit of several of one key: of each owner
// holds what the newest says. It is associative: edits may be merged in any
// grouping of neighbours. Damaged bytes are no error: they make the result
// damaged, which its reader is told, and which stays so. It is used by one
// goroutine, holds 5 KB, allocates nothing once it has grown, and serves any
// number of merges one after another; the zero value is ready.
type PostingsMerge struct {
	one     []byte // the only operand so far
	n       int    // operands
	damaged bool

	// With two operands or more: whom they name, and the counts.
	words  [shardWords]uint64
	used   uint64 // which words are not zero
	counts [shardOwners]uint8
}

// Older adds an operand that is older than all so far. It keeps nothing of b.
func (m *PostingsMerge) Older(b []byte) { m.add(b, false) }

// Newer adds an operand that is newer than all so far. It keeps nothing of b.
func (m *PostingsMerge) Newer(b []byte) { m.add(b, true) }

// Append appends the result to dst and makes m ready for the next merge. With
// base, nothing older is left: owners that are gone are left out.
func (m *PostingsMerge) Append(dst []byte, base bool) []byte {
	switch {
	case m.damaged:
		dst = append(dst, postingsDamaged)
	case m.n == 1:
		dst = m.appendOne(dst, base)
	default:
		dst = m.appendAll(dst, base)
	}
	for ; m.used != 0; m.used &= m.used - 1 {
		m.words[bits.TrailingZeros64(m.used)] = 0
	}
	m.n, m.damaged = 0, false
	return dst
}

func (m *PostingsMerge) add(b []byte, newer bool) {
	if m.n++; m.damaged {
		return
	}
	p, err := checkPostings(b)
	if err != nil {
		m.damaged = true
		return
	}
	switch m.n {
	case 1:
		m.one = append(m.one[:0], b...)
		return
	case 2:
		first, _ := checkPostings(m.one)
		m.lay(first, true)
	}
	m.lay(p, newer)
}

// lay enters an operand.
func (m *PostingsMerge) lay(p postings, newer bool) {
	for i, count := range p.counts[:len(p.list)/2] {
		m.set(le.Uint16(p.list[2*i:]), count, newer)
	}
	n := 0
	for i := 0; i < len(p.words); i += 8 {
		for w := le.Uint64(p.words[i:]); w != 0; w &= w - 1 {
			m.set(uint16(8*i+bits.TrailingZeros64(w)), p.counts[n], newer)
			n++
		}
	}
}

func (m *PostingsMerge) set(owner uint16, count uint8, newer bool) {
	at, bit := owner/64%shardWords, uint64(1)<<(owner%64)
	if m.words[at]&bit != 0 && !newer {
		return
	}
	m.words[at] |= bit
	m.used |= 1 << at
	m.counts[owner%shardOwners] = count
}

// appendOne is appendAll of one operand, which is almost always as it should
// be.
func (m *PostingsMerge) appendOne(dst []byte, base bool) []byte {
	p, _ := checkPostings(m.one)
	if !base || bytes.IndexByte(p.counts, 0) < 0 {
		return append(dst, m.one...)
	}
	m.lay(p, true)
	return m.appendAll(dst, base)
}

func (m *PostingsMerge) appendAll(dst []byte, base bool) []byte {
	n := 0
	for used := m.used; used != 0; used &= used - 1 {
		at := bits.TrailingZeros64(used)
		if base {
			m.dropGone(at)
		}
		n += bits.OnesCount64(m.words[at])
	}
	if n > shardListMax {
		dst = append(dst, postingsWords)
		for _, w := range m.words {
			dst = le.AppendUint64(dst, w)
		}
	} else {
		dst = append(dst, postingsList)
		m.each(func(owner int) { dst = le.AppendUint16(dst, uint16(owner)) })
	}
	m.each(func(owner int) { dst = append(dst, m.counts[owner]) })
	return dst
}

// dropGone takes the owners without the term out of a word.
func (m *PostingsMerge) dropGone(at int) {
	for w := m.words[at]; w != 0; w &= w - 1 {
		if bit := bits.TrailingZeros64(w); m.counts[64*at+bit] == 0 {
			m.words[at] &^= 1 << bit
		}
	}
}

// each calls fn for whom the operands name, ascending.
func (m *PostingsMerge) each(fn func(owner int)) {
	for used := m.used; used != 0; used &= used - 1 {
		at := bits.TrailingZeros64(used)
		for w := m.words[at]; w != 0; w &= w - 1 {
			fn(64*at + bits.TrailingZeros64(w))
		}
	}
}
