package hnsw

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// clusters returns n vectors around n/50 random centres: what embeddings of similar texts look like.
func clusters(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	centres := make([][]float32, max(1, n/50))
	for i := range centres {
		centres[i] = gaussian(r, dim, nil, 1)
	}
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = gaussian(r, dim, centres[r.IntN(len(centres))], 0.5)
	}
	return rows
}

func gaussian(r *rand.Rand, dim int, centre []float32, width float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64() * width)
		if centre != nil {
			v[i] += centre[i]
		}
	}
	return v
}

func newTestGraph(t testing.TB, dim int, o Options) *Graph {
	t.Helper()
	g, err := NewGraph(dim, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func appendAll(t testing.TB, g *Graph, rows [][]float32) {
	t.Helper()
	for _, v := range rows {
		if _, err := g.Append(v); err != nil {
			t.Fatal(err)
		}
	}
}

func linkAll(t testing.TB, g *Graph) {
	t.Helper()
	if _, err := g.Link(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
}

func built(t testing.TB, rows [][]float32, o Options) *Graph {
	t.Helper()
	g := newTestGraph(t, len(rows[0]), o)
	appendAll(t, g, rows)
	linkAll(t, g)
	return g
}

// oracle is a second implementation of an exact search, sharing nothing but Row and the kernel's rounding.
func oracle(g *Graph, q []float32, k int, ok func(uint32) bool) []Hit {
	unit := make([]float32, len(q))
	simd.Scale(unit, q, simd.Norm(q))
	var hits []Hit
	for slot := range g.Bound() {
		if ok == nil || ok(slot) {
			hits = append(hits, Hit{slot, max(-1, min(1, simd.Dot(unit, g.Row(slot))))})
		}
	}
	runtime.KeepAlive(g) // and with it the rows
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Slot, b.Slot))
	})
	return hits[:min(k, len(hits))]
}

// recall is the share of hits that are as near as the k-th of the truth, so that equal rows count alike.
func recall(hits, truth []Hit) float64 {
	if len(truth) == 0 {
		return 1
	}
	found := 0
	for _, h := range hits {
		if h.Score >= truth[len(truth)-1].Score {
			found++
		}
	}
	return float64(found) / float64(len(truth))
}

// meanRecall searches for every query, checks the form of the answer, and returns recall@k.
func meanRecall(t testing.TB, g *Graph, queries [][]float32, k int, o SearchOptions, ok func(uint32) bool) float64 {
	t.Helper()
	var sum float64
	for _, q := range queries {
		hits, err := g.Search(q, k, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		truth := oracle(g, q, k, ok)
		if len(hits) != len(truth) {
			t.Fatalf("%d hits, want %d", len(hits), len(truth))
		}
		checkOrder(t, hits)
		for _, h := range hits {
			if ok != nil && !ok(h.Slot) {
				t.Fatalf("slot %d is not eligible", h.Slot)
			}
		}
		sum += recall(hits, truth)
	}
	return sum / float64(len(queries))
}

func checkOrder(t testing.TB, hits []Hit) {
	t.Helper()
	for i := 1; i < len(hits); i++ {
		a, b := hits[i-1], hits[i]
		if a.Score < b.Score || a.Score == b.Score && a.Slot >= b.Slot {
			t.Fatalf("hits %d and %d are out of order or equal: %v %v", i-1, i, a, b)
		}
	}
}

// unreachable counts live linked slots that a walk from the entry on layer 0 cannot meet, in the plainest way.
func unreachable(g *Graph) int {
	t, n := g.table.Load(), g.Mark()
	seen := make(map[uint32]bool)
	queue := []uint32{uint32(g.entry.Load())}
	seen[queue[0]] = true
	for len(queue) > 0 {
		slot := queue[0]
		queue = queue[1:]
		next, chained := neighbours(g.list(t, slot, 0), n, nil)
		if chained != (t.nextTwin(slot) != 0) && len(next) > 0 {
			return int(n) // a flag without a chain, or a chain without a flag
		}
		if twin := t.nextTwin(slot); twin != 0 {
			next = append(next, twin)
		}
		for _, id := range next {
			if !seen[id] {
				seen[id] = true
				queue = append(queue, id)
			}
		}
	}
	lost := 0
	for slot := range n {
		if !seen[slot] && !t.dead(slot) {
			lost++
		}
	}
	return lost
}

// recorded reads the WordNet vectors from a folder with recorded data.
func recorded(t testing.TB) (base, queries [][]float32, truth [][]uint32) {
	root := os.Getenv("LIGHTRAG_SHARED")
	if root == "" {
		t.Skip("LIGHTRAG_SHARED, a folder with recorded data, is not set")
	}
	const dim, depth = 384, 100
	read := func(name string) []byte {
		raw, err := os.ReadFile(filepath.Join(root, "data", "ann", "wordnet-lsa-384."+name))
		if err != nil {
			t.Skip(err)
		}
		return raw
	}
	floats := func(raw []byte) (rows [][]float32) {
		for ; len(raw) >= 2*dim; raw = raw[2*dim:] {
			row := make([]float32, dim)
			for i := range row {
				row[i] = half(binary.LittleEndian.Uint16(raw[2*i:]))
			}
			rows = append(rows, row)
		}
		return rows
	}
	base, queries = floats(read("base.f16")), floats(read("query.f16"))
	for raw := read("gt100.i32"); len(raw) >= 4*depth; raw = raw[4*depth:] {
		ids := make([]uint32, depth)
		for i := range ids {
			ids[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
		truth = append(truth, ids)
	}
	return base, queries, truth
}

// half decodes an IEEE 754 half-precision number.
func half(h uint16) float32 {
	sign, exp, frac := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	if exp == 0 {
		return float32(sign * math.Ldexp(frac, -24))
	}
	return float32(sign * math.Ldexp(1024+frac, exp-25))
}
