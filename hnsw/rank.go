package hnsw

import (
	"math"
	"slices"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// MaxSlots is the largest number of slots of a Graph: a slot has 31 bits, so that a rank has room for a flag.
const MaxSlots = 1<<31 - 1

// Hit is one result of a search.
type Hit struct {
	Slot  uint32
	Score float32 // cosine, in [-1, 1]
}

// rank packs how near a slot is, and the slot, so that integer order is result order: the nearer first, then the
// lower slot. Nearness is a score, or a product of codes; ranks of the two do not mix. Bit 0 is the flag of a
// walk: this slot's neighbours have been looked at.
type rank uint64

const expanded rank = 1

// rankOf makes a rank of a nearness, the larger the nearer.
func rankOf(near int32, slot uint32) rank {
	return rank(uint32(math.MaxInt32-near))<<32 | rank(slot)<<1
}

// nearness maps scores to integers of the same order.
func nearness(score float32) int32 {
	// Rounding can leave [-1, 1]; clamping before ordering keeps ties of the clamped scores ordered by slot.
	// Adding zero turns -0 into +0.
	score = max(-1, min(1, score)) + 0
	bits := int32(math.Float32bits(score))
	return bits ^ bits>>31&math.MaxInt32
}

func makeRank(score float32, slot uint32) rank { return rankOf(nearness(score), slot) }

// near returns the nearness.
func (r rank) near() int32 { return math.MaxInt32 - int32(r>>32) }

func (r rank) slot() uint32 { return uint32(r) >> 1 }

// score returns the score whose nearness was packed.
func (r rank) score() float32 {
	bits := r.near()
	return math.Float32frombits(uint32(bits ^ bits>>31&math.MaxInt32))
}

func (r rank) hit() Hit { return Hit{Slot: r.slot(), Score: r.score()} }

// insert puts r into the sorted list, which keeps at most limit entries, and returns the list and the place
// of r, or limit when there was no room for it.
func insert(list []rank, r rank, limit int) ([]rank, int) { return simd.Insert(list, r, limit) }

// sortedInsertLimit is the k up to which a scan keeps its best in a sorted list; above it, moving the list
// about costs more than sorting everything once.
const sortedInsertLimit = 512

// best gathers the first k of many ranks.
type best struct {
	list []rank
	k    int
	full bool // k were seen, or there is a least score: what is not before bar is of no interest
	bar  rank
}

// wants reports whether r may be one of the first k.
func (b *best) wants(r rank) bool { return !b.full || r < b.bar }

// least returns a score below which nothing is wanted.
func (b *best) least() float32 {
	if b.full {
		// What rounding left below -1 counts as -1.
		if s := b.bar.score(); s > -1 {
			return s
		}
	}
	return float32(math.Inf(-1))
}

func (b *best) add(r rank) {
	if b.k <= sortedInsertLimit {
		b.list, _ = insert(b.list, r, b.k)
		b.raise()
		return
	}
	if b.list = append(b.list, r); len(b.list) >= 4*b.k {
		b.finish()
	}
}

// finish sorts and cuts the list to k entries.
func (b *best) finish() {
	if b.k > sortedInsertLimit {
		slices.Sort(b.list)
	}
	if len(b.list) > b.k {
		b.list = b.list[:b.k]
	}
	b.raise()
}

// raise sets the bar to the last of k sorted ranks.
func (b *best) raise() {
	if len(b.list) == b.k && b.wants(b.list[b.k-1]) {
		b.full, b.bar = true, b.list[b.k-1]
	}
}

// demand makes scores below the given one unwanted.
func (b *best) demand(score float32) { b.full, b.bar = true, makeRank(score, MaxSlots) }

// push and pop make a binary min-heap of ranks: the best comes out first.
func push(heap []rank, r rank) []rank {
	heap = append(heap, r)
	i := len(heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if heap[up] <= r {
			break
		}
		heap[i] = heap[up]
		i = up
	}
	heap[i] = r
	return heap
}

func pop(heap []rank) (rank, []rank) {
	top, last := heap[0], heap[len(heap)-1]
	heap = heap[:len(heap)-1]
	n, i := len(heap), 0
	for 2*i+1 < n {
		down := 2*i + 1
		if down+1 < n && heap[down+1] < heap[down] {
			down++
		}
		if heap[down] >= last {
			break
		}
		heap[i] = heap[down]
		i = down
	}
	if n > 0 {
		heap[i] = last
	}
	return top, heap
}
