package hnsw_test

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw"
	"pgregory.net/rapid"
)

// Whatever the rows, the options, the bound, the filter, k and ef are, an answer has min(k, eligible) slots, all of them
// eligible, none twice, ordered by score descending, then slot ascending, each with its cosine. A larger k does
// not lose what a smaller one has found, where the search is exact.
func TestAnswersKeepTheirForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 2, 5, 64}).Draw(t, "dim")
		n := rapid.SampledFrom([]int{1, 2, 9, 60, 129, 300}).Draw(t, "n")
		r := random(rapid.Uint64().Draw(t, "seed"))
		coarse := rapid.Bool().Draw(t, "coarse") // many equal rows and scores
		draw := func() []float32 {
			v := around(r, make([]float32, dim), 1)
			if coarse {
				for i := range v {
					v[i] = float32(r.IntN(3) - 1)
				}
				v[r.IntN(dim)] = 1
			}
			return v
		}
		g, err := hnsw.NewGraph(dim, hnsw.Options{M: rapid.IntRange(2, 8).Draw(t, "m"), EfConstruction: 10,
			ExactBelow: rapid.SampledFrom([]int{-1, 0, 100}).Draw(t, "exact below")})
		if err != nil {
			t.Fatal(err)
		}
		rows := make([][]float32, n)
		for i := range rows {
			rows[i] = draw()
			if _, err := g.Append(rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		if mark := n * rapid.IntRange(0, 4).Draw(t, "quarters linked") / 4; mark > 0 {
			if _, err := g.Link(t.Context(), mark); err != nil {
				t.Fatal(err)
			}
		}
		for range n * rapid.IntRange(0, 4).Draw(t, "quarters killed") / 4 {
			g.Kill(uint32(r.IntN(n)))
		}
		o := hnsw.SearchOptions{Ef: rapid.IntRange(0, 50).Draw(t, "ef"), Bound: uint32(rapid.IntRange(0, n+1).Draw(t, "bound")),
			Exact: rapid.Bool().Draw(t, "exact")}
		allow := roaring.New()
		for range n * rapid.IntRange(0, 4).Draw(t, "quarters allowed") / 4 {
			allow.Add(uint32(r.IntN(n + 5)))
		}
		switch rapid.IntRange(0, 2).Draw(t, "filter") {
		case 1:
			o.Allow = allow
		case 2:
			o.Accept = allow.Contains
		}
		ok := func(slot uint32) bool {
			return !g.IsDead(slot) && (o.Bound == 0 || slot < o.Bound) &&
				(o.Allow == nil && o.Accept == nil || allow.Contains(slot))
		}
		count := 0
		for slot := range uint32(n) {
			if ok(slot) {
				count++
			}
		}
		q := draw()
		k := rapid.IntRange(0, n+10).Draw(t, "k")
		hits, err := g.Search(q, k, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) != min(k, count) {
			t.Fatalf("%d hits, k %d, %d eligible", len(hits), k, count)
		}
		for i, h := range hits {
			if !ok(h.Slot) || !near(h.Score, cosine(q, rows[h.Slot])) {
				t.Fatalf("hit %v: eligible %v, cosine %v", h, ok(h.Slot), cosine(q, rows[h.Slot]))
			}
			if i > 0 && cmp.Or(cmp.Compare(h.Score, hits[i-1].Score), cmp.Compare(hits[i-1].Slot, h.Slot)) >= 0 {
				t.Fatalf("hits %v and %v are out of order, or one", hits[i-1], h)
			}
		}
		o.Exact = true
		all, err := g.Search(q, n, o, nil)
		if err != nil || len(all) != count {
			t.Fatalf("%d hits of %d, %v", len(all), count, err)
		}
		few, err := g.Search(q, k, o, nil)
		if err != nil || !slices.Equal(few, all[:min(k, count)]) {
			t.Fatalf("k %d: %v, k %d: %v (%v)", k, few, n, all, err)
		}
	})
}

// The same rows, options and seed, linked by one worker in the same portions, give the same graph.
func TestTwoBuildsAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 9, 60, 200}).Draw(t, "n")
		o := hnsw.Options{M: rapid.IntRange(2, 6).Draw(t, "m"), EfConstruction: rapid.IntRange(1, 30).Draw(t, "ef"),
			ExactBelow: -1, Seed: rapid.Uint64().Draw(t, "seed")}
		rows := mixture(o.Seed, n, 4)
		for i := range n / 4 {
			rows[n-1-i] = rows[i] // twins
		}
		build := func(portion int) []byte {
			g, err := hnsw.NewGraph(4, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range rows {
				if _, err := g.Append(v); err != nil {
					t.Fatal(err)
				}
			}
			for int(g.Mark()) < n {
				if _, err := g.Link(t.Context(), portion); err != nil {
					t.Fatal(err)
				}
			}
			var b bytes.Buffer
			if err := g.Save(&b, nil); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		for _, portion := range []int{0, rapid.IntRange(1, n).Draw(t, "portion")} {
			if !bytes.Equal(build(portion), build(portion)) {
				t.Fatalf("two builds differ, linked by %d at a time", portion)
			}
		}
	})
}
