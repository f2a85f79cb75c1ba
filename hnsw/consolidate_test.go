package hnsw

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func consolidate(t testing.TB, g *Graph) int {
	t.Helper()
	n, err := g.Consolidate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	checkApart(t, g)
	return n
}

// checkApart verifies that nobody names who was taken out, and that everybody alive can be reached.
func checkApart(t testing.TB, g *Graph) {
	t.Helper()
	checkShape(t, g)
	tb := g.table.Load()
	for slot := range g.Mark() {
		for layer := range levelOf(g.o.Seed, slot, g.o.M) + 1 {
			ids, _ := neighbours(g.list(tb, slot, layer), MaxSlots, nil)
			if i := slices.IndexFunc(ids, g.upkeep.apart.has); i >= 0 {
				t.Fatalf("slot %d, layer %d: names %d, which was taken out", slot, layer, ids[i])
			}
		}
		if next := tb.nextTwin(slot); next != 0 && g.upkeep.apart.has(next) {
			t.Fatalf("slot %d: its twin %d was taken out", slot, next)
		}
		if g.upkeep.apart.has(slot) && !tb.dead(slot) {
			t.Fatalf("slot %d was taken out alive", slot)
		}
	}
	if n := unreachable(g); n != 0 {
		t.Fatalf("%d unreachable", n)
	}
	if s := g.Stats(); s.Unreachable != 0 {
		t.Fatalf("%+v", s)
	}
}

// walkRecall is the recall of walks alone, which a search would leave to a scan where few slots are alive.
func walkRecall(g *Graph, queries [][]float32, k, ef int, ok func(uint32) bool) float64 {
	c := g.borrow()
	defer g.release(c)
	tb, n := g.table.Load(), g.Mark()
	sum := 0.0
	for _, q := range queries {
		c.q = unit(q)
		c.aim(tb, c.q)
		from, top := c.start(tb, g.entry.Load())
		c.found = append(c.found[:0], c.descend(g, tb, n, from, top, 0))
		c.walkAll(g, tb, n, 0, ef, 0, true, true)
		if tb.walks {
			c.rerank(tb, k)
		}
		var hits []Hit
		for _, r := range c.found[:min(k, len(c.found))] {
			hits = append(hits, r.hit())
		}
		sum += recall(hits, oracle(g, q, k, ok))
	}
	return sum / float64(len(queries))
}

func killRandom(g *Graph, seed uint64, share float64) {
	r := rand.New(rand.NewPCG(seed, 77))
	for slot := range g.Bound() {
		if r.Float64() < share {
			g.Kill(slot)
		}
	}
}

func TestConsolidateTakesTheDeadOut(t *testing.T) {
	rows, queries := clusters(40, 4000, 32), clusters(41, 200, 32)
	for _, share := range []float64{0.01, 0.2, 0.5, 0.9} {
		g := built(t, rows, Options{ExactBelow: -1, M: 8, EfConstruction: 60})
		killRandom(g, uint64(100*share), share)
		g.Kill(uint32(g.entry.Load()))
		alive := func(slot uint32) bool { return !g.IsDead(slot) }
		var left [][]float32
		for slot, v := range rows {
			if alive(uint32(slot)) {
				left = append(left, v)
			}
		}
		if n := consolidate(t, g); n != int(g.Dead()) {
			t.Errorf("%d of %d dead taken out", n, g.Dead())
		}
		if g.IsDead(uint32(g.entry.Load())) {
			t.Error("the entry is dead")
		}
		if n := consolidate(t, g); n != 0 {
			t.Errorf("then %d more", n)
		}
		fresh := built(t, left, Options{ExactBelow: -1, M: 8, EfConstruction: 60})
		want := walkRecall(fresh, queries, 10, 80, nil)
		got := walkRecall(g, queries, 10, 80, alive)
		t.Logf("%.0f %% dead: recall %.4f, built anew %.4f", 100*share, got, want)
		if got < want-0.02 {
			t.Errorf("%.0f %% dead: recall %.4f, built anew %.4f", 100*share, got, want)
		}
	}
}

// Few of all are dead, but all that is near: a document and its chunks, say. Walks, of searches and of who is linked there,
// get past them.
func TestWalksGetPastWhereEverybodyDied(t *testing.T) {
	const n, died = 6000, 400
	rows := clusters(45, n, 16)
	r := rand.New(rand.NewPCG(45, 2))
	g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 60})
	for _, h := range oracle(g, rows[5], died, nil) {
		g.Kill(h.Slot)
	}
	alive := func(slot uint32) bool { return slot < n && !g.IsDead(slot) }
	var queries [][]float32
	for range 50 {
		queries = append(queries, gaussian(r, 16, rows[5], 0.2))
	}
	if got := meanRecall(t, g, queries, 10, SearchOptions{}, alive); got < 0.98 {
		t.Errorf("searches: recall %.4f", got)
	}

	appendAll(t, g, queries)
	tb, c, sum := g.table.Load(), &linker{scratch: newScratch(g)}, 0.0
	nearest := func() (hits []Hit) {
		for _, r := range c.found[:g.o.M] {
			hits = append(hits, r.hit())
		}
		return hits
	}
	for i, q := range queries {
		c.aimAt(tb, n+uint32(i))
		from, top := c.start(tb, g.entry.Load())
		g.candidates(c, tb, n, 0, c.descend(g, tb, n, from, top, 0))
		sum += recall(nearest(), oracle(g, q, g.o.M, alive))
	}
	if got := sum / float64(len(queries)); got < 0.98 {
		t.Errorf("candidates to link with: recall %.4f", got)
	}

	// The place of the nearest who lives is inherited.
	old := oracle(g, rows[5], 1, alive)[0].Slot
	c.aimAt(tb, n)
	if !g.around(c, tb, n, old, 0) {
		t.Fatal("nobody is around")
	}
	truth := oracle(g, queries[0], g.o.M, func(slot uint32) bool { return alive(slot) && slot != old })
	if got := recall(nearest(), truth); got < 0.9 {
		t.Errorf("candidates around a place: recall %.4f", got)
	}
}

func TestConsolidatingWhereAllAreDead(t *testing.T) {
	rows := clusters(42, 500, 8)
	g := built(t, rows, Options{ExactBelow: -1, M: 4, EfConstruction: 20})
	for slot := range g.Bound() {
		g.Kill(slot)
	}
	if n := consolidate(t, g); n != 499 { // somebody has to be the entry
		t.Errorf("%d taken out", n)
	}
	if hits, err := g.Search(rows[0], 10, SearchOptions{}, nil); err != nil || len(hits) != 0 {
		t.Errorf("%v, %v", hits, err)
	}
	appendAll(t, g, rows)
	linkAll(t, g)
	if n := consolidate(t, g); n != 1 {
		t.Errorf("the old entry: %d taken out", n)
	}
	alive := func(slot uint32) bool { return slot >= 500 }
	if got := meanRecall(t, g, rows[:50], 5, SearchOptions{Ef: 40}, alive); got < 0.98 {
		t.Errorf("born among the dead: recall %v", got)
	}
	if n, err := newTestGraph(t, 3, Options{}).Consolidate(context.Background()); n != 0 || err != nil {
		t.Errorf("%d taken out of nothing, %v", n, err)
	}
}

func TestConsolidateGoesOnWhereItStopped(t *testing.T) {
	g := built(t, clusters(43, 4000, 16), Options{M: 4, EfConstruction: 20})
	killRandom(g, 1, 0.3)
	dead := int(g.Dead())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := g.Consolidate(ctx); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%d, %v", n, err)
	}
	if _, began, running := g.consolidateSome(1000); !began || !running {
		t.Fatal("no round began")
	}
	later := uint32(0)
	for g.IsDead(later) {
		later++
	}
	g.Kill(later) // in a slot that was swept already
	appendAll(t, g, clusters(44, 100, 16))
	linkAll(t, g)
	if n := consolidate(t, g); n != dead+1 {
		t.Errorf("%d taken out, want %d", n, dead+1)
	}
}

// A node stays as long as any of its twins lives.
func TestDeletingTwins(t *testing.T) {
	rows := clusters(45, 300, 8)
	const at = 7
	for name, dead := range map[string][]int{
		"first": {0}, "middle": {2}, "last": {4}, "first two": {0, 1}, "all but one": {0, 1, 3, 4},
		"all": {0, 1, 2, 3, 4}, "all but the first": {1, 2, 3, 4},
	} {
		all := slices.Concat(rows, [][]float32{rows[at], rows[at], rows[at], rows[at]})
		g := built(t, all, Options{ExactBelow: -1, M: 4, EfConstruction: 30})
		chain := []uint32{at, 300, 301, 302, 303}
		for _, i := range dead {
			g.Kill(chain[i])
			chain[i] = 1 << 31
		}
		check := func(when string) {
			t.Helper()
			var want []uint32
			for _, slot := range chain {
				if slot < 1<<31 {
					want = append(want, slot)
				}
			}
			var got []uint32
			hits, err := g.Search(rows[at], len(want)+1, SearchOptions{Ef: 30}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				if h.Score > 0.9999 {
					got = append(got, h.Slot)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s dead, %s: %v, want %v", name, when, got, want)
			}
		}
		check("before")
		if n := consolidate(t, g); n != len(dead) {
			t.Errorf("%s dead: %d taken out", name, n)
		}
		check("after")
		if s := g.Stats(); s.Twins != max(0, 4-len(dead)) {
			t.Errorf("%s dead: %d twins", name, s.Twins)
		}
		again := slices.Clone(rows[at])
		appendAll(t, g, [][]float32{again})
		linkAll(t, g)
		chain = append(chain, 304)
		check("with one more")
		checkApart(t, g)
	}
}

func TestSearchBesideConsolidate(t *testing.T) {
	const n, dim = 1500, 16
	rows := clusters(46, n, dim)
	for i := n / 2; i < n; i += 5 {
		rows[i] = rows[i/50] // with chains of twins
	}
	g := newTestGraph(t, dim, Options{ExactBelow: -1, M: 4, EfConstruction: 24})
	appendAll(t, g, rows[:n/2])
	linkAll(t, g)
	done := make(chan struct{})
	writer := func() error {
		defer close(done)
		r := rand.New(rand.NewPCG(47, 47))
		for at := n / 2; at < n; at += 25 {
			for _, v := range rows[at : at+25] {
				if _, err := g.Append(v); err != nil {
					return err
				}
			}
			if _, err := g.Link(context.Background(), 0); err != nil {
				return err
			}
			for range 20 {
				if slot := r.Uint32N(g.Bound()); slot%50 != 1 {
					g.Kill(slot)
				}
			}
			if _, err := g.Consolidate(context.Background()); err != nil {
				return err
			}
		}
		return nil
	}
	reader := func(seed uint64) func() error {
		return func() error {
			r := rand.New(rand.NewPCG(seed, 48))
			for {
				select {
				case <-done:
					return nil
				default:
				}
				bound := g.Bound()
				hits, err := g.Search(rows[r.IntN(n)], int(bound), SearchOptions{Bound: bound}, nil)
				if err != nil {
					return err
				}
				kept := 0
				for i, h := range hits {
					if i > 0 && h.Slot == hits[i-1].Slot {
						return fmt.Errorf("slot %d twice", h.Slot)
					}
					if h.Slot%50 == 1 {
						kept++
					}
				}
				if want := int(bound+48) / 50; kept != want {
					return fmt.Errorf("%d of %d slots that are never killed", kept, want)
				}
			}
		}
	}
	race(t, writer, reader(1), reader(2))
	consolidate(t, g)
}

// Twins are met through the slot that came first, whoever died: others that are linked around it name it, or else it is
// forgotten by and by.
func TestTwinsOfTheDeadAreFoundAmongNewcomers(t *testing.T) {
	const dim, copied = 64, 1 << 30
	ix := filled(t, clusters(3, 2000, dim), Options{ExactBelow: -1})
	r := rand.New(rand.NewPCG(1, 2))
	first := idsOf(ix)[5]
	v := slices.Clone(ix.cur.g.Row(ix.slots[first]))
	if err := ix.Add(copied, v); err != nil {
		t.Fatal(err)
	}
	ix.Delete(first)
	for i := range uint64(200) {
		if err := ix.Add(copied+1+i, gaussian(r, dim, v, 0.001)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ix.Search(v, 1, IndexSearchOptions{Ef: 100})
	if err != nil || len(got) != 1 || got[0].ID != copied {
		t.Errorf("%v, %v", got, err)
	}
}

// Whether few are dead or many, who dies with a living twin is somebody to link with, and no result.
func TestTheDeadWithTwinsAreCandidates(t *testing.T) {
	const n, dim = 2000, 64
	rows := clusters(3, n, dim)
	for _, others := range []int{0, n / 2} {
		g := built(t, append(rows, rows[5]), Options{ExactBelow: -1})
		g.Kill(5)
		for slot := range others {
			g.Kill(uint32(2*slot + 1))
		}
		if g.fewDead() != (others == 0) {
			t.Fatalf("%d dead", g.dead.Load())
		}
		c, tb := &linker{scratch: newScratch(g)}, g.table.Load()
		c.aimAt(tb, 5)
		from, top := c.start(tb, g.entry.Load())
		g.candidates(c, tb, n, 0, c.descend(g, tb, n, from, top, 0))
		if c.found[0].slot() != 5 || slices.ContainsFunc(c.found[1:], func(r rank) bool { return g.IsDead(r.slot()) }) {
			t.Errorf("%d others dead: %v", others, c.found[:5])
		}
		if hits, err := g.Search(rows[5], 1, SearchOptions{}, nil); err != nil || len(hits) != 1 || hits[0].Slot != n {
			t.Errorf("%d others dead: found %v, %v", others, hits, err)
		}
	}
}
