package hnsw

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// checkShape verifies what every reader relies on: valid neighbours that reach the layer, no self links, no
// doubles, in-degrees that add up, and an entry that exists.
func checkShape(t testing.TB, g *Graph) {
	t.Helper()
	tb, n := g.table.Load(), g.Mark()
	if n == 0 {
		return
	}
	entry := g.entry.Load()
	if slot := uint32(entry); slot >= n || int(entry>>32) != levelOf(g.o.Seed, slot, g.o.M) {
		t.Fatalf("entry %d on layer %d", slot, entry>>32)
	}
	in := make([]uint32, n)
	for slot := range n {
		if g.upkeep.apart.has(slot) { // what it names until it is used again does not count
			continue
		}
		for layer := range levelOf(g.o.Seed, slot, g.o.M) + 1 {
			ids, _ := neighbours(g.list(tb, slot, layer), MaxSlots, nil)
			if len(ids) > g.capacity(layer) {
				t.Fatalf("slot %d has %d neighbours on layer %d", slot, len(ids), layer)
			}
			seen := map[uint32]bool{slot: true}
			for _, id := range ids {
				if id >= n || seen[id] || levelOf(g.o.Seed, id, g.o.M) < layer {
					t.Fatalf("slot %d, layer %d: neighbour %d in %v", slot, layer, id, ids)
				}
				seen[id] = true
				if layer == 0 {
					in[id]++
				}
			}
		}
	}
	for slot, want := range in {
		if got := tb.inDegree(uint32(slot)).Load(); got != want {
			t.Fatalf("in-degree of slot %d is counted %d, is %d", slot, got, want)
		}
	}
}

// SparrowDB PR#447, lucene PR#13566, knowhere PR#340, hnswlib#352: slots that no walk can meet.
func TestEveryLinkedSlotIsReachable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	uniform := make([][]float32, 1500)
	for i := range uniform {
		uniform[i] = gaussian(r, 3, nil, 1)
	}
	islands := make([][]float32, 1500) // tight, far apart, one after the other
	for i := range islands {
		centre := make([]float32, 24)
		centre[i/150] = 1
		islands[i] = gaussian(r, 24, centre, 0.001)
	}
	line := make([][]float32, 800)
	for i := range line {
		a := float64(i) / 800
		line[i] = []float32{float32(math.Cos(a)), float32(math.Sin(a))}
	}
	outliers := clusters(2, 1400, 24)
	for range 100 {
		outliers = append(outliers, gaussian(r, 24, nil, 5))
	}
	for name, rows := range map[string][][]float32{"uniform": uniform, "islands": islands, "line": line, "outliers": outliers} {
		for _, m := range []int{2, 4, 16} {
			g := built(t, rows, Options{M: m, EfConstruction: 20, ExactBelow: -1, Seed: uint64(m)})
			checkShape(t, g)
			before := unreachable(g)
			lost := g.Repair()
			checkShape(t, g)
			if before != lost || unreachable(g) != 0 {
				t.Errorf("%s, M %d: %d unreachable, %d repaired, %d left", name, m, before, lost, unreachable(g))
			}
		}
	}
}

// What no list names can only be found from above, or not at all: linking alone must not leave any such slot.
func TestLinkingAloneLeavesNoSlotUnnamed(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	hub := gaussian(r, 24, nil, 1)
	var rows [][]float32
	for i := range 1500 {
		width := 0.05
		if i%3 == 0 {
			width = 4
		}
		rows = append(rows, gaussian(r, 24, hub, width))
	}
	g := newTestGraph(t, 24, Options{M: 3, EfConstruction: 30})
	appendAll(t, g, rows)
	c := &linker{scratch: g.borrow()}
	for slot := range g.Bound() {
		g.linkSlot(c, slot) // without the repair that Link adds
		g.mark.Store(slot + 1)
	}
	checkShape(t, g)
	unnamed := 0
	for slot := range g.Bound() {
		if g.table.Load().inDegree(slot).Load() == 0 {
			unnamed++
		}
	}
	if unnamed > 0 {
		t.Errorf("%d of %d slots are in no list", unnamed, len(rows))
	}
}

// qdrant PR#10239: copies that are nodes of their own, as those of a parallel build may be, must not fill a list.
func TestChoosingKeepsOneOfManyCopies(t *testing.T) {
	g := newTestGraph(t, 2, Options{})
	var rows [][]float32
	for range 20 {
		rows = append(rows, []float32{1, 0})
	}
	rows = append(rows, []float32{1, 1}, []float32{1, -1})
	appendAll(t, g, rows)
	defer runtime.KeepAlive(g) // and with it what the table is of
	tb := g.table.Load()
	for _, owner := range [][]float32{{1, 0}, {4, 1}} {
		var candidates []rank
		for slot := range g.Bound() {
			candidates, _ = insert(candidates, makeRank(simd.Dot(unit(owner), tb.row(slot)), slot), 100)
		}
		kept, dropped := tb.choose(g.borrow(), 0, candidates, 10, nil, nil)
		copies := 0
		for _, r := range kept {
			if r.slot() < 20 {
				copies++
			}
		}
		if copies != 1 || len(kept)+len(dropped) != 22 || len(kept) < 2 {
			t.Errorf("owner %v: %d copies among %d kept, %d dropped", owner, copies, len(kept), len(dropped))
		}
	}
}

func TestRepairReconnectsAnIsland(t *testing.T) {
	cutOff(t, 600, 500)
	cutOff(t, 110, 80) // so small that a walk ends before it could call itself hopeless
}

func cutOff(t *testing.T, n, island uint32) {
	g := built(t, clusters(3, int(n), 16), Options{M: 4, EfConstruction: 30, ExactBelow: -1})
	tb := g.table.Load()
	// Cut every link into the island.
	for slot := range island {
		list := g.list(tb, slot, 0)
		ids, _ := neighbours(list, MaxSlots, nil)
		kept := slices.DeleteFunc(slices.Clone(ids), func(id uint32) bool { return id >= island })
		for next := slot; len(kept) < len(ids); {
			next = (next + 1) % island
			kept = append(kept, next)
		}
		// As full as before, so that attaching has to displace.
		replace(list, kept)
	}
	for slot := range n {
		tb.inDegree(slot).Store(2)
	}
	if uint32(g.entry.Load()) >= island {
		t.Skip("the entry is on the island")
	}
	before := unreachable(g)
	if before < int(n-island)/2 {
		t.Fatalf("only %d cut off", before)
	}
	// A walk that cannot meet everything leaves the rest to a scan.
	for _, o := range []SearchOptions{{}, {Accept: func(slot uint32) bool { return slot != 3 }}} {
		hits, err := g.Search(g.Row(7), int(n), o, nil)
		want := oracle(g, g.Row(7), int(n), o.Accept)
		if err != nil || !slices.Equal(hits, want) {
			t.Errorf("%d hits of %d while cut, %v", len(hits), len(want), err)
		}
	}
	if lost := g.Repair(); lost == 0 || unreachable(g) != 0 {
		t.Errorf("repaired %d, %d of %d still unreachable", lost, unreachable(g), before)
	}
}

// unum-cloud/USearch#735: a concurrent build left slots unreachable.
func TestParallelLinkIsSoundAndReachable(t *testing.T) {
	rows := clusters(4, 3000, 32)
	rows = append(rows, rows[:300]...) // twins, met by whichever worker
	g := newTestGraph(t, 32, Options{ExactBelow: -1, EfConstruction: 60})
	appendAll(t, g, rows)
	if n, err := g.LinkParallel(context.Background(), 0, 4); n != len(rows) || err != nil {
		t.Fatalf("linked %d, %v", n, err)
	}
	g.Repair()
	checkShape(t, g)
	if n := unreachable(g); n != 0 {
		t.Errorf("%d unreachable", n)
	}
	if got := meanRecall(t, g, clusters(5, 50, 32), 10, SearchOptions{}, nil); got < 0.95 {
		t.Errorf("recall %.3f", got)
	}
}

func TestLinkStopsWithItsContext(t *testing.T) {
	for _, workers := range []int{1, 3} {
		g := newTestGraph(t, 8, Options{})
		appendAll(t, g, clusters(6, 1000, 8))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if n, err := g.LinkParallel(ctx, 0, workers); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("linked %d, %v", n, err)
		}
		if n, err := g.LinkParallel(context.Background(), 500, workers); n != 500 || err != nil || g.Mark() != 500 {
			t.Errorf("linked %d, %v, mark %d", n, err, g.Mark())
		}
		if n, err := g.LinkParallel(ctx, 0, workers); n != 0 || !errors.Is(err, context.Canceled) || g.Mark() != 500 {
			t.Errorf("linked %d, %v, mark %d", n, err, g.Mark())
		}
		linkAll(t, g)
		checkShape(t, g)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	rows := clusters(7, 1200, 16)
	a, b := built(t, rows, Options{Seed: 5}), newTestGraph(t, 16, Options{Seed: 5})
	for i, v := range rows { // in other portions
		appendAll(t, b, [][]float32{v})
		if i%7 == 0 {
			if _, err := b.Link(context.Background(), 5); err != nil {
				t.Fatal(err)
			}
		}
	}
	linkAll(t, b)
	c := built(t, rows, Options{Seed: 6})
	if !slices.Equal(levels(a), levels(b)) {
		t.Error("layers differ with the same seed")
	}
	if slices.Equal(levels(a), levels(c)) {
		t.Error("layers do not depend on the seed")
	}
	d := built(t, rows, Options{Seed: 5})
	for slot := range uint32(1200) {
		x, _ := neighbours(a.list(a.table.Load(), slot, 0), MaxSlots, nil)
		y, _ := neighbours(d.list(d.table.Load(), slot, 0), MaxSlots, nil)
		if !slices.Equal(x, y) {
			t.Fatalf("slot %d: %v and %v", slot, x, y)
		}
	}
}

func levels(g *Graph) (out []int) {
	for slot := range g.Bound() {
		out = append(out, levelOf(g.o.Seed, slot, g.o.M))
	}
	return out
}

// hnswlib#581, weaviate PR#8496, pgvector PR#1023: the logarithm of zero.
func TestLevelsAreCappedAndDistributed(t *testing.T) {
	for _, m := range []int{2, 16, 128} {
		if l := levelAt(0, m); l < 0 || l > maxLevel {
			t.Errorf("M %d: lowest draw gives layer %d", m, l)
		}
		if l := levelAt(math.MaxUint64, m); l != 0 {
			t.Errorf("M %d: highest draw gives layer %d", m, l)
		}
		const n = 200_000
		above := 0
		for slot := range uint32(n) {
			if levelOf(9, slot, m) > 0 {
				above++
			}
		}
		if want := n / float64(m); math.Abs(float64(above)-want) > 5*math.Sqrt(want) {
			t.Errorf("M %d: %d of %d above layer 0, want about %.0f", m, above, n, want)
		}
	}
}

// hnswlib#263, #341, qdrant PR#10239, faiss#1097: copies wrecked recall, or the time to build: all but the first of each
// are twins, which are not linked.
func TestCopiesOfThreeVectors(t *testing.T) {
	rows := clusters(8, 4000, 32)
	queries := clusters(9, 100, 32)
	plain := built(t, rows, Options{ExactBelow: -1, EfConstruction: 100})
	base := meanRecall(t, plain, queries, 10, SearchOptions{}, nil)
	r := rand.New(rand.NewPCG(10, 10))
	all := slices.Clone(rows)
	for i := range 6000 {
		all = append(all, rows[i%3])
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	g := built(t, all, Options{ExactBelow: -1, EfConstruction: 100})
	g.Repair()
	if n := unreachable(g); n != 0 {
		t.Errorf("%d unreachable", n)
	}
	if s := g.Stats(); s.Twins < 5900 {
		t.Errorf("only %d twins of about 6000", s.Twins)
	}
	if got := meanRecall(t, g, queries, 10, SearchOptions{}, nil); got < base-0.02 {
		t.Errorf("recall %.3f with copies, %.3f without", got, base)
	}
	for slot := range 3 {
		hits, err := g.Search(rows[slot], 2001, SearchOptions{}, nil)
		if err != nil || len(hits) != 2001 || hits[2000].Score != hits[0].Score {
			t.Fatalf("copy %d: %d hits, %v", slot, len(hits), err)
		}
		checkOrder(t, hits)
		if ten, _ := g.Search(rows[slot], 10, SearchOptions{}, nil); !slices.Equal(ten, hits[:10]) {
			t.Errorf("copy %d: %v, want the lowest slots %v", slot, ten, hits[:10])
		}
	}
}

// hnswlib#263 as reported: five vectors, a hundred copies of each.
func TestFiveVectorsHundredCopies(t *testing.T) {
	five := clusters(11, 5, 8)
	var rows [][]float32
	for range 100 {
		rows = append(rows, five...)
	}
	g := built(t, rows, Options{ExactBelow: -1})
	for i, q := range five {
		hits, err := g.Search(q, 100, SearchOptions{}, nil)
		if err != nil || len(hits) != 100 {
			t.Fatal(len(hits), err)
		}
		for j, h := range hits {
			if h.Slot != uint32(5*j+i) {
				t.Fatalf("vector %d, hit %d is slot %d", i, j, h.Slot)
			}
		}
	}
}

// Near copies are not equal rows, so only the choice of neighbours keeps them from walling themselves in.
// GrafeoDB/grafeo#391: those who came after lost all links to them.
func TestNewcomersAfterNearCopiesAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	centre := gaussian(r, 32, nil, 1)
	var rows [][]float32
	for range 500 {
		rows = append(rows, gaussian(r, 32, centre, 1e-4))
	}
	rows = append(rows, clusters(13, 500, 32)...)
	g := built(t, rows, Options{ExactBelow: -1, M: 8})
	lost := 0
	for slot := 500; slot < 1000; slot++ {
		hits, err := g.Search(rows[slot], 1, SearchOptions{Ef: 64}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if hits[0].Slot != uint32(slot) {
			lost++
		}
	}
	if lost > 5 {
		t.Errorf("%d of 500 newcomers do not find themselves", lost)
	}
}

// orneryd/NornicDB#433: layer 0 with M instead of 2M, nearest neighbours instead of a choice.
func TestLayerZeroHoldsTwiceM(t *testing.T) {
	g := built(t, clusters(14, 3000, 16), Options{M: 5})
	most := 0
	for slot := range g.Mark() {
		ids, _ := neighbours(g.list(g.table.Load(), slot, 0), MaxSlots, nil)
		most = max(most, len(ids))
	}
	if most != 9 {
		t.Errorf("the longest list has %d neighbours, want 9", most)
	}
}

// pgvector#923, milvus#51821: by raw inner product long vectors hide all others.
func TestLengthOfVectorsDoesNotMatter(t *testing.T) {
	rows := clusters(15, 3000, 16)
	r := rand.New(rand.NewPCG(16, 16))
	for _, v := range rows {
		f := float32(math.Exp(r.NormFloat64() * 3))
		for i := range v {
			v[i] *= f
		}
	}
	g := built(t, rows, Options{ExactBelow: -1})
	if got := meanRecall(t, g, clusters(17, 50, 16), 10, SearchOptions{}, nil); got < 0.95 {
		t.Errorf("recall %.3f", got)
	}
}

// hnswlib#352: with k = n everything is returned, isolated points too.
func TestKEqualsNReturnsEverything(t *testing.T) {
	for _, n := range []int{1, 2, 3, 50, 1000} {
		for _, exactBelow := range []int{0, -1} {
			rows := clusters(18, n, 8)
			rows[n-1] = []float32{-9, 9, -9, 9, -9, 9, -9, 9}
			g := built(t, rows, Options{M: 2, EfConstruction: 4, ExactBelow: exactBelow})
			hits, err := g.Search(rows[0], n, SearchOptions{}, nil)
			if err != nil || !slices.Equal(hits, oracle(g, rows[0], n, nil)) {
				t.Errorf("n %d: %d hits, %v", n, len(hits), err)
			}
		}
	}
}

// pgvector#244: dead rows used up ef. weaviate PR#13031, coder/hnsw#13: a dead entry broke the graph.
func TestDeadSlotsAreStepsButNotHits(t *testing.T) {
	rows := clusters(19, 3000, 16)
	g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 60})
	queries := clusters(20, 30, 16)
	alive := func(slot uint32) bool { return !g.IsDead(slot) }
	for step := range 10 {
		g.Kill(uint32(g.entry.Load()))
		for slot := uint32(step); slot < 3000; slot += 11 {
			g.Kill(slot)
			g.Kill(slot)
		}
		if got := meanRecall(t, g, queries, 10, SearchOptions{Ef: 40}, alive); got < 0.95 {
			t.Fatalf("step %d, %d dead: recall %.3f", step, g.Dead(), got)
		}
	}
	for slot := range uint32(3000) {
		g.Kill(slot)
	}
	if hits, err := g.Search(rows[0], 10, SearchOptions{}, nil); err != nil || len(hits) != 0 || g.Dead() != 3000 {
		t.Fatalf("all dead: %v, %v, %d", hits, err, g.Dead())
	}
	appendAll(t, g, rows[:100])
	linkAll(t, g)
	checkShape(t, g)
	if got := meanRecall(t, g, rows[:100], 1, SearchOptions{}, alive); got != 1 {
		t.Errorf("born among the dead: recall %v", got)
	}
}

func TestLaterSlotsPreferLiveNeighbours(t *testing.T) {
	rows := clusters(21, 2000, 16)
	g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 60})
	for slot := range uint32(1000) {
		g.Kill(slot)
	}
	appendAll(t, g, clusters(22, 200, 16))
	linkAll(t, g)
	dead := 0
	for slot := uint32(2000); slot < 2200; slot++ {
		ids, _ := neighbours(g.list(g.table.Load(), slot, 0), MaxSlots, nil)
		for _, id := range ids[:1] {
			if g.IsDead(id) {
				dead++
			}
		}
	}
	if dead > 0 {
		t.Errorf("%d of 200 new slots put a dead neighbour first", dead)
	}
}

func ExampleGraph() {
	g, err := NewGraph(2, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range [][]float32{{1, 0}, {0, 2}, {3, 3}} {
		if _, err := g.Append(v); err != nil {
			fmt.Println(err)
			return
		}
	}
	if _, err := g.Link(context.Background(), 0); err != nil {
		fmt.Println(err)
		return
	}
	hits, err := g.Search([]float32{5, 4}, 2, SearchOptions{}, nil)
	fmt.Println(hits[0].Slot, hits[1].Slot, err)
	// Output: 2 0 <nil>
}
