package hnsw

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
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
	runtime.KeepAlive(g) // and with it what the table is of
	if mean := read / queries; mean > 4*k {
		t.Errorf("%d rows are read for %d hits", mean, k)
	} else {
		t.Logf("%d rows are read for %d hits", mean, k)
	}
}

// Codes of some blocks say that the nearest rows are farther than others, by as much as they may be off.
func TestAScanGoesByWhatTheCodesOfEachBlockLose(t *testing.T) {
	const n, dim, k, off = 4000, 384, 10, 0.1
	rows := clusters(76, n, dim)
	g := newTestGraph(t, dim, Options{})
	needsCodes(t, g)
	appendAll(t, g, rows)
	tab, q, turned, row := g.table.Load(), make([]float32, dim), make([]float32, dim), make([]float32, dim)
	all := roaring.New()
	all.AddRange(0, n)
	for i, v := range rows[:20] {
		if err := Normalize(q, v); err != nil {
			t.Fatal(err)
		}
		want := oracle(g, v, k, nil)
		tab.turn.Rotate(turned, q)
		for _, h := range want {
			m, at := tab.at(h.Slot)
			tab.turn.Rotate(row, tab.row(h.Slot))
			for j := range row {
				row[j] -= off * turned[j]
			}
			simd.Quantise(tab.codes.Row(h.Slot), row, simd.UnitScale(dim))
			m.lost[at/scanBlock].Store(math.Float32bits(off + 0.02))
			m.odd[at/scanBlock].Or(1 << (at % scanBlock))
		}
		for _, allow := range []*roaring.Bitmap{nil, all} { // in order, and by a list
			if got, err := g.Search(v, k, SearchOptions{Exact: true, Allow: allow}, nil); err != nil || !slices.Equal(got, want) {
				t.Fatalf("query %d: %v (%v), want %v", i, got, err, want)
			}
		}
		for _, h := range want {
			m, at := tab.at(h.Slot)
			g.encodeRow(tab, h.Slot)
			m.lost[at/scanBlock].Store(math.Float32bits(0.02)) // no code loses more
		}
	}
}

func TestASlotIsOddWhoseCodeLosesMoreThanUsual(t *testing.T) {
	for _, dim := range []int{64, 384} {
		rows := clusters(77, 3000, dim)
		g := newTestGraph(t, dim, Options{})
		needsCodes(t, g)
		appendAll(t, g, rows)
		tab, turned, odd := g.table.Load(), make([]float32, dim), 0
		for slot := range g.Bound() {
			tab.turn.Rotate(turned, tab.row(slot))
			lost := float64(lostOf(turned, tab.codes.Row(slot), 1/simd.UnitScale(dim)))
			if is := lost > usualLostOf(dim); is != tab.odd(slot) {
				t.Fatalf("dimension %d, slot %d: odd is %v, the code loses %v, usual is %v", dim, slot, !is, lost, usualLostOf(dim))
			} else if is {
				odd++
			}
		}
		runtime.KeepAlive(g) // and with it what the table is of
		if odd == 0 || odd > len(rows)/10 {
			t.Errorf("dimension %d: %d of %d slots are odd", dim, odd, len(rows))
		}
	}
}

// A scan goes the other way than the one before, and finds the same.
func TestScansFindTheSameEitherWay(t *testing.T) {
	rows := clusters(8, 3*chunkSlots+77, 64)
	g := newTestGraph(t, 64, Options{})
	appendAll(t, g, rows)
	c := newScratch(g)
	for _, bound := range []uint32{1, 63, chunkSlots - 1, chunkSlots, chunkSlots + 1, 2*chunkSlots + 500, uint32(len(rows))} {
		for _, k := range []int{1, 10, 300} { // the last without a sieve
			q := g.Row(uint32(7 * k))
			var all []rank
			for slot := range bound {
				all = append(all, makeRank(simd.Dot(q, g.Row(slot)), slot))
			}
			slices.Sort(all)
			want := all[:min(k, len(all))]
			for range 2 {
				copy(c.q, q)
				way := c.backwards
				got := g.search(c, k, &SearchOptions{Bound: bound, Exact: true}, nil)
				if !slices.Equal(got, want) {
					t.Fatalf("bound %d, k %d, last way %v: %v, want %v", bound, k, way, got, want)
				}
				if c.backwards == way {
					t.Fatalf("bound %d, k %d: two scans went the same way", bound, k)
				}
			}
		}
	}
}
