package main

import (
	"context"
	"errors"
	"strings"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// Sizes that the engine cuts by unless told otherwise.
const (
	chunkTokens      = 1200
	chunkOverlap     = 100
	maxExtractTokens = 20480
)

// estimate is what `index --dry-run` prints.
type estimate struct {
	DryRun    bool          `json:"dry_run"`
	Tokenizer string        `json:"tokenizer"`
	Documents []estimateRow `json:"documents"`
	Totals    estimateSum   `json:"totals"`
	Skipped   []skipped     `json:"skipped"`
}

type estimateRow struct {
	ID    string  `json:"id"`
	Path  string  `json:"path"`
	Error *string `json:"error"`
	estimateSum
}

// estimateSum is of one document or of all. Calls and prompt tokens are those
// of extraction and gleaning; summaries depend on what is found.
type estimateSum struct {
	Documents    int `json:"documents"`
	Failed       int `json:"failed"`
	Chunks       int `json:"chunks"`
	Tokens       int `json:"tokens"`
	Calls        int `json:"calls"`
	PromptTokens int `json:"prompt_tokens"`
}

func (s *estimateSum) add(o estimateSum) {
	s.Documents += o.Documents
	s.Failed += o.Failed
	s.Chunks += o.Chunks
	s.Tokens += o.Tokens
	s.Calls += o.Calls
	s.PromptTokens += o.PromptTokens
}

// dryRun reads and cuts the documents as index would and counts what a
// language model would be asked. It needs no store and leaves one that exists
// as it is.
func (a *app) dryRun(ctx context.Context, f *indexFlags, docs *documents) error {
	tok, err := a.dryTokenizer(f)
	if err != nil {
		return err
	}
	e := &estimate{DryRun: true, Tokenizer: tok.Name(), Documents: []estimateRow{}, Skipped: list(docs.skips)}
	c := &counter{tok: tok, glean: f.gleaning > 0, opts: llm.ExtractOptions{EntityTypes: clean(f.entityTypes), Language: f.language}}
	err = docs.each(ctx, func(in input) error {
		row := estimateRow{ID: in.doc.ID, Path: in.doc.Path, estimateSum: estimateSum{Documents: 1}}
		if in.err != nil {
			row.Failed = 1
			row.Error = orNull(message(in.err))
		} else {
			c.count(&in.doc, &row.estimateSum)
		}
		e.Documents = append(e.Documents, row)
		e.Totals.add(row.estimateSum)
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.showEstimate(e); err != nil {
		return err
	}
	if e.Totals.Failed > 0 {
		return reported(exitFailure)
	}
	return nil
}

// dryTokenizer is the one asked for, else that of the store, else the default.
func (a *app) dryTokenizer(f *indexFlags) (llm.Tokenizer, error) {
	name := f.tokenizer
	if name == "" {
		name = "o200k"
		db, err := a.openView()
		switch {
		case err == nil:
			name = db.Identity().Tokenizer
			if err := db.Close(); err != nil {
				return nil, err
			}
		case !errors.Is(err, engine.ErrNotFound):
			return nil, err
		}
	}
	return llm.NewTokenizer(name)
}

// counter cuts documents and counts the tokens of their prompts.
type counter struct {
	tok   llm.Tokenizer
	opts  llm.ExtractOptions
	glean bool
}

func (c *counter) count(d *engine.Document, sum *estimateSum) {
	if d.Chunks != nil {
		for _, chunk := range d.Chunks {
			c.chunk(chunk.Content, sum)
		}
		return
	}
	text, _ := llm.SanitizeText(d.Text)
	for _, w := range c.tok.Windows(text, chunkTokens, chunkOverlap) {
		if content := strings.TrimSpace(w.Text); content != "" {
			c.chunk(content, sum)
		}
	}
}

// chunk adds the calls for one chunk. The gleaning call repeats the first
// prompt and its answer, which is taken to be as long as the chunk.
func (c *counter) chunk(text string, sum *estimateSum) {
	n := c.tok.Count(text)
	sum.Chunks++
	sum.Tokens += n
	if strings.TrimSpace(text) == "" {
		return
	}
	sum.Calls++
	sum.PromptTokens += c.messages(llm.ExtractMessages(text, c.opts))
	if !c.glean {
		return
	}
	if again := c.messages(llm.GleanMessages(text, c.opts, "")) + n; again <= maxExtractTokens {
		sum.Calls++
		sum.PromptTokens += again
	}
}

func (c *counter) messages(m []llm.Message) int {
	n := 0
	for i := range m {
		n += c.tok.Count(m[i].Content)
	}
	return n
}

func (a *app) showEstimate(e *estimate) error {
	if a.json {
		return writeJSON(a.out, e)
	}
	t := a.table()
	t.row("DOCUMENT", "CHUNKS", "TOKENS", "CALLS", "PROMPT TOKENS", "")
	for i, d := range e.Documents {
		if i == maxListed && len(e.Documents) > maxListed+1 && a.verbose == 0 {
			t.row("...", "", "", "", "", plural(len(e.Documents)-i, "more document"))
			break
		}
		note := ""
		if d.Error != nil {
			note = *d.Error
		}
		t.row(d.ID, d.Chunks, d.Tokens, d.Calls, d.PromptTokens, note)
	}
	s := e.Totals
	t.row(plural(s.Documents, "document"), s.Chunks, s.Tokens, s.Calls, s.PromptTokens, "")
	if err := t.flush(); err != nil {
		return err
	}
	if len(e.Skipped) > 0 {
		if err := a.printSkipped(e.Skipped); err != nil {
			return err
		}
	}
	return a.say("An estimate in %s tokens of extraction by a language model; summaries, embeddings and answers come on top, "+
		"what is stored or cached already comes off. Nothing was stored.\n", e.Tokenizer)
}
