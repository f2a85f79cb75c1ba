package hnsw

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// BenchmarkBuildByTwo makes a graph of 20,000 vectors of real text with one worker and with two. What the
// calling thread does is what nobody helps it with; the rest is as much faster as there are workers, where there
// are as many idle processors.
func BenchmarkBuildByTwo(b *testing.B) {
	base, _ := recordedRows(b)
	ctx := context.Background()
	b.Run("one worker", func(b *testing.B) {
		start := processTime(b)
		for b.Loop() {
			build(b, ctx, base, 1)
		}
		b.ReportMetric(float64(processTime(b)-start)/float64(b.N)/1e6, "cpu-ms")
	})
	b.Run("two workers", func(b *testing.B) {
		runtime.LockOSThread() // workers run on other threads then
		defer runtime.UnlockOSThread()
		var alone time.Duration
		start := processTime(b)
		for b.Loop() {
			began := threadTime(b)
			build(b, ctx, base, 2)
			alone += threadTime(b) - began
		}
		all, serial := float64(processTime(b)-start), float64(alone)
		b.ReportMetric(all/float64(b.N)/1e6, "cpu-ms")
		b.ReportMetric(serial/float64(b.N)/1e6, "serial-ms")
		b.ReportMetric(all/(serial+(all-serial)/2), "speed-up")
	})
}

func build(b *testing.B, ctx context.Context, rows [][]float32, workers int) {
	g := newTestGraph(b, len(rows[0]), Options{ExactBelow: -1, Seed: 1})
	if _, err := g.AppendBatch(rows, workers); err != nil {
		b.Fatal(err)
	}
	if _, err := g.LinkParallel(ctx, 0, workers); err != nil {
		b.Fatal(err)
	}
}
