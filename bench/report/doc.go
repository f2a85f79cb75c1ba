// Command report measures the engine on the synthetic corpus of package
// workload and prints one row a figure: what an ingest costs, how long one
// more document takes to become visible in a small and in a large store, what
// a retrieval costs and how much of the exact result it finds, what deleting a
// document takes, and what an open store takes.
//
//	go run ./bench/report [--quick] [--json] [--dir folder]
//
// Goals are part of the rows. With --quick there are fewer probes and rounds;
// the sizes are the same. Stores are made in a temporary folder, which is
// removed.
//
// CPU times are those of the process on all cores, without the embedding; see
// package store. Where a time is called CPU per query, the process runs on one
// core, so that it includes what the garbage collector does for the query.
package main
