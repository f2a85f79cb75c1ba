package workload

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/lightctl/lightrag/llm"
)

// Embedder embeds a text as the normalised sum of hashed word vectors, plus a
// direction that all texts share, so that any two of them have a cosine of
// about 0.39 as with real models. It is deterministic, safe for concurrent use
// and implements llm.Embedder.
type Embedder struct {
	dim   int
	bias  []float64
	words sync.Map // string -> []float32, components in [-1, 1), exact
}

// NewEmbedder returns an embedder of dim components.
func NewEmbedder(dim int) *Embedder {
	e := &Embedder{dim: dim, bias: make([]float64, dim)}
	for i, x := range e.word([]byte("bias")) {
		e.bias[i] = float64(x)
	}
	scale(e.bias, 0.8/norm(e.bias))
	return e
}

// Info implements llm.Embedder.
func (e *Embedder) Info() llm.EmbedderInfo {
	return llm.EmbedderInfo{Name: fmt.Sprintf("hashed-words-%d", e.dim), Dim: e.dim}
}

// Embed implements llm.Embedder.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = e.Vector(t)
	}
	return out, nil
}

// Vector returns the unit vector of one text.
func (e *Embedder) Vector(text string) []float32 {
	sum := make([]float64, e.dim)
	var word []byte
	any := false
	flush := func() {
		if len(word) == 0 {
			return
		}
		any = true
		for i, x := range e.word(word) {
			sum[i] += float64(x)
		}
		word = word[:0]
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			word = append(word, c)
		} else {
			flush()
		}
	}
	flush()
	if !any {
		word = append(word, "empty"...)
		flush()
	}
	if n := norm(sum); n > 0 {
		scale(sum, 1/n)
	}
	for i, b := range e.bias {
		sum[i] += b
	}
	n := norm(sum)
	v := make([]float32, e.dim)
	for i, x := range sum {
		v[i] = float32(x / n)
	}
	return v
}

func (e *Embedder) word(w []byte) []float32 {
	if v, ok := e.words.Load(string(w)); ok {
		return v.([]float32)
	}
	r := splitmix{fnv1a(w)}
	v := make([]float32, e.dim)
	for i := range v {
		v[i] = float32(float64(r.next()>>40)/(1<<23) - 1)
	}
	e.words.Store(string(w), v)
	return v
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}
