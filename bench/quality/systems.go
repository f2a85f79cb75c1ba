package main

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/engine/eval"
)

// system is one way to rank passages.
type system struct {
	name     string
	query    engine.Query // but for the question
	question bool         // the question stands for the keywords of both levels
	goals    map[string]string
}

// search makes a Searcher of it.
func (s *system) search(db *engine.DB) eval.Searcher {
	if !s.question {
		return eval.Retriever(db, s.query)
	}
	return func(ctx context.Context, question string, k int) ([]string, error) {
		q := s.query
		q.LowLevel, q.HighLevel = []string{question}, []string{question}
		return eval.Retriever(db, q)(ctx, question, k)
	}
}

// walkGoals are those of the best mode of a graph: above what BM25 finds, with an
// interval that leaves out 0, and not below it at the first two places.
var walkGoals = map[string]string{
	"recall@2": ">= 0.408", "recall@5": ">= 0.57", "recall@10": ">= 0.71", "all-gold@10": ">= 0.44",
	"above recall@10": "> 0", "above all-gold@10": "> 0", "not below recall@2": ">= 0",
}

var matches = []engine.Match{engine.MatchFused, engine.MatchVectors, engine.MatchLexical}

// modes are all modes in all ways to match, with the keywords of the offline
// model, with those that are found in the store, and with the question in their
// place. Walk asks for none.
func modes() (list []system) {
	for _, mode := range []engine.Mode{engine.Naive, engine.Local, engine.Global, engine.Hybrid, engine.Mix, engine.Walk} {
		for _, match := range matches {
			list = append(list, system{name: fmt.Sprintf("%s, %s", mode, match), query: engine.Query{Mode: mode, Match: match}})
		}
		if mode != engine.Naive && mode != engine.Walk {
			list = append(list,
				system{name: fmt.Sprintf("%s, fused, keywords found in the store", mode), query: engine.Query{Mode: mode, Keywords: engine.KeywordsByWords}},
				system{name: fmt.Sprintf("%s, lexical, keywords found in the store", mode), query: engine.Query{Mode: mode, Keywords: engine.KeywordsByWords, Match: engine.MatchLexical}},
				system{name: fmt.Sprintf("%s, fused, question as keywords", mode), query: engine.Query{Mode: mode}, question: true})
		}
	}
	return list
}

// tried are the settings of Walk that were looked at, one changed at a time.
func tried() (list []system) {
	settings := []struct {
		name string
		walk engine.WalkOptions
	}{
		{"as it is: 5 relations, 5 entities, 2 passages, 0.5 onward", engine.WalkOptions{}},
		{"no relations", engine.WalkOptions{Relations: -1}},
		{"3 relations", engine.WalkOptions{Relations: 3}},
		{"10 relations", engine.WalkOptions{Relations: 10}},
		{"no entities", engine.WalkOptions{Entities: -1}},
		{"3 entities", engine.WalkOptions{Entities: 3}},
		{"10 entities", engine.WalkOptions{Entities: 10}},
		{"no passages", engine.WalkOptions{Passages: -1}},
		{"1 passage", engine.WalkOptions{Passages: 1}},
		{"3 passages", engine.WalkOptions{Passages: 3}},
		{"5 passages", engine.WalkOptions{Passages: 5}},
		{"0.3 onward", engine.WalkOptions{Onward: 0.3}},
		{"0.7 onward", engine.WalkOptions{Onward: 0.7}},
		{"0.85 onward", engine.WalkOptions{Onward: 0.85}},
	}
	for _, match := range []engine.Match{engine.MatchFused, engine.MatchLexical} {
		for _, s := range settings {
			list = append(list, system{name: fmt.Sprintf("%s: %s", match, s.name), query: engine.Query{Mode: engine.Walk, Match: match, Walk: s.walk}})
		}
	}
	return list
}
