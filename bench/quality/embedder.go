package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/engine/eval"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

// pairSet is a set of pairs and the goals of its rows.
type pairSet struct {
	name  string
	load  func() ([]pair, error)
	goals [2]string // the embedder alone, the engine's fusion
}

// embedder reports how well the right answer is ranked among all: by the offline
// embedder alone, by the plain BM25, and by the engine, which has both.
func (c *config) embedder(ctx context.Context, r *report) error {
	sets := []pairSet{
		{"paraphrases", func() ([]pair, error) {
			if c.shared == "" {
				return nil, errNoData
			}
			return paraphrases(c.shared)
		}, [2]string{">= 0.84", ""}},
		{"perlfaq", faq, [2]string{">= 0.52", ">= 0.62"}},
	}
	for i := range sets {
		if err := c.pairs(ctx, r, &sets[i]); err != nil {
			return fmt.Errorf("%s: %w", sets[i].name, err)
		}
	}
	return nil
}

func (c *config) pairs(ctx context.Context, r *report, set *pairSet) error {
	row := func(what string) string { return fmt.Sprintf("%s: %s: MRR", set.name, what) }
	const alone, fused = "embedder", "engine, fused"
	list, err := set.load()
	if err != nil {
		r.missing(row(alone), "", set.goals[0], err.Error())
		r.missing(row(fused), "", set.goals[1], err.Error())
		return nil
	}
	e := offline.NewEmbedder()
	note := fmt.Sprintf("%d pairs, %s", len(list), e.Info().Name)
	vectors, err := embedScores(ctx, e, list)
	if err != nil {
		return err
	}
	r.interval(row(alone), "", set.goals[0], vectors.reciprocalRanks(), note)
	r.interval(row("BM25"), "", "", lexicalScores(list).reciprocalRanks(), note)
	return c.engine(ctx, r, set, list, func(match engine.Match, v eval.Values) {
		goal := ""
		if match == engine.MatchFused {
			goal = set.goals[1]
		}
		r.interval(row("engine, "+match.String()), "", goal, v, note)
	})
}

// engine ranks the answers as passages of a store without a graph.
func (c *config) engine(ctx context.Context, r *report, set *pairSet, list []pair, report func(engine.Match, eval.Values)) (err error) {
	nothing := make(map[string]string, len(list))
	docs := make([]engine.Document, len(list))
	questions := make([]eval.Question, len(list))
	for i, p := range list {
		id := strconv.Itoa(i)
		nothing[p.answer] = "<|COMPLETE|>"
		docs[i] = engine.Document{ID: id, Chunks: []engine.Chunk{{Content: p.answer}}}
		questions[i] = eval.Question{Text: p.question, Gold: []string{id}}
	}
	db, err := c.index(ctx, filepath.Join(c.dir, set.name), docs, newReplay(nothing))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, match := range matches {
		q := engine.Query{Mode: engine.Naive, Match: match, CosineThreshold: -1}
		o, err := eval.Measure(ctx, questions, len(list), eval.Retriever(db, q))
		if err != nil {
			return err
		}
		report(match, o.ReciprocalRank())
	}
	return nil
}

// index makes a store of documents.
func (c *config) index(ctx context.Context, dir string, docs []engine.Document, model llm.Completer) (*engine.DB, error) {
	db, err := engine.Open(dir, engine.Options{Completer: model, Gleaning: -1, SummaryFragments: -1, ResolveEntities: true})
	if err != nil {
		return nil, err
	}
	rep, err := db.Insert(ctx, docs...)
	if err == nil {
		if n := rep.Count(engine.StatusProcessed); n < len(docs) {
			err = fmt.Errorf("only %d of %d passages were indexed", n, len(docs))
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
