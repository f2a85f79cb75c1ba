package engine

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// wordMatch is what matching by words needs, and what it found last.
type wordMatch struct {
	ranker lexical.Ranker
	read   []graphstore.PostingList // their buffers are used again
	lists  []lexical.List           // the same lists, for the ranker
}

var wordMatches = sync.Pool{New: func() any { return new(wordMatch) }}

// keepPostings bounds, in postings, what a wordMatch keeps for the next query.
const keepPostings = 1 << 20

func (w *wordMatch) release() {
	n := 0
	for i := range w.read {
		n += cap(w.read[i].Owners)
	}
	if n > keepPostings {
		w.read, w.lists = nil, nil
	}
	wordMatches.Put(w)
}

// lexical returns the k owners of a kind whose texts match the terms best, by
// (BM25 score descending, id), as the view and the filter of the search let them
// through. What is matched is what is embedded of an owner: name and description,
// keywords, ends and description, the text of a passage. Terms come from
// lexical.QueryTerms.
func (s *search) lexical(kind format.Kind, terms []string, k int) ([]lexical.Hit, error) {
	if len(terms) == 0 || k <= 0 {
		return nil, nil
	}
	if err := s.postings(kind, terms); err != nil {
		return nil, err
	}
	owners, tokens := s.view.LexicalStats(kind)
	c := lexical.Collection{
		Owners: owners, Tokens: tokens, Accept: s.filter.lets(kind),
		Length: func(owner uint32) int { return s.view.LineTokens(kind, owner) },
	}
	return s.words.ranker.Top(nil, k, s.words.lists, &c), nil
}

// postings reads the posting lists of terms into s.words.lists, which holds them
// until the next call.
func (s *search) postings(kind format.Kind, terms []string) (err error) {
	w := s.words
	if w.read, err = s.view.Postings(kind, terms, w.read); err != nil {
		return err
	}
	w.lists = w.lists[:0]
	for _, l := range w.read {
		w.lists = append(w.lists, lexical.List(l))
	}
	return nil
}

// lets returns the test that owners must pass when it is not known where their
// vectors are; nil when all do.
func (f *filter) lets(kind format.Kind) func(owner uint32) bool {
	switch {
	case f == nil:
	case kind == format.KindEntity:
		return func(o uint32) bool { return f.entity(format.EntityID(o)) }
	case kind == format.KindRelation:
		return func(o uint32) bool { return f.relation(format.RelationID(o)) }
	case f.docs != nil:
		return func(o uint32) bool {
			doc, _ := f.view.ChunkPlace(format.ChunkID(o))
			return sorted(f.docs, doc)
		}
	}
	return nil
}

// rrfConstant is that of reciprocal rank fusion (G. Cormack, C. Clarke, S. Buettcher,
// Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
// Methods, SIGIR 2009, section 2).
const rrfConstant = 60

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

// standing is an owner and what it got by reciprocal rank fusion.
type standing struct {
	id    uint32
	score float64
}

// fuse merges rankings: an owner gets 1/(60+rank) of each ranking that has it. The
// owners come by ascending id.
func fuse(rankings ...[]place) []standing {
	n := 0
	for _, r := range rankings {
		n += len(r)
	}
	all := make([]standing, 0, n)
	for _, r := range rankings {
		for _, p := range r {
			all = append(all, standing{p.id, 1 / float64(rrfConstant+p.rank)})
		}
	}
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(a.id, b.id) })
	out := all[:0]
	for _, x := range all {
		if n := len(out); n > 0 && out[n-1].id == x.id {
			out[n-1].score += x.score
		} else {
			out = append(out, x)
		}
	}
	return out
}
