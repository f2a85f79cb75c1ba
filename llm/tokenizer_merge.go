package llm

import "sync"

// merger merges the bytes of a piece into tokens: of two neighbours that are a
// token together, those whose token has the lowest rank first, and of equal ones
// the first. It takes n log n steps.
type merger struct {
	nodes []mergeNode
	heap  []uint64 // rank and place of what may be merged, or once might
	ends  []uint32
}

// mergeNode is a part of the piece, which begins where its index says.
type mergeNode struct {
	prev, next int32  // the parts beside it; the last has len(piece) behind it
	rank       uint32 // of it with the next, or noRank; also for what is no part any more
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

// merge returns the offset at which each token of a piece ends, valid until the
// next merge.
func (m *merger) merge(r *ranks, piece string) []uint32 {
	n := int32(len(piece))
	m.nodes, m.heap, m.ends = m.nodes[:0], m.heap[:0], m.ends[:0]
	for i := range n {
		rank := uint32(noRank)
		if i+1 < n {
			if rank = r.pairs[int(piece[i])<<8|int(piece[i+1])]; rank != noRank {
				m.push(rank, i)
			}
		}
		m.nodes = append(m.nodes, mergeNode{i - 1, i + 1, rank})
	}
	rank := func(i int32) {
		node := &m.nodes[i]
		node.rank = noRank
		if node.next < n {
			if node.rank = r.rank(piece, int(i), int(m.nodes[node.next].next)); node.rank != noRank {
				m.push(node.rank, i)
			}
		}
	}
	for len(m.heap) > 0 {
		top := m.pop()
		i := int32(uint32(top))
		node := &m.nodes[i]
		if node.rank != uint32(top>>32) {
			continue
		}
		gone := &m.nodes[node.next]
		gone.rank = noRank
		if node.next = gone.next; node.next < n {
			m.nodes[node.next].prev = i
		}
		rank(i)
		if node.prev >= 0 {
			rank(node.prev)
		}
	}
	for i := int32(0); i < n; {
		i = m.nodes[i].next
		m.ends = append(m.ends, uint32(i))
	}
	return m.ends
}

func (m *merger) push(rank uint32, place int32) {
	m.heap = append(m.heap, uint64(rank)<<32|uint64(place))
	h := m.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (m *merger) pop() uint64 {
	h := m.heap
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	m.heap = h
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child < min(2*i+3, last); child++ {
			if h[child] < h[least] {
				least = child
			}
		}
		if least == i {
			return top
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
