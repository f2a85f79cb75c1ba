package llm

import "context"

// Reranked is a document of a Rerank call and how well it answers the query.
// Scores of one model can be compared with one another, not with cosines.
type Reranked struct {
	Index int // into the documents
	Score float64
}

// Reranker orders documents by how well they answer a query. Implementations
// are safe for concurrent use, honour the context, and return errors that are
// errors.Is-able with the sentinels of this package.
type Reranker interface {
	// Rerank returns the topN best documents, or fewer, best first; all of them
	// if topN is not positive. Indices are distinct and scores finite.
	Rerank(ctx context.Context, query string, documents []string, topN int) ([]Reranked, error)
	// Model identifies the model and the endpoint. It never contains a secret.
	Model() string
}
