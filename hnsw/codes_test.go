package hnsw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// alike returns n vectors so near one another that no code tells them apart.
func alike(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	centre := gaussian(r, dim, nil, 1)
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = gaussian(r, dim, centre, 1e-4)
	}
	return rows
}

// codeSets are rows that codes find easy, hard and impossible to tell apart.
func codeSets(n, dim int) map[string][][]float32 {
	r := rand.New(rand.NewPCG(uint64(dim), 3))
	sets := map[string][][]float32{
		"clusters":   clusters(60, n, dim),
		"alike":      alike(61, n, dim),
		"duplicates": clusters(62, n/4, dim),
	}
	sets["duplicates"] = slices.Concat(sets["duplicates"], sets["duplicates"], sets["duplicates"], sets["duplicates"])
	random, sparse, opposite := make([][]float32, n), make([][]float32, n), make([][]float32, n)
	for i := range n {
		random[i] = gaussian(r, dim, nil, math.Exp(20*r.NormFloat64()))
		sparse[i] = make([]float32, dim)
		sparse[i][r.IntN(dim)] = 1
		sparse[i][r.IntN(dim)] += float32(r.NormFloat64())
		sparse[i][0] += 1e-6
		opposite[i] = slices.Clone(random[0])
		if i%2 == 1 {
			for j := range opposite[i] {
				opposite[i][j] *= -1
			}
		}
	}
	sets["random"], sets["sparse"], sets["opposite"] = random, sparse, opposite
	// Every row is nearer to the first query than all before it.
	rising := slices.Clone(sets["clusters"])
	q := sets["clusters"][0]
	slices.SortFunc(rising, func(a, b []float32) int {
		x, y := float64(simd.Dot(a, q))/simd.Norm(a), float64(simd.Dot(b, q))/simd.Norm(b)
		return int(math.Copysign(1, x-y))
	})
	sets["rising"] = rising
	return sets
}

func needsCodes(t testing.TB, g *Graph) {
	t.Helper()
	if g.table.Load().turn == nil {
		t.Skip("codes are not kept here")
	}
}

func TestNoScoreIsAboveItsBound(t *testing.T) {
	for _, dim := range []int{64, 100, 384, 1000} {
		for name, rows := range codeSets(400, dim) {
			g := newTestGraph(t, dim, Options{})
			needsCodes(t, g)
			appendAll(t, g, rows)
			tab, c := g.table.Load(), g.borrow()
			var slack float64
			for i := 0; i < len(rows); i += 20 {
				q := tab.row(uint32(i))
				c.prepare(tab, q)
				for slot := range g.Bound() {
					score := simd.Dot(q, tab.row(slot))
					if ids := c.hopeful(tab, slot, 1, score); len(ids) != 1 {
						t.Fatalf("%d-d %s: slots %d and %d score %v, above the bound", dim, name, i, slot, score)
					}
					list, product := []uint32{slot}, make([]int32, 1)
					c.multiply(tab, list, product, false)
					if ids := c.hopefulOf(tab, list, product, score); len(ids) != 1 {
						t.Fatalf("%d-d %s: slots %d and %d, listed, score %v, above the bound", dim, name, i, slot, score)
					}
					if ids := c.hopeful(tab, slot, 1, score+0.05); len(ids) == 1 {
						slack++
					}
				}
			}
			runtime.KeepAlive(g) // and with it what the table is of
			// Sums of few rows of a Hadamard matrix have elements far from the others: codes clamp them.
			if share := slack / float64(20*len(rows)); share > 0 && name != "sparse" {
				t.Errorf("%d-d %s: of %.3f of the scores, the bound is 0.05 too high", dim, name, share)
			}
		}
	}
}

// searchBoth fails unless a search answers the same, bit by bit, with codes and without.
func searchBoth(t *testing.T, g *Graph, q []float32, k int, o SearchOptions) []Hit {
	t.Helper()
	got, err := g.Search(q, k, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	undo := withoutCodes(g)
	want, err := g.Search(q, k, o, nil)
	undo()
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("k %d: %v, without codes %v (%v)", k, got, want, err)
	}
	return got
}

func TestCodesDoNotChangeAnswers(t *testing.T) {
	n, dims := 3000, []int{64, 384}
	if raceEnabled {
		n, dims = 1200, dims[:1]
	}
	for _, dim := range dims {
		for name, rows := range codeSets(n, dim) {
			t.Run(fmt.Sprintf("%d/%s", dim, name), func(t *testing.T) {
				g := newTestGraph(t, dim, Options{ExactBelow: -1})
				needsCodes(t, g)
				appendAll(t, g, rows)
				for slot := uint32(0); slot < g.Bound(); slot += 7 {
					g.Kill(slot)
				}
				allow := roaring.New()
				for slot := uint32(1); slot < g.Bound()+50; slot += 2 {
					allow.Add(slot)
				}
				accept := func(slot uint32) bool { return slot%5 < 2 }
				few := func(slot uint32) bool { return slot%47 == 5 }
				queries := append(clusters(63, 5, dim), rows[0], rows[1], rows[n/2])
				for _, q := range queries {
					for _, k := range []int{1, 10, 100, 600, n} {
						hits := searchBoth(t, g, q, k, SearchOptions{Exact: true})
						searchBoth(t, g, q, k, SearchOptions{Exact: true, Accept: accept, Bound: uint32(n) - 100})
						searchBoth(t, g, q, k, SearchOptions{Exact: true, Allow: allow})
						searchBoth(t, g, q, k, SearchOptions{Exact: true, Accept: few})
						searchBoth(t, g, q, k, SearchOptions{Exact: true, Allow: allow, Accept: func(slot uint32) bool {
							return slot%2 == 1 && few(slot)
						}})
						least := hits[len(hits)/2].Score
						above := searchBoth(t, g, q, k, SearchOptions{Exact: true, MinScore: least, HasMinScore: true})
						cut := slices.IndexFunc(hits, func(h Hit) bool { return h.Score < least })
						if cut < 0 {
							cut = len(hits)
						}
						if !slices.Equal(above, hits[:cut]) {
							t.Fatalf("k %d, minimum %v: %v, want %v", k, least, above, hits[:cut])
						}
					}
				}
				want := oracle(g, rows[1], 20, func(slot uint32) bool { return slot%7 != 0 })
				if got := searchBoth(t, g, rows[1], 20, SearchOptions{}); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				want = oracle(g, rows[1], 20, func(slot uint32) bool { return slot%7 != 0 && few(slot) })
				if got := searchBoth(t, g, rows[1], 20, SearchOptions{Accept: few}); !slices.Equal(got, want) {
					t.Errorf("few pass: %v, want %v", got, want)
				}
			})
		}
	}
}

func TestCodesDoNotChangeTheAnswerOfTheTail(t *testing.T) {
	g := built(t, clusters(64, 1000, 64), Options{ExactBelow: -1, EfConstruction: 40, Walk: WalkRows})
	needsCodes(t, g)
	appendAll(t, g, clusters(65, 1000, 64))
	for _, q := range clusters(66, 50, 64) {
		searchBoth(t, g, q, 10, SearchOptions{})
		searchBoth(t, g, q, 600, SearchOptions{Accept: func(slot uint32) bool { return slot%3 != 0 }})
		searchBoth(t, g, q, 10, SearchOptions{MinScore: 0.3, HasMinScore: true})
	}
}

// PlaceRow takes rows as they are: codes stand for unit vectors only, and must not hide the others.
func TestPlacedRowsOfOtherNormsAreFound(t *testing.T) {
	const n, dim = 1000, 64
	g := newTestGraph(t, dim, Options{})
	needsCodes(t, g)
	if err := g.Grow(n); err != nil {
		t.Fatal(err)
	}
	row := make([]float32, dim)
	for slot, v := range clusters(67, n, dim) {
		if err := Normalize(row, v); err != nil {
			t.Fatal(err)
		}
		for i := range row {
			row[i] *= []float32{1, 0.5, 3, 1e-30, 1e30, 0.998}[slot%6]
		}
		if err := g.PlaceRow(uint32(slot), row); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range clusters(68, 50, dim) {
		searchBoth(t, g, q, 10, SearchOptions{Exact: true})
		searchBoth(t, g, q, 400, SearchOptions{Exact: true})
	}
	tab := g.table.Load()
	for slot := uint32(0); slot < n; slot += scanBlock {
		m, i := tab.at(slot)
		if lost := math.Float32frombits(m.lost[i/scanBlock].Load()); !math.IsInf(float64(lost), 1) {
			t.Fatalf("block of slot %d has rows of any norm, and codes lose %v of it", slot, lost)
		}
	}
}

// A filter costs about as much as a score: codes must not make a scan ask it more often.
func TestCodesDoNotAskTheFilterMore(t *testing.T) {
	g := newTestGraph(t, 384, Options{})
	needsCodes(t, g)
	appendAll(t, g, clusters(69, 4000, 384))
	c := newScratch(g)
	for _, q := range clusters(70, 10, 384) {
		count := func() (calls int) {
			accept := func(slot uint32) bool { calls++; return slot%2 == 0 }
			if err := Normalize(c.q, q); err != nil {
				t.Fatal(err)
			}
			for _, c.backwards = range []bool{false, true} {
				if got := g.search(c, 10, &SearchOptions{Exact: true, Accept: accept}, nil); len(got) != 10 {
					t.Fatal(len(got))
				}
			}
			return calls
		}
		with := count()
		undo := withoutCodes(g)
		without := count()
		undo()
		if with > without {
			t.Errorf("%d questions, without codes %d", with, without)
		}
	}
}

// The point of codes is to leave most rows unread.
func TestCodesRuleOutMostRows(t *testing.T) {
	g := newTestGraph(t, 384, Options{})
	needsCodes(t, g)
	appendAll(t, g, clusters(71, 4000, 384))
	tab, c := g.table.Load(), g.borrow()
	hopeful := 0
	queries := clusters(71, 4000, 384)[:20]
	for _, q := range queries {
		hits, err := g.Search(q, 10, SearchOptions{Exact: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		unit := make([]float32, 384)
		if err := Normalize(unit, q); err != nil {
			t.Fatal(err)
		}
		c.prepare(tab, unit)
		for slot := range g.Bound() {
			hopeful += len(c.hopeful(tab, slot, 1, hits[9].Score))
		}
	}
	runtime.KeepAlive(g) // and with it what the table is of
	if mean := hopeful / len(queries); mean < 10 || mean > 60 {
		t.Errorf("%d rows of 4000 may be among the ten best", mean)
	}
}

// Codes are there when a row can be seen, however it came.
func TestCodesAreWrittenBesideSearches(t *testing.T) {
	const n, dim = 2000, 64
	rows := clusters(72, n, dim)
	g := newTestGraph(t, dim, Options{})
	needsCodes(t, g)
	if err := g.Grow(n / 2); err != nil {
		t.Fatal(err)
	}
	var placing sync.WaitGroup
	for w := range 4 {
		placing.Go(func() {
			for slot := w; slot < n/2; slot += 4 {
				if err := g.Place(uint32(slot), rows[slot]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	placing.Wait()
	var searching sync.WaitGroup
	var done atomic.Bool
	for w := range 2 {
		searching.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 4))
			for !done.Load() {
				slot := g.Bound() - 1
				if w == 1 {
					slot = r.Uint32N(slot)
				}
				hits, err := g.Search(rows[slot], 1, SearchOptions{Exact: true}, nil)
				if err != nil || len(hits) != 1 || hits[0].Slot != slot {
					t.Errorf("slot %d: %v %v", slot, hits, err)
					return
				}
			}
		})
	}
	appendAll(t, g, rows[n/2:])
	done.Store(true)
	searching.Wait()
	for slot := uint32(0); slot < n; slot += 10 {
		hits := searchBoth(t, g, rows[slot], 1, SearchOptions{Exact: true})
		if hits[0].Slot != slot {
			t.Fatalf("slot %d: %v", slot, hits)
		}
	}
}
