package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// indexReport is what `index --json` prints.
type indexReport struct {
	Documents []*reportRow   `json:"documents"`
	Totals    reportTotals   `json:"totals"`
	LLM       usageJSON      `json:"llm"`
	Seconds   float64        `json:"seconds"`
	Skipped   []skipped      `json:"skipped"`
	Store     *engine.Counts `json:"store,omitempty"` // what the store holds now
	Models    *engine.Models `json:"models,omitempty"`

	stale int
	taken map[string]*reportRow // from an earlier run, whose input may come yet
}

// reportRow is one document.
type reportRow struct {
	ID           string             `json:"id"`
	Path         string             `json:"path"`
	Status       string             `json:"status"`
	Chunks       int                `json:"chunks"`
	Entities     int                `json:"entities"`
	Relations    int                `json:"relations"`
	Malformed    int                `json:"malformed"`
	Error        *string            `json:"error"`
	Original     string             `json:"original,omitempty"`      // of a duplicate
	Removed      int                `json:"removed,omitempty"`       // unusable bytes and sequences
	FailedChunks int                `json:"failed_chunks,omitempty"` // without usable answer
	Failures     []chunkFailureJSON `json:"failures,omitempty"`      // these chunks

	// Notes say what a person should know of how the file was read.
	Notes []string `json:"notes,omitempty"`
}

// reportTotals are sums over the rows.
type reportTotals struct {
	Documents int `json:"documents"`
	Processed int `json:"processed"`
	Unchanged int `json:"unchanged"`
	Duplicate int `json:"duplicate"`
	Conflict  int `json:"conflict"`
	Failed    int `json:"failed"`
	Pending   int `json:"pending"`
	Chunks    int `json:"chunks"`
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	Malformed int `json:"malformed"`
	Skipped   int `json:"skipped"`
	Merged    int `json:"merged,omitempty"` // entities, by --resolve-entities
}

type usageJSON struct {
	Calls            int `json:"calls"`
	Cached           int `json:"cached"`
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

func (u *usageJSON) add(x llm.Usage, cached int) {
	u.Calls += x.Calls
	u.Cached += cached
	u.PromptTokens += x.PromptTokens
	u.CachedTokens += x.CachedTokens
	u.CompletionTokens += x.CompletionTokens
}

func newIndexReport() *indexReport {
	return &indexReport{Documents: []*reportRow{}, Skipped: []skipped{}, taken: make(map[string]*reportRow)}
}

// addBatch takes the report of one call of the engine about the documents of
// batch that could be read, and puts the others between them.
func (r *indexReport) addBatch(batch []input, rep *engine.Report) {
	next := 0
	for i := range batch {
		switch in := &batch[i]; {
		case in.err != nil:
			r.row(&reportRow{ID: in.doc.ID, Path: in.doc.Path, Status: string(engine.StatusFailed), Error: orNull(message(in.err))})
		case next < len(rep.Documents):
			if row := newReportRow(&rep.Documents[next], in.notes); row != nil {
				r.settle(row)
			}
			next++
		}
	}
	for ; next < len(rep.Documents); next++ {
		if row := newReportRow(&rep.Documents[next], nil); row != nil { // taken up from an earlier run
			r.row(row)
			r.taken[row.ID] = row
		}
	}
	r.LLM.add(rep.Usage, rep.Cached)
	r.stale = rep.Stale
	r.Totals.Merged += rep.Merged
}

// settle adds the row of a document of the input. One that an earlier call of
// this run took up has a row: it stays the only one, and says the last that
// happened, where unchanged means that nothing did.
func (r *indexReport) settle(row *reportRow) {
	earlier := r.taken[row.ID]
	switch {
	case earlier == nil:
		r.row(row)
		return
	case row.Status == string(engine.StatusUnchanged):
		earlier.Notes = row.Notes
	default:
		r.count(earlier, -1)
		*earlier = *row
		r.count(earlier, 1)
	}
	delete(r.taken, row.ID)
}

// newReportRow returns nil if the call did not come to the document.
func newReportRow(d *engine.DocumentReport, notes []string) *reportRow {
	if d.ID == "" {
		return nil
	}
	row := &reportRow{
		ID: d.ID, Path: d.Path, Status: string(d.Status), Chunks: d.Chunks, Entities: d.Entities,
		Relations: d.Relations, Malformed: d.Malformed, Original: d.Original, Removed: d.Removed,
		FailedChunks: d.FailedChunks, Failures: newFailuresJSON(d.Failures), Notes: notes,
	}
	if d.Err != nil {
		row.Error = orNull(message(d.Err))
		if d.Status == engine.StatusConflict {
			row.Error = orNull("already stored with another text; --replace puts this one in its place")
		}
	}
	return row
}

func (r *indexReport) row(row *reportRow) {
	r.Documents = append(r.Documents, row)
	r.count(row, 1)
}

// count adds n times what a row says to the totals.
func (r *indexReport) count(row *reportRow, n int) {
	t := &r.Totals
	t.Documents += n
	switch engine.DocumentStatus(row.Status) {
	case engine.StatusProcessed:
		t.Processed += n
	case engine.StatusUnchanged:
		t.Unchanged += n
	case engine.StatusDuplicate:
		t.Duplicate += n
	case engine.StatusConflict:
		t.Conflict += n
	case engine.StatusFailed:
		t.Failed += n
	default:
		t.Pending += n
	}
	t.Chunks += n * row.Chunks
	t.Entities += n * row.Entities
	t.Relations += n * row.Relations
	t.Malformed += n * row.Malformed
}

// seconds rounds to milliseconds.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// maxListed is up to how many processed documents are listed one by one.
const maxListed = 20

// printReport writes the report for people: what needs attention is always
// listed, the rest only when it is short.
func (a *app) printReport(r *indexReport) error {
	t := a.table()
	for _, d := range r.Documents {
		switch engine.DocumentStatus(d.Status) {
		case engine.StatusProcessed:
			if len(r.Documents) <= maxListed || a.verbose > 0 || d.FailedChunks > 0 || len(d.Notes) > 0 {
				note := fmt.Sprintf("%s, %s, %s", plural(d.Chunks, "chunk"), plural(d.Entities, "entity"), plural(d.Relations, "relation"))
				if d.FailedChunks > 0 {
					note += fmt.Sprintf("; %s without a usable answer", plural(d.FailedChunks, "chunk"))
					if len(d.Failures) > 0 {
						note += fmt.Sprintf(", the first is %d: %s", d.Failures[0].Order, clip(d.Failures[0].Error, 120))
					}
				}
				if d.Removed > 0 {
					note += fmt.Sprintf("; %d unusable bytes or sequences removed", d.Removed)
				}
				for _, n := range d.Notes {
					note += "; " + n
				}
				t.row(d.Status, d.ID, note)
			}
		case engine.StatusUnchanged:
			if len(r.Documents) <= maxListed || a.verbose > 0 {
				t.row(d.Status, d.ID, "")
			}
		case engine.StatusDuplicate:
			t.row(d.Status, d.ID, "the same text as "+d.Original)
		default:
			note := ""
			if d.Error != nil {
				note = *d.Error
			}
			t.row(d.Status, d.ID, note)
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	n := &r.Totals
	line := plural(n.Documents, "document") + ": " + fmt.Sprintf("%d processed", n.Processed)
	for _, c := range []struct {
		n    int
		word string
	}{{n.Unchanged, "unchanged"}, {n.Duplicate, "duplicate"}, {n.Conflict, "in conflict (pass --replace to update)"},
		{n.Failed, "failed"}, {n.Pending, "pending"}} {
		if c.n > 0 {
			line += fmt.Sprintf(", %d %s", c.n, c.word)
		}
	}
	if err := a.say("%s\n", line); err != nil {
		return err
	}
	if len(r.Skipped) > 0 {
		if err := a.printSkipped(r.Skipped); err != nil {
			return err
		}
	}
	if s := r.Store; s != nil {
		if err := a.printStore(s); err != nil {
			return err
		}
	}
	if m := r.Models; m != nil && m.Offline() {
		if err := a.say("%s\n", m); err != nil {
			return err
		}
	}
	if a.endpoints.llmURL == "" { // calls of rules cost nothing
		return a.dim(fmt.Sprintf("no language model was asked, %.1f s", r.Seconds))
	}
	return a.dim(fmt.Sprintf("%s (%d more from the cache), %d + %d tokens, %.1f s",
		plural(r.LLM.Calls, "model call"), r.LLM.Cached, r.LLM.PromptTokens, r.LLM.CompletionTokens, r.Seconds))
}

// printStore says what the store holds now.
func (a *app) printStore(s *engine.Counts) error {
	return a.say("the store holds %s, %s, %s, %s\n", plural(s.Documents, "document"), plural(s.Chunks, "chunk"),
		plural(s.Entities, "entity"), plural(s.Relations, "relation"))
}

func (a *app) printSkipped(skips []skipped) error {
	return a.say("%s\n", bySkipReason("skipped ", skips))
}

// bySkipReason sums up left-out entries by reason, in order of appearance, after
// lead. It is empty when nothing was left out.
func bySkipReason(lead string, skips []skipped) string {
	count := make(map[string]int)
	var parts []string
	for _, s := range skips {
		count[s.Reason]++
	}
	for _, s := range skips {
		if n := count[s.Reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d (%s)", n, s.Reason))
			count[s.Reason] = 0
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return lead + strings.Join(parts, ", ")
}

// endReport turns a printed report and the error of the run into the exit
// status, and says on standard error what the report cannot.
func (a *app) endReport(r *indexReport, err error) error {
	if r.Totals.Merged > 0 {
		a.note("%d entities that differed in spelling only were merged; `lightctl entity changes` lists how", r.Totals.Merged)
	}
	if r.stale > 0 {
		a.note("%s or summaries are still to be made; the next `index` or `docs retry` makes them", plural(r.stale, "vector"))
	}
	if err != nil {
		return reported(a.fail(err, false))
	}
	if r.Totals.Failed+r.Totals.Conflict+r.Totals.Pending > 0 {
		return reported(exitFailure)
	}
	return nil
}
