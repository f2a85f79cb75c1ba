package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func TestExplainCountsWhatEachStageDid(t *testing.T) {
	db, m := planets(t, nil)
	q := Query{Text: "mars planet", Mode: Mix, CosineThreshold: 0.3, Explain: true}
	m.hook = answerTask(llm.TaskKeywords, `{"high_level_keywords":["light"],"low_level_keywords":["mars"]}`)
	r := asked(t, db, q)
	x := r.Explain
	if x.Keywords != KeywordsModel || x.Commit == 0 || x.TopK != 40 || x.ChunkTopK != 20 || x.Threshold != 0.3 || !x.Index["entity"].Exact {
		t.Errorf("%+v", x)
	}
	kept := func(c []Candidate) (out []string) {
		for _, c := range c {
			if c.Kept {
				out = append(out, c.Name)
			}
		}
		return out
	}
	var pairsKept, chunksKept []string
	for _, e := range r.Relations {
		pairsKept = append(pairsKept, e.Src+" - "+e.Tgt)
	}
	for _, c := range r.Chunks {
		chunksKept = append(chunksKept, c.ID)
	}
	if !slices.Equal(kept(x.Entities.Candidates), names(r)) || !slices.Equal(kept(x.Relations.Candidates), pairsKept) ||
		!slices.Equal(kept(x.Chunks.Candidates), chunksKept) {
		t.Errorf("kept candidates are not those of the result: %+v", x)
	}
	for name, s := range map[string]*StageExplained{"entities": &x.Entities, "relations": &x.Relations} {
		scored := 0
		for _, c := range s.Candidates {
			if (c.Score > 0) != (c.Origin == "keywords") || c.Score > 0 && c.Score < 0.3 || c.Tokens <= 0 || c.Degree == 0 {
				t.Errorf("%s: %+v", name, c)
			}
			if c.Score > 0 {
				scored++
			}
		}
		if !s.Searched || s.Matched == 0 || scored != s.Matched || s.Found != len(s.Candidates) || s.Kept != s.Found ||
			s.Budget.Before != s.Budget.After || s.Budget.After <= 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if s.Near == nil || *s.Near >= 0.3 {
			t.Errorf("%s: nothing below the threshold: %v", name, s.Near)
		}
	}
	if c := &x.Chunks; c.Found != r.ChunksFound || c.FromEntities == 0 || c.FromRelation+c.FromEntities+c.FromQuestion < c.Found || c.Kept != len(r.Chunks) {
		t.Errorf("%+v", c)
	}
	if r := asked(t, db, q); r.Explain.Keywords != KeywordsCached {
		t.Errorf("keywords of %s", r.Explain.Keywords)
	}

	// What the budgets cut.
	q.LowLevel, q.MaxEntityTokens, q.MaxRelationTokens, q.ChunkTopK = []string{"mars"}, 40, 1, 1
	r = asked(t, db, q)
	x = r.Explain
	if x.Keywords != KeywordsGiven || x.Entities.Kept != len(r.Entities) || x.Entities.Kept >= x.Entities.Found ||
		x.Entities.Budget.Limit != 40 || x.Entities.Budget.After >= 40 || x.Entities.Budget.Before <= x.Entities.Budget.After {
		t.Errorf("%+v", x.Entities)
	}
	if !x.Relations.Shortened || x.Relations.Kept != 1 || x.Relations.Searched {
		t.Errorf("%+v", x.Relations)
	}
	if x.Chunks.AfterTopK != 1 || x.Chunks.Kept != 1 || len(x.Chunks.Candidates) != x.Chunks.Found || x.Chunks.Candidates[x.Chunks.Found-1].Kept {
		t.Errorf("%+v", x.Chunks)
	}
	if asked(t, db, Query{Text: "mars"}).Explain != nil {
		t.Error("explained without being asked to")
	}
	if x := asked(t, db, Query{Text: "mars", Mode: Bypass, Explain: true}).Explain; x == nil || x.Keywords != KeywordsNone {
		t.Errorf("bypass: %+v", x)
	}
}

// Passages are there, and the threshold keeps them out: explain says so.
func TestExplainTellsWhyNothingWasFound(t *testing.T) {
	db, _ := planets(t, nil)
	r := asked(t, db, Query{Text: "mars", Mode: Naive, CosineThreshold: 0.99, Match: MatchVectors, Explain: true})
	if c := r.Explain.Chunks; r.Found || c.Near == nil || *c.Near <= 0 || *c.Near >= 0.99 {
		t.Errorf("%+v", r.Explain.Chunks)
	}
}

func TestExplainOfFilterAndRerank(t *testing.T) {
	b := &byLength{}
	db, _ := passagesOf(t, 5, func(o *Options) { o.Reranker = b })
	inserted(t, db, doc("other", "@e|Venus|planet|mars mars", "@r|Mars|Venus|k|mars"))
	q := Query{Text: "mars", LowLevel: []string{"mars"}, CosineThreshold: -1, Explain: true, MinRerankScore: 1.0 / 18, Documents: []string{"d"}, EntityTypes: []string{"Planet"}}
	x := retrieved(t, db, q).Explain
	if f := x.Filter; f == nil || f.Entities != 1 || f.AllEntities != 2 || f.Relations != 0 || f.AllRelations != 1 {
		t.Errorf("%+v", x.Filter)
	}
	if k := x.Rerank; k == nil || k.Model != "by length" || k.Candidates != 6 || k.Returned != 6 || k.Below != 4 || k.Error != "" {
		t.Errorf("%+v", x.Rerank)
	}
	if c := x.Chunks.Candidates; len(c) != 6 || c[0].Rerank == nil || *c[0].Rerank != 1.0/11 || c[5].Rerank != nil || c[5].Kept {
		t.Errorf("%+v", c)
	}
	b.fail = llm.ErrUnavailable
	if k := retrieved(t, db, q).Explain.Rerank; k == nil || !strings.Contains(k.Error, "unavailable") {
		t.Errorf("%+v", k)
	}
	// Nothing of other documents is explained.
	out, err := json.Marshal(x)
	if err != nil || strings.Contains(string(out), "Venus") || strings.Contains(string(out), "other") {
		t.Errorf("%v %s", err, out)
	}
}

func TestExplainOfAForbiddenDocument(t *testing.T) {
	db := tenants(t)
	for i := range 4 {
		q := everything(Mix, []string{fmt.Sprint("tenant ", i)})
		q.Explain, q.MaxEntityTokens = true, 10
		out, err := json.Marshal(retrieved(t, db, q).Explain)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 4 {
			if strings.Contains(string(out), fmt.Sprint("secret", j)) != (i == j) || strings.Contains(string(out), fmt.Sprint("tenant ", j)) != (i == j) {
				t.Errorf("document %d in what is explained of document %d: %s", j, i, out)
			}
		}
	}
}
