package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
)

// Match says how keywords and question find entities, relations and passages.
type Match uint8

const (
	// MatchFused takes what is best by vectors and what is best by words, and ranks
	// it by the part of the words' weight that a text has plus a quarter of its
	// cosine. Entities that a low-level keyword names come first. If the embedder
	// fails, words alone decide, and Result.Warnings says so.
	MatchFused Match = iota
	// MatchVectors ranks by vectors alone, as LightRAG does.
	MatchVectors
	// MatchLexical ranks by words alone: no text is embedded. Entities that a
	// low-level keyword names come first.
	MatchLexical
)

// String returns the name that ParseMatch knows.
func (m Match) String() string {
	switch m {
	case MatchFused:
		return "fused"
	case MatchVectors:
		return "vectors"
	case MatchLexical:
		return "lexical"
	}
	return fmt.Sprintf("Match(%d)", m)
}

// ParseMatch returns the Match of that name; "" is MatchFused.
func ParseMatch(s string) (Match, error) {
	if s == "" {
		return MatchFused, nil
	}
	for m := MatchFused; m <= MatchLexical; m++ {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("%w: match %q is not one of fused, vectors, lexical", ErrInvalid, s)
}

// wanted is what a query matches: the keywords of each level joined by ", ", and
// their unit vectors, nil where there are none.
type wanted struct {
	low, high string
	passages  bool // the question is matched against them
	vectors   struct{ query, low, high []float32 }
	warning   string // why there are no vectors
}

func (a *wanted) nothing() bool { return a.low == "" && a.high == "" && !a.passages }

// match finds the entities, relations and chunks that match the keywords and the
// question best.
func (s *search) match() error {
	if s.q.Mode == Walk {
		return s.matchStarts()
	}
	v := &s.want.vectors
	var err error
	if s.want.low != "" {
		if s.near.entities, err = s.matched(format.KindEntity, s.want.low, v.low, s.most(format.KindEntity)); err != nil {
			return err
		}
	}
	if s.want.high != "" {
		if s.near.relations, err = s.matched(format.KindRelation, s.want.high, v.high, s.most(format.KindRelation)); err != nil {
			return err
		}
	}
	if s.want.passages {
		s.near.chunks, err = s.matched(format.KindChunk, s.q.Text, v.query, s.most(format.KindChunk))
	}
	return err
}

// most returns how many matches of a kind are wanted.
func (s *search) most(kind format.Kind) int {
	walk := s.q.Mode == Walk
	switch {
	case kind == format.KindEntity && walk:
		return s.q.Walk.Entities
	case kind == format.KindRelation && walk:
		return s.q.Walk.Relations
	case kind == format.KindChunk && walk:
		return s.q.Walk.Passages
	case kind == format.KindChunk:
		return s.q.ChunkTopK
	}
	return s.q.TopK
}

// rankings are the owners of a kind that match a text, at most k in each of the
// first two. Match says which of them there are.
type rankings struct {
	near  []hit         // by (cosine descending, id)
	found []lexical.Hit // by (BM25 descending, id)
	most  float64       // what no BM25 score of found exceeds
	named []uint32      // entities that are low-level keywords
	terms []string      // of the text
}

// rank finds what matches text, of which vec is the vector, nil if there is none.
func (s *search) rank(kind format.Kind, text string, vec []float32, k int) (r rankings, err error) {
	if k <= 0 {
		return r, nil
	}
	if vec != nil {
		if r.near, err = s.db.index.search(s.view, kind, vec, k, s.q.CosineThreshold, s.filter); err != nil {
			return r, err
		}
	}
	if s.q.Match == MatchVectors {
		return r, nil
	}
	r.terms = lexical.QueryTerms(nil, text)
	if r.found, err = s.lexical(kind, r.terms, k); err != nil {
		return r, err
	}
	if len(r.found) > 0 {
		owners, _ := s.view.LexicalStats(kind)
		r.most = lexical.Most(owners, s.words.lists)
	}
	if kind == format.KindEntity {
		r.named, err = s.named(s.low, r.terms)
	}
	return r, err
}

// matched finds the k owners of a kind that match text, of which vec is the
// vector, nil if there is none.
func (s *search) matched(kind format.Kind, text string, vec []float32, k int) ([]hit, error) {
	r, err := s.rank(kind, text, vec, k)
	if err != nil {
		return nil, err
	}
	hits := r.near
	if s.q.Match != MatchVectors {
		hits = s.fused(kind, vec, &r, k)
	}
	s.explainMatch(kind, &r, hits)
	return hits, nil
}

// fused ranks what was found by vector and by words, behind what is named, by
// (share of the words' weight + cosineWeight x cosine, cosine, id). All get the
// cosine of their vector, if they have one.
func (s *search) fused(kind format.Kind, vec []float32, r *rankings, k int) []hit {
	type candidate struct {
		hit
		fused float64
	}
	all := standings(r.near, r.found, r.most)
	list := make([]candidate, 0, len(all))
	for _, x := range all {
		if !slices.Contains(r.named, x.id) {
			h := hit{x.id, s.cosine(kind, x.id, vec)}
			list = append(list, candidate{h, x.share + float64(cosineWeight*float64(h.score))})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.fused, a.fused), cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	hits := make([]hit, 0, min(k, len(r.named)+len(list)))
	for _, id := range r.named[:min(k, len(r.named))] {
		hits = append(hits, hit{id, s.cosine(kind, id, vec)})
	}
	for _, c := range list[:min(k-len(hits), len(list))] {
		hits = append(hits, c.hit)
	}
	return hits
}

// cosine returns that of an owner's vector and the unit vector vec, 0 if one of
// them is not there.
func (s *search) cosine(kind format.Kind, owner uint32, vec []float32) (score float32) {
	if vec != nil {
		score, _ = s.db.index.score(s.view, kind, owner, vec)
	}
	return score
}
