package hnsw

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// BenchmarkFilter prints, per share of slots that are allowed, what it costs to look at each of them (brute-us), to
// walk until enough are met (sweep-us), and to let Search choose (chosen-us), which finds recall@10 of the truth. The
// allowed are random ones, or random ones among the six tenths that are farthest from the query (far), or nearest
// to it (near); view allows the slots below a tenth of the bound, accept calls a function. The three take turns; of several
// rounds the fastest counts, per query.
//
//	LIGHTRAG_SHARED=... go test -run '^$' -bench 'Filter$' -benchtime 1x ./hnsw
func BenchmarkFilter(b *testing.B) {
	for _, set := range []struct {
		name string
		make func(b *testing.B) *benchSet
	}{
		{"text", func(b *testing.B) *benchSet {
			rows, queries, truth := recorded(b)
			return &benchSet{rows, queries, truth}
		}},
		{"mixture100k", func(*testing.B) *benchSet { return mixture(1, 100_000, 50, 384) }},
	} {
		b.Run(set.name, func(b *testing.B) {
			s := set.make(b)
			s.queries = s.queries[:30]
			g := newTestGraph(b, len(s.rows[0]), Options{})
			appendAll(b, g, s.rows)
			if _, err := g.LinkParallel(context.Background(), 0, 2); err != nil {
				b.Fatal(err)
			}
			for _, kind := range []string{"random", "far", "near"} {
				for _, share := range []float64{0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.002} {
					options := make([]SearchOptions, len(s.queries))
					for i, list := range allowLists(g, s.queries, kind, share) {
						options[i].Allow = list
					}
					b.Run(fmt.Sprintf("%s/%v", kind, share), func(b *testing.B) { benchFilter(b, g, s.queries, options) })
				}
			}
			view := slices.Repeat([]SearchOptions{{Bound: g.Bound() / 10}}, len(s.queries))
			b.Run("view/0.1", func(b *testing.B) { benchFilter(b, g, s.queries, view) })
			for _, every := range []uint32{2, 10, 100} {
				accept := func(slot uint32) bool { return slot*2654435761>>16%every == 0 }
				options := slices.Repeat([]SearchOptions{{Accept: accept}}, len(s.queries))
				b.Run(fmt.Sprintf("accept/%v", 1/float64(every)), func(b *testing.B) { benchFilter(b, g, s.queries, options) })
			}
		})
	}
}

// eligible is the number of slots that an exact search looks at.
func eligible(g *Graph, o *SearchOptions) int {
	if o.Allow != nil {
		return int(o.Allow.GetCardinality())
	}
	return int(cmp.Or(o.Bound, g.Bound()))
}

// allowLists returns one list per query.
func allowLists(g *Graph, queries [][]float32, kind string, share float64) []*roaring.Bitmap {
	const part = 0.6
	r := rand.New(rand.NewPCG(7, math.Float64bits(share)))
	slots := make([]uint32, g.Bound())
	lists := make([]*roaring.Bitmap, len(queries))
	unit := make([]float32, g.dim)
	for i, q := range queries {
		for slot := range slots {
			slots[slot] = uint32(slot)
		}
		from := slots
		if kind != "random" {
			simd.Scale(unit, q, simd.Norm(q))
			score := make([]float32, len(slots))
			for slot := range score {
				score[slot] = g.Score(uint32(slot), unit)
			}
			slices.SortFunc(slots, func(x, y uint32) int { return cmp.Compare(score[x], score[y]) })
			if kind == "near" {
				slices.Reverse(slots)
			}
			from = slots[:int(part*float64(len(slots)))]
		}
		r.Shuffle(len(from), func(x, y int) { from[x], from[y] = from[y], from[x] })
		lists[i] = roaring.BitmapOf(from[:int(share*float64(len(slots)))]...)
		lists[i].RunOptimize()
	}
	return lists
}

func benchFilter(b *testing.B, g *Graph, queries [][]float32, options []SearchOptions) {
	const k, ef, rounds = 10, 64, 7
	c := newScratch(g)
	fastest := make([][3]time.Duration, len(queries))
	found := make([][3][]rank, len(queries))
	swept := 0
	for b.Loop() {
		for round := range rounds {
			for _, way := range []int{0, 1, 2, 1} { // a sweep before each of the others, for the caches
				for i, q := range queries {
					o := options[i]
					o.Ef, o.Exact = ef, way == 0
					norm, err := checkVector(q, g.dim)
					if err != nil {
						b.Fatal(err)
					}
					simd.Scale(c.q, q, norm)
					c.compared = 0
					var ranks []rank
					start := threadTime(b)
					if way == 1 {
						ranks = g.sweep(c, k, &o)
					} else {
						ranks = g.search(c, k, &o, nil)
					}
					took := threadTime(b) - start
					if round == 0 && fastest[i][way] == 0 {
						found[i][way] = slices.Clone(ranks)
						if way == 1 {
							swept += c.compared
						}
						fastest[i][way] = took
					}
					fastest[i][way] = min(fastest[i][way], took)
				}
			}
		}
	}
	var took [3]time.Duration
	var rows, right, sweptRight, wanted int
	for i := range queries {
		for way := range took {
			took[way] += fastest[i][way]
		}
		for _, r := range found[i][0] {
			if slices.Contains(found[i][1], r) {
				sweptRight++
			}
			if slices.Contains(found[i][2], r) {
				right++
			}
		}
		wanted += len(found[i][0])
		rows += eligible(g, &options[i])
	}
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(len(queries)) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(us(took[0]), "brute-us")
	b.ReportMetric(us(took[1]), "sweep-us")
	b.ReportMetric(us(took[2]), "chosen-us")
	b.ReportMetric(float64(took[2])/float64(min(took[0], took[1])), "ratio")
	b.ReportMetric(float64(right)/float64(wanted), "recall")
	b.ReportMetric(float64(sweptRight)/float64(wanted), "sweep-recall")
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(rows), "brute-ns/row")
	b.ReportMetric(float64(took[1].Nanoseconds())/float64(swept), "sweep-ns/slot")
	b.ReportMetric(float64(swept)/float64(len(queries)), "swept")
}

// sweep walks for what a search may return, whatever it costs.
func (g *Graph) sweep(c *scratch, k int, o *SearchOptions) []rank {
	t, n := g.table.Load(), g.Bound()
	f := filter{t: t, limit: n, accept: o.Accept}
	if o.Bound != 0 {
		f.limit = o.Bound
	}
	if o.Allow != nil {
		c.dense(o.Allow, n)
		f.allow = c.allow
	}
	if !g.walk(c, t, g.entry.Load(), n, f.limit, k, o.Ef, f, unlimited) {
		return nil
	}
	return c.found
}
