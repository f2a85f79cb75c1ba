package llm

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// OpenAIEmbedOptions configures an OpenAIEmbedder. Only Model is required. The
// fields shared with OpenAIOptions mean the same.
type OpenAIEmbedOptions struct {
	BaseURL string
	APIKey  string
	Model   string

	// Dim is the expected number of components; 0 = that of the first answer,
	// see Probe. Another number is an ErrDimension.
	Dim int
	// Dimensions, when set, asks the model for vectors of that length and is the
	// expected length too.
	Dimensions int
	// MaxTokens is the longest input of the model, reported by Info; 0 =
	// unlimited. Longer texts are the caller's to cut.
	MaxTokens int
	// QueryPrefix and DocumentPrefix are put before texts, for models that were
	// trained with such marks ("query: ", "passage: ").
	QueryPrefix, DocumentPrefix string

	BatchTexts  int // texts per request, default 64
	BatchTokens int // tokens per request, estimated, default 65,536

	Timeout           time.Duration // of one attempt, default 60 s
	HTTPClient        *http.Client
	Concurrency       int // requests at a time, default 8; below 0 = unbounded
	RequestsPerMinute int
	TokensPerMinute   int
	Limiter           *Limiter

	Retries       int // default 4; below 0 = none
	RetryMin      time.Duration
	RetryMax      time.Duration
	RetryAfterMax time.Duration

	Logger       *slog.Logger
	ExtraHeaders map[string]string
}

// String names the model and leaves out every secret.
func (o OpenAIEmbedOptions) String() string { return "OpenAIEmbedOptions{" + o.Model + "}" }

// GoString is String.
func (o OpenAIEmbedOptions) GoString() string { return o.String() }

// OpenAIEmbedder is an Embedder for servers that speak the embeddings API. It is
// safe for concurrent use; Close it when done.
type OpenAIEmbedder struct {
	opt      OpenAIEmbedOptions
	conn     *connection
	quirks   quirks
	parallel int
	dim      atomic.Int64
	mu       sync.Mutex
	used     Usage
}

var _ Embedder = (*OpenAIEmbedder)(nil)

// NewOpenAIEmbedder returns a client. It does not connect. The error is
// ErrInvalid and names every option that is wrong.
func NewOpenAIEmbedder(o OpenAIEmbedOptions) (*OpenAIEmbedder, error) {
	if o.Dim < 0 || o.Dimensions < 0 || o.MaxTokens < 0 || o.Dim > 0 && o.Dimensions > 0 && o.Dim != o.Dimensions {
		return nil, fmt.Errorf("llm: embed: %w: Dim %d, Dimensions %d and MaxTokens %d do not go together",
			ErrInvalid, o.Dim, o.Dimensions, o.MaxTokens)
	}
	shared := OpenAIOptions{
		BaseURL: o.BaseURL, APIKey: o.APIKey, Model: o.Model, HTTPClient: o.HTTPClient,
		Timeout: orDefault(o.Timeout, 60*time.Second), Concurrency: orDefault(o.Concurrency, 8),
		RequestsPerMinute: o.RequestsPerMinute, TokensPerMinute: o.TokensPerMinute, Limiter: o.Limiter,
		Retries: o.Retries, RetryMin: o.RetryMin, RetryMax: o.RetryMax, RetryAfterMax: o.RetryAfterMax,
		Logger: o.Logger, ExtraHeaders: o.ExtraHeaders,
	}.connection()
	shared.limits.Concurrency = orDefault(o.Concurrency, 8)
	conn, err := newConnection("embed", shared)
	if err != nil {
		return nil, err
	}
	o.APIKey, o.ExtraHeaders = "", nil // the connection alone holds them
	o.BatchTexts = max(orDefault(o.BatchTexts, 64), 1)
	o.BatchTokens = max(orDefault(o.BatchTokens, 1<<16), 1)
	e := &OpenAIEmbedder{opt: o, conn: conn, parallel: orDefault(o.Concurrency, 8)}
	e.dim.Store(int64(max(o.Dim, o.Dimensions)))
	return e, nil
}

// Info describes the vector space. Dim is 0 until it is known. Prefixes change
// the vectors, so that they are part of Checksum.
func (e *OpenAIEmbedder) Info() EmbedderInfo {
	info := EmbedderInfo{Name: e.opt.Model, Dim: int(e.dim.Load()), MaxTokens: e.opt.MaxTokens}
	if e.opt.QueryPrefix != "" || e.opt.DocumentPrefix != "" {
		h := fnv.New64a()
		fmt.Fprintf(h, "%q%q", e.opt.QueryPrefix, e.opt.DocumentPrefix)
		info.Checksum = fmt.Sprintf("prefix-%016x", h.Sum64())
	}
	return info
}

// String names the model and the host.
func (e *OpenAIEmbedder) String() string { return e.opt.Model + "@" + e.conn.host }

// GoString is String.
func (e *OpenAIEmbedder) GoString() string { return e.String() }

// Close ends idle connections of the client's own pool.
func (e *OpenAIEmbedder) Close() error { e.conn.close(); return nil }

// Usage returns what all calls so far used.
func (e *OpenAIEmbedder) Usage() Usage {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.used
}

// Probe embeds one word, which checks the endpoint and makes Info().Dim known.
func (e *OpenAIEmbedder) Probe(ctx context.Context) (EmbedderInfo, error) {
	_, err := e.Embed(ctx, []string{"probe"}, PurposeQuery)
	return e.Info(), err
}

// batch is a range of the texts that goes into one request.
type batch struct{ from, to, tokens int }

// batches cuts texts into ranges within the limits; a text that is over the
// token limit alone goes alone.
func (e *OpenAIEmbedder) batches(texts []string) []batch {
	var out []batch
	var cur batch
	for i, t := range texts {
		n := estimateTokens(t)
		if cur.to > cur.from && (cur.to-cur.from >= e.opt.BatchTexts || cur.tokens+n > e.opt.BatchTokens) {
			out = append(out, cur)
			cur = batch{from: i, to: i}
		}
		cur.to, cur.tokens = i+1, cur.tokens+n
	}
	if cur.to > cur.from {
		out = append(out, cur)
	}
	return out
}

// Embed returns one vector per text, each checked for its dimension and for
// numbers that can be compared (ErrDimension, ErrVector). An empty text is
// ErrInvalid: servers refuse it, or answer with zeros. Batches run concurrently;
// the first error ends the others.
func (e *OpenAIEmbedder) Embed(ctx context.Context, texts []string, purpose Purpose) ([][]float32, error) {
	for i, t := range texts {
		if t == "" {
			return nil, fmt.Errorf("llm: %s: %w: text %d is empty", e.conn.policy.what, ErrInvalid, i)
		}
	}
	prefix, priority := e.opt.DocumentPrefix, PriorityExtract
	if purpose == PurposeQuery {
		prefix, priority = e.opt.QueryPrefix, PriorityQuery
	}
	out := make([][]float32, len(texts))
	g, gctx := errgroup.WithContext(ctx)
	if e.parallel > 0 {
		g.SetLimit(e.parallel)
	}
	for _, b := range e.batches(texts) {
		g.Go(func() error {
			if gctx.Err() != nil {
				return context.Cause(gctx)
			}
			input := make([]string, 0, b.to-b.from)
			for _, t := range texts[b.from:b.to] {
				input = append(input, prefix+t)
			}
			vectors, err := retry(gctx, e.conn.policy, func() ([][]float32, error) {
				return e.turn(gctx, input, b, priority)
			})
			copy(out[b.from:], vectors)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("llm: %s: %w", e.conn.policy.what, cause)
		}
		return nil, err
	}
	// A dimension that was not known is that of the first text, for good.
	if len(out) > 0 {
		e.dim.CompareAndSwap(0, int64(len(out[0])))
	}
	want := int(e.dim.Load())
	for i, v := range out {
		if len(v) != want {
			return nil, fmt.Errorf("llm: %s: %w", e.conn.policy.what, &DimensionError{Text: i, Have: len(v), Want: want})
		}
	}
	return out, nil
}

// turn waits for its turn and sends one batch.
func (e *OpenAIEmbedder) turn(ctx context.Context, input []string, b batch, p Priority) ([][]float32, error) {
	permit, err := e.conn.limiter.Acquire(ctx, p, b.tokens)
	if err != nil {
		return nil, err
	}
	actx, w := newWatch(ctx, e.conn.timeout, e.conn.timeout)
	defer w.stop()
	answer, err := e.send(actx, input)
	spent := -1
	if answer.Usage.PromptTokens > 0 {
		spent = answer.Usage.PromptTokens
	} else if answer.Usage.TotalTokens > 0 {
		spent = answer.Usage.TotalTokens
	}
	permit.Release(spent)
	e.conn.slowDown(err)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.used = e.used.Add(Usage{Calls: 1, PromptTokens: max(spent, 0)})
	e.mu.Unlock()
	vectors, err := answer.order(len(input))
	if err != nil {
		return nil, err
	}
	want := int(e.dim.Load())
	for i, v := range vectors {
		if want == 0 {
			want = len(v)
		}
		if err := checkVector(v, want, b.from+i); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// send sends one batch, and again for every field the server refuses.
func (e *OpenAIEmbedder) send(ctx context.Context, input []string) (embedAnswer, error) {
	for {
		in := embedRequest{Model: e.opt.Model, Input: input}
		var sent quirk
		if !e.quirks.has(noBase64) {
			in.EncodingFormat, sent = "base64", sent|noBase64
		}
		if e.opt.Dimensions > 0 && !e.quirks.has(noDimensions) {
			in.Dimensions, sent = e.opt.Dimensions, sent|noDimensions
		}
		var answer embedAnswer
		err := e.conn.post(ctx, "/embeddings", in, &answer)
		if _, again := e.quirks.learn(err, sent); !again {
			return answer, err
		}
		e.conn.log.LogAttrs(ctx, slog.LevelInfo, "llm: sending again without a refused field",
			slog.String("call", e.conn.policy.what), slog.String("error", err.Error()))
	}
}
