package engine

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// pusher spreads mass over the graph of a view from where it is put: personalised
// PageRank by local push (R. Andersen, F. Chung, K. Lang, Local Graph Partitioning
// using PageRank Vectors, FOCS 2006, section 3). Nodes are entities and passages;
// two entities that have a relation are joined, and a passage and an entity that
// it mentions. Of the mass that reaches a node, one part stays, the other goes on
// in equal shares to its neighbours.
//
// Only what the mass reaches is looked at: a node is left alone while its
// neighbours would get less than least each, so that at most 1/(least*(1-onward))
// edges are walked, however large the graph is, and a hub is hardly ever walked.
//
// Sums are made in an order that depends on the view and on the order of put
// alone. It is not safe for concurrent use.
type pusher struct {
	view  *graphstore.View
	docs  *scope // limits the graph to its documents; nil = all of it
	nodes []pushNode
	slots []uint32 // hash table: index of a node plus one, 0 = free
	queue []uint32
	near  []node // neighbours of one node
}

// node names an entity or a passage.
type node struct {
	kind format.Kind // entity or chunk
	id   uint32
}

// pushNode is a node that mass has reached.
type pushNode struct {
	node
	queued bool
	degree int32   // -1 = not counted yet
	mass   float64 // stays
	rest   float64 // has come and not been divided yet
}

var pushers = sync.Pool{New: func() any { return new(pusher) }}

// keepNodes bounds what a pusher keeps for its next use.
const keepNodes = 1 << 17

// begin forgets all mass.
func (p *pusher) begin(view *graphstore.View, docs *scope) {
	p.view, p.docs = view, docs
	p.nodes, p.queue = p.nodes[:0], p.queue[:0]
	if len(p.slots) == 0 {
		p.slots = make([]uint32, 1<<10)
	}
	clear(p.slots)
}

func (p *pusher) release() {
	p.view, p.docs = nil, nil
	if cap(p.nodes) > keepNodes || cap(p.queue) > keepNodes {
		*p = pusher{}
	}
	pushers.Put(p)
}

// put adds mass to a node.
func (p *pusher) put(n node, mass float64) { p.arrive(p.index(n), mass, 0) }

// spread divides the mass until no node would give a neighbour least or more.
// onward is the share that goes on from a node, in [0, 1).
func (p *pusher) spread(onward, least float64) {
	for head := 0; head < len(p.queue); head++ {
		i := p.queue[head]
		n := &p.nodes[i]
		n.queued = false
		gives := float64(n.rest * onward)
		if gives < least*float64(max(1, p.degree(n))) {
			continue
		}
		n.mass += float64(n.rest * (1 - onward))
		n.rest = 0
		p.near = p.appendNeighbours(p.near[:0], n.node)
		share := gives / float64(max(1, len(p.near)))
		for _, to := range p.near {
			p.arrive(p.index(to), share, least)
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		n.mass += float64(n.rest * (1 - onward))
		n.rest = 0
	}
}

// arrive adds mass to the i-th node, and queues it if it may have to be divided.
func (p *pusher) arrive(i uint32, mass, least float64) {
	n := &p.nodes[i]
	n.rest += mass
	if !n.queued && n.rest >= least {
		n.queued = true
		p.queue = append(p.queue, i)
	}
}

// degree returns the number of neighbours.
func (p *pusher) degree(n *pushNode) int {
	switch {
	case n.degree >= 0:
	case p.docs != nil:
		p.near = p.appendNeighbours(p.near[:0], n.node)
		n.degree = int32(len(p.near))
	case n.kind == format.KindEntity:
		n.degree = int32(p.view.Degree(format.EntityID(n.id)) + len(p.view.Sources(n.kind, n.id)))
	default:
		n.degree = int32(len(p.view.Mentions(format.ChunkID(n.id))))
	}
	return int(n.degree)
}

// appendNeighbours appends the neighbours that the documents allow.
func (p *pusher) appendNeighbours(dst []node, n node) []node {
	if n.kind == format.KindChunk {
		for _, e := range p.view.Mentions(format.ChunkID(n.id)) {
			dst = append(dst, node{format.KindEntity, uint32(e)})
		}
		return dst
	}
	for _, nb := range p.view.Neighbors(format.EntityID(n.id)) {
		if p.docs == nil || p.docs.has(format.KindRelation, uint32(nb.Relation)) {
			dst = append(dst, node{format.KindEntity, uint32(nb.Entity)})
		}
	}
	for _, c := range p.view.Sources(format.KindEntity, n.id) {
		if p.docs != nil {
			if doc, _ := p.view.ChunkPlace(c); !sorted(p.docs.docs, doc) {
				continue
			}
		}
		dst = append(dst, node{format.KindChunk, uint32(c)})
	}
	return dst
}

// index returns the place of a node in p.nodes; it is made if it is not there.
func (p *pusher) index(n node) uint32 {
	if 2*len(p.nodes) >= len(p.slots) {
		p.grow()
	}
	mask := uint32(len(p.slots) - 1)
	at := n.hash() & mask
	for ; p.slots[at] != 0; at = (at + 1) & mask {
		if i := p.slots[at] - 1; p.nodes[i].node == n {
			return i
		}
	}
	p.nodes = append(p.nodes, pushNode{node: n, degree: -1})
	p.slots[at] = uint32(len(p.nodes))
	return uint32(len(p.nodes) - 1)
}

func (p *pusher) grow() {
	p.slots = make([]uint32, 2*len(p.slots))
	mask := uint32(len(p.slots) - 1)
	for i := range p.nodes {
		at := p.nodes[i].hash() & mask
		for p.slots[at] != 0 {
			at = (at + 1) & mask
		}
		p.slots[at] = uint32(i + 1)
	}
}

// hash mixes kind and id (the finaliser of MurmurHash3).
func (n node) hash() uint32 {
	h := n.id ^ uint32(n.kind)<<29
	h = (h ^ h>>16) * 0x85EBCA6B
	h = (h ^ h>>13) * 0xC2B2AE35
	return h ^ h>>16
}

// best returns the nodes of a kind by (mass descending, id).
func (p *pusher) best(kind format.Kind) []pushNode {
	var out []pushNode
	for i := range p.nodes {
		if n := &p.nodes[i]; n.kind == kind && n.mass > 0 {
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b pushNode) int {
		return cmp.Or(cmp.Compare(b.mass, a.mass), cmp.Compare(a.id, b.id))
	})
	return out
}

// masses returns what stays at each node that was reached.
func (p *pusher) masses() map[node]float64 {
	m := make(map[node]float64, len(p.nodes))
	for i := range p.nodes {
		m[p.nodes[i].node] = p.nodes[i].mass
	}
	return m
}
