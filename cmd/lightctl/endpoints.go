package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

// The environment variables that hold keys. A key alone configures nothing.
const (
	envKey      = "OPENAI_API_KEY"
	envEmbedKey = "LIGHTRAG_EMBED_API_KEY"
)

// endpoints are the flags that name models.
type endpoints struct {
	offline               bool
	llmURL, llmModel      string
	embedURL, embedModel  string
	embedDim, embedTokens int

	named bool // an embedder may be named without being there
}

// namesEmbedder annotates commands that can work with an embedder that is only
// named: it is noted in the store and not asked.
const namesEmbedder = "names-embedder"

func (e *endpoints) register(f *pflag.FlagSet) {
	f.BoolVar(&e.offline, "offline", false, "no model and no network, even if endpoints are given")
	f.StringVar(&e.llmURL, "llm-url", "", "OpenAI-compatible server that extracts and answers; keeps the offline embedder")
	f.StringVar(&e.llmModel, "llm-model", "", "model of --llm-url")
	f.StringVar(&e.embedURL, "embed-url", "", "OpenAI-compatible server that embeds; fixed for a store until rebuild-index --re-embed changes it")
	f.StringVar(&e.embedModel, "embed-model", "", "model of --embed-url")
	f.IntVar(&e.embedDim, "embed-dim", 0, "components of the vectors of --embed-model (0 = ask the server)")
	f.IntVar(&e.embedTokens, "embed-max-tokens", 0, "longest text that --embed-model takes, in tokens; longer ones are cut (0 = what is known of the model)")
}

// check refuses flags that only make sense together.
func (e *endpoints) check() error {
	switch {
	case e.offline:
		*e = endpoints{offline: true}
	case e.llmURL != "" && e.llmModel == "":
		return usagef("--llm-url needs --llm-model")
	case e.llmURL == "" && e.llmModel != "":
		return usagef("--llm-model needs --llm-url (that of OpenAI is https://api.openai.com/v1)")
	case e.embedURL != "" && e.embedModel == "":
		return usagef("--embed-url needs --embed-model")
	case e.embedURL == "" && e.named && e.embedModel != "" && e.embedDim == 0:
		return usagef("--embed-model without --embed-url needs --embed-dim")
	case e.embedURL == "" && !(e.named && e.embedModel != "") && (e.embedModel != "" || e.embedDim != 0 || e.embedTokens != 0):
		return usagef("--embed-model, --embed-dim and --embed-max-tokens need --embed-url (that of OpenAI is https://api.openai.com/v1)")
	case e.embedDim < 0 || e.embedDim > 65535:
		return usagef("--embed-dim must be between 1 and 65535, not %d", e.embedDim)
	case e.embedTokens < 0:
		return usagef("--embed-max-tokens must not be negative")
	}
	return nil
}

// models are the pair that a store works with.
type models struct {
	completer llm.Completer
	embedder  llm.Embedder
	close     func()
}

// models connects the configured endpoints and says so when there are none.
// An embedding server whose dimension is not given is asked for it.
func (a *app) models(ctx context.Context) (*models, error) {
	e := &a.endpoints
	m := &models{completer: offline.NewCompleter(), embedder: offline.NewEmbedder()}
	var closers []func() error
	m.close = func() {
		for _, c := range closers {
			if err := c(); err != nil {
				a.log.Debug("closing a model client", "error", err)
			}
		}
	}
	switch {
	case e.embedURL == "" && e.embedModel != "":
		a.note("no --embed-url: the store is made for %s, which is not asked now", e.embedModel)
		m.embedder = absent{llm.EmbedderInfo{Name: e.embedModel, Dim: e.embedDim, MaxTokens: e.maxTokens()}}
	case e.llmURL == "" && e.embedURL == "":
		a.note("no endpoint configured: using the offline pair %s and %s (weaker than a language model; see --llm-url)",
			m.completer.Model(), m.embedder.Info().Name)
	case e.llmURL == "":
		a.note("no --llm-url: extraction and answers come from the offline rules %s", m.completer.Model())
	case e.embedURL == "" && e.embedModel == "":
		a.log.Info("no --embed-url: vectors come from the offline embedder", "embedder", m.embedder.Info().Name)
	}
	if e.llmURL != "" {
		c, err := llm.NewOpenAI(llm.OpenAIOptions{
			BaseURL: e.llmURL, APIKey: a.env(envKey), Model: e.llmModel, Concurrency: a.concurrency, Logger: a.log,
		})
		if err != nil {
			return nil, usagef("--llm-url, --llm-model: %s", a.scrub(err.Error()))
		}
		m.completer = c
		closers = append(closers, c.Close)
	}
	if e.embedURL != "" {
		c, err := llm.NewOpenAIEmbedder(llm.OpenAIEmbedOptions{
			BaseURL: e.embedURL, APIKey: a.embedKey(), Model: e.embedModel, Dimensions: e.embedDim,
			MaxTokens: e.maxTokens(), Logger: a.log,
		})
		if err != nil {
			m.close()
			return nil, usagef("--embed-url, --embed-model: %s", a.scrub(err.Error()))
		}
		closers = append(closers, c.Close)
		if e.embedDim == 0 {
			if _, err := c.Probe(ctx); err != nil {
				m.close()
				return nil, about(e.embedModel, err)
			}
		}
		m.embedder = c
	}
	return m, nil
}

// absent is an embedder that is known by name only.
type absent struct{ info llm.EmbedderInfo }

func (e absent) Info() llm.EmbedderInfo { return e.info }

func (e absent) Embed(context.Context, []string, llm.Purpose) ([][]float32, error) {
	return nil, fmt.Errorf("%s cannot embed without --embed-url", e.info.Name)
}

// embedKey is the key of the embedding server: its own, or that of the chat
// server when it is the same host. A key is never sent to a third party.
func (a *app) embedKey() string {
	if k := a.env(envEmbedKey); k != "" {
		return k
	}
	e := &a.endpoints
	if h := host(e.embedURL); h != "" && (h == host(e.llmURL) || h == "api.openai.com") {
		return a.env(envKey)
	}
	return ""
}

func host(raw string) string {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// maxTokens is the input limit of models that are known to have one.
func (e *endpoints) maxTokens() int {
	if e.embedTokens == 0 && strings.HasPrefix(e.embedModel, "text-embedding-") {
		return 8191
	}
	return e.embedTokens
}
