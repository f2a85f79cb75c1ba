// Package workload makes the synthetic corpus and the deterministic embedding
// that benchmarks and tests share: chunks with the model answer that belongs
// to each, entities that recur by a Pitman-Yor process, and questions about
// them. Everything follows from one seed; smaller sizes are prefixes of larger
// ones.
package workload
