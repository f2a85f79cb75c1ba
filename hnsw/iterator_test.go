package hnsw

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// hasOneGoroutine skips what takes long under the race detector, which has nothing to find in it.
func hasOneGoroutine(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("has one goroutine, and takes long under the race detector")
	}
}

// drain asks for batches of n until there are no more, and checks each.
func drain(t *testing.T, it *Iterator, n int) []Hit {
	t.Helper()
	defer it.Close()
	var all, batch []Hit
	for {
		var err error
		if batch, err = it.Next(n, batch); err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			break
		}
		checkOrder(t, batch)
		all = append(all, batch...)
		if len(batch) < n {
			break
		}
	}
	if again, err := it.Next(n, nil); len(again) != 0 || err != nil {
		t.Fatalf("%d hits after the end, %v", len(again), err)
	}
	return all
}

func iterate(t *testing.T, g *Graph, q []float32, o SearchOptions) *Iterator {
	t.Helper()
	it, err := g.Iterate(q, o)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func sortHits(hits []Hit) []Hit {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b Hit) int {
		if makeRank(a.Score, a.Slot) < makeRank(b.Score, b.Slot) {
			return -1
		}
		return 1
	})
	return hits
}

func TestIteratorYieldsEveryEligibleSlotOnce(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(5, 3000, 64)
	rows = append(rows, slices.Repeat(rows[17:18], 300)...) // twins
	rows = append(rows, rows[:200]...)
	g := newTestGraph(t, 64, Options{ExactBelow: -1, EfConstruction: 60})
	appendAll(t, g, rows)
	linkAll(t, g)
	appendAll(t, g, clusters(6, 100, 64)) // not linked
	for slot := uint32(0); slot < 3000; slot += 7 {
		g.Kill(slot)
	}
	few, many, none := roaring.New(), roaring.New(), roaring.New()
	for slot := range g.Bound() {
		if slot%3 == 1 {
			many.Add(slot)
		}
		if slot%100 == 5 {
			few.Add(slot)
		}
	}
	many.AddRange(1<<20, 1<<20+100) // nobody has these
	odd := func(slot uint32) bool { return slot%2 == 1 }
	live := func(slot uint32) bool { return !g.IsDead(slot) }
	for name, c := range map[string]struct {
		o  SearchOptions
		ok func(uint32) bool
	}{
		"all":     {SearchOptions{}, func(uint32) bool { return true }},
		"exact":   {SearchOptions{Exact: true}, func(uint32) bool { return true }},
		"bound":   {SearchOptions{Bound: 700}, func(slot uint32) bool { return slot < 700 }},
		"accept":  {SearchOptions{Accept: odd}, odd},
		"many":    {SearchOptions{Allow: many}, many.Contains},
		"few":     {SearchOptions{Allow: few}, few.Contains},
		"none":    {SearchOptions{Allow: none}, none.Contains},
		"both":    {SearchOptions{Allow: many, Accept: odd, Bound: 3100}, func(s uint32) bool { return s < 3100 && odd(s) && many.Contains(s) }},
		"minimum": {SearchOptions{MinScore: 0.1, HasMinScore: true}, func(s uint32) bool { return true }},
		"refused": {SearchOptions{Accept: func(uint32) bool { return false }}, func(uint32) bool { return false }},
	} {
		for i, q := range [][]float32{rows[17], clusters(7, 1, 64)[0]} {
			want := oracle(g, q, int(g.Bound()), func(slot uint32) bool { return live(slot) && c.ok(slot) })
			if c.o.HasMinScore {
				want = slices.DeleteFunc(want, func(h Hit) bool { return h.Score < c.o.MinScore })
			}
			for _, n := range []int{1, 10, 64, 1000, 10_000} {
				got := drain(t, iterate(t, g, q, c.o), n)
				if c.o.Exact && !slices.Equal(got, want) {
					t.Errorf("%s: query %d by %d is not in the order of a search", name, i, n)
				}
				if !slices.Equal(sortHits(got), want) {
					t.Errorf("%s: query %d by %d yields %d hits, want %d", name, i, n, len(got), len(want))
				}
			}
		}
	}
}

func TestIteratorFindsWhatSearchFinds(t *testing.T) {
	hasOneGoroutine(t)
	rows := clusters(1, 10_050, 64)
	rows, queries := rows[:10_000], rows[10_000:]
	g := built(t, rows, Options{ExactBelow: -1})
	half := roaring.New()
	half.AddRange(0, 5000)
	for name, o := range map[string]SearchOptions{"all": {}, "half": {Allow: half}} {
		for _, total := range []int{10, 50, 200} {
			var searched, iterated, wanted float64
			for _, q := range queries {
				truth := oracle(g, q, total, func(slot uint32) bool { return o.Allow == nil || slot < 5000 })
				hits, err := g.Search(q, total, o, nil)
				if err != nil {
					t.Fatal(err)
				}
				it := iterate(t, g, q, o)
				var got, batch []Hit
				for len(got) < total {
					if batch, err = it.Next(10, batch); err != nil || len(batch) != 10 {
						t.Fatal(len(batch), err)
					}
					got = append(got, batch...)
				}
				it.Close()
				searched += recall(hits, truth)
				iterated += recall(got, truth)
				wanted++
			}
			t.Logf("%s: first %d: search %.4f, iterator %.4f", name, total, searched/wanted, iterated/wanted)
			if iterated < searched-0.005*wanted || iterated < 0.95*wanted {
				t.Errorf("%s: recall of the first %d is %.4f, that of a search %.4f", name, total, iterated/wanted, searched/wanted)
			}
		}
	}
}

// A walk that cannot reach a part of the graph leaves it to a scan.
func TestIteratorReachesAnIsland(t *testing.T) {
	g := built(t, clusters(3, 600, 16), Options{M: 4, EfConstruction: 30, ExactBelow: -1})
	tb := g.table.Load()
	for slot := range uint32(500) {
		list := g.list(tb, slot, 0)
		ids, _ := neighbours(list, MaxSlots, nil)
		for i := range ids {
			ids[i] = (slot + 1 + uint32(i)) % 500
		}
		replace(list, ids)
	}
	if uint32(g.entry.Load()) >= 500 {
		t.Skip("the entry is on the island")
	}
	got := drain(t, iterate(t, g, g.Row(550), SearchOptions{}), 10)
	if !slices.Equal(sortHits(got), oracle(g, g.Row(550), 600, nil)) {
		t.Errorf("%d hits of 600", len(got))
	}
}

func TestIteratorRefusesBadInput(t *testing.T) {
	g := built(t, clusters(3, 50, 16), Options{})
	q := g.Row(0)
	for _, o := range []SearchOptions{{Ef: -1}, {Ef: maxEf + 1}} {
		if _, err := g.Iterate(q, o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := g.Iterate(q[1:], SearchOptions{}); !errors.Is(err, ErrDimension) {
		t.Error(err)
	}
	it := iterate(t, g, q, SearchOptions{})
	if _, err := it.Next(-1, nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if hits, err := it.Next(0, nil); len(hits) != 0 || err != nil {
		t.Error(hits, err)
	}
	it.Close()
	it.Close()
	if _, err := it.Next(1, nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	empty := newTestGraph(t, 16, Options{})
	if hits := drain(t, iterate(t, empty, q, SearchOptions{}), 3); len(hits) != 0 {
		t.Error(hits)
	}
}

func TestIteratorBesideWriters(t *testing.T) {
	rows := clusters(8, 600, 64)
	g := newTestGraph(t, 64, Options{ExactBelow: -1, EfConstruction: 40})
	appendAll(t, g, rows[:300])
	linkAll(t, g)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i, v := range rows[300:] {
			if _, err := g.Append(v); err != nil {
				t.Error(err)
			}
			if i%50 == 49 {
				linkAll(t, g)
			}
		}
	})
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		q := rows[r.IntN(len(rows))]
		before := g.Bound()
		it := iterate(t, g, q, SearchOptions{})
		n := it.limit
		got := drain(t, it, 1+r.IntN(100))
		if n < before || !slices.Equal(sortHits(got), oracle(g, q, int(n), func(slot uint32) bool { return slot < n })) {
			t.Errorf("%d hits of %d", len(got), n)
		}
	}
	wg.Wait()
}

func TestWarmIteratorAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	g := built(t, clusters(1, 2000, 64), Options{ExactBelow: -1})
	dst := make([]Hit, 0, 10)
	run := func() {
		it := iterate(t, g, g.Row(5), SearchOptions{})
		for range 20 {
			var err error
			if dst, err = it.Next(10, dst); err != nil || len(dst) != 10 {
				t.Fatal(len(dst), err)
			}
		}
		it.Close()
	}
	run()
	if n := testing.AllocsPerRun(50, run); n > 3.5 { // the iterator, and what closes it when it is forgotten
		t.Errorf("an iterator and 20 batches allocate %v times", n)
	}
}
