package hnsw

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

func TestOptionsAreValidated(t *testing.T) {
	if _, err := NewGraph(4, Options{}); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	for name, make := range map[string]func() error{
		"dimension 0":   func() error { _, err := NewGraph(0, Options{}); return err },
		"huge":          func() error { _, err := NewGraph(maxDim+1, Options{}); return err },
		"M 1":           func() error { _, err := NewGraph(4, Options{M: 1}); return err },
		"M negative":    func() error { _, err := New(4, Options{M: -3}); return err },
		"ef negative":   func() error { _, err := NewGraph(4, Options{EfSearch: -1}); return err },
		"many workers":  func() error { _, err := New(4, Options{Workers: 5000}); return err },
		"two at a time": func() error { _, err := NewGraph(-1, Options{M: 1000}); return err },
	} {
		if err := make(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// matrixone#29082, vlasky/sqlite-vec#8, scylladb PR#28609: vectors without a direction poisoned results.
func TestBadVectorsAreRefusedAndChangeNothing(t *testing.T) {
	g := newTestGraph(t, 3, Options{})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tiny := float32(math.SmallestNonzeroFloat32)
	for _, c := range []struct {
		vec  []float32
		want error
	}{
		{nil, ErrDimension}, {[]float32{1, 2}, ErrDimension}, {[]float32{1, 2, 3, 4}, ErrDimension},
		{[]float32{1, nan, 0}, ErrNotFinite}, {[]float32{inf, 0, 0}, ErrNotFinite}, {[]float32{0, 0, -inf}, ErrNotFinite},
		{[]float32{0, 0, 0}, ErrZeroVector}, {[]float32{tiny, 0, -tiny}, ErrZeroVector},
	} {
		_, err := g.Append(c.vec)
		var rich *VectorError
		if !errors.Is(err, c.want) || !errors.As(err, &rich) {
			t.Errorf("append %v: %v, want %v", c.vec, err, c.want)
		}
		if _, err := g.Search(c.vec, 1, SearchOptions{}, nil); !errors.Is(err, c.want) {
			t.Errorf("search %v: %v, want %v", c.vec, err, c.want)
		}
	}
	if g.Bound() != 0 {
		t.Errorf("%d slots after refusals", g.Bound())
	}
	for _, v := range [][]float32{{math.MaxFloat32, math.MaxFloat32, 1}, {1e-30, 0, 0}} {
		slot, err := g.Append(v)
		if err != nil {
			t.Fatalf("append %v: %v", v, err)
		}
		if d := simd.Norm(g.Row(slot)) - 1; math.Abs(d) > 1e-6 {
			t.Errorf("row of %v has norm 1%+g", v, d)
		}
	}
}

func TestNormalizeIsWhatAppendDoes(t *testing.T) {
	g := newTestGraph(t, 3, Options{})
	v := []float32{3, -4, 12}
	slot, err := g.Append(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := Normalize(v, v); err != nil || !slices.Equal(v, g.Row(slot)) {
		t.Errorf("%v, want %v (%v)", v, g.Row(slot), err)
	}
	if err := Normalize(v, []float32{0, 0, 0}); !errors.Is(err, ErrZeroVector) {
		t.Errorf("zero: %v", err)
	}
	if err := Normalize(v, []float32{1}); !errors.Is(err, ErrDimension) {
		t.Errorf("other length: %v", err)
	}
}

func TestBadSearchOptionsAreRefused(t *testing.T) {
	g := built(t, clusters(1, 10, 4), Options{})
	for _, o := range []SearchOptions{{Ef: -1}, {Ef: maxEf + 1}, {MinScore: float32(math.NaN()), HasMinScore: true}} {
		if _, err := g.Search([]float32{1, 0, 0, 0}, 1, o, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := g.Search([]float32{1, 0, 0, 0}, -1, SearchOptions{}, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("k -1: %v", err)
	}
	if hits, err := g.Search([]float32{1, 0, 0, 0}, 0, SearchOptions{}, nil); err != nil || len(hits) != 0 {
		t.Errorf("k 0: %v %v", hits, err)
	}
}

func TestAppendedRowsAreFoundBeforeTheyAreLinked(t *testing.T) {
	rows := clusters(2, 3000, 16)
	g := newTestGraph(t, 16, Options{ExactBelow: -1, M: 8, EfConstruction: 40})
	for at := 0; at < len(rows); at += 500 {
		appendAll(t, g, rows[at:at+500])
		for _, slot := range []int{0, at, at + 499} {
			hits, err := g.Search(rows[slot], 1, SearchOptions{Ef: 200}, nil)
			if err != nil || len(hits) != 1 || hits[0].Slot != uint32(slot) {
				t.Fatalf("slot %d with mark %d: %v %v", slot, g.Mark(), hits, err)
			}
		}
		if n, err := g.Link(context.Background(), 400); n != 400 || err != nil {
			t.Fatalf("linked %d, %v", n, err)
		}
		if want := uint32(at/500+1) * 400; g.Mark() != want {
			t.Fatalf("mark %d, want %d", g.Mark(), want)
		}
	}
}

func TestRowsAreCopiedAndNeverMove(t *testing.T) {
	rows := clusters(3, 2500, 8)
	g := newTestGraph(t, 8, Options{})
	v := slices.Clone(rows[0])
	if _, err := g.Append(v); err != nil {
		t.Fatal(err)
	}
	first := g.Row(0)
	before := slices.Clone(first)
	clear(v)
	appendAll(t, g, rows[1:])
	if !slices.Equal(first, before) || &first[0] != &g.Row(0)[0] {
		t.Error("row 0 moved or changed")
	}
	if g.Row(2500) != nil || g.Score(2500, first) != -1 {
		t.Error("a slot that was not appended has a row")
	}
	if s := g.Score(0, first); math.Abs(float64(s)-1) > 1e-6 {
		t.Errorf("a row scores %v with itself", s)
	}
}

func TestBoundHidesNewerSlotsButKeepsThemAsSteps(t *testing.T) {
	rows := clusters(4, 4000, 32)
	g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 100})
	for _, bound := range []uint32{4000, 3000, 1000, 400} {
		ok := func(slot uint32) bool { return slot < bound }
		got := meanRecall(t, g, clusters(5, 50, 32), 10, SearchOptions{Bound: bound, Ef: 64}, ok)
		if got < 0.95 {
			t.Errorf("bound %d: recall %.3f", bound, got)
		}
	}
}

func TestMinScoreCutsTheTail(t *testing.T) {
	rows := clusters(6, 2000, 16)
	for _, o := range []Options{{ExactBelow: -1, EfConstruction: 40}, {}} {
		g := built(t, rows, o)
		all := oracle(g, rows[7], 10, nil)
		cut := all[4].Score
		hits, err := g.Search(rows[7], 10, SearchOptions{MinScore: cut, HasMinScore: true, Ef: 128}, nil)
		if err != nil || !slices.Equal(hits, all[:5]) {
			t.Errorf("%v, want %v (%v)", hits, all[:5], err)
		}
		// Without HasMinScore a minimum of zero is no minimum.
		neg := make([]float32, 16)
		for i, x := range rows[7] {
			neg[i] = -x
		}
		if hits, _ = g.Search(neg, 2000, SearchOptions{Exact: true}, nil); len(hits) != 2000 {
			t.Errorf("%d hits of 2000", len(hits))
		}
	}
}

// pgvector#480, PR#266: filters after the search returned too few rows.
func TestFilteredSearchReturnsAllItCan(t *testing.T) {
	const n = 4000
	rows := clusters(7, n, 32)
	queries := clusters(8, 20, 32)
	r := rand.New(rand.NewPCG(9, 9))
	for _, exactBelow := range []int{-1, 0} {
		g := built(t, rows, Options{ExactBelow: exactBelow, EfConstruction: 60, M: 8})
		for _, share := range []float64{0.9, 0.3, 0.05, 0.01, 0.001, 0} {
			allow := roaring.New()
			for slot := range uint32(n + 100) { // some of them beyond the end
				if r.Float64() < share {
					allow.Add(slot)
				}
			}
			byList := SearchOptions{Allow: allow, Ef: 100}
			byCall := SearchOptions{Accept: allow.Contains, Ef: 100}
			for name, o := range map[string]SearchOptions{"list": byList, "call": byCall} {
				if got := meanRecall(t, g, queries, 10, o, allow.Contains); got < 0.95 {
					t.Errorf("%s, share %g, exact below %d: recall %.3f", name, share, exactBelow, got)
				}
			}
		}
	}
}

// Both walks are the same algorithm: a filter that passes everything must not change the answer.
func TestAFilterThatPassesEverythingChangesNothing(t *testing.T) {
	rows := append(clusters(30, 4000, 64), clusters(30, 1000, 64)...) // with twins
	g := built(t, rows, Options{ExactBelow: -1, M: 5, EfConstruction: 30})
	everything := func(uint32) bool { return true }
	for _, q := range clusters(31, 100, 64) {
		for _, ef := range []int{10, 20} { // with more, a filtered walk is given up for a scan
			plain, err := g.Search(q, 10, SearchOptions{Ef: ef}, nil)
			if err != nil {
				t.Fatal(err)
			}
			filtered, err := g.Search(q, 10, SearchOptions{Ef: ef, Accept: everything}, nil)
			if err != nil || !slices.Equal(plain, filtered) {
				t.Fatalf("ef %d: %v, plain %v (%v)", ef, filtered, plain, err)
			}
		}
	}
}

// A step looks at several lists at a time, here of 255 neighbours each: more than fit into one call of a kernel, most
// of them new in the beginning.
func TestStepsOfTheLongestLists(t *testing.T) {
	rows := clusters(33, 2000, 64)
	for _, walk := range []Walk{WalkCodes, WalkRows} {
		g := built(t, rows[:1950], Options{ExactBelow: -1, M: maxM, EfConstruction: 50, Walk: walk})
		tb, r := g.table.Load(), rand.New(rand.NewPCG(33, 2))
		for slot := range g.Mark() {
			var ids []uint32
			for _, id := range r.Perm(1950)[:g.capacity(0)] {
				ids = append(ids, uint32(id))
			}
			rewrite(tb.zero(slot), ids)
		}
		everything := func(uint32) bool { return true }
		for _, o := range []SearchOptions{{Ef: 1900}, {Ef: 1950}, {Ef: 1900, Accept: everything}} {
			if got := meanRecall(t, g, rows[1950:], 10, o, nil); got != 1 {
				t.Errorf("walk %v, ef %d, filtered %t: recall %.4f", walk, o.Ef, o.Accept != nil, got)
			}
		}
	}
}

// The worst filter for a walk allows only what is far from the query.
func TestAdversarialFilterIsExactAndBounded(t *testing.T) {
	rows := clusters(10, 6000, 32)
	g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 60, M: 8})
	for _, q := range clusters(11, 5, 32) {
		far := map[uint32]bool{}
		for _, h := range oracle(g, q, 6000, nil)[5900:] {
			far[h.Slot] = true
		}
		calls := 0
		accept := func(slot uint32) bool { calls++; return far[slot] }
		hits, err := g.Search(q, 10, SearchOptions{Accept: accept}, nil)
		want := oracle(g, q, 10, func(slot uint32) bool { return far[slot] })
		if err != nil || !slices.Equal(hits, want) {
			t.Fatalf("%v, want %v (%v)", hits, want, err)
		}
		if calls > 2*6000 {
			t.Errorf("%d tests of 6000 slots", calls)
		}
	}
}

func TestSearchIsExactWhereScanningIsCheaper(t *testing.T) {
	rows := clusters(12, 1400, 8)
	g := built(t, rows, Options{M: 2, EfConstruction: 2}) // a bad graph, not to be used
	if got := meanRecall(t, g, clusters(13, 50, 8), 10, SearchOptions{Ef: 1}, nil); got != 1 {
		t.Errorf("recall %v", got)
	}
}

// nmslib/hnswlib#423: a larger ef changed the best results for the worse.
func TestRecallGrowsWithEf(t *testing.T) {
	g := built(t, clusters(14, 4000, 48), Options{ExactBelow: -1, M: 6, EfConstruction: 40})
	queries := clusters(15, 100, 48)
	last := 0.0
	for _, ef := range []int{10, 20, 40, 80, 160, 320} {
		got := meanRecall(t, g, queries, 10, SearchOptions{Ef: ef}, nil)
		if got < last-0.005 {
			t.Errorf("ef %d: recall fell from %.4f to %.4f", ef, last, got)
		}
		last = max(last, got)
	}
	if last < 0.98 {
		t.Errorf("recall at ef 320 is %.4f", last)
	}
}

// facebookresearch/faiss#1244, ruvnet/RuVector#430: k was capped at ef.
func TestKAboveEfIsNotCapped(t *testing.T) {
	g := built(t, clusters(16, 3000, 16), Options{ExactBelow: -1, EfConstruction: 40})
	q := clusters(17, 1, 16)[0]
	for _, k := range []int{65, 600, 2999, 3000, math.MaxInt} {
		hits, err := g.Search(q, k, SearchOptions{Ef: 1}, nil)
		if err != nil || len(hits) != min(k, 3000) {
			t.Errorf("k %d: %d hits, %v", k, len(hits), err)
		}
		checkOrder(t, hits)
	}
}

// nmslib/hnswlib#29, pgvector: one ef for all callers. Here two searches with different ef share nothing.
func TestEfBelongsToTheCall(t *testing.T) {
	g := built(t, clusters(18, 4000, 32), Options{ExactBelow: -1, M: 4, EfConstruction: 20})
	q := clusters(19, 1, 32)[0]
	narrow, _ := g.Search(q, 5, SearchOptions{Ef: 5}, nil)
	if _, err := g.Search(q, 5, SearchOptions{Ef: 2000}, nil); err != nil {
		t.Fatal(err)
	}
	again, _ := g.Search(q, 5, SearchOptions{Ef: 5}, nil)
	if !slices.Equal(narrow, again) {
		t.Errorf("%v, then %v", narrow, again)
	}
}

// coder/hnsw#10, weaviate#1304: searching what is empty.
func TestEmptyGraph(t *testing.T) {
	g := newTestGraph(t, 2, Options{ExactBelow: -1})
	if hits, err := g.Search([]float32{1, 0}, 5, SearchOptions{}, nil); err != nil || len(hits) != 0 {
		t.Errorf("%v %v", hits, err)
	}
	if n, err := g.Link(context.Background(), 0); n != 0 || err != nil {
		t.Errorf("linked %d, %v", n, err)
	}
	if n := g.Repair(); n != 0 {
		t.Errorf("repaired %d", n)
	}
	g.Kill(7)
	if g.Dead() != 0 || g.IsDead(7) {
		t.Error("killed what is not there")
	}
}

func TestSearchDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items under the race detector")
	}
	g := built(t, clusters(20, 3000, 64), Options{ExactBelow: -1, EfConstruction: 40})
	appendAll(t, g, clusters(21, 600, 64)) // some unlinked, enough for codes
	q := clusters(22, 1, 64)[0]
	allow := roaring.New()
	allow.AddRange(100, 2900)
	few := roaring.BitmapOf(1, 5, 9, 2000)
	accept := func(slot uint32) bool { return slot%3 == 0 }
	dst := make([]Hit, 0, 10)
	for name, o := range map[string]SearchOptions{
		"plain": {}, "exact": {Exact: true}, "accept": {Accept: accept}, "allow": {Allow: allow}, "few": {Allow: few, Exact: true},
		"bound": {Bound: 1000}, "narrow": {Ef: 10}, "wide": {Ef: 500}, "none": {Accept: func(uint32) bool { return false }},
	} {
		run := func() {
			var err error
			if dst, err = g.Search(q, 10, o, dst); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(50, run); n != 0 {
			t.Errorf("%s: %v allocations per search", name, n)
		}
	}
	// Allocations per run are rounded down: one for both would be seen, one for every other run would not.
	turns := func() {
		for _, ef := range []int{10, 500} {
			if _, err := g.Search(q, 10, SearchOptions{Ef: ef}, dst); err != nil {
				t.Fatal(err)
			}
		}
	}
	turns()
	if n := testing.AllocsPerRun(50, turns); n != 0 {
		t.Errorf("narrow and wide in turns: %v allocations", n)
	}
	for slot := range uint32(600) {
		g.Kill(5 * slot)
	}
	turns()
	if n := testing.AllocsPerRun(50, turns); n != 0 {
		t.Errorf("narrow and wide in turns, a fifth dead: %v allocations", n)
	}
}

// What walks read all the time is to fit the caches, or at least the memory.
func TestHotMemoryPerSlot(t *testing.T) {
	if raceEnabled {
		t.Skip("appends many rows")
	}
	g := newTestGraph(t, 384, Options{})
	needsCodes(t, g)
	row := make([]float32, 384)
	const n = 10 * chunkSlots
	for i := range n {
		row[i%384]++
		if _, err := g.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	s := g.Stats()
	if got := float64(s.CodeBytes+s.LinkBytes+s.StateBytes) / n; got < 384+128 || got > 560 {
		t.Errorf("%.1f bytes a slot", got)
	}
	if s.RowBytes != n*384*4 || s.Bytes != s.RowBytes+s.CodeBytes+s.LinkBytes+s.StateBytes {
		t.Errorf("%+v", s)
	}
}

// A search ends at its horizon, and the more it asks for the wider that is.
func TestEfWidensTheHorizon(t *testing.T) {
	rows := clusters(23, 3020, 4) // in a plane of few dimensions distances differ much
	for i := range rows {
		rows[i] = append(rows[i], make([]float32, 60)...)
	}
	rows, queries := rows[:3000], rows[3000:]
	for _, walk := range []Walk{WalkCodes, WalkRows} {
		g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 60, Walk: walk})
		tb, c := g.table.Load(), newScratch(g)
		sooner := 0
		for _, q := range queries {
			if err := Normalize(c.q, q); err != nil {
				t.Fatal(err)
			}
			c.aim(tb, c.q)
			at, top := c.start(tb, g.entry.Load())
			at = c.descend(g, tb, g.Mark(), at, top, 0)
			walked := func(ef, k int) (int, []rank) {
				c.found, c.compared = append(c.found[:0], at), 0
				c.walkAll(g, tb, g.Mark(), 0, ef, k, true, false)
				return c.compared, slices.Clone(c.found)
			}
			for _, ef := range []int{40, 200, 2000} {
				all, want := walked(ef, 0)
				some, got := walked(ef, 10)
				if some > all || some == all && !slices.Equal(got, want) || ef == 2000 && some < all {
					t.Errorf("ef %d: compared %d, %d without a horizon", ef, some, all)
				}
				if ef == 40 && some < all {
					sooner++
				}
			}
		}
		if sooner < len(queries)/2 {
			t.Errorf("%d of %d searches end at their horizon", sooner, len(queries))
		}
	}
}
