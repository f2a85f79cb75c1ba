package hnsw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// benchSet is what walks are measured on: rows, queries, and the ten nearest of each.
type benchSet struct {
	rows, queries [][]float32
	truth         [][]uint32
}

// mixture returns n rows around centres of very different sizes, of 48 dimensions each and noise in all others:
// what clusters of embeddings look like.
func mixture(seed uint64, n, queries, dim int) *benchSet {
	const inner = 48
	r := rand.New(rand.NewPCG(seed, 48))
	centres := max(10, n/100)
	type centre struct {
		at    []float32
		basis [inner][]float32
	}
	basis := make([][]float32, 4*inner)
	for i := range basis {
		basis[i] = gaussian(r, dim, nil, 1)
	}
	all := make([]centre, centres)
	for i := range all {
		all[i].at = gaussian(r, dim, nil, 1)
		for j := range all[i].basis {
			all[i].basis[j] = basis[r.IntN(len(basis))]
		}
	}
	zipf := rand.NewZipf(r, 1.1, 10, uint64(centres-1))
	vectors := make([][]float32, n+queries)
	for i := range vectors {
		c := &all[zipf.Uint64()]
		v := gaussian(r, dim, c.at, 0.15)
		for _, b := range c.basis {
			f := float32(r.NormFloat64() * 0.12)
			for j := range v {
				v[j] += f * b[j]
			}
		}
		vectors[i] = v
	}
	return &benchSet{rows: vectors[:n], queries: vectors[n:]}
}

// graph appends the rows and finds what is missing of the truth.
func (s *benchSet) graph(b testing.TB, o Options) *Graph {
	g := newTestGraph(b, len(s.rows[0]), o)
	appendAll(b, g, s.rows)
	if s.truth == nil {
		for _, q := range s.queries {
			hits, err := g.Search(q, 10, SearchOptions{Exact: true}, nil)
			if err != nil {
				b.Fatal(err)
			}
			var ids []uint32
			for _, h := range hits {
				ids = append(ids, h.Slot)
			}
			s.truth = append(s.truth, ids)
		}
	}
	return g
}

// BenchmarkWalk prints, per data set and kind of walk, what building costs and what searches cost and find. With
// LIGHTRAG_SHARED set it measures recorded vectors of words.
//
//	LIGHTRAG_SHARED=... go test -run '^$' -bench 'Walk/text' -benchtime 1x ./hnsw
func BenchmarkWalk(b *testing.B) {
	sets := []struct {
		name string
		make func(b *testing.B) *benchSet
	}{
		{"text", func(b *testing.B) *benchSet {
			rows, queries, truth := recorded(b)
			return &benchSet{rows, queries, truth}
		}},
		{"mixture20k", func(*testing.B) *benchSet { return mixture(1, 20_000, 1000, 384) }},
		{"mixture100k", func(*testing.B) *benchSet { return mixture(1, 100_000, 1000, 384) }},
	}
	for _, set := range sets {
		b.Run(set.name, func(b *testing.B) {
			s := set.make(b)
			for _, walk := range []struct {
				name string
				by   Walk
			}{{"codes", WalkCodes}, {"rows", WalkRows}} {
				for seed := range uint64(3) {
					b.Run(fmt.Sprintf("%s/seed=%d", walk.name, seed), func(b *testing.B) {
						g := s.graph(b, Options{ExactBelow: -1, Seed: seed, Walk: walk.by})
						b.Run("build", func(b *testing.B) {
							for b.Loop() {
								if g.Mark() > 0 {
									g = s.graph(b, Options{ExactBelow: -1, Seed: seed, Walk: walk.by})
								}
								start := threadTime(b)
								linkAll(b, g)
								took := threadTime(b) - start
								b.ReportMetric(took.Seconds(), "cpu-s")
								b.ReportMetric(float64(took.Microseconds())/float64(g.Mark()), "cpu-us/row")
							}
						})
						for _, ef := range []int{10, 16, 24, 32, 48, 64, 96, 128, 256} {
							b.Run(fmt.Sprintf("ef=%d", ef), func(b *testing.B) { s.search(b, g, ef) })
						}
					})
				}
			}
		})
	}
}

func (s *benchSet) search(b *testing.B, g *Graph, ef int) {
	best, found, compared := time.Duration(math.MaxInt64), 0, 0
	c, o := newScratch(g), SearchOptions{Ef: ef}
	for b.Loop() {
		for range 5 {
			found, c.compared = 0, 0
			start := threadTime(b)
			for i, q := range s.queries {
				norm, err := checkVector(q, g.dim)
				if err != nil {
					b.Fatal(err)
				}
				simd.Scale(c.q, q, norm)
				for _, r := range g.search(c, 10, &o, nil) {
					if slices.Contains(s.truth[i][:10], r.slot()) {
						found++
					}
				}
			}
			best, compared = min(best, threadTime(b)-start), c.compared
		}
	}
	searches := float64(len(s.queries))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(best.Nanoseconds())/1000/searches, "cpu-us")
	b.ReportMetric(float64(found)/10/searches, "recall@10")
	b.ReportMetric(float64(compared)/searches, "compared")
}
