package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"
)

// mixture describes clustered vectors as embeddings of a corpus are: centres on the sphere, few large clusters
// and many small ones, inside a cluster a subspace of few dimensions with falling variance, and noise in all of
// them. Queries are drawn from it like rows.
type mixture struct {
	rows, dim, queries int
	seed               uint64
}

const (
	centres   = 1000
	subspaces = 16 // shared by the clusters, by number
	intrinsic = 48 // dimensions of a subspace
	spread    = 0.7
	noise     = 0.25
)

// make draws the vectors: the same ones for the same description, whatever the number of cores.
func (m mixture) make(name string) *dataset {
	r := source(m.seed, 0)
	centre := gaussians(r, centres*m.dim, 1)
	for i := range centres {
		normalise(centre[i*m.dim : (i+1)*m.dim])
	}
	basis := gaussians(r, subspaces*intrinsic*m.dim, 1/math.Sqrt(float64(m.dim)))
	sizes := make([]float64, centres) // cumulative
	var sum float64
	for i := range sizes {
		sum += 1 / math.Sqrt(float64(i+1))
		sizes[i] = sum
	}
	var scales [intrinsic]float64
	var variance float64
	for i := range scales {
		scales[i] = math.Pow(float64(i+1), -0.35)
		variance += scales[i] * scales[i]
	}
	for i := range scales {
		scales[i] *= spread / math.Sqrt(variance)
	}

	total := m.rows + m.queries
	all := make([]float32, total*m.dim)
	const block = 512 // rows of one random stream
	parallelBlocks(total, block, func(first, last int) {
		r := source(m.seed, 1+uint64(first/block))
		for i := first; i < last; i++ {
			row := all[i*m.dim : (i+1)*m.dim]
			c := sort.SearchFloat64s(sizes, r.Float64()*sum)
			copy(row, centre[c*m.dim:(c+1)*m.dim])
			for j, s := range scales {
				z := float32(r.NormFloat64() * s)
				b := basis[((c%subspaces)*intrinsic+j)*m.dim:][:m.dim]
				for at, x := range b {
					row[at] += z * x
				}
			}
			for at := range row {
				row[at] += float32(r.NormFloat64() * noise / math.Sqrt(float64(m.dim)))
			}
			normalise(row)
		}
	})
	cut := m.rows * m.dim
	return &dataset{name: name, dim: m.dim, base: all[:cut:cut], query: all[cut:]}
}

func gaussians(r *rand.Rand, n int, scale float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * scale)
	}
	return v
}

// parallelBlocks calls f for all blocks of [0, n), on all cores.
func parallelBlocks(n, block int, f func(first, last int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for first := range next {
				f(first, min(first+block, n))
			}
		})
	}
	for first := 0; first < n; first += block {
		next <- first
	}
	close(next)
	wg.Wait()
}
