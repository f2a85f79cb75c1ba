package main

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/llm/offline"
)

// embedder reports how well the offline embedder ranks the right answer, alone
// and together with BM25.
func (c *config) embedder(ctx context.Context, r *report) error {
	sets := []struct {
		name  string
		load  func() ([]pair, error)
		goals [3]string // vectors, BM25, both
	}{
		{"paraphrases", func() ([]pair, error) {
			if c.shared == "" {
				return nil, errNoData
			}
			return paraphrases(c.shared)
		}, [3]string{">= 0.84"}},
		{"perlfaq", perlfaq, [3]string{">= 0.52", "", ">= 0.62"}},
	}
	e := offline.NewEmbedder()
	for _, set := range sets {
		names := [3]string{"embedder", "BM25", "both, by reciprocal rank"}
		for i := range names {
			names[i] = fmt.Sprintf("%s: %s: MRR", set.name, names[i])
		}
		pairs, err := set.load()
		if err != nil {
			for i, n := range names {
				r.missing(n, "", set.goals[i], err.Error())
			}
			continue
		}
		vectors, err := embedScores(ctx, e, pairs)
		if err != nil {
			return err
		}
		lexical := lexicalScores(pairs)
		for i, s := range []scores{vectors, lexical, fuse(vectors, lexical)} {
			r.interval(names[i], "", set.goals[i], s.reciprocalRanks(), fmt.Sprintf("%d pairs, %s", len(pairs), e.Info().Name))
		}
	}
	return nil
}
