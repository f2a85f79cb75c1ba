package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lightctl/lightrag/bench/measure"
)

// TestSectionsOfOursAlone runs what needs no peers, on a few rows: every row is there, and those that do not
// depend on the size meet their goals.
func TestSectionsOfOursAlone(t *testing.T) {
	const rows = 600
	r := &runner{
		report: newReport("small"), ctx: t.Context(), cpu: lastCore(), shop: workshop{dir: t.TempDir()}, log: func(string, ...any) {},
		o:     &options{seeds: 1, repeats: 1, atLeast: time.Microsecond, rows: rows, copies: 100, updates: 10},
		mixed: mixture{rows: rows, dim: 384, queries: 20, seed: 1}.make("mixture"),
	}
	r.mixed.truth = exact(r.mixed, topK, nil)
	for _, s := range sections() {
		if s.name == "text" || s.name == "peers" || strings.HasPrefix(s.name, "mixture") {
			continue
		}
		before := len(r.Rows)
		if err := s.run(r); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if len(r.Rows) == before {
			t.Errorf("%s reports nothing", s.name)
		}
	}
	always := []string{": recall", "fewer results", "unreachable"}
	seen := map[string]measure.Row{}
	for _, row := range r.Rows {
		if _, twice := seen[row.Figure]; twice {
			t.Errorf("two rows %q", row.Figure)
		}
		seen[row.Figure] = row
		if row.Value == nil {
			t.Errorf("%s: %s", row.Figure, row.Note)
		}
		size := slices.ContainsFunc(always, func(part string) bool { return strings.HasSuffix(row.Figure, part) })
		if size && (row.Met == nil || !*row.Met) {
			t.Errorf("%s: %v does not meet %q", row.Figure, *row.Value, row.Goal)
		}
	}
	for figure, goal := range map[string]string{
		"exact scan of mixture 600 x 384: CPU per query":                                          "<= 60",
		"allocations per search: walk":                                                            "<= 0",
		"filter, random, 50 % of mixture 600 x 384: CPU / min(brute, sweep)":                      "<= 2.2",
		"filter, anti-correlated, 0.2 % of mixture 600 x 384: recall":                             ">= 0.95",
		"bound at 10 % of mixture 600 x 384: recall":                                              ">= 0.97",
		"3 x 100 copies among mixture 600 x 384: recall less that without them":                   ">= -1",
		"50 of mixture 600 x 384 replaced 10 times: slots / live":                                 "<= 1.1",
		"half of mixture 600 x 384 deleted and added again: recall / of a fresh index":            ">= 0.99",
		"searches beside a writer, 450 to 600 of mixture 600 x 384: rate / idle at the end":       ">= 0.9",
		"open mixture 600 x 384 from the page cache: to the first answer":                         "<= 5",
		"50 of mixture 600 x 384 replaced 10 times: CPU of a search near them / in a fresh index": "<= 1.1",
	} {
		if row, ok := seen[figure]; !ok || row.Goal != goal {
			t.Errorf("%s: goal %q, want %q (there: %v)", figure, row.Goal, goal, ok)
		}
	}
}

func TestFarRowsAreFar(t *testing.T) {
	d := mixture{rows: 1000, dim: 32, queries: 3, seed: 2}.make("m")
	near := exact(d, 400, nil)
	for i, p := range selectivities {
		for q, b := range farFrom(d)[i] {
			if want := uint64(p * 1000); b.GetCardinality() != want {
				t.Errorf("%v of the rows are %d, want %d", p, b.GetCardinality(), want)
			}
			for _, row := range near.best[q] {
				if b.ContainsInt(int(row)) {
					t.Fatalf("query %d: row %d is near", q, row)
				}
			}
		}
	}
}

func TestShortAnswersAreCounted(t *testing.T) {
	ids := slices.Repeat([]int32{1}, 3*topK)
	ids[topK-1], ids[2*topK-1], ids[2*topK-2] = -1, -1, -1
	for want, n := range map[int]int{topK: 2, topK - 1: 1, topK - 2: 0} {
		if got := short(ids, want); got != n {
			t.Errorf("%d answers with fewer than %d, want %d", got, want, n)
		}
	}
}
