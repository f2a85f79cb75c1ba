package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRerankFlags(t *testing.T) {
	const key = "rerank-secret-123456"
	b, srv, flags := asked(t)
	b.env[envRerankKey], b.env[envKey] = key, "sk-main-0123456789"
	var sent struct {
		Model, Query string
		Documents    []string
		TopN         int `json:"top_n"`
	}
	fails, auth := false, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = r.Header.Get("Authorization")
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || r.URL.Path != "/v2/rerank" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		if fails {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"message":"bad key %s"}`, auth)
			return
		}
		fmt.Fprint(w, `{"results":[{"index":1,"relevance_score":0.75},{"index":0,"relevance_score":0.25}]}`)
	}))
	defer server.Close()
	ask := with(flags, "query", "What did Ada Lovelace write?", "--mode", "naive", "--cosine-threshold", "-1",
		"--rerank-url", server.URL+"/v2", "--rerank-model", "ranker", "--no-cache")
	plain := decode[queryJSON](t, b.ok(with(flags, "query", "What did Ada Lovelace write?", "--mode", "naive", "--cosine-threshold", "-1", "--json")...))
	r := decode[queryJSON](t, b.ok(append(ask, "--json", "--explain")...))
	if len(r.Chunks) != 2 || r.Chunks[0].ID != plain.Chunks[1].ID || r.Chunks[0].Rerank != 0.75 || r.Explain.Rerank == nil || r.Explain.Rerank.Returned != 2 {
		t.Errorf("%+v", r)
	}
	if sent.Model != "ranker" || len(sent.Documents) != 2 || sent.TopN != 2 || auth != "Bearer "+key {
		t.Errorf("sent %+v with %q", sent, auth)
	}
	if r := decode[queryJSON](t, b.ok(append(ask, "--json", "--min-rerank-score", "0.5")...)); len(r.Chunks) != 1 {
		t.Errorf("%d chunks", len(r.Chunks))
	}
	fails = true
	r2 := b.ok(append(ask, "--json")...)
	if r := decode[queryJSON](t, r2); len(r.Chunks) != 2 || r.Chunks[0].ID != plain.Chunks[0].ID || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r2.err, "warning: ") || strings.Contains(r2.out+r2.err, key) {
		t.Errorf("%s%s", r2.out, r2.err)
	}
	b.exits(exitFailure, append(ask, "--require-rerank")...)
	if got := srv.Chats()[len(srv.Chats())-1].Header.Get("Authorization"); strings.Contains(got, key) {
		t.Error("the model was sent the key of the reranker")
	}
	for _, args := range [][]string{
		{"--rerank-url", server.URL}, {"--rerank-model", "m"}, {"--require-rerank"}, {"--min-rerank-score", "-1"}, {"--context-window", "7"},
		{"--rerank-url", "ftp://x", "--rerank-model", "m"},
	} {
		b.exits(exitUsage, append(with(flags, "query", "a"), args...)...)
	}
}
