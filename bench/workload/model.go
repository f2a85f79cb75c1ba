package workload

import (
	"context"
	"fmt"
	"strings"

	"github.com/lightctl/lightrag/llm"
)

// summary is what Model answers whenever descriptions are to be joined: any
// text of 207 characters would do.
const summary = "A summary of constant length stands for all that any model would have said about this subject, " +
	"so that runs can be compared: the same words, whatever the descriptions were and however many of them there are."

// Model is an llm.Completer that answers at once: for a chunk of the corpus
// with the answer that belongs to it, for descriptions with one constant
// sentence. It is safe for concurrent use.
type Model struct {
	answers map[string]string
}

// NewModel returns the model that knows the answers of chunks.
func NewModel(chunks []Chunk) *Model {
	m := &Model{answers: make(map[string]string, len(chunks))}
	for _, c := range chunks {
		m.answers[c.ID] = c.Answer
	}
	return m
}

// Model implements llm.Completer.
func (m *Model) Model() string { return "workload" }

// Complete implements llm.Completer. It knows no keywords and no questions;
// for them, and for unknown chunks, the error is llm.ErrBadResponse.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	r := llm.Response{Usage: llm.Usage{Calls: 1}}
	switch req.Task {
	case llm.TaskExtract:
		id := marker(req.Input.Text)
		answer, ok := m.answers[id]
		if !ok {
			return r, fmt.Errorf("%w: no answer for chunk %q", llm.ErrBadResponse, id)
		}
		r.Text = answer
	case llm.TaskGlean:
		r.Text = "<|COMPLETE|>"
	case llm.TaskSummary:
		r.Text = summary
	default:
		return r, fmt.Errorf("%w: the workload has no answers to %s", llm.ErrBadResponse, req.Task)
	}
	return r, nil
}

// marker returns the id in the first [[cNNNNNN]] of text, "" if there is none.
func marker(text string) string {
	for {
		i := strings.Index(text, "[[c")
		if i < 0 {
			return ""
		}
		text = text[i+2:]
		if len(text) >= 9 && text[7:9] == "]]" && strings.Trim(text[1:7], "0123456789") == "" {
			return text[:7]
		}
	}
}
