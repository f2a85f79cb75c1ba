// Package fuzz holds the tests that try to break a store: random histories
// against a plain model, power cuts, and processes that are killed.
//
// It has no code of its own. The tests use the public API of package engine
// with a model and an embedder that are functions of their input, so that what
// a store must hold can be worked out with maps and compared byte for byte.
//
//	go test ./fuzz                                    everything, briefly
//	go test ./fuzz -rapid.checks=1000                 longer histories
//	go test ./fuzz -run KillLoop -killloop=10m        kill processes for ten minutes
//	go test ./fuzz -fuzz FuzzOps -fuzztime 10m        coverage-guided histories
package fuzz
