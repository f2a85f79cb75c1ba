package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// rerankServer answers with body after the statuses, one per call.
func rerankServer(t *testing.T, body string, statuses ...int) (*httptest.Server, *atomic.Int32, *rerankRequest) {
	t.Helper()
	var calls atomic.Int32
	got := new(rerankRequest)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		if err := json.NewDecoder(r.Body).Decode(got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Path", r.URL.Path)
		if n <= len(statuses) {
			w.WriteHeader(statuses[n-1])
			fmt.Fprintf(w, `{"message":"no: %s"}`, r.Header.Get("Authorization"))
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv, &calls, got
}

func testReranker(t *testing.T, o HTTPRerankerOptions) *HTTPReranker {
	t.Helper()
	if o.Model == "" {
		o.Model = "ranker"
	}
	o.RetryMin = time.Millisecond
	r, err := NewHTTPReranker(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

const threeRanked = `{"id":"x","results":[{"index":1,"relevance_score":0.2,"document":{"text":"b"}},
	{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":-1.5}],"usage":{"total_tokens":12},"meta":{"api_version":{"version":"2"}}}`

func TestRerankReturnsTheBestFirst(t *testing.T) {
	srv, _, got := rerankServer(t, threeRanked)
	r := testReranker(t, HTTPRerankerOptions{BaseURL: srv.URL})
	docs := []string{"a", "b", "c"}
	for _, tt := range []struct {
		top  int
		sent int
		want []Reranked
	}{
		{0, 3, []Reranked{{2, 0.9}, {1, 0.2}, {0, -1.5}}},
		{9, 3, []Reranked{{2, 0.9}, {1, 0.2}, {0, -1.5}}},
		{2, 2, []Reranked{{2, 0.9}, {1, 0.2}}},
	} {
		out, err := r.Rerank(t.Context(), "q", docs, tt.top)
		if err != nil || !slices.Equal(out, tt.want) {
			t.Errorf("top %d: %v, %v", tt.top, out, err)
		}
		if got.Model != "ranker" || got.Query != "q" || !slices.Equal(got.Documents, docs) || got.TopN != tt.sent {
			t.Errorf("top %d: sent %+v", tt.top, *got)
		}
	}
	if out, err := r.Rerank(t.Context(), "q", nil, 3); out != nil || err != nil {
		t.Errorf("no documents: %v, %v", out, err)
	}
}

func TestRerankAddresses(t *testing.T) {
	for given, want := range map[string]string{
		"http://h":                         "http://h/v1/rerank",
		"http://h/":                        "http://h/v1/rerank",
		"http://h/v1":                      "http://h/v1/rerank",
		"http://h/v1/rerank":               "http://h/v1/rerank",
		"http://h/v2/rerank/":              "http://h/v2/rerank",
		"http://h/rerank":                  "http://h/rerank",
		"http://h/gateway/v3":              "http://h/gateway/v3/rerank",
		"https://api.cohere.com":           "https://api.cohere.com/v2/rerank",
		"https://api.cohere.com/v1/rerank": "https://api.cohere.com/v1/rerank",
		"https://api.jina.ai/v1":           "https://api.jina.ai/v1/rerank",
	} {
		r := testReranker(t, HTTPRerankerOptions{BaseURL: given})
		if got := r.conn.base + "/rerank"; got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	for _, bad := range []HTTPRerankerOptions{
		{Model: "m"}, {Model: "m", BaseURL: "ftp://h"}, {BaseURL: "http://h"}, {Model: "m", BaseURL: "://"},
		{Model: "m", BaseURL: "http://h", APIKey: "a\nb"},
	} {
		if _, err := NewHTTPReranker(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestRerankAnswersThatAreNone(t *testing.T) {
	for name, body := range map[string]string{
		"no results":         `{"results":[]}`,
		"another object":     `{"data":[]}`,
		"index out of range": `{"results":[{"index":2,"relevance_score":1}]}`,
		"negative index":     `{"results":[{"index":-1,"relevance_score":1}]}`,
		"no index":           `{"results":[{"relevance_score":1}]}`,
		"ranked twice":       `{"results":[{"index":1,"relevance_score":1},{"index":1,"relevance_score":2}]}`,
		"no score":           `{"results":[{"index":1}]}`,
		"score is a text":    `{"results":[{"index":1,"relevance_score":"NaN"}]}`,
		"score is too large": `{"results":[{"index":1,"relevance_score":1e999}]}`,
		"not JSON":           `<html>`,
		"error in a 200":     `{"error":{"message":"broken"}}`,
	} {
		srv, calls, _ := rerankServer(t, body)
		r := testReranker(t, HTTPRerankerOptions{BaseURL: srv.URL, Retries: 1})
		if out, err := r.Rerank(t.Context(), "q", []string{"a", "b"}, 2); !errors.Is(err, ErrBadResponse) || out != nil {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		if calls.Load() != 2 {
			t.Errorf("%s: %d calls", name, calls.Load())
		}
	}
	r := testReranker(t, HTTPRerankerOptions{BaseURL: "http://127.0.0.1:1", Retries: -1})
	for _, tt := range []struct {
		query string
		docs  []string
	}{{" ", []string{"a"}}, {"q", []string{"a", ""}}} {
		if _, err := r.Rerank(t.Context(), tt.query, tt.docs, 1); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}, 1); !errors.Is(err, ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
}

func TestRerankTriesAgainWhereItCanHelp(t *testing.T) {
	const key = "jina_this-must-never-be-seen"
	for _, tt := range []struct {
		statuses []int
		calls    int
		want     error
	}{
		{[]int{429, 503}, 3, nil},
		{[]int{500, 500, 500}, 3, ErrUnavailable},
		{[]int{401, 200}, 1, ErrAuth},
		{[]int{422, 200}, 1, ErrInvalid},
	} {
		srv, calls, _ := rerankServer(t, threeRanked, tt.statuses...)
		r := testReranker(t, HTTPRerankerOptions{BaseURL: srv.URL, APIKey: key})
		_, err := r.Rerank(t.Context(), "q", []string{"a", "b", "c"}, 3)
		if !errors.Is(err, tt.want) || int(calls.Load()) != tt.calls {
			t.Errorf("%v: %d calls, %v", tt.statuses, calls.Load(), err)
		}
		if shown := fmt.Sprintf("%v %v %+v %#v", err, r, r, r); strings.Contains(shown, key) {
			t.Errorf("the key is shown: %s", shown)
		}
	}
}

func TestRerankHonoursTheContext(t *testing.T) {
	entered := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var in rerankRequest
		_ = json.NewDecoder(r.Body).Decode(&in) // so that the server notices that the client is gone
		close(entered)
		<-r.Context().Done()
	}))
	defer srv.Close()
	r := testReranker(t, HTTPRerankerOptions{BaseURL: srv.URL, Limiter: NewLimiter(LimitOptions{Concurrency: 1})})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("asked to stop")
	go func() { <-entered; cancel(why) }()
	if _, err := r.Rerank(ctx, "q", []string{"a"}, 1); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	if p, err := r.conn.limiter.Acquire(t.Context(), PriorityQuery, 0); err != nil { // the turn was given back
		t.Error(err)
	} else {
		p.Release(0)
	}
}
