package main

import (
	"github.com/spf13/pflag"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

const envRerankKey = "LIGHTRAG_RERANK_API_KEY"

// rerankFlags name the model that reranks passages.
type rerankFlags struct {
	url, model string
	min        float64
	require    bool
}

func (f *rerankFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.url, "rerank-url", "", "server that reranks passages, with the API of Cohere or Jina; its key is $"+envRerankKey)
	fl.StringVar(&f.model, "rerank-model", "", "its model")
	fl.Float64Var(&f.min, "min-rerank-score", 0, "drop reranked passages below it (0 = none)")
	fl.BoolVar(&f.require, "require-rerank", false, "fail if passages cannot be reranked, instead of keeping their order")
}

// apply sets what the flags say about the query.
func (f *rerankFlags) apply(q *engine.Query) error {
	switch {
	case f.url != "" && f.model == "":
		return usagef("--rerank-url needs --rerank-model")
	case f.url == "" && f.model != "":
		return usagef("--rerank-model needs --rerank-url")
	case f.url == "" && f.require:
		return usagef("--require-rerank needs --rerank-url")
	case f.min < 0:
		return usagef("--min-rerank-score must not be negative")
	}
	if q.MinRerankScore = f.min; f.require {
		q.Rerank = engine.RerankRequired
	}
	return nil
}

// reranker connects the reranking server, nil when none is named. Its key is
// its own: those of other servers are never sent to it.
func (a *app) reranker(f *rerankFlags) (*llm.HTTPReranker, error) {
	if f.url == "" || a.endpoints.offline {
		return nil, nil
	}
	r, err := llm.NewHTTPReranker(llm.HTTPRerankerOptions{
		BaseURL: f.url, Model: f.model, APIKey: a.env(envRerankKey), Logger: a.log,
	})
	if err != nil {
		return nil, usagef("--rerank-url, --rerank-model: %s", a.scrub(err.Error()))
	}
	return r, nil
}
