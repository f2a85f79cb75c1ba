package hnsw

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// A scan that need not prove its answer finds the same.
func TestAScanFindsWhatAnExactOneFinds(t *testing.T) {
	n, dims := 3000, []int{64, 1000}
	if raceEnabled {
		n, dims = 1200, dims[:1]
	}
	for _, dim := range dims {
		for name, rows := range codeSets(n, dim) {
			t.Run(fmt.Sprintf("%d/%s", dim, name), func(t *testing.T) {
				g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 10})
				needsCodes(t, g)
				for slot := uint32(0); slot < g.Bound(); slot += 7 {
					g.Kill(slot)
				}
				allow := roaring.New()
				for slot := uint32(1); slot < g.Bound(); slot += 2 {
					allow.Add(slot)
				}
				for _, q := range append(clusters(63, 5, dim), rows[0], rows[1], rows[n/2]) {
					for _, k := range []int{1, 10, 100} {
						for _, accept := range []func(uint32) bool{nil, func(slot uint32) bool { return slot%5 < 2 }} {
							sameHits(t, g, q, k, SearchOptions{Allow: allow, Accept: accept})
						}
					}
				}
			})
		}
	}
}

func sameHits(t *testing.T, g *Graph, q []float32, k int, o SearchOptions) {
	t.Helper()
	o.Exact = true
	want, err := g.Search(q, k, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Exact, o.Scan = false, true
	if got, err := g.Search(q, k, o, nil); err != nil || !slices.Equal(got, want) {
		t.Fatalf("k %d: %v (%v), exactly %v", k, got, err, want)
	}
}

// Codes may be off by as much as they lose, all in one direction; then the bound is to be the proven one.
func TestAScanSeesThatCodesAreOffTooFar(t *testing.T) {
	const n, dim = 2000, 384
	rows := clusters(74, n, dim)
	g := built(t, rows, Options{ExactBelow: -1, EfConstruction: 10})
	needsCodes(t, g)
	tab := g.table.Load()
	q, turned, row := make([]float32, dim), make([]float32, dim), make([]float32, dim)
	if err := Normalize(q, rows[0]); err != nil {
		t.Fatal(err)
	}
	tab.turn.Rotate(turned, q)
	for slot := range uint32(n) {
		tab.turn.Rotate(row, tab.row(slot))
		off := row
		for i := range off {
			off[i] -= float32(slot%5) * 0.02 * turned[i]
		}
		simd.Quantise(tab.codes.Row(slot), off, simd.UnitScale(dim))
		m, i := tab.at(slot)
		m.lost[i/scanBlock].Store(math.Float32bits(0.1))
		m.odd[i/scanBlock].Store(math.MaxUint64)
	}
	all := roaring.New()
	all.AddRange(0, n)
	for _, k := range []int{1, 10, 50} {
		sameHits(t, g, rows[0], k, SearchOptions{Allow: all})
	}
	slots := make([]uint32, n)
	for i := range slots {
		slots[i] = uint32(n - 1 - i)
	}
	c := g.borrow()
	copy(c.q, q)
	want := slices.Clone(g.search(c, 10, &SearchOptions{Exact: true}, slots))
	if got := g.search(c, 10, &SearchOptions{}, slots); !slices.Equal(got, want) {
		t.Errorf("%v, exactly %v", got, want)
	}
}

// Rows near one another are why it need not.
func TestAScanReadsFewerRowsThanAnExactOne(t *testing.T) {
	const n, dim = 4000, 384
	rows := clusters(75, n, dim)
	g := newTestGraph(t, dim, Options{})
	needsCodes(t, g)
	appendAll(t, g, rows)
	tab, c, q := g.table.Load(), g.borrow(), make([]float32, dim)
	if err := Normalize(q, rows[0]); err != nil {
		t.Fatal(err)
	}
	within := func(sure bool) (left int) {
		c.beginList(tab, q, n, sure)
		for slot := range uint32(n) {
			if score := simd.Dot(q, tab.row(slot)); score < 0 { // as if the best were filtered out
				left += len(c.hopeful(tab, slot, 1, 0))
			}
		}
		return left
	}
	defer runtime.KeepAlive(g) // and with it what the table is of
	if proven, likely := within(true), within(false); likely == 0 || 3*likely > proven {
		t.Errorf("%d rows are left, of %d where it is to be proven", likely, proven)
	}
}
