package hnsw

import (
	"math"
	"testing"
)

// nmslib/hnswlib#581, weaviate/weaviate PR#8496, pgvector/pgvector PR#1023, qdrant/qdrant PR#9959, jelmerk/hnswlib#74: a
// random number of exactly zero has no logarithm, and the layer drawn from it was infinite or negative.
func TestTheUnluckiestDrawIsALayer(t *testing.T) {
	for m := 2; m <= maxM; m++ {
		for _, bits := range []uint64{0, 1, 1<<11 - 1, 1 << 11, 1 << 12, math.MaxUint64 - 1, math.MaxUint64} {
			if l := levelAt(bits, m); l < 0 || l > maxLevel {
				t.Errorf("M %d, bits %#x: layer %d", m, bits, l)
			}
		}
		if l := levelAt(0, m); l != min(maxLevel, int(53/math.Log2(float64(m)))) {
			t.Errorf("M %d: the unluckiest draw gives layer %d", m, l)
		}
	}
}

// risingwavelabs/risingwave#23065: the number of layers was taken for the index of the highest, and one was skipped
// on the way down. Every slot has neighbours on every layer it reaches, if there are others, and most of a
// layer can be met on it (all but one of a hundred slots; with M 2 an upper list is too short for that).
func TestEveryLayerOfASlotIsLinked(t *testing.T) {
	rows := clusters(40, 2000, 8)
	for _, m := range []int{4, 8, 16} {
		g := built(t, rows, Options{M: m, EfConstruction: 40, ExactBelow: -1})
		tb, entry := g.table.Load(), g.entry.Load()
		top := int(entry >> 32)
		highest := 0
		for layer := 1; layer <= top; layer++ {
			var members []uint32
			for slot := range g.Mark() {
				if levelOf(g.o.Seed, slot, m) >= layer {
					members, highest = append(members, slot), max(highest, layer)
				}
			}
			met := map[uint32]bool{uint32(entry): true}
			for queue := []uint32{uint32(entry)}; len(queue) > 0; queue = queue[1:] {
				ids, _ := neighbours(g.list(tb, queue[0], layer), MaxSlots, nil)
				for _, id := range ids {
					if !met[id] {
						met[id] = true
						queue = append(queue, id)
					}
				}
			}
			for _, slot := range members {
				if ids, _ := neighbours(g.list(tb, slot, layer), MaxSlots, nil); len(ids) == 0 && len(members) > 1 {
					t.Errorf("M %d: slot %d has no neighbours on layer %d of %d", m, slot, layer, top)
				}
			}
			if 2*len(met) < len(members) {
				t.Errorf("M %d: %d of %d slots can be met on layer %d of %d", m, len(met), len(members), layer, top)
			}
		}
		if highest != top {
			t.Errorf("M %d: the entry is on layer %d, the highest slot on %d", m, top, highest)
		}
	}
}
