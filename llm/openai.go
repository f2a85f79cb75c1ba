package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// OpenAIOptions configures an OpenAI client. Only Model is required.
type OpenAIOptions struct {
	// BaseURL is the address of the server, with or without /v1; default
	// https://api.openai.com/v1. User info becomes basic authentication.
	BaseURL string
	APIKey  string // "" sends none
	Model   string

	Temperature float64 // 0, the default, is sent as 0; models that take none get none
	MaxTokens   int     // per answer, where the request has no limit of its own; 0 = the model's

	// Timeout bounds one attempt; of a streamed one, the wait for its first
	// byte. Default 240 s. The context bounds the whole call.
	Timeout time.Duration
	// StreamIdleTimeout bounds the wait between two pieces of a stream. Default
	// 90 s.
	StreamIdleTimeout time.Duration
	// HTTPClient replaces the client's own connection pool, which uses no proxy.
	// Redirects are never followed.
	HTTPClient *http.Client

	Concurrency       int // calls at a time, default 4; below 0 = unbounded
	RequestsPerMinute int // 0 = unbounded
	TokensPerMinute   int // 0 = unbounded
	// Limiter replaces the three fields above by a limiter that is shared.
	Limiter *Limiter

	Retries       int           // attempts after the first, default 4; below 0 = none
	RetryMin      time.Duration // first back-off, default 1 s
	RetryMax      time.Duration // longest back-off, default 30 s
	RetryAfterMax time.Duration // longest wait a server may ask for, default 2 min

	Logger       *slog.Logger      // nil = silent; never given a key or a prompt
	ExtraHeaders map[string]string // their values are treated as secrets
}

// String names the model and leaves out every secret, so that printing options
// is safe.
func (o OpenAIOptions) String() string { return "OpenAIOptions{" + o.Model + "}" }

// GoString is String.
func (o OpenAIOptions) GoString() string { return o.String() }

// orDefault returns v, or d if v is zero; what is below zero becomes zero.
func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return max(v, 0)
}

func (o OpenAIOptions) connection() connectionOptions {
	return connectionOptions{
		baseURL: o.BaseURL, apiKey: o.APIKey, model: o.Model, client: o.HTTPClient,
		timeout: orDefault(o.Timeout, 240*time.Second), limiter: o.Limiter,
		limits: LimitOptions{
			Concurrency: orDefault(o.Concurrency, 4), RequestsPerMinute: o.RequestsPerMinute,
			TokensPerMinute: o.TokensPerMinute,
		},
		retries: orDefault(o.Retries, 4), retryMin: orDefault(o.RetryMin, time.Second),
		retryMax: orDefault(o.RetryMax, 30*time.Second), retryAfterMax: orDefault(o.RetryAfterMax, 2*time.Minute),
		log: o.Logger, header: o.ExtraHeaders,
	}
}

// OpenAI is a Completer for servers that speak the chat completions API. It is
// safe for concurrent use; Close it when done.
type OpenAI struct {
	opt    OpenAIOptions
	conn   *connection
	client *openai.Client
	quirks quirks
	// think remembers how answers of this model begin, see holdBytes.
	think atomic.Uint32
}

var _ Completer = (*OpenAI)(nil)

// NewOpenAI returns a client. It does not connect. The error is ErrInvalid and
// names every option that is wrong.
func NewOpenAI(o OpenAIOptions) (*OpenAI, error) {
	if math.IsNaN(o.Temperature) || o.Temperature < 0 || o.Temperature > 2 {
		return nil, fmt.Errorf("llm: complete: %w: temperature %v is outside 0..2", ErrInvalid, o.Temperature)
	}
	conn, err := newConnection("complete", o.connection())
	if err != nil {
		return nil, err
	}
	o.StreamIdleTimeout = orDefault(o.StreamIdleTimeout, 90*time.Second)
	o.APIKey, o.ExtraHeaders = "", nil // the connection alone holds them
	cfg := openai.DefaultConfig("")
	cfg.BaseURL = conn.base
	cfg.HTTPClient = zeroTemperature{conn}
	return &OpenAI{opt: o, conn: conn, client: openai.NewClientWithConfig(cfg)}, nil
}

// Model returns the model and the host it is asked at: "gpt-4o-mini@api.openai.com".
func (o *OpenAI) Model() string { return o.opt.Model + "@" + o.conn.host }

// String is Model, so that printing a client shows no secret.
func (o *OpenAI) String() string { return o.Model() }

// GoString is String.
func (o *OpenAI) GoString() string { return o.Model() }

// Close ends idle connections of the client's own pool.
func (o *OpenAI) Close() error { o.conn.close(); return nil }

// Complete answers req. It waits for its turn (questions before summaries before
// extraction) and tries again where that can help, a streamed answer only as
// long as no piece of it was delivered.
//
// What models mark as reasoning is not part of the text; see Stream below. An
// answer without text is an error. With an error, the Response holds what came
// and what was used.
//
// Streaming: the pieces joined are Response.Text, with one exception: if the
// model closes a reasoning block that it never opened, far into the first answer
// that this client streams, the pieces delivered by then held the reasoning;
// Response.Text does not, and later answers are held back until the block is
// closed. The callback runs while the call holds its turn, and must not call
// Complete of the same client.
func (o *OpenAI) Complete(ctx context.Context, req Request) (Response, error) {
	messages, estimate := chatMessages(req.Messages)
	if len(messages) == 0 {
		return Response{}, fmt.Errorf("llm: %s: %w: no message with content", o.conn.policy.what, ErrInvalid)
	}
	var used Usage
	delivered := false
	resp, err := retry(ctx, o.conn.policy, func() (Response, error) {
		permit, err := o.conn.limiter.Acquire(ctx, req.Task.Priority(), estimate)
		if err != nil {
			return Response{}, err
		}
		resp, err := o.attempt(ctx, req, messages, &delivered)
		spent := resp.Usage.PromptTokens + resp.Usage.CompletionTokens
		if spent == 0 {
			spent = -1 // not reported
		}
		permit.Release(spent)
		o.conn.slowDown(err)
		used = used.Add(resp.Usage)
		if err != nil && delivered {
			err = finalError{err}
		}
		return resp, err
	})
	resp.Usage = used
	return resp, err
}

// slowDown holds back other calls as long as a server that refused this one for
// its rate asked to.
func (c *connection) slowDown(err error) {
	if errors.Is(err, ErrRateLimited) {
		if d := retryAfter(err); d > 0 && d <= c.policy.waitMax {
			c.limiter.Pause(d)
		}
	}
}

// chatMessages drops messages without content, which the SDK would send without
// the field and servers refuse, and estimates the tokens of the rest.
func chatMessages(in []Message) ([]openai.ChatCompletionMessage, int) {
	out := make([]openai.ChatCompletionMessage, 0, len(in))
	tokens := 0
	for _, m := range in {
		if m.Content != "" {
			out = append(out, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
			tokens += estimateTokens(m.Content) + 4
		}
	}
	return out, tokens
}

// attempt sends the request once, and again for every field the server refuses.
func (o *OpenAI) attempt(ctx context.Context, req Request, messages []openai.ChatCompletionMessage, delivered *bool) (Response, error) {
	var without quirk
	for {
		body, sent := o.body(req, messages, without)
		var resp Response
		var err error
		actx, w := newWatch(ctx, o.conn.timeout, o.opt.StreamIdleTimeout)
		if req.Stream != nil {
			resp, err = o.stream(actx, w, body, req, delivered)
		} else {
			resp, err = o.whole(actx, body, req)
		}
		w.stop()
		if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) && !*delivered {
			err = context.Cause(ctx)
		}
		x, again := o.quirks.learn(err, sent&^without)
		if !again {
			return resp, err
		}
		without |= x
		o.conn.log.LogAttrs(ctx, slog.LevelInfo, "llm: sending again without a refused field",
			slog.String("call", o.conn.policy.what), slog.String("error", err.Error()))
	}
}

// body builds the request without the fields in without and those known to be
// refused. It returns which of the refusable ones it holds.
func (o *OpenAI) body(req Request, messages []openai.ChatCompletionMessage, without quirk) (openai.ChatCompletionRequest, quirk) {
	b := openai.ChatCompletionRequest{Model: o.opt.Model, Messages: messages}
	var sent quirk
	take := func(x quirk) bool {
		if without&x != 0 || o.quirks.has(x) {
			return false
		}
		sent |= x
		return true
	}
	reasoning := reasoningModel(o.opt.Model)
	if !reasoning && take(noTemperature) {
		b.Temperature = float32(o.opt.Temperature)
		if b.Temperature == 0 {
			b.Temperature = math.SmallestNonzeroFloat32 // see zeroTemperature
		}
	}
	limit := req.MaxTokens
	if limit <= 0 {
		limit = o.opt.MaxTokens
	}
	if limit > 0 {
		if !reasoning && take(newMaxTokens) {
			//lint:ignore SA1019 servers other than OpenAI's know only this field
			b.MaxTokens = limit
		} else {
			b.MaxCompletionTokens = limit
		}
	}
	if req.JSON && take(noResponseFormat) {
		b.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	if req.Stream != nil && take(noStreamOptions) {
		b.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	return b, sent
}

// whole asks for the answer in one piece.
func (o *OpenAI) whole(ctx context.Context, body openai.ChatCompletionRequest, req Request) (Response, error) {
	answer, err := o.client.CreateChatCompletion(ctx, body)
	if err != nil {
		return Response{}, o.sdkError(err)
	}
	return o.accept(answer, req)
}

// accept checks a complete answer.
func (o *OpenAI) accept(answer openai.ChatCompletionResponse, req Request) (Response, error) {
	resp := Response{Usage: usageOf(&answer.Usage)}
	if len(answer.Choices) == 0 {
		return resp, fmt.Errorf("%w: %s: no choices", ErrBadResponse, o.conn.endpoint)
	}
	c := answer.Choices[0]
	raw := c.Message.Content
	resp.Text = stripThink(raw)
	o.noteThink(req, raw)
	return resp, o.finish(&resp, string(c.FinishReason), c.Message.Refusal)
}

// finish judges a complete answer by its text and the reason it ended.
func (o *OpenAI) finish(resp *Response, reason, refusal string) error {
	switch reason {
	case "length", "content_filter", "model_length", "max_tokens":
		resp.Truncated = true
	case "error":
		return fmt.Errorf("%w: %s: the model failed", ErrBadResponse, o.conn.endpoint)
	}
	if strings.TrimSpace(resp.Text) != "" {
		return nil
	}
	switch {
	case refusal != "":
		return fmt.Errorf("%w: %s: %s", ErrRefused, o.conn.endpoint, o.conn.redact.message(refusal))
	case reason == "content_filter":
		return fmt.Errorf("%w: %s: content filter", ErrRefused, o.conn.endpoint)
	case resp.Truncated:
		return fmt.Errorf("%w: %s", ErrTruncated, o.conn.endpoint)
	}
	return fmt.Errorf("%w: %s: no text (finish reason %q)", ErrBadResponse, o.conn.endpoint, reason)
}

func usageOf(u *openai.Usage) Usage {
	out := Usage{Calls: 1}
	if u != nil {
		out.PromptTokens, out.CompletionTokens = max(u.PromptTokens, 0), max(u.CompletionTokens, 0)
		if u.PromptTokensDetails != nil {
			out.CachedTokens = max(u.PromptTokensDetails.CachedTokens, 0)
		}
	}
	return out
}

// sdkError makes an error of this package of one that the SDK returned. Those of
// the connection pass through; the rest are answers that did not decode and
// requests that the SDK would not send.
func (o *OpenAI) sdkError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, new(*StatusError)), errors.As(err, new(*wholeAnswer)), errors.As(err, new(*timeoutError)),
		errors.Is(err, ErrUnavailable), errors.Is(err, ErrBadResponse), errors.As(err, new(finalError)),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &syntax), errors.As(err, &kind):
		return fmt.Errorf("%w: %s: %s", ErrBadResponse, o.conn.endpoint, o.conn.redact.message(err.Error()))
	}
	return finalError{fmt.Errorf("%w: %s", ErrInvalid, o.conn.redact.message(err.Error()))}
}
