package hnsw

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRanksOrderAsResultsDo(t *testing.T) {
	if negative := float32(math.Copysign(0, -1)); makeRank(negative, 7) != makeRank(0, 7) {
		t.Error("the zeros differ")
	}
	if makeRank(1.0000001, 7) != makeRank(1, 7) || makeRank(-1.5, 7) != makeRank(-1, 7) {
		t.Error("scores are not clamped before they are ordered")
	}
	score := rapid.OneOf(rapid.Float32Range(-1, 1), rapid.SampledFrom([]float32{-1, -0.5, 0, 0.5, 1}))
	hit := rapid.Custom(func(t *rapid.T) Hit {
		return Hit{Slot: rapid.Uint32Range(0, MaxSlots-1).Draw(t, "slot"), Score: score.Draw(t, "score")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := hit.Draw(t, "a"), hit.Draw(t, "b")
		if got := makeRank(a.Score, a.Slot).hit(); got != a {
			t.Fatalf("%v comes back as %v", a, got)
		}
		want := cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Slot, b.Slot))
		if got := cmp.Compare(makeRank(a.Score, a.Slot), makeRank(b.Score, b.Slot)); got != want {
			t.Fatalf("%v and %v compare as %d, want %d", a, b, got, want)
		}
	})
}

func TestListsAndHeapsOfRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []rank
		for _, x := range rapid.SliceOfNDistinct(rapid.Uint32(), 0, 60, rapid.ID).Draw(t, "ranks") {
			all = append(all, rank(x)<<1)
		}
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		sorted := slices.Sorted(slices.Values(all))
		var list, heap []rank
		for _, r := range all {
			heap = push(heap, r)
			at := 0
			if list, at = insert(list, r, limit); at < limit && list[at] != r {
				t.Fatalf("%d is not at %d of %v", r, at, list)
			}
		}
		if want := sorted[:min(limit, len(sorted))]; !slices.Equal(list, want) {
			t.Fatalf("list %v, want %v", list, want)
		}
		for _, want := range sorted {
			var got rank
			if got, heap = pop(heap); got != want {
				t.Fatalf("popped %d, want %d", got, want)
			}
		}
	})
}

func TestTheBestOfMany(t *testing.T) {
	for _, k := range []int{1, sortedInsertLimit, sortedInsertLimit + 1, 5000} {
		b := best{k: k}
		var all []rank
		for i := range 20_000 {
			r := rank(mix(uint64(i))) &^ expanded
			all = append(all, r)
			b.add(r)
		}
		b.finish()
		slices.Sort(all)
		if !slices.Equal(b.list, all[:k]) {
			t.Errorf("k %d: wrong", k)
		}
	}
}
