package hnsw

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// hostile makes rows whose codes lose much.
type hostile struct {
	r    *rand.Rand
	dim  int
	back [][]float32 // what rotation makes of each unit vector
}

func newHostile(seed uint64, dim int) *hostile {
	h := &hostile{r: rand.New(rand.NewPCG(seed, 9)), dim: dim}
	turn := simd.NewRotator(dim, codesSeed)
	for i := range dim {
		v, turned := make([]float32, dim), make([]float32, dim)
		v[i] = 1
		turn.Rotate(turned, v)
		h.back = append(h.back, turned)
	}
	return h
}

// spiky returns a unit vector of which rotation leaves much of the length in one element, as far as spike says.
func (h *hostile) spiky(spike float32) []float32 {
	turned, row := gaussian(h.r, h.dim, nil, 1), make([]float32, h.dim)
	simd.Scale(turned, turned, simd.Norm(turned))
	turned[h.r.IntN(min(h.dim, 3))] += spike
	for i, back := range h.back {
		row[i] = simd.Dot(back, turned)
	}
	simd.Scale(row, row, simd.Norm(row))
	return row
}

// rows returns n unit vectors, some of them spiky: most of those in a few places.
func (h *hostile) rows(n int) [][]float32 {
	rows := clusters(h.r.Uint64(), n, h.dim)
	for _, row := range rows {
		simd.Scale(row, row, simd.Norm(row))
	}
	for range h.r.IntN(6) {
		at := h.r.IntN(n)
		for slot := at; slot < min(n, at+1+h.r.IntN(150)); slot += 1 + h.r.IntN(4) {
			rows[slot] = h.spiky(h.r.Float32() * 8)
		}
	}
	for range h.r.IntN(5) {
		rows[h.r.IntN(n)] = h.spiky(h.r.Float32() * 8)
	}
	return rows
}

func (h *hostile) query(rows [][]float32) []float32 {
	switch h.r.IntN(4) {
	case 0:
		return rows[h.r.IntN(len(rows))]
	case 1:
		return h.spiky(h.r.Float32() * 8)
	case 2:
		return gaussian(h.r, h.dim, rows[h.r.IntN(len(rows))], 0.1)
	default:
		return gaussian(h.r, h.dim, h.spiky(4), 0.1)
	}
}

func (h *hostile) k() int { return []int{1, 2, 10, 100, 128, 129, 512, 513, 700}[h.r.IntN(9)] }

// Answers are exact whatever codes lose, wherever their slots are, and however these are listed.
func TestScansOfHostileRowsAreExact(t *testing.T) {
	rounds := 60
	if raceEnabled || testing.Short() {
		rounds = 8
	}
	for _, dim := range []int{64, 100} {
		needsCodes(t, newTestGraph(t, dim, Options{}))
		h := newHostile(uint64(dim), dim)
		for round := range rounds {
			n := 600 + h.r.IntN(3500)
			rows, g := h.rows(n), newTestGraph(t, dim, Options{})
			if err := g.Grow(uint32(n)); err != nil {
				t.Fatal(err)
			}
			others := []int{0, 0, 40, 500}[h.r.IntN(4)]
			for slot, row := range rows {
				if others > 0 && h.r.IntN(others) == 0 {
					by := []float32{0.01, 0.5, 0.99, 1.01, 3, 1e12}[h.r.IntN(6)]
					for i := range row {
						row[i] *= by
					}
				}
				if err := g.PlaceRow(uint32(slot), row); err != nil {
					t.Fatal(err)
				}
			}
			dead := []int{0, 3, 50, 97}[h.r.IntN(4)] // of 100; of the last, fewer live than are asked for
			for slot := range uint32(n) {
				if h.r.IntN(100) < dead {
					g.Kill(slot)
				}
			}
			for range 12 {
				h.compare(t, g, rows, fmt.Sprintf("dimension %d, round %d, %d slots", dim, round, n))
			}
		}
	}
}

// compare searches in order, by a bitmap and by a list.
func (h *hostile) compare(t *testing.T, g *Graph, rows [][]float32, name string) {
	t.Helper()
	q, k, tab := h.query(rows), h.k(), g.table.Load()
	o := SearchOptions{Exact: true}
	bound := g.Bound()
	if h.r.IntN(2) == 0 {
		bound = 1 + h.r.Uint32N(bound)
		o.Bound = bound
	}
	if h.r.IntN(4) == 0 {
		by := 1 + h.r.Uint32N(30)
		o.Accept = func(slot uint32) bool { return slot%by == 0 }
	}
	listed := func(uint32) bool { return true }
	passes := func(slot uint32) bool {
		return slot < bound && !tab.dead(slot) && (o.Accept == nil || o.Accept(slot)) && listed(slot)
	}
	if h.r.IntN(4) == 0 {
		if hits := oracle(g, q, k, passes); len(hits) > 0 {
			o.HasMinScore, o.MinScore = true, hits[h.r.IntN(len(hits))].Score
		}
	}
	check := func(how string, got []Hit, err error) {
		t.Helper()
		want := oracle(g, q, k, passes)
		if cut := slices.IndexFunc(want, func(hit Hit) bool { return o.HasMinScore && hit.Score < o.MinScore }); cut >= 0 {
			want = want[:cut]
		}
		if err != nil || !slices.Equal(got, want) {
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("%s, %s, k %d, bound %d: hit %d of %d is not %v (%d hits, %v)", name, how, k, bound, i, len(want), want[i], len(got), err)
				}
			}
			t.Fatalf("%s, %s, k %d: %d hits, want %d (%v)", name, how, k, len(got), len(want), err)
		}
	}
	got, err := g.Search(q, k, o, nil)
	check("in order", got, err)

	o.Allow = roaring.New()
	for range 1 + h.r.IntN(3) {
		from := h.r.Uint64N(uint64(g.Bound()))
		o.Allow.AddRange(from, from+h.r.Uint64N(2500))
	}
	if by := h.r.Uint32N(4); by > 1 {
		for slot := uint32(0); slot < g.Bound()+100; slot += by {
			o.Allow.Remove(slot)
		}
	}
	listed = o.Allow.Contains
	got, err = g.Search(q, k, o, nil)
	check("by a bitmap", got, err)

	slots := o.Allow.ToArray()
	slots = slices.DeleteFunc(slots, func(slot uint32) bool { return slot >= g.Bound() })
	h.r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	o.Allow = nil
	c := g.borrow()
	defer g.release(c)
	simd.Scale(c.q, q, simd.Norm(q))
	var hits []Hit
	for _, r := range g.search(c, k, &o, slots) {
		if !o.HasMinScore || r.score() >= o.MinScore {
			hits = append(hits, r.hit())
		}
	}
	check("by a list", hits, c.err)
}

// Slots keep what their codes lost before they were used again, and files know it of 64 slots only.
func TestHostileRowsAreFoundInSlotsUsedAgainAndInFiles(t *testing.T) {
	rounds := 3
	if raceEnabled || testing.Short() {
		rounds = 1
	}
	const dim, n = 64, 2500
	needsCodes(t, newTestGraph(t, dim, Options{}))
	h := newHostile(7, dim)
	for range rounds {
		m, rows := model{}, h.rows(n)
		ix := newTestIndex(t, dim, Options{M: 4, EfConstruction: 10, ExactBelow: -1})
		put := func(id uint64, v []float32) {
			if err := ix.Add(id, v); err != nil {
				t.Fatal(err)
			}
			m.add(id, v)
		}
		for i, v := range rows {
			put(uint64(i), v)
		}
		compare := func(how string, ix *Index) {
			t.Helper()
			for range 15 {
				q, k := h.query(rows), h.k()
				allow, ok := (*roaring64.Bitmap)(nil), func(uint64) bool { return true }
				if h.r.IntN(2) == 0 {
					allow = roaring64.New()
					allow.AddRange(h.r.Uint64N(n/2), n/2+h.r.Uint64N(n))
					ok = allow.Contains
				}
				got, err := ix.Search(q, k, IndexSearchOptions{Exact: true, Allow: allow})
				all := m.search(q, ok)
				if err != nil || !first(got, all, k) {
					t.Fatalf("%s, k %d: %v of %d (%v)", how, k, got[:min(len(got), 10)], len(all), err)
				}
			}
		}
		compare("added", ix)
		for step := range 3 {
			for range 700 {
				id := h.r.Uint64N(n + n/4)
				switch h.r.IntN(6) {
				case 0, 1:
					ix.Delete(id)
					m.remove(id)
				case 2:
					put(id, h.spiky(h.r.Float32()*8))
				default:
					put(id, rows[h.r.IntN(n)])
				}
			}
			compare("changed", ix)
			path := filepath.Join(t.TempDir(), "index")
			if err := ix.SaveFile(path); err != nil {
				t.Fatal(err)
			}
			opened := mustOpen(t, path, OpenOptions{})
			compare("opened", opened)
			if step == 1 { // go on with what was opened
				ix = opened
			}
		}
	}
}
