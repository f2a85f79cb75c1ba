package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Counts, sizes, index state, models and tokens spent",
		Args:  arguments(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.stats() },
	}
}

func (a *app) stats() error {
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := db.Stats()
	if err != nil {
		return about(a.db, err)
	}
	if a.json {
		return writeJSON(a.out, s)
	}
	t := a.table()
	t.row("documents", s.Documents)
	for _, k := range slices.Sorted(maps.Keys(s.Statuses)) {
		t.row("  "+string(k), s.Statuses[k])
	}
	t.row("chunks", s.Chunks)
	t.row("entities", s.Entities)
	t.row("relations", s.Relations)
	t.row("fragments", s.Fragments)
	if s.Stale > 0 {
		t.row("stale", fmt.Sprintf("%d vectors or summaries are to be re-made", s.Stale))
	}
	if len(s.Models.Extraction) > 0 {
		t.row("extracted by", strings.Join(s.Models.Extraction, ", "))
	}
	t.row("answered by", s.Models.Answer)
	t.row("embedder", fmt.Sprintf("%s, dimension %d", s.Identity.Embedder, s.Identity.Dim))
	if s.Models.Offline() {
		t.row("offline", "models whose names begin with offline- are rules, no language model")
	}
	t.row("tokenizer", s.Identity.Tokenizer)
	t.row("on disk", diskText(s.Disk))
	for _, k := range slices.Sorted(maps.Keys(s.Index)) {
		x := s.Index[k]
		state := fmt.Sprintf("%d linked", x.Linked)
		if x.Exact {
			state = "searched exactly"
		}
		t.row(k+" index", fmt.Sprintf("%d vectors, %s, %s in memory", x.Vectors, state, bytesText(x.RowBytes)))
	}
	t.row("cached answers", s.CachedAnswers)
	for _, k := range slices.Sorted(maps.Keys(s.Ledger)) {
		u := s.Ledger[k]
		t.row("spent on "+k, usageText(u))
	}
	if q := s.Queries; q.Count > 0 {
		t.row("questions", fmt.Sprintf("%d that were not answered from the cache: %s", q.Count, usageText(q.Usage)))
		for _, c := range q.Last[max(0, len(q.Last)-a.verbose*10):] {
			t.row("  "+c.Time.Format(time.DateTime), usageText(c.Usage)+": "+c.Text)
		}
	}
	return t.flush()
}

// diskText sums up what the store takes, and says where.
func diskText(d engine.DiskStats) string {
	return fmt.Sprintf("%s (%s %s, rows %s; of these log %s, postings %s)", bytesText(d.StoreBytes+d.SegmentBytes),
		plural(d.Segments, "segment"), bytesText(d.SegmentBytes), bytesText(d.StoreBytes), bytesText(d.WALBytes), bytesText(d.PostingsBytes))
}

func usageText(u llm.Usage) string {
	s := fmt.Sprintf("%s, %d + %d tokens", plural(u.Calls, "call"), u.PromptTokens, u.CompletionTokens)
	if u.CachedTokens > 0 {
		s += fmt.Sprintf(" (%d of the first cached by the server)", u.CachedTokens)
	}
	return s
}

func (a *app) printFindings(found []engine.Finding) error {
	if len(found) == 0 {
		return a.say("ok: nothing wrong was found\n")
	}
	for _, f := range found {
		if err := a.say("%s: %s\n", oneLine(f.Row), oneLine(f.Err.Error())); err != nil {
			return err
		}
	}
	return a.say("%s\n", plural(len(found), "finding"))
}
