package hnsw

import (
	"fmt"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// withoutCodes makes scans of a graph read rows only, until it is called back.
func withoutCodes(g *Graph) (undo func()) {
	with := g.table.Load()
	without := *with
	without.turn = nil
	g.table.Store(&without)
	return func() { g.table.Store(with) }
}

// BenchmarkExact compares scans with and without codes: 384-d rows around 400 and more centres, and with
// LIGHTRAG_SHARED set recorded vectors of words.
func BenchmarkExact(b *testing.B) {
	sets := map[string]func(b *testing.B) (rows, queries [][]float32){
		"clusters": func(*testing.B) (rows, queries [][]float32) {
			all := clusters(1, 50_100, 384)
			return all[:50_000], all[50_000:]
		},
		"alike": func(*testing.B) (rows, queries [][]float32) {
			all := alike(1, 20_100, 384)
			return all[:20_000], all[20_000:]
		},
		"words": func(b *testing.B) (rows, queries [][]float32) {
			rows, queries, _ = recorded(b)
			return rows, queries
		},
	}
	for _, name := range []string{"clusters", "words", "alike"} {
		b.Run(name, func(b *testing.B) {
			rows, queries := sets[name](b)
			g := newTestGraph(b, 384, Options{})
			appendAll(b, g, rows[:min(len(rows), 50_000)])
			for _, n := range []uint32{1000, 2000, 5000, 10_000, 20_000, 50_000} {
				if n > g.Bound() {
					break
				}
				even := roaring.New()
				for slot := uint32(0); slot < n; slot += 2 {
					even.Add(slot)
				}
				for how, o := range map[string]SearchOptions{"all": {}, "half": {Allow: even}} {
					o.Bound, o.Exact = n, true
					b.Run(fmt.Sprintf("rows=%d/%s/floats", n, how), func(b *testing.B) {
						defer withoutCodes(g)()
						benchExact(b, g, queries, o)
					})
					b.Run(fmt.Sprintf("rows=%d/%s/codes", n, how), func(b *testing.B) { benchExact(b, g, queries, o) })
				}
			}
		})
	}
}

func benchExact(b *testing.B, g *Graph, queries [][]float32, o SearchOptions) {
	dst := make([]Hit, 0, 10)
	start := threadTime(b)
	i := 0
	for b.Loop() {
		var err error
		if dst, err = g.Search(queries[i%len(queries)], 10, o, dst); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(threadTime(b)-start)/float64(b.N)/float64(o.Bound), "cpu-ns/row")
}

// BenchmarkAppend is the cost of a row, its code included.
func BenchmarkAppend(b *testing.B) {
	rows := clusters(3, 1000, 384)
	for _, codes := range []bool{false, true} {
		b.Run(fmt.Sprintf("codes=%v", codes), func(b *testing.B) {
			g := newTestGraph(b, 384, Options{})
			if !codes {
				withoutCodes(g)
			}
			start := threadTime(b)
			for i := 0; b.Loop(); i++ {
				if i%20_000 == 0 {
					g = newTestGraph(b, 384, Options{})
					if !codes {
						withoutCodes(g)
					}
				}
				if _, err := g.Append(rows[i%len(rows)]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(threadTime(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}
