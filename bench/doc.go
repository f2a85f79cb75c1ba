// Package bench measures the engine. It holds no code that programs use; its
// benchmarks and commands answer how fast the engine is, and what it costs, on
// the machine they run on.
//
// # The parts
//
//   - workload makes the corpus, the questions, the model and the embedding:
//     all deterministic, all from one seed.
//
//   - store builds stores of that corpus and counts what the embedding costs,
//     so that it can be told from what the engine costs.
//
//   - measure has the clocks, the percentiles and the rows of a report.
//
//   - report is the command that prints the figures:
//
//     go run ./bench/report [--quick] [--json]
//
//   - ann is the command that compares package hnsw with other vector
//     indexes:
//
//     go run ./bench/ann [--quick] [--json]
//
//   - quality is the command that measures what retrieval finds, against gold:
//
//     go run ./bench/quality [--quick] [--json]
//
// # Benchmarks
//
//	go test ./bench -run '^$' -bench . [-short]
//
// They share one store of 3,785 chunks (20,004 entities, 30,097 relations),
// built once per process in a temporary directory; with -short it has 836
// chunks (5,002 entities). Percentiles are wall times; CPU times are in the
// report.
//
// # What is and is not measured
//
// The model answers at once, so a figure is what the engine adds to the time
// of a model, not the time of an ingest with one. The vectors of the workload
// are sums of hashed words: beyond the first few ranks they are near ties,
// which is the worst case for an approximate index. Only quality says anything
// about what is found, and nothing here about the quality of answers.
package bench
