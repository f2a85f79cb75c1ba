package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

// BenchmarkCascade compares two ways to the ten nearest of all rows: products of all codes, then float32 products of
// the 32 largest; and before both a pass over signs that keeps the rows with the fewest differences, as many as
// bring 0.999 of the true ones. Rows are 384-d, around random centres or, with LIGHTRAG_SHARED set, recorded.
//
//	go test -run '^$' -bench Cascade -benchtime 300x ./hnsw/simd
func BenchmarkCascade(b *testing.B) {
	const dim, queries = 384, 100
	sets := []struct {
		name string
		rows int
		make func(b *testing.B, n int) [][]float32
	}{
		{"recorded", 10_000, recordedVectors}, {"clusters", 10_000, clusteredVectors},
		{"clusters", 50_000, clusteredVectors}, {"clusters", 100_000, clusteredVectors},
	}
	for _, set := range sets {
		b.Run(fmt.Sprintf("%s/rows=%d", set.name, set.rows), func(b *testing.B) {
			vectors := set.make(b, set.rows+queries)
			c := newCascade(b, vectors[:set.rows])
			asked := vectors[set.rows:]
			truth := make([][]uint32, len(asked))
			for i, q := range asked {
				truth[i] = c.exact(q)
			}
			recall := func(keep int) float64 {
				found := 0
				for i, q := range asked {
					for _, id := range c.search(q, keep) {
						if slices.Contains(truth[i], id) {
							found++
						}
					}
				}
				return float64(found) / float64(len(asked)*nearest)
			}
			keep := set.rows / 200
			for keep < set.rows && recall(keep) < 0.999 {
				keep += keep / 4
			}
			for _, way := range []struct {
				name string
				keep int
			}{{"codes", 0}, {"signs", min(keep, set.rows)}} {
				b.Run(way.name, func(b *testing.B) {
					i := 0
					perVector(b, set.rows, func() {
						c.search(asked[i%len(asked)], way.keep)
						i++
					})
					b.ReportMetric(recall(way.keep), "recall")
					b.ReportMetric(float64(way.keep)/float64(set.rows), "kept")
				})
			}
		})
	}
}

const (
	nearest = 10
	rerank  = 32
	blocks  = 1000
)

type cascade struct {
	rows  Matrix
	codes Matrix8
	signs []uint64
	rot   *Rotator
	arena *arena.Arena[uint8]

	turned    []float32
	code      []uint8
	sign      []uint64
	q         Query8
	products  []int32
	distances []int32
	ids       []uint32
	best      []candidate
	scores    []float32
}

type candidate struct {
	product int32
	id      uint32
}

func newCascade(b *testing.B, vectors [][]float32) *cascade {
	n, dim := len(vectors), len(vectors[0])
	c := &cascade{rows: NewMatrix(dim), codes: NewMatrix8(dim), rot: NewRotator(dim, 1), q: NewQuery8(dim)}
	c.arena = arena.New[uint8](n * c.codes.Stride)
	var err error
	if c.codes.Data, err = c.arena.Grow(n * c.codes.Stride); err != nil {
		b.Fatal(err)
	}
	c.turned, c.code, c.sign = make([]float32, dim), make([]uint8, dim), make([]uint64, SignWords(dim))
	c.products, c.distances = make([]int32, n), make([]int32, n)
	c.ids, c.scores = make([]uint32, n), make([]float32, rerank)
	for i, v := range vectors {
		if !c.rows.Holds(uint32(i)) {
			c.rows = c.rows.Grow()
		}
		copy(c.rows.Row(uint32(i)), v)
		c.prepare(v)
		copy(c.codes.Row(uint32(i)), c.code)
		c.signs = append(c.signs, c.sign...)
	}
	return c
}

func (c *cascade) prepare(v []float32) {
	c.rot.Rotate(c.turned, v)
	Quantise(c.code, c.turned, UnitScale(len(v)))
	Signs(c.sign, c.turned)
}

// add keeps the candidates with the largest products, largest first.
func (c *cascade) add(p int32, id uint32) {
	if len(c.best) == rerank {
		c.best = c.best[:rerank-1]
	}
	at := len(c.best)
	for at > 0 && c.best[at-1].product < p {
		at--
	}
	c.best = slices.Insert(c.best, at, candidate{p, id})
}

func (c *cascade) least() int32 {
	if len(c.best) < rerank {
		return math.MinInt32
	}
	return c.best[rerank-1].product + 1
}

// search returns the nearest rows, looking at the codes of those that differ least in signs; 0 means of all.
func (c *cascade) search(q []float32, keep int) []uint32 {
	c.prepare(q)
	c.q.Load(c.code)
	c.best = c.best[:0]
	n := len(c.distances)
	if keep == 0 {
		for at := 0; at < n; at += blocks {
			kept := ScanRange8(&c.q, &c.codes, uint32(at), blocks, c.least(), c.ids, c.products)
			for i, id := range c.ids[:kept] {
				if p := c.products[i]; p >= c.least() {
					c.add(p, id)
				}
			}
		}
	} else {
		HammingRange(c.sign, c.signs, c.distances)
		var count [1025]int
		for _, d := range c.distances {
			count[d]++
		}
		most := int32(0)
		for sum := count[0]; sum < keep; sum += count[most] {
			most++
		}
		for i := range c.distances {
			c.distances[i] = -c.distances[i]
		}
		kept := above(c.distances, -most, 0, c.ids)
		DotMany8(&c.q, &c.codes, c.ids[:kept], c.products)
		for i, id := range c.ids[:kept] {
			if p := c.products[i]; p >= c.least() {
				c.add(p, id)
			}
		}
	}
	ids := c.ids[:0]
	for _, x := range c.best {
		ids = append(ids, x.id)
	}
	DotMany(q, &c.rows, ids, c.scores)
	return c.largest(ids, c.scores)
}

func (c *cascade) exact(q []float32) []uint32 {
	n := len(c.distances)
	scores, ids := make([]float32, n), make([]uint32, n)
	DotRange(q, &c.rows, 0, scores)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return slices.Clone(c.largest(ids, scores))
}

// largest sorts ids by their scores, of which it needs only a few.
func (c *cascade) largest(ids []uint32, scores []float32) []uint32 {
	for i := range nearest {
		most := i
		for j := i + 1; j < len(ids); j++ {
			if scores[j] > scores[most] {
				most = j
			}
		}
		ids[i], ids[most], scores[i], scores[most] = ids[most], ids[i], scores[most], scores[i]
	}
	return ids[:nearest]
}

func clusteredVectors(_ *testing.B, n int) [][]float32 {
	const dim = 384
	r := rand.New(rand.NewPCG(uint64(n), 1))
	centres, out := make([][]float32, max(1, n/50)), make([][]float32, n)
	for i := range centres {
		centres[i] = make([]float32, dim)
		fillNormal(r, centres[i])
	}
	for i := range out {
		out[i] = make([]float32, dim)
		fillNormal(r, out[i])
		for j, x := range centres[r.IntN(len(centres))] {
			out[i][j] = out[i][j]/2 + x
		}
		Scale(out[i], out[i], Norm(out[i]))
	}
	return out
}

func recordedVectors(b *testing.B, n int) [][]float32 {
	const dim = 384
	shared := os.Getenv("LIGHTRAG_SHARED")
	if shared == "" {
		b.Skip("LIGHTRAG_SHARED is not set: no recorded vectors")
	}
	raw, err := os.ReadFile(filepath.Join(shared, "data/ann/wordnet-lsa-384.base.f16"))
	if err != nil {
		b.Fatal(err)
	}
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, dim)
		for j := range out[i] {
			out[i][j] = fromHalf(binary.LittleEndian.Uint16(raw[2*(i*dim+j):]))
		}
		Scale(out[i], out[i], Norm(out[i]))
	}
	return out
}

// fromHalf widens a finite half-precision number.
func fromHalf(h uint16) float32 {
	x := math.Float32frombits(uint32(h&0x7FFF)<<13) * 0x1p112
	return math.Float32frombits(math.Float32bits(x) | uint32(h>>15)<<31)
}
