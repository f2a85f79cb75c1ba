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

// cosineWeight is what the cosine of an owner weighs beside the part of the words'
// weight that its text has. Both have fixed bounds, so that a word that says little
// does not become a perfect match where nothing better is found: a convex
// combination of scores with theoretical bounds (S. Bruch, S. Gai, A. Ingber, An
// Analysis of Fusion Functions for Hybrid Retrieval, ACM TOIS 2023, section 4).
// Package bench/quality lists what else was tried.
const cosineWeight = 0.25

// standing is an owner and the part of the words' weight that its text has.
type standing struct {
	id    uint32
	share float64
}

// standings returns the owners of both rankings, each once, by ascending id. Of
// those that were found by words the share is known; most is what no score exceeds.
func standings(near []hit, found []lexical.Hit, most float64) []standing {
	all := make([]standing, 0, len(near)+len(found))
	for _, h := range found {
		all = append(all, standing{h.Owner, h.Score / most})
	}
	for _, h := range near {
		all = append(all, standing{id: h.id})
	}
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(a.id, b.id) })
	return slices.CompactFunc(all, func(a, b standing) bool { return a.id == b.id }) // keeps the first
}
