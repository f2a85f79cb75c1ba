package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// force uses a tier until the test ends.
func force(tb testing.TB, to tier) {
	before := active
	active = to
	tb.Cleanup(func() { active = before })
}

// eachTier runs a test once with every tier this machine has.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, to := range supported() {
		t.Run(to.String(), func(t *testing.T) {
			force(t, to)
			f(t)
		})
	}
}

// lengths are all the short ones, with every tail a kernel can have, and those of common embeddings with odd
// neighbours.
func lengths() []int {
	var out []int
	for n := range 201 {
		out = append(out, n)
	}
	return append(out, 255, 256, 257, 383, 384, 385, 511, 513, 767, 768, 769, 1023, 1024, 1535, 1536, 1537, 3072)
}

func newRand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(1, 2))
}

func fillNormal(r *rand.Rand, v []float32) {
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
}

// fillSmall writes integers so small that sums of their products are exact in float32, in any order.
func fillSmall(r *rand.Rand, v []float32) {
	for i := range v {
		v[i] = float32(r.IntN(17) - 8)
	}
}

func fillBytes(r *rand.Rand, v []uint8) {
	for i := range v {
		v[i] = uint8(r.Uint32())
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

func TestTheLastSupportedTierIsActive(t *testing.T) {
	have := supported()
	if active != have[len(have)-1] || have[0] != tierGo {
		t.Errorf("active %v of %v", active, have)
	}
	t.Log(fmt.Sprint("tiers: ", have))
}
