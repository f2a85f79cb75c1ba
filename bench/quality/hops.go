package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

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

const (
	referenceFigure = "musique: BM25: largest difference to the reference"
	referenceGoal   = "<= 0.001"
)

// hops reports the questions of several hops.
func (c *config) hops(ctx context.Context, r *report, step func(string)) error {
	if c.shared == "" {
		r.missing(referenceFigure, "share", referenceGoal, errNoData.Error())
		for _, s := range goalSystems {
			r.missingGoals(tableName("recorded"), s, walkGoals, errNoData)
		}
		return nil
	}
	m, err := loadMusique(c.shared)
	if err != nil {
		return err
	}
	if c.questions > 0 {
		m.Questions = m.Questions[:min(len(m.Questions), c.questions)]
	}
	base, err := eval.Measure(ctx, m.Questions, depth, eval.NewBM25(m.Corpus).Search)
	if err != nil {
		return err
	}
	differs := 0.0
	for k, want := range reference {
		differs = max(differs, math.Abs(base.Recall(k).Mean()-want))
	}
	r.Add(referenceFigure, differs, "share", referenceGoal, r.note("recall@2, 5, 10, 20; .408, .507, .586, .706"))

	for _, x := range []struct {
		name string
		llm  llm.Completer
	}{
		{"recorded", newReplay(m.answers)},
		{"offline", offline.NewCompleter()},
	} {
		step("musique, extraction " + x.name + ": index")
		db, err := c.index(ctx, filepath.Join(c.dir, x.name), m.documents(), x.llm)
		if err != nil {
			return err
		}
		step("musique, extraction " + x.name + ": questions")
		systems := modes()
		for i := range systems {
			if x.name == "recorded" && slices.Contains(goalSystems, systems[i].name) {
				systems[i].goals = walkGoals
			}
		}
		err = r.compare(ctx, tableName(x.name), db, m.Questions, base, systems)
		if err == nil && x.name == "recorded" {
			step("musique, extraction " + x.name + ": settings of walk")
			err = r.compare(ctx, tableName(x.name)+", settings of walk", db, m.Questions, base, tried())
		}
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// goalSystems are those that have goals, with the recorded extraction: walk as
// it is, and the best mode.
var goalSystems = []string{"walk, fused", "walk, lexical"}

func tableName(extraction string) string { return "musique, extraction " + extraction }

// documents makes a document of one chunk of each passage.
func (m *musique) documents() []engine.Document {
	docs := make([]engine.Document, len(m.Corpus))
	for i := range m.Corpus {
		p := &m.Corpus[i]
		docs[i] = engine.Document{ID: p.ID, Path: p.Title, Chunks: []engine.Chunk{{Content: p.Content()}}}
	}
	return docs
}

// compare adds a table with a line for every system, below one of the base.
func (r *report) compare(ctx context.Context, name string, db *engine.DB, questions []eval.Question, base eval.Outcomes, systems []system) error {
	r.tables = append(r.tables, table{name: name})
	r.add("BM25", base, nil)
	for i := range systems {
		s := &systems[i]
		o, err := eval.Measure(ctx, questions, depth, s.search(db))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.add(s.name, o, s.goals)
	}
	return nil
}
