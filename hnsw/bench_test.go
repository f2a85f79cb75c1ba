package hnsw

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// benchRows is what benchmarks search: 20,000 x 384 around 400 centres, built once.
var benchGraph = sync.OnceValues(func() (*Graph, [][]float32) {
	rows := clusters(1, 20_500, 384)
	g, err := NewGraph(384, Options{})
	if err != nil {
		panic(err)
	}
	for _, v := range rows[:20_000] {
		if _, err := g.Append(v); err != nil {
			panic(err)
		}
	}
	if _, err := g.LinkParallel(context.Background(), 0, 2); err != nil {
		panic(err)
	}
	return g, rows[20_000:]
})

func benchSearch(b *testing.B, o SearchOptions, ok func(uint32) bool) {
	g, queries := benchGraph()
	dst := make([]Hit, 0, 10)
	got := meanRecall(b, g, queries[:100], 10, o, ok)
	b.ReportAllocs()
	start := threadTime(b)
	i := 0
	for b.Loop() {
		var err error
		if dst, err = g.Search(queries[i%len(queries)], 10, o, dst); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(threadTime(b)-start)/float64(b.N)/1000, "cpu-us")
	b.ReportMetric(got, "recall@10")
}

func BenchmarkSearch(b *testing.B) {
	for _, ef := range []int{16, 64, 256} {
		b.Run(fmt.Sprintf("ef=%d", ef), func(b *testing.B) { benchSearch(b, SearchOptions{Ef: ef}, nil) })
	}
}

// BenchmarkScan is what ExactBelow is chosen by: exact scans of the first rows.
func BenchmarkScan(b *testing.B) {
	for _, n := range []uint32{1000, 2000, 4000, 8000, 16_000} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			benchSearch(b, SearchOptions{Bound: n, Exact: true}, func(slot uint32) bool { return slot < n })
		})
	}
}

func BenchmarkFiltered(b *testing.B) {
	for _, every := range []uint32{2, 4, 10, 100, 1000} {
		allow := roaring.New()
		for slot := uint32(0); slot < 20_000; slot += every {
			allow.Add(slot)
		}
		ok := func(slot uint32) bool { return slot%every == 0 }
		b.Run(fmt.Sprintf("list/every=%d", every), func(b *testing.B) { benchSearch(b, SearchOptions{Allow: allow}, ok) })
		b.Run(fmt.Sprintf("call/every=%d", every), func(b *testing.B) { benchSearch(b, SearchOptions{Accept: ok}, ok) })
	}
}

func BenchmarkBuild(b *testing.B) {
	rows := clusters(2, 2000, 384)
	for b.Loop() {
		built(b, rows, Options{})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(rows)), "us/row")
}
