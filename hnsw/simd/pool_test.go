package simd

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOfferKeepsTheNearest(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			limit := rapid.IntRange(0, 40).Draw(t, "limit")
			nears := rapid.OneOf(rapid.Int32(), rapid.Int32Range(-3, 3), rapid.SampledFrom([]int32{math.MinInt32, -1, 0, math.MaxInt32}))
			memory := make([]uint64, limit+20)
			for i := range memory {
				memory[i] = 7 // must stay
			}
			pool := memory[10:10:len(memory)]
			var all []uint64
			for id := uint32(0); id < 300; {
				n := rapid.IntRange(0, 150).Draw(t, "ids")
				ids, near := make([]uint32, n), make([]int32, n)
				for i := range ids {
					ids[i], near[i] = id^1<<30, nears.Draw(t, "near")
					all = append(all, uint64(math.MaxInt32-int64(near[i]))<<32|uint64(ids[i])<<1)
					id++
				}
				before := slices.Clone(pool)
				var at int
				pool, at = Offer(pool, limit, ids, near)
				if cap(pool) != limit+10 {
					t.Fatalf("limit %d: room for %d keys, want %d", limit, cap(pool), limit+10)
				}
				id += 30
				slices.Sort(all)
				if want := all[:min(limit, len(all))]; !slices.Equal(pool, want) {
					t.Fatalf("limit %d: %x, want %x", limit, pool, want)
				}
				changed := 0
				for changed < len(pool) && changed < len(before) && pool[changed] == before[changed] {
					changed++
				}
				if at != changed {
					t.Fatalf("least place %d, want %d", at, changed)
				}
			}
			if slices.Max(memory[:10]) != 7 || slices.Min(memory[:10]) != 7 || slices.Max(memory[10+limit:]) != 7 {
				t.Fatal("wrote beyond the pool")
			}
		})
	})
}

func BenchmarkOffer(b *testing.B) {
	r := newRand(b)
	for _, limit := range []int{64, 200} {
		pool := make([]uint64, 0, limit)
		ids, near := make([]uint32, 4096), make([]int32, 4096)
		for i := range ids {
			ids[i], near[i] = uint32(i), r.Int32()>>8
		}
		b.Run(map[int]string{64: "limit=64", 200: "limit=200"}[limit], func(b *testing.B) {
			i := 0
			for b.Loop() {
				if i%1024 == 0 {
					pool = pool[:0]
				}
				pool, _ = Offer(pool, limit, ids[i%1024:][:8], near[i%1024:])
				i += 8
			}
		})
	}
}
