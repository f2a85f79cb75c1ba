package hnsw

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// Graph is the index over dense slots. Searches run beside one appender and one linker without locks; Append,
// and Link, each serialise their callers.
type Graph struct {
	dim int
	o   Options

	// A reader loads mark, entry, bound and table in this order; writers publish in the opposite one. So
	// everything that is named below a loaded bound is in the table loaded after it.
	mark  atomic.Uint32
	entry atomic.Uint64 // layer<<32 | slot: one word, so that the two never disagree; noEntry while empty
	bound atomic.Uint32
	table atomic.Pointer[table]
	dead  atomic.Uint32

	appending sync.Mutex
	memory    arenas
	coded     uint32       // slots below it have codes, even if their rows are yet to be placed
	moves     bool         // codes and links, when their memory grows
	moving    sync.RWMutex // see hold

	linking   sync.Mutex
	only      *linker           // see onlyLinker
	tails     map[uint32]uint32 // last twin of each chain
	repaired  uint32            // mark when reachability was last checked
	uncounted bool              // see lockLinks
	top       sync.Mutex        // held while a slot becomes the entry

	readers readers
	upkeep  upkeep // under linking

	scratches sync.Pool
}

const noEntry = math.MaxUint64

// NewGraph returns an empty graph for vectors of dim elements, 1 to 65,536. Options out of range are refused, all of
// them in one ErrInvalid.
func NewGraph(dim int, o Options) (*Graph, error) {
	o = o.withDefaults()
	if err := o.validate(dim); err != nil {
		return nil, fmt.Errorf("hnsw: new graph: %w", err)
	}
	g := &Graph{dim: dim, o: o, tails: map[uint32]uint32{}}
	g.entry.Store(noEntry)
	t := &table{rows: simd.NewMatrix(dim), codes: simd.NewMatrix8(dim), m: o.M}
	if dim >= codesFromDim {
		t.turn, t.walks, t.usual = simd.NewRotator(dim, codesSeed), o.Walk == WalkCodes, usualLostOf(dim)
	}
	g.memory = newArenas(dim, t.codes.Stride, o.M)
	g.moves = g.memory.codes.Moves() || g.memory.links.Moves() || g.memory.upper.Moves()
	if o.RowFile != nil {
		g.memory.rows = arena.NewFile[float32](rowsLimit(dim), o.RowFile)
	} else {
		g.memory.rows = arena.New[float32](rowsLimit(dim))
	}
	g.table.Store(t)
	g.scratches.New = func() any { return newScratch(g) }
	return g, nil
}

// Dim returns the dimension of the vectors.
func (g *Graph) Dim() int { return g.dim }

// Options returns the options in effect, defaults filled in.
func (g *Graph) Options() Options { return g.o }

// Bound returns the number of appended slots.
func (g *Graph) Bound() uint32 { return g.bound.Load() }

// Mark returns the number of slots that are linked: all below it, none above.
func (g *Graph) Mark() uint32 { return g.mark.Load() }

// Dead returns the number of killed slots.
func (g *Graph) Dead() uint32 { return g.dead.Load() }

func checkVector(vec []float32, dim int) (norm float64, err error) {
	if len(vec) != dim {
		return 0, &VectorError{Dim: len(vec), WantDim: dim, Err: ErrDimension}
	}
	norm = simd.Norm(vec)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		for i, x := range vec {
			if x-x != 0 {
				return 0, &VectorError{Dim: dim, WantDim: dim, At: i, Err: ErrNotFinite}
			}
		}
	}
	const smallestNormal = 0x1p-126
	if norm < smallestNormal {
		return 0, &VectorError{Dim: dim, WantDim: dim, Norm: norm, Err: ErrZeroVector}
	}
	return norm, nil
}

// Normalize writes the unit vector in the direction of vec to dst, which has the same length and may be vec itself.
// It is what Append does to a row; Score wants its query so. A vector that Append would refuse is refused.
func Normalize(dst, vec []float32) error {
	norm, err := checkVector(vec, len(dst))
	if err == nil {
		simd.Scale(dst, vec, norm)
	}
	return err
}

// Row returns the normalised row of a slot, borrowed: it never moves or changes, must not be written, and is valid as
// long as the graph is reachable: a row does not keep its graph (see runtime.KeepAlive). It is nil for a slot that was not
// appended.
func (g *Graph) Row(slot uint32) []float32 {
	if slot >= g.bound.Load() {
		return nil
	}
	return g.table.Load().row(slot)
}

// Score returns the cosine of a slot's row and q, which must be a unit vector of the graph's dimension, or -1
// for a slot that was not appended.
func (g *Graph) Score(slot uint32, q []float32) float32 {
	if len(q) != g.dim || slot >= g.bound.Load() {
		return -1
	}
	score := makeRank(simd.Dot(q, g.table.Load().row(slot)), slot).score()
	runtime.KeepAlive(g) // and with it the row
	return score
}

// Lingering returns the number of killed slots that walks still pass: linked, and not yet taken out by Consolidate.
func (g *Graph) Lingering() uint32 {
	mark, t := g.mark.Load(), g.table.Load()
	n := 0
	for from := uint32(0); from < mark; from += 64 {
		m, i := t.at(from)
		dead := m.dead[i>>6].Load()
		if mark-from < 64 {
			dead &= 1<<(mark-from) - 1
		}
		n += bits.OnesCount64(dead)
	}
	return uint32(max(0, n-int(g.upkeep.aparts.Load())))
}

// Kill marks a slot dead: no search returns it any more, and slots linked later choose it as a neighbour only
// when there is nothing alive to choose. It stays part of the graph, as a stepping stone. A store kills a
// slot when no view that could name it is left. Killing twice, or a slot not appended, does nothing.
func (g *Graph) Kill(slot uint32) {
	if slot >= g.bound.Load() {
		return
	}
	m, i := g.table.Load().at(slot)
	bit := uint64(1) << (i & 63)
	if m.dead[i>>6].Or(bit)&bit == 0 {
		g.dead.Add(1)
	}
}

// IsDead reports whether a slot was killed.
func (g *Graph) IsDead(slot uint32) bool {
	return slot < g.bound.Load() && g.table.Load().dead(slot)
}
