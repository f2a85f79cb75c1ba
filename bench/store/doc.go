// Package store builds stores of the synthetic corpus for benchmarks and
// reports: the chunks, the documents made of them, the model, and an embedder
// that knows the chunks' vectors beforehand and counts the time of all others,
// so that the cost of the embedding can be taken out.
package store
