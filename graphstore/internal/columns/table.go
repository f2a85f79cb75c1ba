package columns

import (
	"math/bits"
	"unsafe"
)

const (
	pageShift = 5
	pageRows  = 1 << pageShift
	pageMask  = pageRows - 1

	nodeShift = 8
	nodePages = 1 << nodeShift
	nodeMask  = nodePages - 1
)

// page holds the rows of 32 consecutive ids. gen is the version that made this
// copy: a builder writes only to pages of its own version.
type page[R any] struct {
	gen  uint64
	live uint32 // bit i: row i exists; rows without a bit are zero
	rows [pageRows]R
}

type node[R any] struct {
	gen   uint64
	pages [nodePages]*page[R]
}

// table is a sparse persistent array of rows by id. The value in a version is
// never changed; a builder works on its own copy of the value.
type table[R any] struct {
	top   []*node[R]
	gen   uint64 // version that made top
	live  int
	pages int
	nodes int
}

// page returns the page that holds id, or nil.
func (t *table[R]) page(id uint32) *page[R] {
	if i := int(id >> (pageShift + nodeShift)); i < len(t.top) {
		if n := t.top[i]; n != nil {
			return n.pages[id>>pageShift&nodeMask]
		}
	}
	return nil
}

// has reports whether the row of id exists.
func (t *table[R]) has(id uint32) bool {
	p := t.page(id)
	return p != nil && p.live>>(id&pageMask)&1 != 0
}

// own returns the page of id for writing by version gen, copied or made when it
// is not of that version yet.
func (t *table[R]) own(id uint32, gen uint64) *page[R] {
	n := t.ownNode(id>>(pageShift+nodeShift), gen)
	slot := &n.pages[id>>pageShift&nodeMask]
	switch p := *slot; {
	case p == nil:
		*slot = &page[R]{gen: gen}
		t.pages++
	case p.gen != gen:
		fresh := *p
		fresh.gen = gen
		*slot = &fresh
	}
	return *slot
}

func (t *table[R]) ownNode(i uint32, gen uint64) *node[R] {
	if t.gen != gen || int(i) >= len(t.top) {
		t.growTop(int(i)+1, gen)
	}
	slot := &t.top[i]
	switch n := *slot; {
	case n == nil:
		*slot = &node[R]{gen: gen}
		t.nodes++
	case n.gen != gen:
		fresh := *n
		fresh.gen = gen
		*slot = &fresh
	}
	return *slot
}

// growTop gives version gen its own top slice of at least n nodes. Ids are 32
// bits wide, so that the slice has at most 2^19 entries whatever the input.
func (t *table[R]) growTop(n int, gen uint64) {
	if n < len(t.top) {
		n = len(t.top)
	}
	if t.gen == gen && n <= cap(t.top) {
		t.top = t.top[:n]
		return
	}
	room := n
	if t.gen == gen {
		room += n / 2 // a load: grow in geometric steps
	}
	top := make([]*node[R], n, room)
	copy(top, t.top)
	t.top, t.gen = top, gen
}

// put returns the row of id for writing and makes it exist.
func (t *table[R]) put(id uint32, gen uint64) *R {
	p := t.own(id, gen)
	if bit := uint32(1) << (id & pageMask); p.live&bit == 0 {
		p.live |= bit
		t.live++
	}
	return &p.rows[id&pageMask]
}

// drop zeroes the row of id, which exists.
func (t *table[R]) drop(id uint32, gen uint64) {
	p := t.own(id, gen)
	var zero R
	p.rows[id&pageMask] = zero
	p.live &^= 1 << (id & pageMask)
	t.live--
}

// next returns the first existing id at or after from. Sixty-four bits, so that
// the id after the largest one can be asked for.
func (t *table[R]) next(from uint64) (uint32, bool) {
	end := uint64(len(t.top)) << (pageShift + nodeShift)
	for from < end {
		n := t.top[from>>(pageShift+nodeShift)]
		if n == nil {
			from = (from>>(pageShift+nodeShift) + 1) << (pageShift + nodeShift)
			continue
		}
		if p := n.pages[from>>pageShift&nodeMask]; p != nil {
			if w := p.live >> (from & pageMask); w != 0 {
				return uint32(from) + uint32(bits.TrailingZeros32(w)), true
			}
		}
		from = (from>>pageShift + 1) << pageShift
	}
	return 0, false
}

func (t *table[R]) bytes() int64 {
	return int64(t.pages)*int64(unsafe.Sizeof(page[R]{})) +
		int64(t.nodes)*int64(unsafe.Sizeof(node[R]{})) +
		int64(cap(t.top))*int64(unsafe.Sizeof((*node[R])(nil)))
}
