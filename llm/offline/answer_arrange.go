package offline

import (
	"sort"
)

// overview answers questions that name nothing: what most sentences speak of,
// one sentence per passage.
func (a *answerer) overview() []int {
	best := map[int]int{}
	value := map[int]float64{}
	var order []int
	for i := range a.c.sents {
		s := &a.c.sents[i]
		if s.heading || s.broken || s.pronoun || len(s.terms) < 3 {
			continue
		}
		v := 0.0
		for _, t := range s.terms {
			v += float64(min(a.c.df[t], 8))
		}
		v /= float64(len(s.terms) + 4)
		if s.defines {
			v *= 1.5
		}
		if _, ok := best[s.passage]; !ok {
			order = append(order, s.passage)
		}
		if v > value[s.passage] {
			best[s.passage], value[s.passage] = i, v
		}
	}
	var picks []int
	for _, p := range order {
		if len(picks) < maxAnswer {
			picks = append(picks, best[p])
		}
	}
	return picks
}

// arrange groups sentences by passage, in the order the passages were first
// chosen from, and puts before a pronoun the sentence it points to.
func (a *answerer) arrange(picks []int) []int {
	in := map[int]bool{}
	for _, i := range picks {
		in[i] = true
	}
	all := append([]int(nil), picks...)
	for _, i := range picks {
		if s := &a.c.sents[i]; s.pronoun && i > 0 && !in[i-1] && len(all) < maxAnswer {
			if p := &a.c.sents[i-1]; p.passage == s.passage && !p.heading && !p.broken {
				in[i-1] = true
				all = append(all, i-1)
			}
		}
	}
	rank := map[int]int{}
	for _, i := range all {
		if p := a.c.sents[i].passage; rank[p] == 0 {
			rank[p] = len(rank) + 1
		}
	}
	sort.Slice(all, func(x, y int) bool {
		if a, b := rank[a.c.sents[all[x]].passage], rank[a.c.sents[all[y]].passage]; a != b {
			return a < b
		}
		return all[x] < all[y]
	})
	return all
}
