package engine

import (
	"slices"

	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
)

// MatchExplained is what vectors and words each found.
type MatchExplained struct {
	Named     int             `json:"named,omitempty"` // entities that a keyword names; they come first
	ByVectors int             `json:"by_vectors"`
	ByWords   int             `json:"by_words"`
	Terms     []TermExplained `json:"terms,omitempty"` // what was looked for
}

// TermExplained is a word, or a part of one, that texts were searched for.
type TermExplained struct {
	Term   string  `json:"term"`
	Owners int     `json:"owners"` // whose text holds it, whatever the filter
	Weight float64 `json:"weight"` // its idf; 0 = no text holds it
}

// MatchRanks say why a candidate matched. Ranks begin at 1; 0 = not among the
// best.
type MatchRanks struct {
	Named       bool     `json:"named,omitempty"`
	VectorRank  int      `json:"vector_rank,omitempty"`
	LexicalRank int      `json:"lexical_rank,omitempty"`
	Lexical     float64  `json:"lexical_score,omitempty"` // BM25
	Terms       []string `json:"terms,omitempty"`         // that its text holds

	matched bool // among the best of both
}

// matchNote is what is kept of matching for Result.Explain. A nil one knows
// nothing.
type matchNote struct {
	MatchExplained
	near int
	of   map[uint32]MatchRanks
}

// explainMatch notes what was found, and what of it is among the hits. The lists of
// s.words must be those of its terms.
func (s *search) explainMatch(kind format.Kind, from *rankings, hits []hit) {
	if !s.q.Explain {
		return
	}
	m := &matchNote{near: len(from.near), of: make(map[uint32]MatchRanks)}
	m.Named, m.ByVectors, m.ByWords = len(from.named), len(from.near), len(from.found)
	owners, _ := s.view.LexicalStats(kind)
	for i, t := range from.terms {
		x := TermExplained{Term: t, Owners: len(s.words.lists[i].Owners)}
		if x.Owners > 0 {
			x.Weight = lexical.IDF(owners, x.Owners)
		}
		m.Terms = append(m.Terms, x)
	}
	note := func(id uint32, change func(r *MatchRanks)) {
		r := m.of[id]
		change(&r)
		m.of[id] = r
	}
	for _, id := range from.named {
		note(id, func(r *MatchRanks) { r.Named = true })
	}
	for i, h := range from.near {
		note(h.id, func(r *MatchRanks) { r.VectorRank = i + 1 })
	}
	for i, h := range from.found {
		note(h.Owner, func(r *MatchRanks) {
			r.LexicalRank, r.Lexical = i+1, h.Score
			for j, t := range from.terms {
				if _, ok := slices.BinarySearch(s.words.lists[j].Owners, h.Owner); ok {
					r.Terms = append(r.Terms, t)
				}
			}
		})
	}
	for _, h := range hits {
		note(h.id, func(r *MatchRanks) { r.matched = true })
	}
	s.matches[kind-1] = m
}

func (m *matchNote) summary() MatchExplained {
	if m == nil {
		return MatchExplained{}
	}
	return m.MatchExplained
}

// ranks returns what is known of an owner, and whether it matched.
func (m *matchNote) ranks(id uint32) (MatchRanks, bool) {
	if m == nil {
		return MatchRanks{}, false
	}
	r := m.of[id]
	return r, r.matched
}
