package offline

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/llm"
)

// Fixed sentences of the offline model.
const (
	// NothingFound is the whole answer to a question that no passage speaks of.
	NothingFound = "Nothing relevant was found in the indexed documents."
	// CannotChat is the whole answer to TaskChat.
	CannotChat = "The offline model cannot chat: it only quotes indexed documents. Configure a language model to ask without retrieval."
)

// ErrTask reports a request whose task this completer does not know. It is an
// llm.ErrInvalid.
var ErrTask = fmt.Errorf("unknown task: %w", llm.ErrInvalid)

// Completer answers the engine's tasks by rules, from Request.Input alone;
// messages are ignored. The zero value is ready; see the package comment for
// its guarantees and its limits.
type Completer struct{}

// NewCompleter returns the offline completer.
func NewCompleter() *Completer { return &Completer{} }

// Model returns "offline-2". The number changes whenever an answer might.
func (*Completer) Model() string { return "offline-2" }

// Complete answers one request. It fails only when ctx is done, when
// req.Stream fails (with that error, unwrapped), and with ErrTask. The pieces
// passed to req.Stream join to Response.Text: an answer comes sentence by
// sentence, everything else at once. No tokens are counted.
func (*Completer) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, fmt.Errorf("offline: %s: %w", req.Task, err)
	}
	in := &req.Input
	var pieces []string
	switch req.Task {
	case llm.TaskExtract:
		pieces = []string{extract(in.Text)}
	case llm.TaskGlean:
		pieces = []string{completed}
	case llm.TaskKeywords:
		pieces = []string{keywords(in.Question)}
	case llm.TaskSummary:
		pieces = []string{summarize(in.Descriptions, in.MaxTokens)}
	case llm.TaskAnswer:
		pieces = answer(in)
	case llm.TaskChat:
		pieces = []string{CannotChat}
	default:
		return llm.Response{}, fmt.Errorf("offline: task %d: %w", req.Task, ErrTask)
	}
	text := ""
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, fmt.Errorf("offline: %s: %w", req.Task, err)
		}
		if req.Stream != nil {
			if err := req.Stream(p); err != nil {
				return llm.Response{}, err
			}
		}
		text += p
	}
	return llm.Response{Text: text, Usage: llm.Usage{Calls: 1}}, nil
}

var _ llm.Completer = (*Completer)(nil)
