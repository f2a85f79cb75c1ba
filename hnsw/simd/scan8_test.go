package simd

import (
	"math"
	"slices"
	"testing"
)

func TestScanRange8KeepsWhatDotRange8FindsLarge(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, dim := range append(lengths(), 384) {
			rows := 40
			switch {
			case dim == 0, dim > 70 && dim%64 > 1:
				continue
			case dim == 64:
				rows = 2*scanRows + 13
			}
			m := guardedMatrix8(t, r, dim, rows, dim%2 == 0)
			codes := make([]uint8, dim)
			fillBytes(r, codes)
			q := guardedQuery(t, codes)
			all := make([]int32, rows)
			DotRange8(q, m, 0, all)
			ordered := slices.Sorted(slices.Values(all))
			before, behind := guarded[uint32](t, rows+1, true), guarded[int32](t, rows+1, true)
			for _, least := range []int32{math.MinInt32, math.MaxInt32, 0, ordered[0], ordered[rows-1], ordered[rows-1] + 1,
				ordered[rows/2], ordered[rows-rows/10]} {
				for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 39, rows} {
					first := r.IntN(rows - n + 1)
					ids, products := before[rows-n:], behind[rows-n:]
					ids[n], products[n] = 12345, sentinel
					kept := ScanRange8(q, m, uint32(first), n, least, ids, products)
					at := 0
					for i, p := range all[first : first+n] {
						if p < least {
							continue
						}
						if at >= kept || ids[at] != uint32(first+i) || products[at] != p {
							t.Fatalf("dim %d, %d rows from %d on, least %d: row %d of product %d is not hit %d of %d",
								dim, n, first, least, first+i, p, at, kept)
						}
						at++
					}
					if at != kept {
						t.Fatalf("dim %d, %d rows from %d on, least %d: %d hits, want %d", dim, n, first, least, kept, at)
					}
					if ids[n] != 12345 || products[n] != sentinel {
						t.Fatalf("dim %d, %d rows: wrote beyond them", dim, n)
					}
				}
			}
		}
	})
}

func TestAboveKeepsWhatIsLarge(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 512} {
			all := make([]int32, n)
			for i := range all {
				all[i] = int32(r.IntN(20)) - 10
			}
			for _, least := range []int32{math.MinInt32, -10, 0, 9, 10, math.MaxInt32} {
				products, places := guarded[int32](t, n+1, true), guarded[uint32](t, n+1, true)
				copy(products, all)
				products[n], places[n] = sentinel, 12345
				kept := Above(products[:n], least, places)
				var want []int32
				for i, p := range all {
					if p < least {
						continue
					}
					if at := len(want); at >= kept || places[at] != uint32(i) || products[at] != p {
						t.Fatalf("%d products, least %d: product %d at %d is not hit %d of %d", n, least, p, i, at, kept)
					}
					want = append(want, p)
				}
				if kept != len(want) || products[n] != sentinel || places[n] != 12345 {
					t.Fatalf("%d products, least %d: %d hits, want %d; behind them %d, %d", n, least, kept, len(want), products[n], places[n])
				}
			}
		}
		mustPanic(t, "places", func() { Above(make([]int32, 9), 0, make([]uint32, 8)) })
	})
}

func TestScanRange8RefusesWhatIsNotThere(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		m := guardedMatrix8(t, newRand(t), 100, 16, true)
		q, other := NewQuery8(100), NewQuery8(129)
		ids, products := make([]uint32, 32), make([]int32, 32)
		mustPanic(t, "rows", func() { ScanRange8(&q, m, 10, 7, 0, ids, products) })
		mustPanic(t, "rows beyond all ids", func() { ScanRange8(&q, m, math.MaxUint32, 2, 0, ids, products) })
		mustPanic(t, "ids", func() { ScanRange8(&q, m, 0, 16, 0, ids[:15:15], products) })
		mustPanic(t, "products", func() { ScanRange8(&q, m, 0, 16, 0, ids, products[:15:15]) })
		mustPanic(t, "query", func() { ScanRange8(&other, m, 0, 16, 0, ids, products) })
		mustPanic(t, "n", func() { ScanRange8(&q, m, 0, -1, 0, ids, products) })
	})
}

// Prefetching touches nothing that a program could see; what can be seen is that it survives every index.
func TestPrefetchTakesAnyIndex(t *testing.T) {
	words := guarded[uint32](t, 100, true)
	for _, at := range []int{0, 1, 99, 100, 101, -1, math.MinInt, math.MaxInt} {
		Prefetch(words, at)
		Prefetch(nil, at)
		PrefetchWrite(words, at)
		PrefetchWrite(nil, at)
	}
}
