package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/bench/measure"
)

// TestMain lets the test binary be the process that opens a store.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-open" {
		if err := openChild(os.Args[2], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func smallReport(t *testing.T, child []string) *measure.Report {
	t.Helper()
	c := config{
		small: 10, large: 40, probes: 4, perCopy: 2, rounds: 2, questions: 20, label: "small",
		dir: t.TempDir(), log: &bytes.Buffer{}, child: child,
	}
	r, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheReportHasAllRows(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := smallReport(t, []string{self, "-open"})
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got measure.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	_, clock := measure.ProcessCPU()
	rows := make(map[string]measure.Row)
	for _, row := range got.Rows {
		if _, dup := rows[row.Figure]; dup {
			t.Errorf("two rows %q", row.Figure)
		}
		rows[row.Figure] = row
		if clock && row.Value == nil {
			t.Errorf("%s: %s", row.Figure, row.Note)
		}
		if !strings.HasPrefix(strings.TrimPrefix(row.Note, "not measured: "), "small") {
			t.Errorf("%s: note %q does not say that the run was small", row.Figure, row.Note)
		}
	}
	for figure, goal := range map[string]string{
		"ingest 40 chunks: CPU":                                  "",
		"ingest 40 chunks: wall":                                 "",
		"ingest 40 chunks: bytes written":                        "",
		"ingest 40 chunks: entities":                             "= 297",
		"ingest 40 chunks: relations":                            "= 320",
		"one more document at 10 chunks: CPU until visible":      "",
		"one more document at 40 chunks: wall until visible":     "",
		"one more document at 40 chunks: CPU afterwards":         "",
		"visible 40 chunks / 10 chunks: CPU":                     "<= 1.5",
		"visible 40 chunks / 10 chunks: wall":                    "<= 1.5",
		"retrieve hybrid at 40 chunks: CPU p50":                  "< 5",
		"retrieve hybrid at 40 chunks: CPU p99":                  "",
		"retrieve naive at 40 chunks: CPU p50":                   "",
		"retrieve hybrid by vectors alone at 40 chunks: CPU p50": "",
		"retrieve mix at 40 chunks: CPU p50":                     "",
		"recall@40 of entities at 40 chunks":                     ">= 0.95",
		"recall@40 of relations at 40 chunks":                    ">= 0.95",
		"delete a document at 40 chunks: CPU until visible":      "< 20",
		"delete a document at 40 chunks: wall until visible":     "",
		"open 40 chunks: wall":                                   "",
		"open 40 chunks: RSS":                                    "",
		"disk 40 chunks: whole store":                            "",
	} {
		row, ok := rows[figure]
		if !ok {
			t.Errorf("no row %q", figure)
		} else if row.Goal != goal {
			t.Errorf("%s: goal %q, want %q", figure, row.Goal, goal)
		}
	}
	for _, figure := range []string{"ingest 40 chunks: entities", "recall@40 of entities at 40 chunks", "recall@40 of relations at 40 chunks"} {
		if row := rows[figure]; row.Met == nil || !*row.Met {
			t.Errorf("%s: %v does not meet %s", figure, row.Value, row.Goal)
		}
	}
}

func TestAPartThatFailsLeavesRowsThatSaySo(t *testing.T) {
	r := smallReport(t, []string{"./no-such-command"})
	n := 0
	for _, row := range r.Rows {
		if row.Value == nil && strings.HasPrefix(row.Figure, "open ") && strings.Contains(row.Note, "no-such-command") {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d rows say that the store could not be opened, want 4", n)
	}
}

func TestRecallCountsNames(t *testing.T) {
	x := &exact{}
	for i := range 50 {
		x.add(fmt.Sprint(i), []float32{float32(i), 0})
	}
	q := []float32{1, 0}
	var best []string
	for i := 49; i >= 10; i-- {
		best = append(best, fmt.Sprint(i))
	}
	if got := x.recall(q, best); got != 1 {
		t.Errorf("recall of all is %v", got)
	}
	if got := x.recall(q, append(best[:38:38], "1", "2")); got != 0.95 {
		t.Errorf("recall of 38 of 40 is %v", got)
	}
	if got := x.recall(q, []string{"49", "49"}); got != 1.0/40 {
		t.Errorf("recall of one, twice, is %v", got)
	}
}
