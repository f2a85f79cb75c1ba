package main

import (
	"testing"

	"github.com/lightctl/lightrag/engine"
)

// The first call of a run takes up what an earlier run left, and a later call
// meets the same documents in the input.
func TestReportCountsWhatWasTakenUpOnce(t *testing.T) {
	done := func(id string) engine.DocumentReport {
		return engine.DocumentReport{ID: id, Status: engine.StatusProcessed, Chunks: 2, Entities: 3}
	}
	r := newIndexReport()
	r.addBatch([]input{{doc: engine.Document{ID: "a"}}},
		&engine.Report{Documents: []engine.DocumentReport{done("a"), done("b"), done("c"), {ID: "d", Status: engine.StatusPending}, done("e")}})
	r.addBatch([]input{
		{doc: engine.Document{ID: "b"}, notes: []string{"read as latin1"}},
		{doc: engine.Document{ID: "c"}},
		{doc: engine.Document{ID: "d"}},
	}, &engine.Report{Documents: []engine.DocumentReport{
		{ID: "b", Status: engine.StatusUnchanged},
		{ID: "c", Status: engine.StatusConflict},
		{ID: "d", Status: engine.StatusProcessed, Chunks: 1},
	}})
	var got []string
	for _, d := range r.Documents {
		got = append(got, d.ID+" "+d.Status)
	}
	want := []string{"a processed", "b processed", "c conflict", "d processed", "e processed"}
	if len(got) != len(want) {
		t.Fatalf("rows %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
	if n := r.Documents[1].Notes; len(n) != 1 {
		t.Errorf("notes of b: %q", n)
	}
	if got, want := r.Totals, (reportTotals{Documents: 5, Processed: 4, Conflict: 1, Chunks: 7, Entities: 9}); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
}
