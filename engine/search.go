package engine

import (
	"cmp"
	"math"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/hnsw"
)

// search returns the k owners of a kind nearest to the unit vector q, by
// (score descending, id), as the view sees them. A nil filter lets all pass.
func (x *vectorIndex) search(v *graphstore.View, kind format.Kind, q []float32, k int, min float32, f *filter) ([]hit, error) {
	bound := v.Bound(kind)
	if bound == 0 || k == 0 {
		return nil, nil
	}
	if uint64(k) > uint64(bound) {
		k = int(bound)
	}
	idx := x.kind(kind)
	a := accept{view: v, index: idx, kind: kind, allow: f.accept(kind)}
	found, err := idx.graph.Search(q, k, hnsw.SearchOptions{
		Ef:          searchEf(k),
		Bound:       bound,
		Accept:      a.slot,
		Allow:       f.among(kind),
		MinScore:    min,
		HasMinScore: true,
	}, make([]hnsw.Hit, 0, k))
	if err != nil {
		return nil, err
	}
	hits := make([]hit, len(found))
	for i, f := range found {
		hits[i] = hit{id: idx.owners.get(f.Slot).Owner, score: f.Score}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return hits, nil
}

// searchEf widens the beam with k: recall@40 needs more candidates than 40. Where k is beyond all beams, it
// is the beam.
func searchEf(k int) int { return min(max(128, 3*k), 1<<20) }

// score returns the cosine of an owner's vector and the unit vector q.
func (x *vectorIndex) score(v *graphstore.View, kind format.Kind, owner uint32, q []float32) (float32, bool) {
	slot, ok := v.Slot(kind, owner)
	if !ok {
		return 0, false
	}
	return x.kind(kind).graph.Score(slot, q), true
}

// unit returns v scaled to length 1. v has been checked: it is finite and not
// zero.
func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := 1 / math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) * scale)
	}
	return out
}
