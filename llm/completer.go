package llm

import "context"

// Task says what a completion is for. Prompts, caches, priorities and the
// offline completer are chosen by it.
type Task uint8

// The tasks of the engine, in the order a document and a question meet them.
const (
	TaskExtract  Task = iota + 1 // entities and relations of one chunk
	TaskGlean                    // what the first extraction missed
	TaskSummary                  // several descriptions of one owner into one
	TaskKeywords                 // high- and low-level keywords of a question
	TaskAnswer                   // an answer from a retrieved context
	TaskChat                     // a question passed straight to the model
)

// String returns the lower-case name used in ledgers and messages.
func (t Task) String() string {
	switch t {
	case TaskExtract:
		return "extract"
	case TaskGlean:
		return "glean"
	case TaskSummary:
		return "summary"
	case TaskKeywords:
		return "keywords"
	case TaskAnswer:
		return "answer"
	case TaskChat:
		return "chat"
	}
	return "unknown"
}

// Roles of a Message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request is one completion. Messages alone is what a language model sees;
// Input carries the same material unformatted, for completers that read no
// prompts.
type Request struct {
	Task      Task
	Messages  []Message
	JSON      bool // ask the model for one JSON object
	MaxTokens int  // 0 = the model's own limit
	Input     Input
	// Stream, when set, receives the answer piece by piece in order. An error
	// it returns ends the completion and is returned by Complete.
	Stream func(delta string) error
}

// Input is the material a prompt was made from. Only the fields that belong to
// the task are set.
type Input struct {
	Text         string    // extract, glean: the chunk, verbatim
	Question     string    // keywords, answer, chat
	Passages     []Passage // answer: retrieved passages, best first
	Facts        []Fact    // answer: retrieved entities and relations, best first
	Name         string    // summary: the entity name, or "(a, b)" of a relation
	Kind         string    // summary: "entity" or "relation"
	Descriptions []string  // summary: what is to be joined, canonical order
	Language     string    // wanted output language; "" = that of the text
	MaxTokens    int       // summary: wanted length of the answer
}

// Passage is one retrieved chunk and the id of the reference it is cited by.
type Passage struct {
	Reference string
	Path      string
	Text      string
}

// Fact is one retrieved entity (Target empty) or relation.
type Fact struct {
	Name        string
	Target      string
	Description string
}

// Response is a finished completion.
type Response struct {
	Text  string
	Usage Usage
	// Truncated reports that the model stopped at a length limit. Such an
	// answer may be used but is never cached.
	Truncated bool
}

// Usage counts calls and tokens. Counts a server did not report are zero.
type Usage struct {
	Calls            int `json:"calls"`
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	u.Calls += o.Calls
	u.PromptTokens += o.PromptTokens
	u.CachedTokens += o.CachedTokens
	u.CompletionTokens += o.CompletionTokens
	return u
}

// Completer answers requests. Implementations are safe for concurrent use,
// honour the context, and return errors that are errors.Is-able with the
// sentinels of this package.
type Completer interface {
	Complete(ctx context.Context, req Request) (Response, error)
	// Model identifies the model and the endpoint for cache keys and for
	// people. It never contains a secret.
	Model() string
}
