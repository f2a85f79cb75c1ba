package main

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

// replay is a Completer that answers extractions with what was recorded of the
// text, and everything else as the offline one does.
type replay struct {
	answers map[string]string
	rest    llm.Completer
}

func newReplay(answers map[string]string) *replay {
	return &replay{answers: answers, rest: offline.NewCompleter()}
}

// Complete implements llm.Completer.
func (r *replay) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if req.Task != llm.TaskExtract {
		return r.rest.Complete(ctx, req)
	}
	text, ok := r.answers[req.Input.Text]
	if !ok {
		return llm.Response{}, fmt.Errorf("%w: nothing is recorded of %.60q", llm.ErrBadResponse, req.Input.Text)
	}
	return llm.Response{Text: text, Usage: llm.Usage{Calls: 1}}, nil
}

// Model implements llm.Completer.
func (r *replay) Model() string { return "recorded-openie" }
