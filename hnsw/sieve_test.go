package hnsw

import (
	"slices"
	"testing"
)

// The point of waiting is that few rows are read that are no hits.
func TestAScanReadsFewRowsBesideItsHits(t *testing.T) {
	const n, dim, k = 4000, 384, 10
	g := newTestGraph(t, dim, Options{})
	needsCodes(t, g)
	rows := clusters(73, n, dim)
	appendAll(t, g, rows)
	tab, c, q := g.table.Load(), g.borrow(), make([]float32, dim)
	read := 0
	const queries = 20
	for _, v := range rows[:queries] {
		if err := Normalize(q, v); err != nil {
			t.Fatal(err)
		}
		f, b := filter{t: tab, limit: n}, best{k: k}
		c.begin(tab, q, n)
		if c.sieve(&f, &b) == nil {
			t.Fatal("not for this scan")
		}
		for first := uint32(0); first < n; first += codesBlock {
			c.sift(tab, first, min(codesBlock, n-first), &f, &b)
		}
		read += c.strain(tab, q, &b)
		want := oracle(g, v, k, func(uint32) bool { return true })
		if got := slices.Collect(func(yield func(Hit) bool) {
			for _, r := range b.list {
				if !yield(r.hit()) {
					return
				}
			}
		}); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if mean := read / queries; mean > 4*k {
		t.Errorf("%d rows are read for %d hits", mean, k)
	} else {
		t.Logf("%d rows are read for %d hits", mean, k)
	}
}
