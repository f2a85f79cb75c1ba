package hnsw

import (
	"bytes"
	"context"
	"testing"
)

// A slot that dies before it is linked is in no list, names nobody, and is nothing to take out.
func TestSlotsKilledBeforeTheyAreLinkedAreNotLinked(t *testing.T) {
	for _, workers := range []int{1, 3} {
		const n = 1500
		rows := clusters(11, n, 96)
		g := newTestGraph(t, 96, Options{ExactBelow: -1})
		appendAll(t, g, rows)
		gone := func(slot uint32) bool { return slot%3 == 0 || slot >= n-100 }
		killed := uint32(0)
		for slot := range uint32(n) {
			if gone(slot) {
				g.Kill(slot)
				killed++
			}
		}
		if g.Lingering() != 0 {
			t.Errorf("%d slots linger, none is linked", g.Lingering())
		}
		for g.Mark() < n {
			if _, err := g.LinkParallel(context.Background(), 700, workers); err != nil {
				t.Fatal(err)
			}
		}
		if g.Free() != killed-1 || g.Lingering() != 1 { // slot 0 is always linked
			t.Errorf("%d workers: %d of %d slots are free, %d linger", workers, g.Free(), killed, g.Lingering())
		}
		tab := g.table.Load()
		for slot := range uint32(n) {
			names, _ := neighbours(tab.zero(slot), MaxSlots, nil)
			if slot > 0 && gone(slot) && (len(names) > 0 || tab.inDegree(slot).Load() > 0) {
				t.Fatalf("slot %d was dead, names %v and is named by %d", slot, names, tab.inDegree(slot).Load())
			}
		}
		if s := g.Stats(); s.Unreachable > 0 || s.Live != n-int(killed) || s.Free != int(killed-1) {
			t.Errorf("%+v", s)
		}
		found := func(g *Graph) (right int) {
			for slot, v := range rows {
				if gone(uint32(slot)) {
					continue
				}
				hits, err := g.Search(v, 1, SearchOptions{}, nil)
				if err != nil || len(hits) != 1 || gone(hits[0].Slot) {
					t.Fatalf("%v, %v", hits, err)
				}
				if hits[0].Slot == uint32(slot) {
					right++
				}
			}
			return right
		}
		if right := found(g); right < (n-int(killed))*99/100 {
			t.Errorf("%d of %d found", right, n-int(killed))
		}

		// What was passed over is saved as such.
		var file bytes.Buffer
		if err := g.Save(&file, nil); err != nil {
			t.Fatal(err)
		}
		loaded, _, err := LoadGraph(bytes.NewReader(file.Bytes()), int64(file.Len()), 96, Options{ExactBelow: -1})
		if err != nil {
			t.Fatal(err)
		}
		for slot := range uint32(n) {
			if err := loaded.PlaceRow(slot, g.Row(slot)); err != nil {
				t.Fatal(err)
			}
		}
		if loaded.Free() != killed-1 || found(loaded) != found(g) {
			t.Errorf("loaded: %d free, %d found, want %d and %d", loaded.Free(), found(loaded), killed-1, found(g))
		}
		if taken, err := loaded.Consolidate(context.Background()); taken != 1 || err != nil {
			t.Errorf("%d taken out (%v), want slot 0 alone", taken, err)
		}
		if loaded.Lingering() != 0 || loaded.Free() != killed {
			t.Errorf("%d linger, %d are free", loaded.Lingering(), loaded.Free())
		}
	}
}

func TestAGraphWhoseFirstSlotsDied(t *testing.T) {
	rows := clusters(12, 600, 96)
	g := newTestGraph(t, 96, Options{ExactBelow: -1})
	appendAll(t, g, rows)
	for slot := range uint32(300) {
		g.Kill(slot)
	}
	linkAll(t, g)
	if _, err := g.Consolidate(context.Background()); err != nil {
		t.Fatal(err)
	}
	for slot, v := range rows[300:] {
		if hits, err := g.Search(v, 1, SearchOptions{}, nil); err != nil || hits[0].Slot != uint32(300+slot) {
			t.Fatalf("slot %d: %v (%v)", 300+slot, hits, err)
		}
	}
	for slot := range uint32(600) { // nobody is left
		g.Kill(slot)
	}
	if _, err := g.Consolidate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if hits, err := g.Search(rows[0], 5, SearchOptions{}, nil); err != nil || len(hits) != 0 {
		t.Errorf("%v, %v", hits, err)
	}
}
