package engine

import (
	"cmp"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// expand goes one hop (arXiv 2410.05779, section 3.2): matched entities bring
// their relations, matched relations their ends; both lists are merged
// round-robin. A walk goes on from there.
func (s *search) expand() {
	if s.q.Mode == Walk {
		s.walk()
		return
	}
	local := make([]ranked[format.EntityID], len(s.near.entities))
	for i, h := range s.near.entities {
		local[i] = ranked[format.EntityID]{format.EntityID(h.id), h.score}
	}
	global := make([]ranked[format.RelationID], len(s.near.relations))
	for i, h := range s.near.relations {
		global[i] = ranked[format.RelationID]{format.RelationID(h.id), h.score}
	}
	s.entities = roundRobin(local, s.ends(global))
	s.relations = roundRobin(s.around(local), global)
}

// around returns the relations of the entities: in the order of the entities
// and of their neighbours' names, each once, then stably by (sum of degrees,
// weight) descending.
func (s *search) around(entities []ranked[format.EntityID]) []ranked[format.RelationID] {
	n := 0
	for _, e := range entities {
		n += s.view.Degree(e.id)
	}
	edges := make([]edge, 0, n)
	done := make(map[format.EntityID]struct{}, len(entities))
	for _, e := range entities {
		degree := s.view.Degree(e.id)
		done[e.id] = struct{}{}
		for _, nb := range s.view.Neighbors(e.id) {
			// Two entities have one relation: it is listed if its other end has been here.
			if _, dup := done[nb.Entity]; dup || !s.filter.relation(nb.Relation) {
				continue
			}
			edges = append(edges, edge{nb.Relation, degree + s.view.Degree(nb.Entity), s.view.Weight(nb.Relation)})
		}
	}
	s.filter.weigh(edges)
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.degree, a.degree), cmp.Compare(b.weight, a.weight))
	})
	out := make([]ranked[format.RelationID], len(edges))
	for i, e := range edges {
		out[i].id = e.id
	}
	return out
}

// ends returns the ends of the relations in the order they are first met.
func (s *search) ends(relations []ranked[format.RelationID]) []ranked[format.EntityID] {
	out := make([]ranked[format.EntityID], 0, 2*len(relations))
	seen := make(map[format.EntityID]struct{}, 2*len(relations))
	for _, r := range relations {
		a, b := s.view.Ends(r.id)
		for _, e := range [2]format.EntityID{a, b} {
			if _, dup := seen[e]; !dup && s.filter.entity(e) {
				seen[e] = struct{}{}
				out = append(out, ranked[format.EntityID]{id: e})
			}
		}
	}
	return out
}

// edge is a relation and what it is ranked by.
type edge struct {
	id     format.RelationID
	degree int
	weight int64
}

// roundRobin merges two ranked lists, a first, keeping the first of every id
// and the better of its scores.
func roundRobin[ID comparable](a, b []ranked[ID]) []ranked[ID] {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	out := make([]ranked[ID], 0, len(a)+len(b))
	at := make(map[ID]int, len(a)+len(b))
	take := func(r ranked[ID]) {
		if i, dup := at[r.id]; dup {
			out[i].score = max(out[i].score, r.score)
			return
		}
		at[r.id] = len(out)
		out = append(out, r)
	}
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			take(a[i])
		}
		if i < len(b) {
			take(b[i])
		}
	}
	return out
}
