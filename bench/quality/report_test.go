package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/engine/eval"
)

// Every figure of a line has a row, and what has a goal says whether it is met.
func TestRowsOfALine(t *testing.T) {
	r := &report{Report: &measure.Report{}}
	r.tables = append(r.tables, table{name: "set"})
	base := eval.Outcomes{{Ranks: []int{3}, Gold: 1}, {Gold: 1}, {Ranks: []int{20}, Gold: 1}}
	better := eval.Outcomes{{Ranks: []int{1}, Gold: 1}, {Ranks: []int{2}, Gold: 1}, {Ranks: []int{4}, Gold: 1}}
	r.add("BM25", base, nil)
	r.add("walk", better, map[string]string{"recall@2": ">= 0.5", "recall@1": ">= 0.5", "above recall@10": "> 0", "not below MRR": ">= 0"})
	got := make(map[string]measure.Row)
	for _, row := range r.Rows {
		if _, dup := got[row.Figure]; dup {
			t.Errorf("two rows %q", row.Figure)
		}
		got[row.Figure] = row
	}
	if want := 2*len(figures()) + 2; len(got) != want {
		t.Errorf("%d rows, want %d", len(got), want)
	}
	for figure, want := range map[string]struct {
		value float64
		met   bool
	}{
		"set: walk: recall@1":             {1.0 / 3, false},
		"set: walk: recall@2":             {2.0 / 3, true},
		"set: walk: recall@10 above BM25": {0, false}, // a sample of the first question alone shows no difference
		"set: walk: MRR minus BM25":       {(1 + 0.5 + 0.25 - 1.0/3 - 0.05) / 3, true},
	} {
		row, ok := got[figure]
		if !ok || row.Met == nil || *row.Met != want.met || *row.Value < want.value-1e-9 || *row.Value > want.value+1e-9 {
			t.Errorf("%s: %+v, want %v, met %v", figure, row, want.value, want.met)
		}
	}
	if row := got["set: walk: recall@5"]; row.Met != nil || !strings.Contains(row.Note, "minus BM25: +0.667") {
		t.Errorf("%+v", row)
	}
	var b bytes.Buffer
	if err := r.writeTables(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"R@10", "0.333  0.667  1.000  1.000", "recall@1", "NO"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the tables do not show %q:\n%s", want, &b)
		}
	}
}

// Without data there are the rows that have goals, and none is met.
func TestWithoutDataNothingIsMet(t *testing.T) {
	c := config{dir: t.TempDir(), log: io.Discard}
	r, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got measure.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, row := range got.Rows {
		if strings.HasPrefix(row.Figure, "perlfaq") {
			continue // may be installed
		}
		if row.Value != nil || row.Met != nil && *row.Met || !strings.Contains(row.Note, "LIGHTRAG_SHARED") {
			t.Errorf("%+v", row)
		}
		if row.Goal != "" {
			missing++
		}
	}
	if want := 1 + 1 + len(goalSystems)*len(walkGoals); missing != want {
		t.Errorf("%d goals are missing, want %d", missing, want)
	}
}

// With the first questions alone, all parts leave their rows.
func TestTheReportHasAllRows(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes the recorded set twice")
	}
	c := config{shared: shared(t), dir: t.TempDir(), log: io.Discard, questions: 2, quick: true}
	r, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	figure := make(map[string]bool)
	for _, row := range r.Rows {
		figure[row.Figure] = true
		if row.Value == nil && !strings.HasPrefix(row.Figure, "perlfaq") {
			t.Errorf("%s: %s", row.Figure, row.Note)
		}
		if !strings.Contains(row.Note, "quick") {
			t.Errorf("%s: the note %q does not say that the run was quick", row.Figure, row.Note)
		}
	}
	for _, want := range []string{
		"paraphrases: embedder: MRR", "paraphrases: engine, fused: MRR", referenceFigure,
		"musique, extraction recorded: naive, vectors: recall@1", "musique, extraction recorded: walk, fused: recall@10 above BM25",
		"musique, extraction offline: mix, lexical: all-gold@20",
		"musique, extraction recorded, settings of walk: lexical: 0.85 onward: MRR",
	} {
		if !figure[want] {
			t.Errorf("no row %q", want)
		}
	}
}
