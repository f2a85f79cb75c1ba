package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lightctl/lightrag/engine"
)

// estimate is what `index --dry-run` prints.
type estimate struct {
	DryRun    bool          `json:"dry_run"`
	Tokenizer string        `json:"tokenizer"`
	Documents []estimateRow `json:"documents"`
	Totals    estimateSum   `json:"totals"`
	Cost      *float64      `json:"cost,omitempty"` // of the totals, at the prices given
	Skipped   []skipped     `json:"skipped"`
}

type estimateRow struct {
	ID     string  `json:"id"`
	Path   string  `json:"path"`
	Status string  `json:"status"` // pending: would be indexed
	Error  *string `json:"error"`
	estimateSum
}

// estimateSum is of one document or of all. Calls and tokens are those of
// extraction and gleaning; summaries depend on what is found.
type estimateSum struct {
	Documents        int `json:"documents"`
	Failed           int `json:"failed"`
	Chunks           int `json:"chunks"`
	KnownChunks      int `json:"known_chunks"` // taken over from the text that is replaced
	Tokens           int `json:"tokens"`
	Calls            int `json:"calls"`
	CachedCalls      int `json:"cached_calls"` // that cost nothing
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

func (s *estimateSum) add(o estimateSum) {
	s.Documents += o.Documents
	s.Failed += o.Failed
	s.Chunks += o.Chunks
	s.KnownChunks += o.KnownChunks
	s.Tokens += o.Tokens
	s.Calls += o.Calls
	s.CachedCalls += o.CachedCalls
	s.PromptTokens += o.PromptTokens
	s.CompletionTokens += o.CompletionTokens
}

// dryRun reads and cuts the documents as index would and counts what a
// language model would be asked. It needs no store and leaves one that exists
// as it is.
func (a *app) dryRun(ctx context.Context, f *indexFlags, docs *documents) error {
	o, err := a.indexOptions(f)
	if err != nil {
		return err
	}
	quiet := *a // the model is not called; its name is part of what the cache is searched for
	quiet.quiet, quiet.endpoints.embedURL = true, ""
	m, err := quiet.models(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	o.Completer = m.completer
	db, err := a.openView()
	switch {
	case errors.Is(err, engine.ErrNotFound):
		db = nil
	case err != nil:
		return err
	default:
		defer db.Close()
	}
	est, err := engine.NewEstimator(o, db)
	if err != nil {
		return err
	}
	e := &estimate{DryRun: true, Tokenizer: est.Tokenizer(), Documents: []estimateRow{}, Skipped: list(docs.skips)}
	err = docs.each(ctx, func(in input) error {
		row := estimateRow{ID: in.doc.ID, Path: in.doc.Path}
		err := in.err
		if err == nil {
			in.doc.Replace = f.replace
			var x engine.Estimate
			if x, err = est.Document(ctx, &in.doc); err == nil {
				row.Status = string(x.Status)
				row.estimateSum = estimateSum{
					Chunks: x.Chunks, KnownChunks: x.KnownChunks, Tokens: x.Tokens, Calls: x.Calls, CachedCalls: x.CachedCalls,
					PromptTokens: x.PromptTokens, CompletionTokens: x.CompletionTokens,
				}
			}
		}
		if err != nil && !errors.Is(err, engine.ErrInvalid) && in.err == nil {
			return err
		}
		row.Documents = 1
		if err != nil {
			row.Status, row.Failed, row.Error = string(engine.StatusFailed), 1, orNull(message(err))
		}
		e.Documents = append(e.Documents, row)
		e.Totals.add(row.estimateSum)
		return nil
	})
	if err != nil {
		return err
	}
	if f.priced() {
		cost := (float64(e.Totals.PromptTokens)*f.priceIn + float64(e.Totals.CompletionTokens)*f.priceOut) / 1e6
		e.Cost = &cost
	}
	if err := a.showEstimate(e); err != nil {
		return err
	}
	if e.Totals.Failed > 0 {
		return reported(exitFailure)
	}
	return nil
}

func (a *app) showEstimate(e *estimate) error {
	if a.json {
		return writeJSON(a.out, e)
	}
	t := a.table()
	t.row("DOCUMENT", "CHUNKS", "TOKENS", "CALLS", "PROMPT TOKENS", "ANSWER TOKENS", "")
	for i, d := range e.Documents {
		if i == maxListed && len(e.Documents) > maxListed+1 && a.verbose == 0 {
			t.row("...", "", "", "", "", "", plural(len(e.Documents)-i, "more document"))
			break
		}
		note := ""
		switch {
		case d.Error != nil:
			note = *d.Error
		case d.Status != string(engine.StatusPending):
			note = d.Status
		default:
			note = knownText(&d.estimateSum)
		}
		t.row(d.ID, d.Chunks, d.Tokens, d.Calls, d.PromptTokens, d.CompletionTokens, note)
	}
	s := e.Totals
	t.row(plural(s.Documents, "document"), s.Chunks, s.Tokens, s.Calls, s.PromptTokens, s.CompletionTokens, knownText(&s))
	if err := t.flush(); err != nil {
		return err
	}
	if len(e.Skipped) > 0 {
		if err := a.printSkipped(e.Skipped); err != nil {
			return err
		}
	}
	if e.Cost != nil {
		if err := a.say("about %s at the prices given\n", costText(*e.Cost)); err != nil {
			return err
		}
	}
	return a.say("An estimate in %s tokens of extraction by a language model. What is stored or cached costs nothing and is left out; "+
		"an answer is taken to be as long as its chunk. Summaries, embeddings and questions come on top. Nothing was stored.\n", e.Tokenizer)
}

// costText keeps small sums from showing as nothing.
func costText(c float64) string {
	if c >= 0.1 || c == 0 {
		return fmt.Sprintf("%.2f", c)
	}
	return fmt.Sprintf("%.2g", c)
}

// knownText says what an estimate leaves out.
func knownText(s *estimateSum) string {
	note := ""
	if s.KnownChunks > 0 {
		note = plural(s.KnownChunks, "chunk") + " known"
	}
	if s.CachedCalls > 0 {
		if note != "" {
			note += ", "
		}
		note += fmt.Sprintf("%s cached", plural(s.CachedCalls, "call"))
	}
	return note
}
