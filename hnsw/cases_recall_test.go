package hnsw_test

import (
	"math"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lightctl/lightrag/hnsw"
)

// nmslib/hnswlib#352: a point apart from all others could not be reached, and k = n gave fewer than n.
func TestAPointApartFromAllOthersIsFound(t *testing.T) {
	for _, n := range []int{3, 50, 1200} {
		for _, o := range []hnsw.Options{{}, walking, {ExactBelow: -1, M: 2, EfConstruction: 4}} {
			rows := mixture(1, n, 8)
			for i := range n - 1 { // all but the last into one half-space
				rows[i][0] = float32(math.Abs(float64(rows[i][0]))) + 1
			}
			rows[n-1] = []float32{-9, 0, 0, 0, 0, 0, 0, 0}
			ix := indexOf(t, rows, o)
			if _, recall := find(t, ix, rows, rows[0], n, hnsw.IndexSearchOptions{}); recall != 1 {
				t.Errorf("n %d, M %d: k = n gives recall %v", n, o.M, recall)
			}
			if got, _ := find(t, ix, rows, rows[n-1], 1, hnsw.IndexSearchOptions{}); got[0].ID != uint64(n-1) {
				t.Errorf("n %d, M %d: the point apart finds %v", n, o.M, got)
			}
		}
	}
}

// orneryd/NornicDB#433: the nearest M became neighbours, and layer 0 held M instead of 2M: recall was 0.30 where the
// algorithm of the paper gives 0.84. Measured here 1.000; the bound is 0.97. The nearest of a cluster are of the
// same cluster, so that taking them cuts it off.
func TestNeighboursAreChosenForDiversity(t *testing.T) {
	rows, queries := split(2, 4000, 100, 64)
	ix := indexOf(t, rows, walking)
	got := meanRecall(t, ix, rows, queries, 10, hnsw.IndexSearchOptions{})
	t.Logf("recall@10 with ef 64: %.4f", got)
	if got < 0.97 {
		t.Errorf("recall@10 with ef 64 is %.4f", got)
	}
	s := ix.Stats()
	if mean := float64(s.Links) / float64(s.Linked); mean <= hnsw.DefaultM/2 || mean > 2*hnsw.DefaultM {
		t.Errorf("%.1f neighbours a slot on layer 0", mean)
	}
}

// ryaker/SparrowDB PR#447: 40 of 1,347 vectors were on islands, which no count of links shows, for those on an island
// link each other. Tight groups, added one after the other, are how islands come about.
func TestTightGroupsDoNotBecomeIslands(t *testing.T) {
	r := random(3)
	var rows [][]float32
	for range 40 {
		centre := around(r, make([]float32, 16), 1)
		for range 34 {
			rows = append(rows, around(r, centre, 0.003))
		}
	}
	for _, m := range []int{2, 4, 16} {
		ix := newIndex(t, 16, hnsw.Options{ExactBelow: -1, M: m, EfConstruction: 40})
		for id, v := range rows[:1347] {
			add(t, ix, id, v)
		}
		ix = loaded(t, saved(t, ix)) // saving repairs
		if away := lost(t, ix, rows[:1347], len(rows)); len(away) > 0 {
			t.Errorf("M %d: %d of 1347 cannot be reached: %v", m, len(away), away)
		}
	}
}

// apache/lucene#12627, PR#13566, zilliztech/knowhere PR#340: graphs in several parts; 5,000 vectors of GIST1M could
// not be reached. Whatever the shape of the data, nothing is unreachable after a repair, which saving includes.
func TestNoShapeOfDataFallsApart(t *testing.T) {
	r := random(4)
	sphere := make([][]float32, 1000)
	for i := range sphere {
		sphere[i] = around(r, make([]float32, 3), 1)
	}
	circle := make([][]float32, 700) // neighbours in one dimension only
	for i := range circle {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 700)
		circle[i] = []float32{float32(cos), float32(sin)}
	}
	parts := make([][]float32, 1000) // far apart, in turns
	for i := range parts {
		centre := make([]float32, 20)
		centre[i%20] = 1
		parts[i] = around(r, centre, 1e-3)
	}
	grid := make([][]float32, 0, 1000) // many equal distances
	for i := range 1000 {
		grid = append(grid, []float32{float32(i % 10), float32(i / 10 % 10), float32(i / 100), 1})
	}
	for name, rows := range map[string][][]float32{"sphere": sphere, "circle": circle, "parts": parts, "grid": grid} {
		for _, m := range []int{2, 5} {
			g := graphOf(t, rows, hnsw.Options{ExactBelow: -1, M: m, EfConstruction: 12})
			g.Repair()
			if n := g.Repair(); n != 0 {
				t.Errorf("%s, M %d: %d unreachable after a repair", name, m, n)
			}
			// With ef = n a walk finds what can be reached.
			if got := meanRecallIn(t, g, rows, rows, 1, hnsw.SearchOptions{Ef: len(rows)}); got != 1 {
				t.Errorf("%s, M %d: recall %v", name, m, got)
			}
		}
	}
}

// The same reports count what leads to a vector from the entry, along layer 0. But a walk begins where the descent
// ends, which may be a group of vectors that link none outside: what is beyond must not be missed with any ef.
func TestNoDescentEndsInASink(t *testing.T) {
	for seed := range uint64(9) {
		rows := mixture(seed, 500, 8)
		ix := indexOf(t, rows, hnsw.Options{ExactBelow: -1, M: 2, EfConstruction: 8})
		ix = loaded(t, saved(t, ix)) // saving repairs
		if away := lost(t, ix, rows, len(rows)); len(away) > 0 {
			t.Errorf("seed %d: %d of 500 cannot be reached: %v", seed, len(away), away)
		}
	}
}

// unum-cloud/USearch#576: a build option that had nothing to do with it cost ten points of recall. The recall of fixed
// rows and queries, against brute force, for each option that is not meant to change it.
func TestRecallAgainstBruteForce(t *testing.T) {
	rows, queries := spread(5, 2000, 60, 20)
	for name, o := range map[string]hnsw.Options{
		"defaults": {ExactBelow: -1}, "another seed": {ExactBelow: -1, Seed: 99}, "workers": {ExactBelow: -1, Workers: 3},
		"M 32": {ExactBelow: -1, M: 32},
	} {
		ix := indexOf(t, rows, o)
		got := meanRecall(t, ix, rows, queries, 10, hnsw.IndexSearchOptions{Ef: 40})
		t.Logf("%s: recall@10 with ef 40: %.4f", name, got)
		if got < 0.96 {
			t.Errorf("%s: recall@10 with ef 40 is %.4f", name, got)
		}
		if got := meanRecall(t, ix, rows, queries, 10, hnsw.IndexSearchOptions{Exact: true}); got != 1 {
			t.Errorf("%s: recall of an exact search is %v", name, got)
		}
	}
}

// coder/hnsw PR#17: a heap that returned the wrong end, and a search that ended too early, for a recall of 0.144 at
// every ef. What gives it away is that ef changes nothing.
func TestEfBuysRecall(t *testing.T) {
	rows, queries := spread(6, 3000, 100, 24)
	ix := indexOf(t, rows, hnsw.Options{ExactBelow: -1, M: 5, EfConstruction: 40})
	low := meanRecall(t, ix, rows, queries, 10, hnsw.IndexSearchOptions{Ef: 10})
	high := meanRecall(t, ix, rows, queries, 10, hnsw.IndexSearchOptions{Ef: 400})
	t.Logf("recall@10: %.4f with ef 10, %.4f with ef 400", low, high)
	if low > 0.95 || high < 0.98 {
		t.Errorf("recall@10: %.4f with ef 10, %.4f with ef 400", low, high)
	}
	// The opposite end is never among the results.
	for _, q := range queries[:10] {
		got, _ := find(t, ix, rows, q, 1, hnsw.IndexSearchOptions{Ef: 10})
		worst := 1.0
		for _, v := range rows {
			worst = min(worst, cosine(q, v))
		}
		if float64(got[0].Score) < worst+0.2 {
			t.Errorf("best %v, worst of all %v", got, worst)
		}
	}
}

// pgvector/pgvector#480, PR#266, PR#282, plastic-labs/honcho#1048: filters applied to what a search had found left
// fewer rows than asked for, or none. Lists and functions, of every share, near to the query or far from it.
func TestFiltersLeaveAsManyResultsAsThereCanBe(t *testing.T) {
	rows, queries := split(7, 3000, 10, 24)
	for name, o := range map[string]hnsw.Options{"walking": walking, "by size": {}} {
		ix := indexOf(t, rows, o)
		for id := 0; id < len(rows); id += 50 {
			remove(t, ix, rows, id)
		}
		for _, share := range []float64{0.9, 0.5, 0.1, 0.02, 0.003, 0} {
			for side := range 2 {
				sum := 0.0
				for i, q := range queries {
					r := random(uint64(8 + i))
					allow := roaring64.New()
					for id, v := range rows {
						// Against the query: only what is on its far side.
						if r.Float64() < share && (side == 0 || v != nil && cosine(q, v) < 0) {
							allow.Add(uint64(id)) // some of them deleted
						}
					}
					_, byList := find(t, ix, rows, q, 10, hnsw.IndexSearchOptions{Allow: allow})
					_, byCall := find(t, ix, rows, q, 10, hnsw.IndexSearchOptions{Accept: allow.Contains})
					sum += byList + byCall
				}
				if got := sum / float64(2*len(queries)); got < 0.95 {
					t.Errorf("%s, share %g, side %d: recall %.3f", name, share, side, got)
				}
			}
		}
		rows, _ = split(7, 3000, 10, 24) // for the next one
	}
}
