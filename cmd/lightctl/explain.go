package main

import (
	"fmt"
	"strings"

	"github.com/lightctl/lightrag/engine"
)

// explainShown is how many candidates of a kind are shown to people; --json has
// more.
const explainShown = 60

// explain shows how a result came about: what each stage found, by which
// scores, and what cut it.
func (a *app) explain(r *engine.Result) error {
	x := r.Explain
	if x == nil || r.Mode == engine.Bypass {
		return nil
	}
	lines := []string{
		"",
		"low-level keywords:  " + orDash(strings.Join(r.LowLevel, ", ")),
		"high-level keywords: " + orDash(strings.Join(r.HighLevel, ", ")),
		"keywords from:       " + x.Keywords,
		"matched by:          " + x.Match,
		fmt.Sprintf("state:               commit %d; %s", x.Commit, indexText(x)),
	}
	if f := x.Filter; f != nil {
		lines = append(lines, fmt.Sprintf("filter:              %s; %d of %s, %d of %s",
			filterText(f), f.Entities, plural(f.AllEntities, "entity"), f.Relations, plural(f.AllRelations, "relation")))
	}
	if x.ContextWindow > 0 {
		lines = append(lines, fmt.Sprintf("context window:      %d tokens, %d of them for the answer", x.ContextWindow, x.AnswerReserve))
	}
	if k := x.Rerank; k != nil {
		text := fmt.Sprintf("%s ranked %d of %s, %d below %g", k.Model, k.Returned, plural(k.Candidates, "passage"), k.Below, k.MinScore)
		if k.Error != "" {
			text = k.Model + " failed: " + k.Error
		}
		lines = append(lines, "rerank:              "+text)
	}
	for _, l := range lines {
		if err := a.say("%s\n", l); err != nil {
			return err
		}
	}
	t := a.table()
	stage := func(title string, s *engine.StageExplained) {
		t.row("")
		t.row(fmt.Sprintf("%s: %d matched, %d found, %d kept; budget %s%s", title, s.Matched, s.Found, s.Kept, budgetText(s.Budget),
			nearText(s.Searched, s.Near, x.Threshold)))
		words(t, &s.MatchExplained)
		if s.Shortened {
			t.row("the first one alone is over the budget: its description was cut")
		}
		candidates(t, s.Candidates, s.Omitted)
	}
	stage("entities", &x.Entities)
	stage("relations", &x.Relations)
	c := &x.Chunks
	t.row("")
	via := fmt.Sprintf("%d by entities, %d by relations", c.FromEntities, c.FromRelation)
	if r.Mode == engine.Walk {
		via = fmt.Sprintf("%d by the walk", c.FromWalk)
	}
	t.row(fmt.Sprintf("passages: %d by the question, %s; %d found, %d after top-k, %d kept; budget %s%s",
		c.FromQuestion, via, c.Found, c.AfterTopK, c.Kept, budgetText(c.Budget), nearText(c.Searched, c.Near, x.Threshold)))
	words(t, &c.MatchExplained)
	candidates(t, c.Candidates, c.Omitted)
	t.row("")
	return t.flush()
}

// candidates lists candidates; a minus marks what was cut.
func candidates(t *table, list []engine.Candidate, omitted int) {
	shown := list[:min(len(list), explainShown)]
	for i := range shown {
		c := &shown[i]
		mark := "-"
		if c.Kept {
			mark = "+"
		}
		score := "-"
		if c.Score != 0 {
			score = fmt.Sprintf("%.3f", c.Score)
		}
		cells := []any{mark, score, c.Name, "by " + c.Origin + ranksText(&c.MatchRanks), plural(c.Tokens, "token")}
		switch {
		case c.Walk != 0:
			cells = append(cells, fmt.Sprintf("%.2f %% of the walk", 100*c.Walk))
		case c.Rerank != nil:
			cells = append(cells, fmt.Sprintf("rerank %.3f", *c.Rerank))
		case c.Weight != 0:
			cells = append(cells, fmt.Sprintf("degrees %d, weight %g", c.Degree, c.Weight))
		case c.Degree != 0:
			cells = append(cells, fmt.Sprintf("degree %d", c.Degree))
		}
		t.row(cells...)
	}
	if n := len(list) - len(shown) + omitted; n > 0 {
		t.row(fmt.Sprintf("and %d more", n))
	}
}

// words says what vectors and words found, and of which words.
func words(t *table, m *engine.MatchExplained) {
	if len(m.Terms) == 0 {
		return
	}
	list := make([]string, len(m.Terms))
	for i, x := range m.Terms {
		list[i] = fmt.Sprintf("%s (%d)", x.Term, x.Owners)
	}
	named := ""
	if m.Named > 0 {
		named = fmt.Sprintf("%d by name, ", m.Named)
	}
	t.row(fmt.Sprintf("%s%d by vectors, %d by words: %s", named, m.ByVectors, m.ByWords, clip(strings.Join(list, ", "), 120)))
}

// ranksText says which places a candidate has by vectors and by words.
func ranksText(r *engine.MatchRanks) string {
	var parts []string
	if r.Named {
		parts = append(parts, "name")
	}
	if r.VectorRank > 0 {
		parts = append(parts, fmt.Sprintf("vectors %d", r.VectorRank))
	}
	if r.LexicalRank > 0 {
		parts = append(parts, fmt.Sprintf("words %d", r.LexicalRank))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func budgetText(b engine.BudgetExplained) string {
	if b.Before == b.After {
		return fmt.Sprintf("%d of %d tokens", b.After, b.Limit)
	}
	return fmt.Sprintf("%d of %d tokens, cut from %d", b.After, b.Limit, b.Before)
}

// nearText says by how much the threshold kept out the next best.
func nearText(searched bool, near *float32, threshold float32) string {
	switch {
	case !searched:
		return "; not searched"
	case near != nil:
		return fmt.Sprintf("; the next best scores %.3f, below the threshold %g", *near, threshold)
	}
	return ""
}

func indexText(x *engine.Explain) string {
	var parts []string
	for _, kind := range []string{"entity", "relation", "chunk"} {
		s := x.Index[kind]
		how := "walked"
		if s.Exact {
			how = "all compared"
		} else if s.Linked < s.Vectors {
			how = fmt.Sprintf("walked, the last %d compared", s.Vectors-s.Linked)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", plural(uint64(s.Vectors), kind+" vector"), how))
	}
	return strings.Join(parts, ", ")
}

func filterText(f *engine.FilterExplained) string {
	var parts []string
	if n := len(f.Documents); n > 0 {
		parts = append(parts, "documents "+clip(strings.Join(f.Documents, ", "), 80))
	}
	if len(f.Types) > 0 {
		parts = append(parts, "types "+clip(strings.Join(f.Types, ", "), 80))
	}
	return strings.Join(parts, ", ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
