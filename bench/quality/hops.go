package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/engine/eval"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

var errNoData = errors.New("LIGHTRAG_SHARED does not name the folder of recorded data")

// depth is how many documents of each ranking are looked at.
const depth = 20

// reference is what a plain BM25 of another program gives for the same corpus.
var reference = map[int]float64{2: 0.408, 5: 0.507, 10: 0.586, 20: 0.706}

// hops reports the questions of several hops.
func (c *config) hops(ctx context.Context, r *report, step func(string)) error {
	if c.shared == "" {
		r.missing("musique", "share", "", errNoData.Error())
		return nil
	}
	m, err := loadMusique(c.shared)
	if err != nil {
		return err
	}
	m.Questions = m.Questions[:min(len(m.Questions), orAll(c.questions, len(m.Questions)))]
	base, err := eval.Measure(ctx, m.Questions, depth, eval.NewBM25(m.Corpus).Search)
	if err != nil {
		return err
	}
	differs := 0.0
	for k, want := range reference {
		differs = max(differs, math.Abs(base.Recall(k).Mean()-want))
	}
	r.Add("musique: BM25: largest difference to the reference", differs, "share", "<= 0.001", r.note("recall@2, 5, 10, 20; .408, .507, .586, .706"))

	for _, x := range []struct {
		name string
		llm  llm.Completer
	}{
		{"recorded", newReplay(m.answers)},
		{"offline", offline.NewCompleter()},
	} {
		step("musique, extraction " + x.name + ": index")
		db, err := index(ctx, filepath.Join(c.dir, x.name), m, x.llm)
		if err != nil {
			return err
		}
		step("musique, extraction " + x.name + ": questions")
		r.tables = append(r.tables, table{name: "musique, extraction " + x.name})
		r.add("BM25", base, nil)
		err = r.modes(ctx, db, m.Questions)
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func orAll(n, all int) int {
	if n == 0 {
		return all
	}
	return n
}

// index makes a store of the corpus, a document of one chunk for each passage.
func index(ctx context.Context, dir string, m *musique, c llm.Completer) (*engine.DB, error) {
	db, err := engine.Open(dir, engine.Options{Completer: c, Gleaning: -1, SummaryFragments: -1, ResolveEntities: true})
	if err != nil {
		return nil, err
	}
	docs := make([]engine.Document, len(m.Corpus))
	for i := range m.Corpus {
		p := &m.Corpus[i]
		docs[i] = engine.Document{ID: p.ID, Path: p.Title, Chunks: []engine.Chunk{{Content: p.Content()}}}
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

// modes adds a line for every mode.
func (r *report) modes(ctx context.Context, db *engine.DB, questions []eval.Question) error {
	for _, mode := range []engine.Mode{engine.Naive, engine.Local, engine.Global, engine.Hybrid, engine.Mix, engine.Walk} {
		for _, match := range []engine.Match{engine.MatchFused, engine.MatchVectors, engine.MatchLexical} {
			o, err := eval.Measure(ctx, questions, depth, eval.Retriever(db, engine.Query{Mode: mode, Match: match}))
			if err != nil {
				return fmt.Errorf("mode %s: %w", mode, err)
			}
			r.add(fmt.Sprintf("%s, %s", mode, match), o, nil)
		}
	}
	return nil
}
