package hnsw_test

import (
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw"
)

// The reports of near copies, from as many dimensions on as there are codes: vectors so near to each other that their
// codes do not tell them apart must be told apart by their rows, as many as the candidates are.
func TestMembersOfATightGroupAreToldApart(t *testing.T) {
	r := random(3)
	var rows [][]float32
	for range 20 {
		centre := around(r, make([]float32, 96), 1)
		for range 60 {
			rows = append(rows, around(r, centre, 0.01))
		}
	}
	ix := indexOf(t, rows, hnsw.Options{ExactBelow: -1})
	away := lost(t, ix, rows, 200)
	t.Logf("%d of %d do not find themselves with ef 200", len(away), len(rows))
	if len(away) > 12 {
		t.Errorf("%d of %d do not find themselves with ef 200", len(away), len(rows))
	}
	got := meanRecall(t, ix, rows, rows[:100], 10, hnsw.IndexSearchOptions{Ef: 200})
	t.Logf("recall@10 with ef 200: %.4f", got)
	if got < 0.98 {
		t.Errorf("recall@10 with ef 200 is %.4f", got)
	}
}

// GrafeoDB/grafeo#391: after more than M near copies, those who came later and from afar lost all links to them. Here
// 600 have codes that are equal, so that a walk by codes with ef 200 finds no end to them: one in ten of those
// beyond is out of its sight. Everything is in sight of one that asks for more.
func TestLateAndDistantRowsAfterEqualCodesAreFound(t *testing.T) {
	r := random(7)
	centre := around(r, make([]float32, 64), 1)
	var rows [][]float32
	for range 600 {
		rows = append(rows, around(r, centre, 1e-4))
	}
	for range 200 { // far from it and from each other
		rows = append(rows, around(r, make([]float32, 64), 3))
	}
	for _, m := range []int{4, 16} {
		ix := newIndex(t, 64, hnsw.Options{ExactBelow: -1, M: m})
		for id, v := range rows { // one by one: each is linked before the next comes
			add(t, ix, id, v)
		}
		ix = loaded(t, saved(t, ix)) // saving repairs
		for _, c := range []struct{ ef, most int }{{64, 30}, {200, 30}, {800, 0}} {
			away := slices.DeleteFunc(lost(t, ix, rows, c.ef), func(id int) bool { return id < 600 })
			t.Logf("M %d, ef %d: %d of 200 newcomers do not find themselves", m, c.ef, len(away))
			if len(away) > c.most {
				t.Errorf("M %d, ef %d: %d of 200 newcomers do not find themselves", m, c.ef, len(away))
			}
		}
	}
}

// Who asks for as many candidates as there are vectors wants all that can be reached to be looked at, however early
// what was found looks good enough.
func TestAnEfOfTheWholeIndexLooksEverywhere(t *testing.T) {
	for seed := range uint64(8) {
		r := random(seed)
		var rows [][]float32
		for range 15 {
			centre := around(r, make([]float32, 8), 1)
			for range 34 {
				rows = append(rows, around(r, centre, 0.01))
			}
		}
		for _, m := range []int{2, 3, 4} {
			ix := newIndex(t, 8, hnsw.Options{ExactBelow: -1, M: m, EfConstruction: 8})
			for id, v := range rows {
				add(t, ix, id, v)
			}
			ix = loaded(t, saved(t, ix)) // saving repairs
			if away := lost(t, ix, rows, len(rows)); len(away) > 0 {
				t.Errorf("seed %d, M %d: %d of %d not found with ef %d", seed, m, len(away), len(rows), len(rows))
			}
		}
	}
}
