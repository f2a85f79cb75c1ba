package hnsw

import (
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkOpen opens 100k vectors of 384 dimensions from the page cache and answers one query.
func BenchmarkOpen(b *testing.B) {
	const n, dim = 100_000, 384
	path := filepath.Join(b.TempDir(), "index.hnsw")
	rows := clusters(1, n, dim)
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i)
	}
	ix := newTestIndex(b, dim, Options{EfConstruction: 40, Workers: 4}) // how good links are does not matter here
	if err := ix.AddBatch(ids, rows); err != nil {
		b.Fatal(err)
	}
	if err := ix.SaveFile(path); err != nil {
		b.Fatal(err)
	}
	query := clusters(2, 1, dim)[0]
	ix = nil
	b.ReportAllocs()
	var open, search, cpu time.Duration
	rounds := 0
	for b.Loop() {
		busy, start := processTime(b), time.Now()
		ix, err := Open(path, OpenOptions{})
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Now()
		if r, err := ix.Search(query, 10, IndexSearchOptions{}); err != nil || len(r) != 10 {
			b.Fatal(r, err)
		}
		search += time.Since(opened)
		open += opened.Sub(start)
		cpu += processTime(b) - busy
		rounds++
		b.StopTimer()
		ix.Close()
		b.StartTimer()
	}
	b.ReportMetric(open.Seconds()*1e3/float64(rounds), "open-ms")
	b.ReportMetric(search.Seconds()*1e3/float64(rounds), "query-ms")
	b.ReportMetric(cpu.Seconds()*1e3/float64(rounds), "cpu-ms")
	b.ReportMetric((open+search).Seconds()*1e3/float64(rounds), "ms")
}
