package graphstore

import (
	"bytes"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/lightctl/lightrag/format"
)

// Analyzer cuts texts into the terms of which a store keeps postings. It is
// safe for concurrent use, and equal texts give equal terms for the life of a
// store.
type Analyzer interface {
	// Name names the analyzer and its version; not empty. A store that opens
	// with an analyzer of another name than its postings were made by makes
	// them anew.
	Name() string
	// Terms calls yield for every occurrence of every term, in order. The term
	// is only lent. A term that is empty, longer than format.MaxTermBytes or
	// holds a NUL is left out. The terms of a text are those of its lines, one
	// after the other: what two texts share is only cut once.
	Terms(text string, yield func(term []byte))
}

// maxCount is what a posting says of a term that occurs more often.
const maxCount = 255

// termEdit says how often a term occurs in the new text of an owner; 0 = no
// more.
type termEdit struct {
	term  string
	hash  uint64 // of the term, by the lexer's seed
	count uint8
}

// lexer compares texts by their terms.
type lexer struct {
	analyzer Analyzer
	seed     maphash.Seed
	pool     sync.Pool // of *termTable
}

func newLexer(a Analyzer) *lexer { return &lexer{analyzer: a, seed: maphash.MakeSeed()} }

// edits returns what becomes of the postings of an owner whose text was old
// and is now. Terms that occur as often in both are not among them; of no lexer
// there are none.
func (x *lexer) edits(old, now string) []termEdit {
	if x == nil || old == now {
		return nil
	}
	t, ok := x.pool.Get().(*termTable)
	if !ok {
		t = newTermTable(x.seed)
	}
	defer x.pool.Put(t)
	t.reset()
	head, tail := sharedLines(old, now)
	mid := [2]string{old[head : len(old)-tail], now[head : len(now)-tail]}
	for t.side = range 2 {
		x.analyzer.Terms(mid[t.side], t.add)
	}
	if len(t.list) > 0 {
		x.analyzer.Terms(now[:head], t.both)
		x.analyzer.Terms(now[len(now)-tail:], t.both)
	}
	return t.edits()
}

// sharedLines returns how many bytes two texts share in whole lines, at their
// beginning and, of the rest, at their end: a record mostly gains or loses a
// line.
func sharedLines(a, b string) (head, tail int) {
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	ends := func(s string) bool { return head == len(s) || s[head] == '\n' }
	if !ends(a) || !ends(b) {
		head = strings.LastIndexByte(a[:head], '\n') + 1
	}
	a, b = a[head:], b[head:]
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	begins := func(s string) bool { return tail == len(s) || s[len(s)-1-tail] == '\n' }
	if begins(a) && begins(b) {
		return head, tail
	}
	shared := a[len(a)-tail:]
	if i := strings.IndexByte(shared, '\n'); i >= 0 {
		return head, tail - i
	}
	return head, 0
}

// validTerm says whether a term can be part of a key.
func validTerm(term []byte) bool {
	return len(term) > 0 && len(term) <= format.MaxTermBytes && bytes.IndexByte(term, 0) < 0
}

// termTable counts the terms of two texts. It is a hash table whose entries
// stand in the order in which they came, so that the result does not depend on
// hashes; nothing is allocated but for terms that are new to a text.
type termTable struct {
	seed  maphash.Seed
	add   func(term []byte) // t.count
	both  func(term []byte) // t.countBoth
	side  int               // 0: of the old text, 1: of the new one
	turn  uint32            // slots of other turns are free
	slots []termSlot        // a power of two
	list  []countedTerm
	text  []byte // of the terms, one after the other
}

type termSlot struct{ turn, at uint32 }

type countedTerm struct {
	hash     uint64
	from, to int // in text
	n        [2]int
}

func newTermTable(seed maphash.Seed) *termTable {
	t := &termTable{seed: seed, slots: make([]termSlot, 1<<10)}
	t.add, t.both = t.count, t.countBoth
	return t
}

func (t *termTable) reset() {
	t.list, t.text = t.list[:0], t.text[:0]
	if t.turn++; t.turn == 0 {
		clear(t.slots)
		t.turn = 1
	}
}

func (t *termTable) count(term []byte) {
	if !validTerm(term) {
		return
	}
	hash := maphash.Bytes(t.seed, term)
	slot := t.slot(hash, term)
	if slot.turn == t.turn {
		t.list[slot.at].n[t.side]++
		return
	}
	*slot = termSlot{t.turn, uint32(len(t.list))}
	c := countedTerm{hash: hash, from: len(t.text), to: len(t.text) + len(term)}
	c.n[t.side] = 1
	t.list, t.text = append(t.list, c), append(t.text, term...)
	if 2*len(t.list) > len(t.slots) {
		t.rehash()
	}
}

// countBoth counts a term that stands in what both texts share, if it also
// stands elsewhere in one: another is no difference.
func (t *termTable) countBoth(term []byte) {
	if slot := t.slot(maphash.Bytes(t.seed, term), term); slot.turn == t.turn {
		c := &t.list[slot.at]
		c.n[0]++
		c.n[1]++
	}
}

// slot returns the slot of a term, or the free one where it belongs.
func (t *termTable) slot(hash uint64, term []byte) *termSlot {
	for i := hash; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.turn != t.turn {
			return s
		}
		if c := &t.list[s.at]; c.hash == hash && bytes.Equal(t.text[c.from:c.to], term) {
			return s
		}
	}
}

func (t *termTable) rehash() {
	t.slots = make([]termSlot, 2*len(t.slots))
	for i := range t.list {
		c := &t.list[i]
		*t.slot(c.hash, t.text[c.from:c.to]) = termSlot{t.turn, uint32(i)}
	}
}

// edits returns the terms whose counts differ. They share one string.
func (t *termTable) edits() []termEdit {
	n := 0
	for i := range t.list {
		if was, is := t.list[i].counts(); was != is {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out, text := make([]termEdit, 0, n), string(t.text)
	for i := range t.list {
		if was, is := t.list[i].counts(); was != is {
			out = append(out, termEdit{text[t.list[i].from:t.list[i].to], t.list[i].hash, is})
		}
	}
	return out
}

func (c *countedTerm) counts() (was, is uint8) {
	return uint8(min(c.n[0], maxCount)), uint8(min(c.n[1], maxCount))
}
