package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// HTTPRerankerOptions configures an HTTPReranker. BaseURL and Model are
// required.
type HTTPRerankerOptions struct {
	// BaseURL is the address of the server: with the path of the method
	// (…/v1/rerank, …/v2/rerank, …/rerank), with that of the version, or with
	// neither, which means /v2 for api.cohere.com and /v1 for others.
	BaseURL string
	APIKey  string // "" sends none
	Model   string

	Timeout    time.Duration // of one attempt; default 30 s
	HTTPClient *http.Client  // replaces the client's own connection pool

	Concurrency       int      // calls at a time, default 4; below 0 = unbounded
	RequestsPerMinute int      // 0 = unbounded
	TokensPerMinute   int      // 0 = unbounded
	Limiter           *Limiter // replaces the three fields above by one that is shared

	Retries       int           // attempts after the first, default 2; below 0 = none
	RetryMin      time.Duration // first back-off, default 500 ms
	RetryMax      time.Duration // longest back-off, default 5 s
	RetryAfterMax time.Duration // longest wait a server may ask for, default 15 s

	Logger       *slog.Logger // nil = silent; never given a key or a text
	ExtraHeaders map[string]string
}

// String names the model and leaves out every secret.
func (o HTTPRerankerOptions) String() string { return "HTTPRerankerOptions{" + o.Model + "}" }

// GoString is String.
func (o HTTPRerankerOptions) GoString() string { return o.String() }

// HTTPReranker is a Reranker for servers that speak the rerank API of Cohere and
// Jina, as vLLM, llama.cpp and others do too. It is safe for concurrent use;
// Close it when done. Its waits are short: somebody is waiting for an answer.
type HTTPReranker struct {
	model string
	conn  *connection
}

var _ Reranker = (*HTTPReranker)(nil)

// NewHTTPReranker returns a client. It does not connect. The error is ErrInvalid
// and names every option that is wrong.
func NewHTTPReranker(o HTTPRerankerOptions) (*HTTPReranker, error) {
	if strings.TrimSpace(o.BaseURL) == "" {
		return nil, fmt.Errorf("llm: rerank: %w: no base URL given", ErrInvalid)
	}
	base, plain := rerankBase(o.BaseURL)
	conn, err := newConnection("rerank", connectionOptions{
		baseURL: base, apiKey: o.APIKey, model: o.Model, client: o.HTTPClient,
		timeout: orDefault(o.Timeout, 30*time.Second), limiter: o.Limiter,
		limits: LimitOptions{
			Concurrency: orDefault(o.Concurrency, 4), RequestsPerMinute: o.RequestsPerMinute,
			TokensPerMinute: o.TokensPerMinute,
		},
		retries: orDefault(o.Retries, 2), retryMin: orDefault(o.RetryMin, 500*time.Millisecond),
		retryMax: orDefault(o.RetryMax, 5*time.Second), retryAfterMax: orDefault(o.RetryAfterMax, 15*time.Second),
		log: o.Logger, header: o.ExtraHeaders,
	})
	if err != nil {
		return nil, err
	}
	if plain { // a base address without a path was given one
		conn.base, conn.endpoint = strings.TrimSuffix(conn.base, "/v1"), strings.TrimSuffix(conn.endpoint, "/v1")
	}
	return &HTTPReranker{model: o.Model, conn: conn}, nil
}

// rerankBase takes the method off an address. plain says that the method stands
// right after the host.
func rerankBase(raw string) (base string, plain bool) {
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw, false // to be refused with a reason
	}
	path := strings.TrimRight(u.Path, "/")
	cut, method := strings.CutSuffix(path, "/rerank")
	u.RawPath = ""
	if u.Path = cut; cut == "" && !method && strings.EqualFold(u.Hostname(), "api.cohere.com") {
		u.Path = "/v2"
	}
	return u.String(), method && cut == ""
}

// Model returns the model and the host it is asked at.
func (r *HTTPReranker) Model() string { return r.model + "@" + r.conn.host }

// String is Model, so that printing a client shows no secret.
func (r *HTTPReranker) String() string { return r.Model() }

// GoString is String.
func (r *HTTPReranker) GoString() string { return r.Model() }

// Close ends idle connections of the client's own pool.
func (r *HTTPReranker) Close() error { r.conn.close(); return nil }

type rerankRequest struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

type rerankAnswer struct {
	Results []struct {
		Index *int     `json:"index"`
		Score *float64 `json:"relevance_score"`
	} `json:"results"`
	Usage struct {
		TotalTokens int `json:"total_tokens"`
	} `json:"usage"`
}

// Rerank implements Reranker. An answer with an index out of range or given
// twice, without a finite score, or without any result is ErrBadResponse. An
// empty document is ErrInvalid: servers refuse it.
func (r *HTTPReranker) Rerank(ctx context.Context, query string, documents []string, topN int) ([]Reranked, error) {
	if strings.TrimSpace(query) == "" {
		return nil, fmt.Errorf("llm: %s: %w: blank query", r.conn.policy.what, ErrInvalid)
	}
	estimate := 0
	for i, d := range documents {
		if d == "" {
			return nil, fmt.Errorf("llm: %s: %w: document %d is empty", r.conn.policy.what, ErrInvalid, i)
		}
		estimate += estimateTokens(d) + estimateTokens(query)
	}
	if len(documents) == 0 {
		return nil, nil
	}
	if topN <= 0 || topN > len(documents) {
		topN = len(documents)
	}
	in := rerankRequest{Model: r.model, Query: query, Documents: documents, TopN: topN}
	return retry(ctx, r.conn.policy, func() ([]Reranked, error) {
		permit, err := r.conn.limiter.Acquire(ctx, PriorityQuery, estimate)
		if err != nil {
			return nil, err
		}
		var answer rerankAnswer
		actx, w := newWatch(ctx, r.conn.timeout, r.conn.timeout)
		err = r.conn.post(actx, "/rerank", in, &answer)
		w.stop()
		if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
			err = context.Cause(ctx)
		}
		spent := -1
		if answer.Usage.TotalTokens > 0 {
			spent = answer.Usage.TotalTokens
		}
		permit.Release(spent)
		r.conn.slowDown(err)
		if err != nil {
			return nil, err
		}
		return answer.check(r.conn.endpoint, len(documents), topN)
	})
}

// check returns the results, best first.
func (a *rerankAnswer) check(endpoint string, documents, topN int) ([]Reranked, error) {
	bad := func(format string, args ...any) ([]Reranked, error) {
		return nil, fmt.Errorf("%w: %s: "+format, append([]any{ErrBadResponse, endpoint}, args...)...)
	}
	if len(a.Results) == 0 {
		return bad("no results for %d documents", documents)
	}
	out := make([]Reranked, len(a.Results))
	seen := make([]bool, documents)
	for i, res := range a.Results {
		switch {
		case res.Index == nil || *res.Index < 0 || *res.Index >= documents:
			return bad("result %d has no index below %d", i, documents)
		case seen[*res.Index]:
			return bad("document %d is ranked twice", *res.Index)
		case res.Score == nil || math.IsNaN(*res.Score) || math.IsInf(*res.Score, 0):
			return bad("result %d has no relevance_score", i)
		}
		seen[*res.Index] = true
		out[i] = Reranked{*res.Index, *res.Score}
	}
	slices.SortFunc(out, func(x, y Reranked) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Index, y.Index))
	})
	return out[:min(len(out), topN)], nil
}
