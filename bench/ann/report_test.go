package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small measures ours on a mixture of few rows.
func small(t *testing.T, o *options) *report {
	t.Helper()
	r := &runner{
		report: newReport("small"), ctx: t.Context(), o: o, cpu: lastCore(), made: map[string]made{},
		shop: workshop{dir: t.TempDir()}, log: func(string, ...any) {},
	}
	for _, p := range recipes() {
		r.made[p.peer] = made{err: fmt.Errorf("%w: not in a test", errNotFound)}
	}
	if err := mixtureSection(mixture{rows: 600, dim: 384, queries: 20, seed: 1}, 0.98)(r); err != nil {
		t.Fatal(err)
	}
	r.mixed = mixture{rows: 300, dim: 384, queries: 10, seed: 1}.make("mixture")
	r.mixed.truth = exact(r.mixed, topK, nil)
	if err := r.others(); err != nil {
		t.Fatal(err)
	}
	return r.report
}

func TestTheReportIsTheContract(t *testing.T) {
	r := small(t, &options{seeds: 1, repeats: 1, others: 5000, queries: 1000, widest: 512, atLeast: time.Microsecond})
	var b bytes.Buffer
	if err := r.writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine, Commit string
		Rows            []struct {
			Figure, Unit, Goal, Note string
			Value                    *float64
			Met                      *bool
		}
		Curves []struct {
			Data, Index string
			Seeds       [][]point
		}
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Machine == "" || got.Commit == "" || len(got.Curves) != 2*(len(modes)-1) /* no walk by rows */ || len(got.Curves[0].Seeds[0]) < 2 {
		t.Errorf("machine %q, commit %q, %d curves", got.Machine, got.Commit, len(got.Curves))
	}
	for _, c := range got.Curves {
		for _, seed := range c.Seeds {
			for i, p := range seed {
				if last := i == len(seed)-1; last != (p.Recall >= nearlyAll || i == len(efs)-1) {
					t.Errorf("%s, %s: point %d of %d has recall %v", c.Data, c.Index, i, len(seed), p.Recall)
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, row := range got.Rows {
		if seen[row.Figure] {
			t.Errorf("two rows %q", row.Figure)
		}
		seen[row.Figure] = true
		if !strings.Contains(row.Note, "small") {
			t.Errorf("%s: note %q does not say that the run was small", row.Figure, row.Note)
		}
		if row.Value == nil && (row.Met != nil && *row.Met || !strings.HasPrefix(row.Note, "not measured: ")) {
			t.Errorf("%s without a value: met %v, %q", row.Figure, row.Met, row.Note)
		}
	}
	for _, figure := range []string{
		"mixture 600 x 384, recall 0.98: lightrag / hnswlib",
		"mixture 600 x 384, build CPU: lightrag / hnswlib",
		"mixture 600 x 384: hot memory of a vector",
		"mixture 600 x 384: highest recall of lightrag",
		"mixture 600 x 384: hnswlib",
		"other peers, mixture 300 x 384: lightrag / faiss SQ8, least over the recalls both reach",
		"other peers, mixture 300 x 384: weaviate",
		"mixture 600 x 384, exact: lightrag exact",
	} {
		if !seen[figure] {
			t.Errorf("no row %q", figure)
		}
	}
	b.Reset()
	if err := r.writeText(&b); err != nil || !strings.Contains(b.String(), "QPS@0.95") {
		t.Errorf("text: %v\n%s", err, b.String())
	}
}

func TestAQuickReportIsSmaller(t *testing.T) {
	r := small(t, &options{quick: true, rows: 400, seeds: 2, repeats: 1, atLeast: time.Microsecond, others: 200, queries: 10, widest: 64})
	if len(r.Curves) == 0 {
		t.Fatal("no curves")
	}
	for _, c := range r.Curves {
		if len(c.Seeds[0]) > 7 {
			t.Errorf("%s, %s: %d points up to ef 64", c.Data, c.Index, len(c.Seeds[0]))
		}
		if c.Data != "mixture 400 x 384" && c.Data != "other peers, mixture 200 x 384" {
			t.Errorf("data %q", c.Data)
		}
	}
	if n := len(r.Curves[0].Seeds); n != 2 {
		t.Errorf("%d seeds, want 2", n)
	}
}

func TestAPeerThatFailsIsLeftOut(t *testing.T) {
	program := filepath.Join(t.TempDir(), "peer")
	script := "#!/bin/sh\necho '{\"peer\":\"p\",\"version\":\"1\"}'\nread -r line\necho '{\"error\":\"no room\"}'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if exec.Command(program).Run() != nil {
		t.Skip("no shell here")
	}
	d := mixture{rows: 300, dim: 384, queries: 10, seed: 1}.make("mixture")
	d.truth = exact(d, topK, nil)
	r := &runner{
		report: newReport("small"), ctx: t.Context(), o: &options{repeats: 1, widest: 16}, cpu: lastCore(),
		made: map[string]made{"hnswlib": {program: program}}, shop: workshop{dir: t.TempDir()}, log: func(string, ...any) {},
	}
	if err := r.compare(d, 0.98, 2, true); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range r.Rows {
		if row.Value == nil && strings.Contains(row.Note, "no room") {
			n++
		}
	}
	if n < 3 || len(r.Curves) != len(modes)-1 { // no walk by rows
		t.Errorf("%d rows say that there was no room, %d curves", n, len(r.Curves))
	}
}

func TestAnswersOfADriver(t *testing.T) {
	var b built
	if err := decodeAnswer([]byte(`{"cpu_ns":5,"wall_ns":7,"rss":9}`), &b); err != nil || b != (built{CPU: 5, Wall: 7, RSS: 9}) {
		t.Errorf("%+v, %v", b, err)
	}
	if err := decodeAnswer([]byte(`{"error":"no memory"}`), &b); err == nil || err.Error() != "no memory" {
		t.Errorf("an error reads as %v", err)
	}
	if err := decodeAnswer([]byte("garbage"), &b); err == nil {
		t.Error("garbage is an answer")
	}
}

func TestADriverThatIsMissingIsNotFound(t *testing.T) {
	w := workshop{source: t.TempDir(), dir: t.TempDir(), hnswlib: t.TempDir()}
	_, err := w.make(t.Context(), recipes()[0])
	if !errors.Is(err, errNotFound) {
		t.Errorf("%v, want %v", err, errNotFound)
	}
}

func TestRunSelectsNothingQuietly(t *testing.T) {
	r, err := run(t.Context(), &options{only: []string{}}, io.Discard)
	if err != nil || len(r.Rows) != 0 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestAnInterruptedRunKeepsWhatItMeasured(t *testing.T) {
	t.Setenv("LIGHTRAG_SHARED", t.TempDir()) // without data, a section is soon done
	ctx, stop := context.WithCancel(t.Context())
	log := func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("section text")) {
			stop()
		}
		return len(p), nil
	}
	r, err := run(ctx, &options{only: []string{"text", "scan"}}, writer(log))
	if !errors.Is(err, context.Canceled) || len(r.Rows) == 0 {
		t.Errorf("%v, %v", r, err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
