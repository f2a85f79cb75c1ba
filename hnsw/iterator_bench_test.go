package hnsw

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkIterator prints what the first hits cost by tens (by-tens-us), what one search for as many does (search-us),
// and the recall of both.
//
//	LIGHTRAG_SHARED=... go test -run '^$' -bench 'Iterator$' -benchtime 1x ./hnsw
func BenchmarkIterator(b *testing.B) {
	rows, queries, _ := recorded(b)
	queries = queries[:200]
	g := newTestGraph(b, len(rows[0]), Options{})
	appendAll(b, g, rows)
	if _, err := g.LinkParallel(context.Background(), 0, 2); err != nil {
		b.Fatal(err)
	}
	for _, total := range []int{10, 50, 200} {
		b.Run(fmt.Sprintf("first=%d", total), func(b *testing.B) {
			var took, fastest [2]time.Duration
			var right, wanted [2]int
			batch, hits := make([]Hit, 0, 10), make([]Hit, 0, total)
			for b.Loop() {
				for round := range 7 {
					for way := range 2 {
						took[way] = 0
						for _, q := range queries {
							start := threadTime(b)
							hits = hits[:0]
							if way == 0 {
								it, err := g.Iterate(q, SearchOptions{})
								if err != nil {
									b.Fatal(err)
								}
								for len(hits) < total {
									if batch, err = it.Next(10, batch); err != nil {
										b.Fatal(err)
									}
									hits = append(hits, batch...)
								}
								it.Close()
							} else {
								var err error
								if hits, err = g.Search(q, total, SearchOptions{}, hits); err != nil {
									b.Fatal(err)
								}
							}
							took[way] += threadTime(b) - start
							if round == 0 {
								truth, err := g.Search(q, total, SearchOptions{Exact: true}, nil)
								if err != nil {
									b.Fatal(err)
								}
								for _, h := range hits {
									if slices.Contains(truth, h) {
										right[way]++
									}
								}
								wanted[way] += total
							}
						}
						if round == 0 || took[way] < fastest[way] {
							fastest[way] = took[way]
						}
					}
				}
			}
			us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(len(queries)) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(us(fastest[0]), "by-tens-us")
			b.ReportMetric(us(fastest[1]), "search-us")
			b.ReportMetric(float64(right[0])/float64(wanted[0]), "by-tens-recall")
			b.ReportMetric(float64(right[1])/float64(wanted[1]), "search-recall")
		})
	}
}
