package llmtest

import (
	"net/http"
	"time"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ChatRequest is a received chat request. Number counts chat requests from 0.
type ChatRequest struct {
	Number              int         `json:"-"`
	Path                string      `json:"-"` // with the query
	Header              http.Header `json:"-"`
	Raw                 []byte      `json:"-"` // the body as it came
	Model               string      `json:"model"`
	Messages            []Message   `json:"messages"`
	Temperature         *float64    `json:"temperature"`
	MaxTokens           int         `json:"max_tokens"`
	MaxCompletionTokens int         `json:"max_completion_tokens"`
	Stream              bool        `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat *struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// User returns the content of the last user message.
func (r ChatRequest) User() string { return r.last("user") }

// System returns the content of the last system message.
func (r ChatRequest) System() string { return r.last("system") }

func (r ChatRequest) last(role string) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i].Content
		}
	}
	return ""
}

// JSON reports whether the request asks for a JSON object.
func (r ChatRequest) JSON() bool { return r.ResponseFormat != nil }

// Usage is what a reply reports.
type Usage struct{ Prompt, Cached, Completion int }

// ChatReply says how to answer. The zero value is an empty answer that ends
// properly.
type ChatReply struct {
	Text   string   // the answer
	Echo   bool     // the answer is the last user message
	Chunks []string // the pieces of a stream; default: Text in pieces of 8 runes
	Refuse string   // the refusal field

	// Status other than 0 or 200 answers with Body, or an error object if that is
	// empty. Body alone answers 200 with it, also to a request for a stream.
	Status      int
	Body        string
	ContentType string // default by what is sent
	RetryAfter  string // header of that name
	Header      http.Header

	FinishReason string // default "stop"; "none" sends none
	Usage        *Usage // default: counted in words
	NoUsage      bool   // report none, also when asked to

	Delay      time.Duration // before anything is sent
	ChunkDelay time.Duration // before each piece but the first
	// Cut ends the connection where the answer's end would be: a stream lacks
	// finish reason and [DONE], a whole answer half of its body.
	Cut bool
	// Stall keeps a stream open without sending more, after the pieces, until the
	// client leaves.
	Stall bool
	// Raw, when set, is sent as the body of an event stream, as it is.
	Raw string
}

// Handler answers chat requests. It may run concurrently.
type Handler func(ChatRequest) ChatReply

// EmbedRequest is a received embeddings request. Number counts them from 0.
type EmbedRequest struct {
	Number         int         `json:"-"`
	Path           string      `json:"-"`
	Header         http.Header `json:"-"`
	Raw            []byte      `json:"-"`
	Model          string      `json:"model"`
	Input          []string    `json:"input"`
	EncodingFormat string      `json:"encoding_format"`
	Dimensions     int         `json:"dimensions"`
}

// EmbedReply says how to answer. Vectors nil means those of Vector.
type EmbedReply struct {
	Vectors [][]float32
	Indexes []int // index field per vector; default 0, 1, …; -1 leaves it out
	Floats  bool  // arrays of numbers, also when base64 was asked for

	Status     int
	Body       string
	RetryAfter string
	Delay      time.Duration
	Tokens     int // reported; default: counted in words
}

// EmbedHandler answers embeddings requests. It may run concurrently.
type EmbedHandler func(EmbedRequest) EmbedReply

// Sequence replies with each in turn and then with the last again.
func Sequence(replies ...ChatReply) Handler {
	return func(r ChatRequest) ChatReply {
		if len(replies) == 0 {
			return ChatReply{Echo: true}
		}
		return replies[min(r.Number, len(replies)-1)]
	}
}

// EmbedSequence is Sequence for embeddings.
func EmbedSequence(replies ...EmbedReply) EmbedHandler {
	return func(r EmbedRequest) EmbedReply {
		if len(replies) == 0 {
			return EmbedReply{}
		}
		return replies[min(r.Number, len(replies)-1)]
	}
}
