package engine

import (
	"math"
	"slices"
	"testing"
)

// However many are asked for, those there are come, and cost memory for themselves only.
func TestAnyNumberOfResultsMayBeAskedFor(t *testing.T) {
	db := tenants(t)
	for _, mode := range []Mode{Naive, Local, Global, Mix} {
		q := Query{Text: "shared thing", Mode: mode, LowLevel: []string{"shared thing"}, HighLevel: []string{"bound key"}, CosineThreshold: -1}
		q.TopK, q.ChunkTopK = 1000, 1000
		want := retrieved(t, db, q)
		q.TopK, q.ChunkTopK = math.MaxInt, math.MaxInt
		got := retrieved(t, db, q)
		if !slices.Equal(names(got), names(want)) || !slices.Equal(pairs(got), pairs(want)) || len(got.Chunks) != len(want.Chunks) {
			t.Errorf("%s: %d entities, %d relations, %d chunks", mode, len(got.Entities), len(got.Relations), len(got.Chunks))
		}
	}
}
