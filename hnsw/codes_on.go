//go:build (amd64 || arm64) && !purego

package hnsw

// codesFromDim is the dimension from which codes are kept: below it rows are too short for them to pay.
const codesFromDim = 64

// walkPerScan is the cost of a row that a walk scores, in rows of a list that a scan scores.
const walkPerScan = 14
