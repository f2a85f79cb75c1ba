package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/bench/workload"
	"github.com/lightctl/lightrag/engine"
)

// Published sizes of the corpus, in chunks, and what is distinct in them.
const (
	Chunks1k  = 147
	Chunks5k  = 836
	Chunks20k = 3785
)

// PerDocument is the number of chunks of a document.
const PerDocument = 10

// Dim is the number of components of the vectors.
const Dim = 384

// Corpus is the beginning of the workload, with the model and the embedder
// that belong to it.
type Corpus struct {
	Chunks   []workload.Chunk
	Model    *workload.Model
	Embedder *Embedder
	sizes    []workload.Size // by number of chunks
	asked    []workload.Question
}

// NewCorpus makes the first n chunks.
func NewCorpus(n int) *Corpus {
	c := &Corpus{Embedder: NewEmbedder(Dim), sizes: make([]workload.Size, 1, n+1)}
	w := workload.NewCorpus()
	for i := range n {
		c.Chunks = append(c.Chunks, w.Next())
		c.sizes = append(c.sizes, w.Size())
		if i+1 == min(n, Chunks5k) {
			c.asked = w.Questions(200)
		}
	}
	c.Model = workload.NewModel(c.Chunks)
	return c
}

// Size returns what is distinct in the first n chunks.
func (c *Corpus) Size(n int) workload.Size { return c.sizes[n] }

// Questions returns the 200 published questions, which are about entities of
// the first 836 chunks (about those there are, when there are fewer).
func (c *Corpus) Questions() []workload.Question { return c.asked }

// Documents returns chunks from to to as documents of PerDocument chunks; the
// last one may be shorter.
func (c *Corpus) Documents(from, to int) []engine.Document {
	var docs []engine.Document
	for part := range slices.Chunk(c.Chunks[from:to], PerDocument) {
		d := engine.Document{ID: fmt.Sprintf("doc-%s-%d", part[0].ID, len(part))}
		d.Path = d.ID + ".txt"
		for i, chunk := range part {
			d.Chunks = append(d.Chunks, engine.Chunk{Order: i, Content: chunk.Text})
		}
		docs = append(docs, d)
	}
	return docs
}

// KnowChunks lets the embedder compute the vectors of chunks from to to.
func (c *Corpus) KnowChunks(from, to int) {
	for _, chunk := range c.Chunks[from:to] {
		c.Embedder.Know(chunk.Text)
	}
}

// Query returns question q as a query with its keywords. Each round has the
// same words in another order: the work is the same, but no text of one round
// is equal to one of the eight others.
func Query(q *workload.Question, mode engine.Mode, round int) engine.Query {
	return engine.Query{
		Text: strings.Repeat(" ", round/9) + q.Text + strings.Repeat("?", round%9), Mode: mode,
		LowLevel: rotated(q.Low, round), HighLevel: rotated(q.High, round/3),
	}
}

func rotated(words []string, by int) []string {
	by %= max(len(words), 1)
	return append(slices.Clone(words[by:]), words[:by]...)
}

// KnowQuery lets the embedder compute the vectors of a query.
func (c *Corpus) KnowQuery(q engine.Query) {
	c.Embedder.Know(q.Text, strings.Join(q.LowLevel, ", "), strings.Join(q.HighLevel, ", "))
}
