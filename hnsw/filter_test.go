package hnsw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Whatever is allowed, there are min(k, allowed) hits, and they are the nearest.
func TestSearchOfAListFindsWhatIsAllowed(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(4, 6020, 64)
	rows, queries := rows[:6000], rows[6000:]
	for _, exactBelow := range []int{1, -1} {
		g := built(t, rows, Options{ExactBelow: exactBelow, EfConstruction: 100})
		for _, kind := range []string{"random", "far", "near"} {
			for _, share := range []float64{0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.002, 0.0005} {
				found, wanted, equal := 0.0, 0.0, 0
				for i, list := range allowLists(g, queries, kind, share) {
					hits, err := g.Search(queries[i], 10, SearchOptions{Allow: list, Ef: 64}, nil)
					if err != nil {
						t.Fatal(err)
					}
					truth := oracle(g, queries[i], 10, list.Contains)
					if len(hits) != len(truth) {
						t.Fatalf("%s %v: %d hits, want %d", kind, share, len(hits), len(truth))
					}
					checkOrder(t, hits)
					for _, h := range hits {
						if !list.Contains(h.Slot) {
							t.Fatalf("%s %v: slot %d is not allowed", kind, share, h.Slot)
						}
					}
					found, wanted = found+recall(hits, truth), wanted+1
					if slices.Equal(hits, truth) {
						equal++
					}
				}
				if found < 0.95*wanted {
					t.Errorf("%s %v: recall@10 %.4f, want at least 0.95", kind, share, found/wanted)
				}
				if exactBelow > 0 && kind == "far" && equal != len(queries) {
					t.Errorf("far %v: %d of %d are those of an exact search: a walk far from the query was not given up", share, equal, len(queries))
				}
			}
		}
	}
}

// Lists come as arrays, bitmaps and runs, with slots that nobody has, dead ones, and beside an Accept.
func TestScanOfAListIsExact(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(5, 70_000, 8)
	rows = append(rows, slices.Repeat(rows[5:6], 40)...)
	wide := make([][]float32, len(rows)) // codes are kept from 64 dimensions on
	for i, v := range rows {
		wide[i] = append(make([]float32, 56, 64), v...)
	}
	g := newTestGraph(t, 64, Options{})
	appendAll(t, g, wide)
	for slot := uint32(0); slot < 70_000; slot += 9 {
		g.Kill(slot)
	}
	r := rand.New(rand.NewPCG(9, 9))
	lists := map[string]*roaring.Bitmap{}
	for name, share := range map[string]float64{"array": 0.01, "bitmap": 0.3, "dense": 0.8} {
		list := roaring.New()
		for slot := range g.Bound() {
			if r.Float64() < share {
				list.Add(slot)
			}
		}
		lists[name] = list
	}
	lists["runs"] = roaring.New()
	for range 50 {
		at := r.Uint64N(70_000)
		lists["runs"].AddRange(at, at+r.Uint64N(300))
	}
	lists["runs"].RunOptimize()
	lists["beyond"] = roaring.BitmapOf(3, 4, 70_039, 70_040, 1<<31, 1<<32-1)
	lists["empty"] = roaring.New()
	third := func(slot uint32) bool { return slot%3 == 0 }
	for name, list := range lists {
		for _, q := range [][]float32{wide[5], wide[700]} {
			for _, k := range []int{1, 10, 100, 600} {
				for _, accept := range []func(uint32) bool{nil, third} {
					o := SearchOptions{Allow: list, Accept: accept, Exact: true}
					hits, err := g.Search(q, k, o, nil)
					want := oracle(g, q, k, func(s uint32) bool {
						return list.Contains(s) && !g.IsDead(s) && (accept == nil || accept(s))
					})
					if err != nil || !slices.Equal(hits, want) {
						t.Errorf("%s, k %d, accept %v: %d hits, want %d, %v", name, k, accept != nil, len(hits), len(want), err)
					}
				}
			}
		}
	}
}

// A walk among thousands of twins of the query, none of which is allowed, is given up.
func TestTwinsThatAreNotAllowedStopNoWalk(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(6, 2000, 64)
	rows = append(rows, slices.Repeat(rows[100:101], 20_000)...)
	g := built(t, rows, Options{ExactBelow: 1, EfConstruction: 60})
	c, tb, n := newScratch(g), g.table.Load(), g.Bound()
	asked := 0
	f := filter{t: tb, limit: n, accept: func(uint32) bool { asked++; return false }}
	copy(c.q, g.Row(100))
	const price = 500
	if g.walk(c, tb, g.entry.Load(), n, n, 10, 64, f, price) {
		t.Error("a walk that finds nothing was not given up")
	}
	if asked > 5*price {
		t.Errorf("a walk priced at %d asked for %d slots", price, asked)
	}
	list := roaring.New()
	list.AddRange(0, 2000)
	list.Remove(100)
	hits, err := g.Search(g.Row(100), 10, SearchOptions{Allow: list}, nil)
	if err != nil || !slices.Equal(hits, oracle(g, g.Row(100), 10, list.Contains)) {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestRecallOfAView(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(7, 5050, 64)
	rows, queries := rows[:5000], rows[5000:]
	g := built(t, rows, Options{ExactBelow: -1})
	if got := meanRecall(t, g, queries, 10, SearchOptions{Bound: 500}, func(slot uint32) bool { return slot < 500 }); got < 0.97 {
		t.Errorf("recall@10 in a view of a tenth is %.4f, want at least 0.97", got)
	}
}

func TestRecallAmongTheDead(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(8, 5050, 64)
	rows, queries := rows[:5000], rows[5000:]
	g := built(t, rows, Options{ExactBelow: -1})
	before := meanRecall(t, g, queries, 10, SearchOptions{Ef: 64}, nil)
	r := rand.New(rand.NewPCG(8, 8))
	for _, slot := range r.Perm(5000)[:2500] {
		g.Kill(uint32(slot))
	}
	live := func(slot uint32) bool { return !g.IsDead(slot) }
	half := roaring.New()
	half.AddRange(0, 2500)
	for name, c := range map[string]struct {
		o  SearchOptions
		ok func(uint32) bool
	}{
		"all":  {SearchOptions{Ef: 64}, live},
		"half": {SearchOptions{Ef: 64, Allow: half}, func(slot uint32) bool { return slot < 2500 && live(slot) }},
	} {
		if got := meanRecall(t, g, queries, 10, c.o, c.ok); got < before-0.01 {
			t.Errorf("%s: recall@10 is %.4f with half of the slots dead, %.4f before", name, got, before)
		}
	}
}

func TestDenseBitsOfAList(t *testing.T) {
	g := newTestGraph(t, 4, Options{})
	for _, beyond := range []bool{false, true} {
		list := roaring.New()
		list.AddRange(10, 300)
		list.AddMany([]uint32{65_530, 65_536, 99_999, 100_000})
		if beyond {
			list.AddMany([]uint32{1 << 20, 1<<32 - 1})
		}
		c := newScratch(g)
		for i := range 2 { // what an earlier list left does not count
			c.dense(list, 100_000)
			f := filter{limit: 100_000, allow: c.allow}
			for slot := range uint32(100_100) {
				if want := list.Contains(slot) && slot < 100_000; f.ok(slot) != want {
					t.Fatal(fmt.Sprint(beyond, i, slot, want))
				}
			}
			list.Remove(11)
		}
	}
}

func TestIndexSearchOfAListFindsWhatIsAllowed(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(4, 6020, 64)
	rows, queries := rows[:6000], rows[6000:]
	ix, err := New(64, Options{ExactBelow: 1, EfConstruction: 60})
	if err != nil {
		t.Fatal(err)
	}
	id := func(slot uint32) uint64 { return uint64(slot)<<33 + 7 }
	ids := make([]uint64, len(rows))
	for i := range ids {
		ids[i] = id(uint32(i))
	}
	if err := ix.AddBatch(ids, rows); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"random", "far", "near"} {
		for _, share := range []float64{0.5, 0.1, 0.02, 0.0005} {
			right, wanted := 0, 0
			for i, list := range allowLists(ix.cur.g, queries, kind, share) {
				allow := roaring64.New()
				for it := list.Iterator(); it.HasNext(); {
					allow.Add(id(it.Next()))
				}
				allow.Add(1) // nobody's
				got, err := ix.Search(queries[i], 10, IndexSearchOptions{Allow: allow})
				if err != nil {
					t.Fatal(err)
				}
				want, err := ix.Search(queries[i], 10, IndexSearchOptions{Allow: allow, Exact: true})
				if err != nil || len(got) != len(want) || len(want) != min(10, int(list.GetCardinality())) {
					t.Fatalf("%s %v: %d results, %d exact ones, %v", kind, share, len(got), len(want), err)
				}
				for _, r := range got {
					if !allow.Contains(r.ID) {
						t.Fatalf("%s %v: id %d is not allowed", kind, share, r.ID)
					}
					if slices.Contains(want, r) {
						right++
					}
				}
				wanted += len(want)
			}
			if float64(right) < 0.95*float64(wanted) {
				t.Errorf("%s %v: %d of %d found", kind, share, right, wanted)
			}
		}
	}
}

func TestWhatAWalkCostsIsANumber(t *testing.T) {
	for _, among := range []int{0, 1, 1000, math.MaxInt32} {
		for _, eligible := range []int{0, 1, 1000, math.MaxInt32} {
			for _, ef := range []int{1, 64, maxEf} {
				if cost := walkCost(ef, eligible, among); cost < walkStart {
					t.Errorf("ef %d, %d of %d: %d", ef, eligible, among, cost)
				}
			}
		}
	}
	if few, all := walkCost(64, 10, 1000), walkCost(64, 1000, 1000); few <= all {
		t.Errorf("a walk costs %d where few are eligible, %d where all are", few, all)
	}
}
