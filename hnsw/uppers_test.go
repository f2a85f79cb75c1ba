package hnsw

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw/internal/arena"
)

func TestUppersFollowOneAnother(t *testing.T) {
	for _, m := range []int{2, 3, 16, 48} {
		for _, rooms := range []int{0, 40} { // too few, so that some is allocated
			begin, want := uint64(firstUpper), uint64(firstUpper)
			for chunk := range 20 {
				u := newUppers(9, m, chunk, begin, make([]uint32, 0, rooms))
				for i := range uint32(chunkSlots) {
					level := levelOf(9, uint32(chunk)<<chunkShift+i, m)
					if got := u.level(i, m); got != level {
						t.Fatalf("M %d, slot %d of chunk %d: level %d, want %d", m, i, chunk, got, level)
					}
					if level > 0 && u.listsOf(i) != int(want) {
						t.Fatalf("M %d, slot %d of chunk %d: lists at %d, want %d", m, i, chunk, u.listsOf(i), want)
					}
					for layer := 1; layer <= level+1; layer++ {
						if u.reaches(i, layer, m) != (layer <= level) {
							t.Fatalf("M %d, slot %d of chunk %d: level %d, layer %d", m, i, chunk, level, layer)
						}
					}
					want += uint64(level * (1 + m))
					if got := u.after(i); got != want {
						t.Fatalf("M %d, behind slot %d of chunk %d: %d, want %d", m, i, chunk, got, want)
					}
				}
				if begin = u.end(); begin != want {
					t.Fatalf("M %d, behind chunk %d: %d, want %d", m, chunk, begin, want)
				}
			}
		}
	}
}

// Layers are in files, by what the logarithm says.
func TestLevelsAreThoseOfTheLogarithm(t *testing.T) {
	for _, m := range []int{2, 3, 5, 16, 64} {
		counts := map[int]int{}
		for slot := range uint32(1 << 20) {
			bits := levelBits(3, slot)
			want := levelByLogarithm(bits, m)
			if got := levelAt(bits, m); got != want {
				t.Fatalf("M %d, slot %d: level %d, want %d", m, slot, got, want)
			}
			counts[want]++
		}
		// and where one level passes into the next
		for layer := 1; layer < 5; layer++ {
			edge := uint64(float64(1<<53) / math.Pow(float64(m), float64(layer)))
			for off := -40; off <= 40; off++ {
				bits := (edge + uint64(off)) << 11
				if got, want := levelAt(bits, m), levelByLogarithm(bits, m); got != want {
					t.Fatalf("M %d, %d beside layer %d: level %d, want %d", m, off, layer, got, want)
				}
			}
		}
		if counts[1] == 0 || counts[2] == 0 {
			t.Fatalf("M %d: %v", m, counts)
		}
	}
}

func levelByLogarithm(bits uint64, m int) int {
	u := (float64(bits>>11) + 1) / (1 << 53)
	return min(int(-math.Log(u)/math.Log(float64(m))), maxLevel)
}

// sameLists compares graphs of which one was made from a file of the other.
func sameLists(t *testing.T, got, want *Graph) {
	t.Helper()
	if got.Mark() != want.Mark() || got.Bound() != want.Bound() || got.table.Load().upperEnd(got.Bound()) != want.table.Load().upperEnd(want.Bound()) {
		t.Fatalf("%d of %d slots are linked, upper lists end at %d; want %d of %d, %d",
			got.Mark(), got.Bound(), got.table.Load().upperEnd(got.Bound()), want.Mark(), want.Bound(), want.table.Load().upperEnd(want.Bound()))
	}
	a, b := got.table.Load(), want.table.Load()
	for slot := range got.Bound() {
		level := levelOf(want.o.Seed, slot, want.o.M)
		if a.level(slot) != level || b.level(slot) != level {
			t.Fatalf("slot %d: level %d and %d, want %d", slot, a.level(slot), b.level(slot), level)
		}
		if slot >= got.Mark() || want.upkeep.apart.has(slot) {
			continue
		}
		for layer := range level + 1 {
			x, chainX := neighbours(got.list(a, slot, layer), MaxSlots, nil)
			y, chainY := neighbours(want.list(b, slot, layer), MaxSlots, nil)
			if !slices.Equal(x, y) || chainX != chainY {
				t.Fatalf("slot %d, layer %d: %v, want %v", slot, layer, x, y)
			}
		}
	}
	runtime.KeepAlive([]*Graph{got, want})
}

// Where lists are is not in the file: it is counted again from the number of slots, whatever changes behind the file make
// of that, and with slots used again.
func TestUpperListsAreFoundInFilesThatGrow(t *testing.T) {
	const dim = 8
	for _, m := range []int{2, 3, 16, 64} {
		ix := filled(t, twinned(uint64(m), 1015, dim), Options{M: m, EfConstruction: m, ExactBelow: -1, Seed: uint64(m)})
		path := filepath.Join(t.TempDir(), "index.hnsw")
		if err := ix.SaveFile(path); err != nil {
			t.Fatal(err)
		}
		next := uint64(0)
		for _, to := range []uint32{1023, 1024, 1025, 1030, 1025 + chunkSlots} { // chunks end at 1024 and 2048
			ids := idsOf(ix)
			for i := range 12 {
				ix.Delete(ids[i*50])
			}
			for ix.cur.g.Bound() < to {
				if err := ix.Add(next, clusters(next, 1, dim)[0]); err != nil {
					t.Fatal(err)
				}
				next++
			}
			if err := ix.SaveChanges(); err != nil {
				t.Fatal(err)
			}
			opened := mustOpen(t, path, OpenOptions{})
			sameLists(t, opened.cur.g, ix.cur.g)
			opened.cur.g.Repair() // counts in-degrees
			checkShape(t, opened.cur.g)
			ix = opened // which the next changes are made to
		}
	}
}

// An append for which there is no room leaves chunks behind that the next one goes on with.
func TestAppendsThatFailHalfWayLoseNoUpperList(t *testing.T) {
	const dim, m = 8, 2
	rows := clusters(5, 9*chunkSlots, dim)
	for name, limit := range map[string]func(g *Graph){
		"upper": func(g *Graph) { g.memory.upper = arena.New[uint32](upperStep) },
		"links": func(g *Graph) { g.memory.links = arena.New[uint32](2 * chunkSlots * 2 * m) },
	} {
		g := newTestGraph(t, dim, Options{M: m, EfConstruction: 8, ExactBelow: -1, Seed: 3})
		limit(g)
		failed := 0
		for _, n := range []int{1000, 7000, 30, 7000, 900, 7000, 1} {
			before := g.Bound()
			if _, err := g.AppendBatch(rows[before:][:n], 2); err == nil {
				continue
			} else if failed++; !errors.Is(err, ErrFull) || g.Bound() != before {
				t.Fatalf("%s: %d slots, %v", name, g.Bound(), err)
			}
			if _, err := g.LinkParallel(context.Background(), int(before)/2, 2); err != nil {
				t.Fatal(err)
			}
		}
		if failed < 3 || g.Bound() < 1000 {
			t.Errorf("%s: %d appends failed, %d slots", name, failed, g.Bound())
		}
		g.Repair()
		loaded, err := loadOver(g, savedLinks(t, g))
		if err != nil {
			t.Fatal(err)
		}
		sameLists(t, loaded, g)
		for _, g := range []*Graph{g, loaded} {
			linkAll(t, g)
			checkShape(t, g)
			checkLayers(t, g)
		}
	}
}
