package llm

import "context"

// Purpose tells an asymmetric embedding model which side of a match a text is.
type Purpose uint8

// The two sides of a match.
const (
	PurposeDocument Purpose = iota
	PurposeQuery
)

// EmbedderInfo identifies a vector space. Two embedders may share a store only
// if all three of Name, Dim and Checksum are equal.
type EmbedderInfo struct {
	Name      string // model name, no secret in it
	Dim       int    // components per vector
	Checksum  string // of the weights, where known; else ""
	MaxTokens int    // longest input in tokens; 0 = unlimited
}

// Embedder turns texts into vectors of Info().Dim float32 components, one per
// text and in the same order. Implementations are safe for concurrent use and
// return either len(texts) vectors or an error, never fewer.
type Embedder interface {
	Embed(ctx context.Context, texts []string, purpose Purpose) ([][]float32, error)
	Info() EmbedderInfo
}
