package main

import (
	"math"
	"math/rand/v2"
)

// source returns the generator number stream of a seed: the same numbers on every machine and with every Go
// release, which PCG promises and the default source does not.
func source(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// normalise makes v a unit vector, in float64 on the way.
func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := 1 / math.Max(math.Sqrt(sum), 1e-12)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
