package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

// BenchmarkCommit inserts one more document of ten chunks into a copy of the
// shared store; every vector is linked before the next.
func BenchmarkCommit(b *testing.B) {
	sharedStore(b)
	db, err := engine.Open(copyStore(b), shared.corpus.Options())
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	b.ReportAllocs()
	var t times
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		if i == probes {
			b.Fatalf("there are only %d documents to insert; use -benchtime %dx", probes, probes)
		}
		if _, err := store.WaitLinked(ctx, db); err != nil {
			b.Fatal(err)
		}
		from := shared.chunks + i*store.PerDocument
		to := from + store.PerDocument
		shared.corpus.KnowChunks(from, to)
		docs := shared.corpus.Documents(from, to)
		b.StartTimer()
		t.begin()
		report, err := db.Insert(ctx, docs...)
		t.end()
		if err != nil || report.Count(engine.StatusProcessed) != 1 {
			b.Fatalf("%+v, %v", report, err)
		}
	}
	shared.corpus.Embedder.Forget()
	t.report(b)
}

// BenchmarkBulkIngest builds a store by one call of Insert and waits until all
// its vectors are linked.
func BenchmarkBulkIngest(b *testing.B) {
	chunks := store.Chunks5k
	if testing.Short() {
		chunks = store.Chunks1k
	}
	b.Run(fmt.Sprintf("chunks=%d", chunks), func(b *testing.B) {
		corpus := store.NewCorpus(chunks)
		dir := b.TempDir()
		var t times
		var spent measure.Span
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			t.begin()
			cost, err := corpus.Build(context.Background(), filepath.Join(dir, fmt.Sprint(i)), chunks)
			t.end()
			if err != nil {
				b.Fatal(err)
			}
			spent = spent.Add(cost.Visible).Add(cost.Linking)
		}
		n := float64(len(t.sample) * chunks)
		b.ReportMetric(n/spent.Wall.Seconds(), "chunks/s")
		if _, ok := measure.ProcessCPU(); ok {
			b.ReportMetric(n/spent.CPU.Seconds(), "chunks/cpu-s")
		}
		t.report(b)
	})
}

// BenchmarkOpen opens a copy of the shared store, its files in the page cache.
func BenchmarkOpen(b *testing.B) {
	sharedStore(b)
	dir := copyStore(b)
	b.ReportAllocs()
	var t times
	for b.Loop() {
		t.begin()
		db, err := engine.Open(dir, shared.corpus.Options())
		t.end()
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	t.report(b)
}
