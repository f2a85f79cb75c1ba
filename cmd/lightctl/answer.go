package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/lightctl/lightrag/engine"
)

// queryJSON is what `query --json` prints.
type queryJSON struct {
	Query     string          `json:"query"`
	Mode      string          `json:"mode"`
	Keywords  keywordsJSON    `json:"keywords"`
	Entities  []hitEntity     `json:"entities"`
	Relations []hitRelation   `json:"relations"`
	Chunks    []hitChunk      `json:"chunks"`
	Refs      []referenceJSON `json:"references"`
	Answer    string          `json:"answer"`
	Found     bool            `json:"found"`
	Context   string          `json:"context"`
	Prompt    string          `json:"prompt,omitempty"`
	Timings   timingsJSON     `json:"timings_us"`
	LLM       usageJSON       `json:"llm"`
	Cut       bool            `json:"truncated,omitempty"` // the answer ends at a length limit
	Warnings  []string        `json:"warnings,omitempty"`
	Models    engine.Models   `json:"models"` // that made the store, and that answers
	Explain   *engine.Explain `json:"explain,omitempty"`
	Error     *failureJSON    `json:"error,omitempty"` // why the answer breaks off
}

type keywordsJSON struct {
	High []string `json:"high_level"`
	Low  []string `json:"low_level"`
}

type hitEntity struct {
	Name        string  `json:"name"`
	Type        string  `json:"type"`
	Description string  `json:"description"`
	Score       float32 `json:"score"`
}

type hitRelation struct {
	Src         string   `json:"src"`
	Tgt         string   `json:"tgt"`
	Keywords    []string `json:"keywords"`
	Description string   `json:"description"`
	Weight      float64  `json:"weight"`
	Score       float32  `json:"score"`
}

type hitChunk struct {
	ID          string  `json:"id"`
	Doc         string  `json:"doc"`
	Path        string  `json:"path"`
	Order       int     `json:"order"`
	Content     string  `json:"content"`
	ReferenceID string  `json:"reference_id"`
	Score       float32 `json:"score"`
	Rerank      float64 `json:"rerank_score,omitempty"`
}

type referenceJSON struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

// timingsJSON are microseconds.
type timingsJSON struct {
	Keywords int64 `json:"keywords"`
	Embed    int64 `json:"embed"`
	Search   int64 `json:"search"`
	Expand   int64 `json:"expand"`
	Context  int64 `json:"context"`
	Rerank   int64 `json:"rerank,omitempty"` // part of context
	Answer   int64 `json:"answer"`
	Total    int64 `json:"total"`
}

func newQueryJSON(r *engine.Result) *queryJSON {
	t := &r.Timings
	q := &queryJSON{
		Query: r.Query, Mode: string(r.Mode), Keywords: keywordsJSON{list(r.HighLevel), list(r.LowLevel)},
		Entities: []hitEntity{}, Relations: []hitRelation{}, Chunks: []hitChunk{}, Refs: []referenceJSON{},
		Answer: r.Answer, Found: r.Found, Context: r.Context, Prompt: r.Prompt,
		Cut: r.Truncated, Warnings: r.Warnings, Explain: r.Explain, Models: r.Models,
		Timings: timingsJSON{
			t.Keywords.Microseconds(), t.Embed.Microseconds(), t.Search.Microseconds(), t.Expand.Microseconds(),
			t.Context.Microseconds(), t.Rerank.Microseconds(), t.Answer.Microseconds(), t.Total.Microseconds(),
		},
	}
	cached := 0
	if r.Cached {
		cached = 1
	}
	q.LLM.add(r.Usage, cached)
	for _, e := range r.Entities {
		q.Entities = append(q.Entities, hitEntity{e.Name, e.Type, e.Description, e.Score})
	}
	for _, e := range r.Relations {
		q.Relations = append(q.Relations, hitRelation{e.Src, e.Tgt, list(e.Keywords), e.Description, e.Weight, e.Score})
	}
	for _, c := range r.Chunks {
		q.Chunks = append(q.Chunks, hitChunk{c.ID, c.Doc, c.Path, c.Order, c.Content, c.ReferenceID, c.Score, c.RerankScore})
	}
	for _, ref := range r.References {
		q.Refs = append(q.Refs, referenceJSON(ref))
	}
	return q
}

// answerPrinter prints an answer for people, whole or while it is made. The
// list of references that models put at the end of an answer is left out: the
// one that was retrieved is printed in its place.
type answerPrinter struct {
	a       *app
	sources bool
	held    string // what may be the beginning of the list
	cut     bool   // the list has begun
	began   bool
}

const referenceList = "\n### References"

func (p *answerPrinter) event(ev engine.Event) error {
	if ev.Type != engine.EventText {
		return nil
	}
	return p.text(ev.Text)
}

func (p *answerPrinter) text(s string) error {
	if p.cut {
		return nil
	}
	s = p.held + s
	p.held = ""
	if i := strings.Index(s, referenceList); i >= 0 {
		p.cut = true
		return p.write(strings.TrimRight(s[:i], "\n "))
	}
	keep := len(strings.TrimRight(s, "\n "))
	if i := strings.LastIndexByte(s, '\n'); i >= 0 && strings.HasPrefix(referenceList, s[i:]) {
		keep = min(keep, len(strings.TrimRight(s[:i], "\n ")))
	}
	p.held = s[keep:]
	return p.write(s[:keep])
}

func (p *answerPrinter) write(s string) error {
	if s == "" {
		return nil
	}
	p.began = true
	_, err := io.WriteString(p.a.out, printable(s))
	return err
}

// end finishes the last line.
func (p *answerPrinter) end() error {
	if err := p.write(strings.TrimRight(p.held, "\n ")); err != nil || !p.began {
		return err
	}
	p.held, p.began = "", false
	_, err := io.WriteString(p.a.out, "\n")
	return err
}

// finish prints what was not streamed.
func (p *answerPrinter) finish(r *engine.Result, f *queryFlags) error {
	a := p.a
	switch {
	case f.q.PromptOnly && r.Prompt != "":
		return a.say("%s\n", strings.TrimRight(r.Prompt, "\n"))
	case f.q.ContextOnly && !f.q.PromptOnly && r.Context != "":
		if err := a.say("%s\n", strings.TrimRight(r.Context, "\n")); err != nil {
			return err
		}
	case f.q.ContextOnly || f.q.PromptOnly:
		if r.Mode != engine.Bypass {
			if err := a.say("%s\n", engine.NoAnswer); err != nil {
				return err
			}
		}
	default:
		if !p.began && !p.cut {
			if err := p.text(r.Answer); err != nil {
				return err
			}
		}
		if err := p.end(); err != nil {
			return err
		}
		if p.sources {
			if err := a.printReferences(r); err != nil {
				return err
			}
		}
	}
	if f.explain {
		if err := a.explain(r); err != nil {
			return err
		}
	}
	answered := !f.q.ContextOnly && !f.q.PromptOnly && (r.Found || r.Mode == engine.Bypass)
	made := r.Models
	if !answered {
		made.Answer = ""
	}
	if r.Mode == engine.Bypass { // neither graph nor vectors had a part in it
		made.Extraction, made.Embedder = nil, ""
	}
	if made.Offline() {
		if err := a.dim(made.String()); err != nil {
			return err
		}
	}
	return a.dim(timingsLine(r, answered))
}

var citation = regexp.MustCompile(`\[(\d+)\]`)

// printReferences lists what the answer cites, or everything that was
// retrieved if it cites nothing.
func (a *app) printReferences(r *engine.Result) error {
	if !r.Found || len(r.References) == 0 {
		return nil
	}
	cited := make(map[string]bool)
	for _, m := range citation.FindAllStringSubmatch(r.Answer, -1) {
		cited[m[1]] = true
	}
	all := true
	for _, ref := range r.References {
		all = all && !cited[ref.ID]
	}
	head := "\n"
	if all {
		head = "\nretrieved, but not cited:\n"
	}
	if err := a.say("%s", head); err != nil {
		return err
	}
	for _, ref := range r.References {
		if all || cited[ref.ID] {
			if err := a.say("[%s] %s\n", ref.ID, oneLine(ref.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// timingsLine says how long the stages took that the question went through.
func timingsLine(r *engine.Result, answered bool) string {
	t := &r.Timings
	line := string(r.Mode) + ":"
	if r.Mode != engine.Bypass {
		line += fmt.Sprintf(" keywords %s, embed %s, search %s, expand %s, context %s,",
			micro(t.Keywords), micro(t.Embed), micro(t.Search), micro(t.Expand), micro(t.Context))
	}
	if answered {
		line += fmt.Sprintf(" answer %s,", micro(t.Answer))
	}
	line += " total " + micro(t.Total)
	if u := r.Usage; u.PromptTokens+u.CompletionTokens > 0 {
		line += fmt.Sprintf("; %s, %d + %d tokens", plural(u.Calls, "call"), u.PromptTokens, u.CompletionTokens)
	}
	if t.Rerank > 0 {
		line += "; rerank " + micro(t.Rerank) + " of the context"
	}
	if r.Cached {
		line += "; answer from the cache"
	}
	if r.Truncated {
		line += "; the answer ended at a length limit"
	}
	return line
}
