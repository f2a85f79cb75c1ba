package lexical

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A hand-computed case: three texts of lengths 10, 20, 30.
func TestScoresAreThoseOfTheFormula(t *testing.T) {
	lengths := []int{0, 10, 20, 30}
	c := &Collection{Owners: 3, Tokens: 60, Length: func(o uint32) int { return lengths[o] }}
	lists := []List{{[]uint32{1, 3}, []uint8{1, 2}}, {[]uint32{2}, []uint8{3}}, {}}
	got := new(Ranker).Top(nil, 10, lists, c)
	idf := func(n float64) float64 { return math.Log(1 + (3-n+.5)/(n+.5)) }
	tf := func(n, length float64) float64 { return n * 2.2 / (n + 1.2*(.25+.75*length/20)) }
	want := []Hit{{2, idf(1) * tf(3, 20)}, {1, idf(2) * tf(1, 10)}, {3, idf(2) * tf(2, 30)}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i, w := range want {
		if got[i].Owner != w.Owner || math.Abs(got[i].Score-w.Score) > 1e-12 {
			t.Errorf("%d: %v, want %v", i, got[i], w)
		}
	}
	if top := new(Ranker).Top([]Hit{{9, 9}}, 1, lists, c); len(top) != 2 || top[1].Owner != 2 {
		t.Errorf("appended: %v", top)
	}
	for _, none := range [][]Hit{
		new(Ranker).Top(nil, 0, lists, c), new(Ranker).Top(nil, 5, nil, c), new(Ranker).Top(nil, 5, lists, &Collection{}),
	} {
		if len(none) != 0 {
			t.Errorf("found %v", none)
		}
	}
}

func TestLogarithm(t *testing.T) {
	for _, x := range []float64{1, 1.0000001, 1.25, math.Sqrt2, 1.5, 2, math.E, 3, 1000, 1e6 + .5, 1e300} {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 4e-16*max(want, 1) {
			t.Errorf("ln %v = %v, want %v", x, got, want)
		}
	}
}

// scan scores every owner.
func scan(k int, lists []List, c *Collection) []Hit {
	r := new(Ranker)
	r.begin(lists, c)
	counts := make(map[uint32][]uint8)
	for i, l := range lists {
		for j, o := range l.Owners {
			if counts[o] == nil {
				counts[o] = make([]uint8, len(lists))
			}
			counts[o][i] = l.Counts[j]
		}
	}
	var all []Hit
	for o, n := range counts {
		if c.Accept == nil || c.Accept(o) {
			copy(r.counts, n)
			all = append(all, Hit{o, r.score(K1 * (1 - B + B*float64(c.Length(o))/max(float64(c.Tokens)/float64(c.Owners), 1)))})
		}
	}
	slices.SortFunc(all, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Owner, b.Owner)) })
	return all[:min(k, len(all))]
}

func TestTopIsThatOfAScan(t *testing.T) {
	var r Ranker // one for all: nothing of an earlier call may stay
	rapid.Check(t, func(t *rapid.T) {
		owners := rapid.IntRange(1, 300).Draw(t, "owners")
		lengths := rapid.SliceOfN(rapid.IntRange(0, 3), owners, owners).Draw(t, "lengths") // few, so that scores are equal
		sum := 0
		for _, n := range lengths {
			sum += n
		}
		c := &Collection{Owners: uint64(owners), Tokens: uint64(sum), Length: func(o uint32) int { return lengths[o] }}
		if rapid.Bool().Draw(t, "filtered") {
			rest := uint32(rapid.IntRange(0, 4).Draw(t, "rest"))
			c.Accept = func(o uint32) bool { return o%5 <= rest }
		}
		lists := make([]List, rapid.IntRange(0, 6).Draw(t, "lists"))
		for i := range lists {
			every := rapid.IntRange(1, 40).Draw(t, "every")
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(every)))
			for o := range owners {
				if rnd.IntN(every) == 0 {
					lists[i].Owners = append(lists[i].Owners, uint32(o))
					lists[i].Counts = append(lists[i].Counts, []uint8{1, 1, 2, 255}[rnd.IntN(4)])
				}
			}
		}
		k := rapid.IntRange(1, 50).Draw(t, "k")
		got, want := r.Top(nil, k, lists, c), scan(k, lists, c)
		if !slices.Equal(got, want) {
			t.Fatalf("top %d\n got %v\nwant %v", k, got, want)
		}
	})
}

// BenchmarkTop ranks owners by three rare, two middling and two very common
// terms, and by the rare ones alone.
func BenchmarkTop(b *testing.B) {
	for _, owners := range []int{20_000, 100_000} {
		rnd := rand.New(rand.NewPCG(1, 2))
		lengths := make([]uint16, owners)
		sum := 0
		for i := range lengths {
			lengths[i] = uint16(20 + rnd.IntN(200))
			sum += int(lengths[i])
		}
		c := &Collection{Owners: uint64(owners), Tokens: uint64(sum), Length: func(o uint32) int { return int(lengths[o]) }}
		var lists []List
		for _, every := range []int{5000, 2000, 1000, 50, 20, 3, 1} {
			var l List
			for o := range owners {
				if rnd.IntN(every) == 0 {
					l.Owners, l.Counts = append(l.Owners, uint32(o)), append(l.Counts, uint8(1+rnd.IntN(2)))
				}
			}
			lists = append(lists, l)
		}
		for _, n := range []int{3, 5, 7} {
			b.Run(fmt.Sprintf("owners=%d/terms=%d", owners, n), func(b *testing.B) {
				var r Ranker
				var hits []Hit
				b.ReportAllocs()
				for b.Loop() {
					hits = r.Top(hits[:0], 40, lists[:n], c)
				}
			})
		}
	}
}
