package simd

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

// Benchmarks report nanoseconds of thread processor time per vector. Rows are visited in random order in sets that
// stay in the first, second or last cache, or in none.

// vekDot is what products were before these kernels, where vek has an assembly of it.
var vekDot func(a, b []float32) float32

var sets = []struct {
	name  string
	bytes int
}{{"L1", 24 << 10}, {"L2", 640 << 10}, {"L3", 12 << 20}, {"DRAM", 256 << 20}}

// perVector runs f, which handles that many vectors, until the benchmark is long enough.
func perVector(b *testing.B, vectors int, f func()) {
	f()
	before := threadTime(b)
	n := 0
	for b.Loop() {
		f()
		n++
	}
	b.ReportMetric(float64(threadTime(b)-before)/float64(n)/float64(vectors), "ns/vector")
	b.ReportMetric(0, "ns/op")
}

// shuffled returns batches of ids, a multiple of 32 in all, in random order.
func shuffled(b *testing.B, rows int) []uint32 {
	ids := make([]uint32, max(32, min(rows, 1<<19)&^31))
	for i, at := range newRand(b).Perm(rows) {
		if i < len(ids) {
			ids[i] = uint32(at)
		}
	}
	for i := rows; i < len(ids); i++ {
		ids[i] = ids[i%rows]
	}
	return ids
}

func matrixOf(b *testing.B, dim, bytes int) (*Matrix, int) {
	m, rows := NewMatrix(dim), max(4, bytes/(4*dim))
	for !m.Holds(uint32(rows - 1)) {
		m = m.Grow()
	}
	for _, c := range m.Chunks {
		for i := range c {
			c[i] = float32(i&255) - 127
		}
	}
	return &m, rows
}

func BenchmarkDotMany(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		for _, set := range sets {
			m, rows := matrixOf(b, dim, set.bytes)
			ids, q, out := shuffled(b, rows), make([]float32, dim), make([]float32, 32)
			for _, width := range []int{32, 8} {
				name := fmt.Sprintf("dim=%d/%s/ids=%d", dim, set.name, width)
				for _, to := range supported() {
					b.Run(name+"/"+to.String(), func(b *testing.B) {
						force(b, to)
						perVector(b, len(ids), func() {
							for at := 0; at < len(ids); at += width {
								DotMany(q, m, ids[at:at+width], out)
							}
						})
					})
				}
				if vekDot == nil {
					continue
				}
				b.Run(name+"/vek", func(b *testing.B) {
					perVector(b, len(ids), func() {
						for at := 0; at < len(ids); at += width {
							for i, id := range ids[at : at+width] {
								out[i] = vekDot(q, m.Row(id))
							}
						}
					})
				})
			}
		}
	}
}

func BenchmarkDot(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		x, y := make([]float32, dim), make([]float32, dim)
		for _, to := range supported() {
			b.Run(fmt.Sprintf("dim=%d/%s", dim, to), func(b *testing.B) {
				force(b, to)
				perVector(b, 100, func() {
					for range 100 {
						Dot(x, y)
					}
				})
			})
		}
		if vekDot == nil {
			continue
		}
		b.Run(fmt.Sprintf("dim=%d/vek", dim), func(b *testing.B) {
			perVector(b, 100, func() {
				for range 100 {
					vekDot(x, y)
				}
			})
		})
	}
}

func BenchmarkDotRange(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		for _, set := range sets {
			m, rows := matrixOf(b, dim, set.bytes)
			q, out := make([]float32, dim), make([]float32, rows)
			for _, to := range supported() {
				b.Run(fmt.Sprintf("dim=%d/%s/%s", dim, set.name, to), func(b *testing.B) {
					force(b, to)
					perVector(b, rows, func() { DotRange(q, m, 0, out) })
				})
			}
		}
	}
}

func matrix8Of(b *testing.B, dim, bytes int) (*Matrix8, int) {
	m, rows := NewMatrix8(dim), max(4, bytes/stride8(dim))
	memory := arena.New[uint8](rows * m.Stride)
	b.Cleanup(func() { runtime.KeepAlive(memory) })
	data, err := memory.Grow(rows * m.Stride)
	if err != nil {
		b.Fatal(err)
	}
	m.Data = data[:rows*m.Stride]
	for i := range m.Data {
		m.Data[i] = uint8(i)
	}
	return &m, rows
}

func BenchmarkDotMany8(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		for _, set := range sets {
			m, rows := matrix8Of(b, dim, set.bytes)
			ids, q, out := shuffled(b, rows), NewQuery8(dim), make([]int32, 32)
			for _, width := range []int{32, 8} {
				for _, to := range supported() {
					b.Run(fmt.Sprintf("dim=%d/%s/ids=%d/%s", dim, set.name, width, to), func(b *testing.B) {
						force(b, to)
						perVector(b, len(ids), func() {
							for at := 0; at < len(ids); at += width {
								DotMany8(&q, m, ids[at:at+width], out)
							}
						})
					})
				}
			}
		}
	}
}

func BenchmarkDotRange8(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		for _, set := range sets {
			m, rows := matrix8Of(b, dim, set.bytes)
			q, out := NewQuery8(dim), make([]int32, rows)
			for _, to := range supported() {
				b.Run(fmt.Sprintf("dim=%d/%s/%s", dim, set.name, to), func(b *testing.B) {
					force(b, to)
					perVector(b, rows, func() { DotRange8(&q, m, 0, out) })
				})
			}
		}
	}
}

// BenchmarkScanRange8 finds about ten rows of 10,000.
func BenchmarkScanRange8(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		const rows = 10_000
		m, _ := matrix8Of(b, dim, rows*stride8(dim))
		r := newRand(b)
		fillBytes(r, m.Data)
		codes := make([]uint8, dim)
		fillBytes(r, codes)
		q, ids, out := NewQuery8(dim), make([]uint32, rows), make([]int32, rows)
		q.Load(codes)
		DotRange8(&q, m, 0, out)
		least := slices.Sorted(slices.Values(out))[rows-10]
		for _, to := range supported() {
			b.Run(fmt.Sprintf("dim=%d/%s", dim, to), func(b *testing.B) {
				force(b, to)
				perVector(b, rows, func() {
					for at := 0; at < rows; at += 1000 {
						ScanRange8(&q, m, uint32(at), 1000, least, ids, out)
					}
				})
			})
		}
	}
}

// BenchmarkPrefetch is the time a request takes, not what it saves.
func BenchmarkPrefetch(b *testing.B) {
	ids, words := shuffled(b, 1600), make([]uint32, 1<<15)
	for name, ask := range map[string]func([]uint32, int){"read": Prefetch, "write": PrefetchWrite} {
		b.Run(name, func(b *testing.B) {
			perVector(b, len(ids), func() {
				for _, id := range ids {
					ask(words, 32*int(id&1023))
				}
			})
		})
	}
}

// BenchmarkPrepare is what one query costs before its first distance, and its parts.
func BenchmarkPrepare(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		v, unit, codes := make([]float32, dim), make([]float32, dim), make([]uint8, dim)
		fillNormal(newRand(b), v)
		rot, q, scale := NewRotator(dim, 1), NewQuery8(dim), UnitScale(dim)
		parts := []struct {
			name string
			run  func()
		}{
			{"normalise", func() { Scale(unit, v, Norm(v)) }},
			{"rotate", func() { rot.Rotate(unit, v) }},
			{"quantise", func() { Quantise(codes, unit, scale) }},
			{"load", func() { q.Load(codes) }},
			{"all", func() {
				Scale(unit, v, Norm(v))
				rot.Rotate(unit, unit)
				Quantise(codes, unit, scale)
				q.Load(codes)
			}},
		}
		for _, part := range parts {
			for _, to := range supported() {
				b.Run(fmt.Sprintf("dim=%d/%s/%s", dim, part.name, to), func(b *testing.B) {
					force(b, to)
					perVector(b, 1, part.run)
				})
			}
		}
	}
}

func BenchmarkHammingRange(b *testing.B) {
	for _, dim := range []int{384, 768, 1536} {
		words := SignWords(dim)
		q, rows, out := make([]uint64, words), make([]uint64, 256*words), make([]int32, 256)
		for _, to := range supported() {
			b.Run(fmt.Sprintf("dim=%d/%s", dim, to), func(b *testing.B) {
				force(b, to)
				perVector(b, 256, func() { HammingRange(q, rows, out) })
			})
		}
	}
}
