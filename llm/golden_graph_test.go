package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type goldenNode struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Fragments []string `json:"fragments"`
	Sources   [][2]int `json:"sources"`
	Degree    int      `json:"degree"`
	Skip      []string `json:"skip"`
}

type goldenEdge struct {
	Src       string   `json:"src"`
	Tgt       string   `json:"tgt"`
	Weight    *float64 `json:"weight"`
	Keywords  []string `json:"keywords"`
	Fragments []string `json:"fragments"`
	Sources   [][2]int `json:"sources"`
	Skip      []string `json:"skip"`
}

type goldenGraph struct {
	Nodes []goldenNode `json:"nodes"`
	Edges []goldenEdge `json:"edges"`
}

type (
	nodeAcc struct {
		typeVotes map[string]int
		typeOrder []string
		fragments []string
		implied   string
		sources   map[[2]int]bool
		degree    int
	}
	edgeAcc struct {
		weight    int64
		keywords  map[string]bool
		fragments []string
		sources   map[[2]int]bool
	}
)

// unionGraph joins the records of all chunks by the documented rules, in the
// plainest way: it is what the parser is checked with.
type unionGraph struct {
	nodes map[string]*nodeAcc
	edges map[[2]string]*edgeAcc
}

func (g *unionGraph) node(name string) *nodeAcc {
	n := g.nodes[name]
	if n == nil {
		n = &nodeAcc{typeVotes: map[string]int{}, sources: map[[2]int]bool{}}
		g.nodes[name] = n
	}
	return n
}

func (n *nodeAcc) kind() string {
	best, votes := "UNKNOWN", 0
	for _, t := range n.typeOrder {
		if n.typeVotes[t] > votes {
			best, votes = t, n.typeVotes[t]
		}
	}
	return best
}

func (n *nodeAcc) texts() []string {
	if len(n.typeOrder) == 0 {
		return []string{n.implied}
	}
	return sortDistinct(slices.Clone(n.fragments))
}

func buildUnion(lines []replayLine) *unionGraph {
	g := &unionGraph{nodes: map[string]*nodeAcc{}, edges: map[[2]string]*edgeAcc{}}
	for _, l := range lines {
		at := [2]int{l.DocOrder, l.ChunkOrder}
		m := l.parse()
		for _, e := range m.Entities {
			n := g.node(e.Name)
			if n.typeVotes[e.Type]++; n.typeVotes[e.Type] == 1 {
				n.typeOrder = append(n.typeOrder, e.Type)
			}
			n.fragments = append(n.fragments, e.Description)
			n.sources[at] = true
		}
		for _, r := range m.Relations {
			g.relation(r.RelationRecord, at)
		}
	}
	return g
}

func (g *unionGraph) relation(r RelationRecord, at [2]int) {
	key := [2]string{min(r.Source, r.Target), max(r.Source, r.Target)}
	e := g.edges[key]
	if e == nil {
		e = &edgeAcc{keywords: map[string]bool{}, sources: map[[2]int]bool{}}
		g.edges[key] = e
		g.node(key[0]).degree++
		g.node(key[1]).degree++
	}
	e.weight += r.Weight
	for _, k := range r.Keywords {
		e.keywords[k] = true
	}
	e.fragments = append(e.fragments, r.Description)
	e.sources[at] = true
	for _, name := range key {
		n := g.node(name)
		n.sources[at] = true
		if n.implied == "" {
			n.implied = r.Description
		}
	}
}

func sourceSet(m map[[2]int]bool) string {
	return fmt.Sprint(slices.SortedFunc(maps.Keys(m), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }))
}

func sourceList(l [][2]int) string {
	m := map[[2]int]bool{}
	for _, p := range l {
		m[p] = true
	}
	return sourceSet(m)
}

// graphDiff compares every field of every row that is not skipped.
func graphDiff(got *unionGraph, want goldenGraph) (compared int, diffs []string) {
	note := func(format string, a ...any) { diffs = append(diffs, fmt.Sprintf(format, a...)) }
	check := func(skip []string, field, row string, have, want any) {
		if slices.Contains(skip, field) {
			return
		}
		compared++
		if h, w := fmt.Sprintf("%q", have), fmt.Sprintf("%q", want); h != w {
			note("%s: %s: have %s want %s", row, field, h, w)
		}
	}
	wantNodes := map[string]bool{}
	for _, w := range want.Nodes {
		name := w.Name
		if slices.Contains(w.Skip, "name") {
			name = strings.TrimSpace(name)
		}
		wantNodes[name] = true
		n := got.nodes[name]
		if n == nil {
			note("node %q: missing", name)
			continue
		}
		check(w.Skip, "type", "node "+name, n.kind(), w.Type)
		check(w.Skip, "fragments", "node "+name, n.texts(), sortDistinct(slices.Clone(w.Fragments)))
		check(w.Skip, "sources", "node "+name, sourceSet(n.sources), sourceList(w.Sources))
		check(w.Skip, "degree", "node "+name, fmt.Sprint(n.degree), fmt.Sprint(w.Degree))
	}
	for name := range got.nodes {
		if !wantNodes[name] {
			note("node %q: extra", name)
		}
	}
	wantEdges := map[[2]string]bool{}
	for _, w := range want.Edges {
		key := [2]string{strings.TrimSpace(w.Src), strings.TrimSpace(w.Tgt)}
		wantEdges[key] = true
		row := "edge " + strings.Join(key[:], " | ")
		e := got.edges[key]
		if e == nil {
			note("%s: missing", row)
			continue
		}
		if w.Weight != nil {
			check(w.Skip, "weight", row, fmt.Sprint(e.weight), fmt.Sprint(int64(*w.Weight*1e6)))
		}
		check(w.Skip, "keywords", row, slices.Sorted(maps.Keys(e.keywords)), append([]string(nil), w.Keywords...))
		check(w.Skip, "fragments", row, sortDistinct(slices.Clone(e.fragments)), sortDistinct(slices.Clone(w.Fragments)))
		check(w.Skip, "sources", row, sourceSet(e.sources), sourceList(w.Sources))
	}
	for key := range got.edges {
		if !wantEdges[key] {
			note("edge %q: extra", key)
		}
	}
	slices.Sort(diffs)
	return compared, diffs
}
