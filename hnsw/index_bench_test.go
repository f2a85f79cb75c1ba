package hnsw

import (
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkSearchBesideWriter compares what a search costs while another goroutine adds vectors as fast as it can with
// what it costs when that is over.
func BenchmarkSearchBesideWriter(b *testing.B) {
	g, queries := benchGraph()
	rows := make([][]float32, g.Bound())
	for i := range rows {
		rows[i] = g.Row(uint32(i))
	}
	const before = 10_000
	ix := filled(b, rows[:before], Options{ExactBelow: -1, Workers: 2})
	search := func(i int) {
		if _, err := ix.Search(queries[i%len(queries)], 10, IndexSearchOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := before; i < len(rows) && !stop.Load(); i++ {
			if err := ix.Add(uint64(i), rows[i]); err != nil {
				b.Error(err)
				return
			}
		}
	})
	start, i := threadTime(b), 0
	for b.Loop() {
		search(i)
		i++
	}
	beside := float64(threadTime(b)-start) / float64(i)
	stop.Store(true)
	writer.Wait()
	start = threadTime(b)
	for j := range i {
		search(j)
	}
	idle := float64(threadTime(b)-start) / float64(i)
	b.ReportMetric(beside/1000, "cpu-us")
	b.ReportMetric(idle/beside, "of-idle")
	b.ReportMetric(float64(ix.Len()), "vectors")
}
