package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// WalkOptions shape [Walk]. The zero value is what bench/quality measured; who has
// questions with known documents can measure others (package eval).
type WalkOptions struct {
	// From how many of the best matches of each kind the walk starts, of those by
	// vectors and as many by words; 0 = 5 relations, 5 entities and 2 passages,
	// negative = none.
	Relations, Entities, Passages int
	// Onward is the part of what reaches a node that goes on to its neighbours, below
	// 1: the larger, the farther the walk goes. 0 = 0.5.
	Onward float64
}

func (w *WalkOptions) normalise() error {
	def := func(p *int, zero int) {
		if *p == 0 {
			*p = zero
		}
		*p = max(*p, 0)
	}
	def(&w.Relations, 5)
	def(&w.Entities, 5)
	def(&w.Passages, 2)
	if w.Onward == 0 {
		w.Onward = 0.5
	}
	if !(w.Onward > 0 && w.Onward <= 0.95) {
		return fmt.Errorf("%w: Walk.Onward %v is not above 0 and at most 0.95", ErrInvalid, w.Onward)
	}
	return nil
}

// The mass that the best matches of each kind share.
const (
	relationMass = 0.5
	entityMass   = 0.25
	passageMass  = 0.25
)

// walkLeast ends the walk: what a neighbour would get that is not worth the way.
// With 1e-5 the first twenty passages of the measured questions are those of a
// walk without end, and at most 200,000 edges are walked.
const walkLeast = 1e-5

// walkedPassages bounds, by ChunkTopK, the passages that a walk hands on.
const walkedPassages = 5

// start is a match that the walk starts from.
type start struct {
	hit
	weight float64
}

// walked is what belongs to a walk besides the entities and relations it finds.
type walked struct {
	from     [indexKinds][]start
	passages []ranked[format.ChunkID]
	mass     map[node]float64 // for Result.Explain; nil without
}

// walk ranks entities, relations and passages by personalised PageRank from what
// the question matches: the way of HippoRAG 2 (arXiv 2502.14802, section 3),
// without a model call. A passage that shares no word with the question is found
// through the facts that lead to it.
func (s *search) walk() {
	p := pushers.Get().(*pusher)
	defer p.release()
	p.begin(s.view, s.filter.documents())
	s.seed(p)
	p.spread(s.q.Walk.Onward, walkLeast)

	entities := p.best(format.KindEntity)
	if s.q.Explain {
		s.walked.mass = p.masses()
	}
	top := make(map[format.EntityID]float64) // what goes over each edge of it
	cosine := scores(s.near.entities)
	for _, n := range entities {
		if len(s.entities) == s.q.TopK {
			break
		}
		if id := format.EntityID(n.id); s.filter.entity(id) {
			top[id] = n.mass / float64(max(1, n.degree))
			s.entities = append(s.entities, ranked[format.EntityID]{id, cosine[n.id]})
		}
	}
	s.relations = s.between(top)
	passages := p.best(format.KindChunk)
	if s.q.ChunkTopK < len(passages)/walkedPassages {
		passages = passages[:walkedPassages*s.q.ChunkTopK]
	}
	s.walked.passages = make([]ranked[format.ChunkID], len(passages))
	for i, n := range passages {
		s.walked.passages[i] = ranked[format.ChunkID]{format.ChunkID(n.id), s.cosine(format.KindChunk, n.id, s.want.vectors.query)}
	}
}

// matchStarts finds what the walk starts from.
func (s *search) matchStarts() (err error) {
	v := &s.want.vectors
	if s.near.entities, err = s.starts(format.KindEntity, s.want.low, v.low); err != nil {
		return err
	}
	if s.near.relations, err = s.starts(format.KindRelation, s.want.high, v.high); err != nil {
		return err
	}
	s.near.chunks, err = s.starts(format.KindChunk, s.q.Text, v.query)
	return err
}

// starts takes the best of each ranking by itself: the first weighs 1, the second
// 1/2, the third 1/3, and who is in two rankings has the sum. Neither may crowd out
// the other: a walk starts from few, and what only one of them finds leads elsewhere.
func (s *search) starts(kind format.Kind, text string, vec []float32) ([]hit, error) {
	r, err := s.rank(kind, text, vec, s.most(kind))
	if err != nil {
		return nil, err
	}
	var list []start
	add := func(places []place) {
		for _, p := range places {
			i := slices.IndexFunc(list, func(x start) bool { return x.id == p.id })
			if i < 0 {
				i = len(list)
				list = append(list, start{hit: hit{p.id, s.cosine(kind, p.id, vec)}})
			}
			list[i].weight += 1 / float64(p.rank)
		}
	}
	add(places(len(r.named), func(i int) uint32 { return r.named[i] }, func(i, j int) bool { return false }))
	add(places(len(r.near), func(i int) uint32 { return r.near[i].id }, func(i, j int) bool { return r.near[i].score == r.near[j].score }))
	add(places(len(r.found), func(i int) uint32 { return r.found[i].Owner }, func(i, j int) bool { return r.found[i].Score == r.found[j].Score }))
	slices.SortFunc(list, func(a, b start) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	hits := make([]hit, len(list))
	for i := range list {
		hits[i] = list[i].hit
	}
	s.walked.from[kind-1] = list
	s.explainMatch(kind, &r, hits)
	return hits, nil
}

// seed puts mass on what the walk starts from, by its weight. A relation gives its
// weight to each of its two ends. An entity that many passages mention says less
// about which of them is meant: its weight is divided by their number.
func (s *search) seed(p *pusher) {
	var list []pushNode // mass only
	add := func(kind format.Kind, id uint32, weight float64) {
		if kind == format.KindEntity {
			weight /= float64(max(1, len(s.view.Sources(kind, id))))
		}
		list = append(list, pushNode{node: node{kind, id}, mass: weight})
	}
	share := func(total float64) {
		sum := 0.0
		for i := range list {
			sum += list[i].mass
		}
		for i := range list {
			p.put(list[i].node, float64(total*list[i].mass)/sum)
		}
		list = list[:0]
	}
	from := func(kind format.Kind) []start { return s.walked.from[kind-1] }
	for _, x := range from(format.KindRelation) {
		a, b := s.view.Ends(format.RelationID(x.id))
		add(format.KindEntity, uint32(a), x.weight)
		add(format.KindEntity, uint32(b), x.weight)
	}
	share(relationMass)
	for _, x := range from(format.KindEntity) {
		add(format.KindEntity, x.id, x.weight)
	}
	share(entityMass)
	for _, x := range from(format.KindChunk) {
		add(format.KindChunk, x.id, x.weight)
	}
	share(passageMass)
}

// between returns the relations that matched, then those between two of the top
// entities, by what the walk sends over them, at most TopK in all.
func (s *search) between(top map[format.EntityID]float64) []ranked[format.RelationID] {
	var out []ranked[format.RelationID]
	matched := make(map[format.RelationID]struct{}, len(s.near.relations))
	for _, h := range s.near.relations {
		id := format.RelationID(h.id)
		matched[id] = struct{}{}
		out = append(out, ranked[format.RelationID]{id, h.score})
	}
	type edge struct {
		id   format.RelationID
		flow float64
	}
	var edges []edge
	for _, e := range s.entities {
		for _, nb := range s.view.Neighbors(e.id) {
			there, ok := top[nb.Entity]
			if !ok || nb.Entity < e.id { // seen from the other end
				continue
			}
			if _, dup := matched[nb.Relation]; !dup && s.filter.relation(nb.Relation) {
				edges = append(edges, edge{nb.Relation, top[e.id] + there})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(b.flow, a.flow), cmp.Compare(a.id, b.id)) })
	for _, e := range edges {
		out = append(out, ranked[format.RelationID]{id: e.id})
	}
	return out[:min(len(out), s.q.TopK)]
}

// walkPassages returns the passages of the walk and, where it reached too few,
// those that the question matches.
func (s *search) walkPassages() ([]ranked[format.ChunkID], error) {
	out := s.walked.passages
	if len(out) < s.q.ChunkTopK {
		direct, err := s.matched(format.KindChunk, s.q.Text, s.want.vectors.query, s.q.ChunkTopK)
		if err != nil {
			return nil, err
		}
		seen := make(map[format.ChunkID]struct{}, len(out))
		for _, c := range out {
			seen[c.id] = struct{}{}
		}
		for _, h := range direct {
			if _, dup := seen[format.ChunkID(h.id)]; !dup {
				out = append(out, ranked[format.ChunkID]{format.ChunkID(h.id), h.score})
			}
		}
	}
	s.walkOrigins(out)
	return out, nil
}

func scores(hits []hit) map[uint32]float32 {
	m := make(map[uint32]float32, len(hits))
	for _, h := range hits {
		m[h.id] = h.score
	}
	return m
}

// place is the rank of an owner in a ranking, beginning at 1. Owners of one score
// have one rank, so that it does not depend on their ids.
type place struct {
	id   uint32
	rank int
}

// places ranks n owners that are in the order of their scores.
func places(n int, id func(i int) uint32, same func(i, j int) bool) []place {
	out := make([]place, n)
	for i := range out {
		out[i] = place{id(i), i + 1}
		if i > 0 && same(i-1, i) {
			out[i].rank = out[i-1].rank
		}
	}
	return out
}
