package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lightctl/lightrag/llm"
)

// NoAnswer is the answer when nothing was found.
const NoAnswer = "Sorry, I'm not able to provide an answer to that question.[no-context]"

// Query retrieves and has the model answer from what was found. Nothing found
// is not an error: Found is false and the answer is NoAnswer. When the model
// fails after a part of a streamed answer, that part is in Result.Answer and
// the error says what happened.
func (db *DB) Query(ctx context.Context, q Query) (*Result, error) {
	if db.closed.Load() {
		return nil, fmt.Errorf("lightrag: query: %w", ErrClosed)
	}
	start := time.Now()
	r, err := db.retrieve(ctx, &q)
	if err != nil {
		db.recordQuery(&q, r.Usage)
		return nil, fmt.Errorf("lightrag: query: %w", within(err))
	}
	err = db.answer(ctx, &q, r)
	if errors.Is(err, llm.ErrContextLength) && r.Found && db.window.learn(err, db.sent(&q, r)) {
		r, err = db.again(ctx, &q, r)
	}
	r.Timings.Total = time.Since(start)
	if err == nil && q.Stream != nil {
		err = q.Stream(Event{Type: EventDone, Usage: r.Usage, Timings: r.Timings})
	}
	db.recordQuery(&q, r.Usage)
	if err != nil {
		return r, fmt.Errorf("lightrag: query: %w", within(err))
	}
	return r, nil
}

// again answers with a context that fits the window that the model has just
// been found to have. Keywords and vectors are those of the first time.
func (db *DB) again(ctx context.Context, q *Query, first *Result) (*Result, error) {
	size, _ := db.window.get()
	db.opts.Logger.Warn("lightrag: the context was too long for the model and is made smaller", "window", size)
	r := &Result{
		Query: first.Query, Mode: first.Mode, HighLevel: first.HighLevel, LowLevel: first.LowLevel, want: first.want,
		Usage: first.Usage, Timings: first.Timings, Models: first.Models,
	}
	if w := first.want.warning; w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the model takes %d tokens: the context was made smaller; Options.ContextWindow spares the first attempt", size))
	if q.Explain {
		r.Explain = &Explain{Keywords: first.Explain.Keywords}
	}
	if err := db.gather(ctx, q, r); err != nil {
		return r, err
	}
	if q.Stream != nil && len(first.References) > 0 && len(r.References) == 0 {
		if err := q.Stream(Event{Type: EventReferences}); err != nil { // those that were sent do not count any more
			return r, err
		}
	}
	return r, db.answer(ctx, q, r)
}

// answer fills the prompt or the answer of r.
func (db *DB) answer(ctx context.Context, q *Query, r *Result) error {
	start := time.Now()
	defer func() { r.Timings.Answer = time.Since(start) }()
	if q.Mode == Bypass {
		return db.chat(ctx, q, r)
	}
	if q.Stream != nil && len(r.References) > 0 && !q.PromptOnly && !q.ContextOnly {
		if err := q.Stream(Event{Type: EventReferences, References: r.References}); err != nil {
			return err
		}
	}
	var system string
	if r.Found {
		system = db.opts.Prompts.Answer(r.Context, q.answerOptions())
	}
	switch {
	case q.PromptOnly:
		if r.Found {
			r.Prompt = system + "\n\n---User Query---\n\n" + q.Text
		}
		return nil
	case q.ContextOnly:
		return nil
	case !r.Found:
		r.Answer = NoAnswer
		return q.text(NoAnswer)
	}
	req := llm.Request{
		Task:     llm.TaskAnswer,
		Messages: conversation(system, q),
		Input:    answerInput(q, r),
	}
	return db.ask(ctx, q, r, req, !q.NoCache && len(q.History) == 0)
}

func (db *DB) chat(ctx context.Context, q *Query, r *Result) error {
	req := llm.Request{
		Task:     llm.TaskChat,
		Messages: conversation("", q),
		Input:    llm.Input{Question: q.Text},
	}
	if q.PromptOnly {
		r.Prompt = q.Text
		return nil
	}
	if q.ContextOnly {
		return nil
	}
	return db.ask(ctx, q, r, req, false)
}

func (db *DB) ask(ctx context.Context, q *Query, r *Result, req llm.Request, cache bool) error {
	if q.Stream != nil {
		req.Stream = q.text
	}
	var worth cached
	if cache {
		worth = always
	}
	a, err := db.complete(ctx, req, worth)
	r.Answer, r.Cached, r.Truncated = strings.TrimSpace(a.text), a.cached, a.truncated
	r.Usage = r.Usage.Add(a.usage)
	return err
}

// text streams a piece of the answer.
func (q *Query) text(s string) error {
	if q.Stream == nil || s == "" {
		return nil
	}
	return q.Stream(Event{Type: EventText, Text: s})
}

// conversation puts history between the system prompt and the question.
func conversation(system string, q *Query) []llm.Message {
	m := make([]llm.Message, 0, len(q.History)+2)
	if system != "" {
		m = append(m, llm.Message{Role: llm.RoleSystem, Content: system})
	}
	m = append(m, q.History...)
	return append(m, llm.Message{Role: llm.RoleUser, Content: q.Text})
}

func answerInput(q *Query, r *Result) llm.Input {
	in := llm.Input{Question: q.Text, Language: q.Language}
	for i := range r.Chunks {
		c := &r.Chunks[i]
		in.Passages = append(in.Passages, llm.Passage{Reference: c.ReferenceID, Path: c.Path, Text: c.Content})
	}
	for i := range r.Entities {
		in.Facts = append(in.Facts, llm.Fact{Name: r.Entities[i].Name, Description: r.Entities[i].Description})
	}
	for i := range r.Relations {
		in.Facts = append(in.Facts, llm.Fact{Name: r.Relations[i].Src, Target: r.Relations[i].Tgt, Description: r.Relations[i].Description})
	}
	return in
}
