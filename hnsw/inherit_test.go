package hnsw

import (
	"math/rand/v2"
	"testing"
)

// Who leaves a tight group does not take the ways into it along: those of the group that stay find others of it.
func TestLeavingATightGroupKeepsItTogether(t *testing.T) {
	const n, dim, group, hot = 2000, 64, 150, 30
	r := rand.New(rand.NewPCG(311, 311))
	rows := clusters(312, n, dim)
	centre := unit(rows[0])
	for i := range group {
		rows[i] = unit(moved(r, centre, 0.9995))
	}
	ix := filled(t, rows, Options{ExactBelow: -1, EfConstruction: 60, M: 8})
	inherit := func(from, to int) (inherited int) {
		for i := from; i < to; i++ {
			id := uint64(i) + 1<<40
			if err := ix.Add(id, moved(r, unit(rows[i]), 0.95)); err != nil {
				t.Fatal(err)
			}
			if v, at := ix.cur.versionsOf(ix.slots[id]); v.from[at] != 0 {
				inherited++
			}
		}
		return inherited
	}
	if got := inherit(0, hot); got > 0 {
		t.Errorf("%d of %d who have left the group inherited a place in it", got, hot)
	}
	// Elsewhere neighbours are farther away than that: who moves as far stays.
	if got := inherit(group, group+hot); got < hot*9/10 {
		t.Errorf("%d of %d inherited a place among neighbours that are far away", got, hot)
	}
	checkShape(t, ix.cur.g)
}
