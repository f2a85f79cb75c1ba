package store

import (
	"context"
	"sync"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/workload"
	"github.com/lightctl/lightrag/llm"
)

// Embedder is the embedding of the workload with a memory of texts that were
// announced, and a meter. It is safe for concurrent use.
type Embedder struct {
	*workload.Embedder

	mu    sync.RWMutex
	known map[string][]float32
	spent measure.Span
}

// NewEmbedder returns an embedder of dim components that knows no text yet.
func NewEmbedder(dim int) *Embedder {
	return &Embedder{Embedder: workload.NewEmbedder(dim), known: make(map[string][]float32)}
}

// Know computes the vectors of texts, so that Embed need not.
func (e *Embedder) Know(texts ...string) {
	for _, t := range texts {
		v := e.Vector(t)
		e.mu.Lock()
		e.known[t] = v
		e.mu.Unlock()
	}
}

// Forget drops all vectors of Know.
func (e *Embedder) Forget() {
	e.mu.Lock()
	e.known = make(map[string][]float32)
	e.mu.Unlock()
}

// Embed implements llm.Embedder.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := measure.StartThread()
	out := make([][]float32, len(texts))
	for i, t := range texts {
		e.mu.RLock()
		v := e.known[t]
		e.mu.RUnlock()
		if v == nil {
			v = e.Vector(t)
		}
		out[i] = v
	}
	span := stop()
	e.mu.Lock()
	e.spent = e.spent.Add(span)
	e.mu.Unlock()
	return out, nil
}

// Spent returns the time of all calls of Embed so far: CPU of their threads,
// and wall times added up.
func (e *Embedder) Spent() measure.Span {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.spent
}
