//go:build !(amd64 || arm64) || purego

package hnsw

// codesFromDim is beyond every dimension: in plain Go a product of bytes takes longer than one of floats.
const codesFromDim = maxDim + 1

// walkPerScan is the cost of a row that a walk scores, in rows of a list that a scan scores.
const walkPerScan = 3
