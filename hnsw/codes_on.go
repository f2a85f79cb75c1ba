//go:build (amd64 || arm64) && !purego

package hnsw

// codesFromDim is the dimension from which codes are kept: below it rows are too short for them to pay.
const codesFromDim = 64

// What a slot costs that a scan looks at, in order or from a list, in slots that a walk compares (see filter.go).
const (
	rangePerSlot = 0.18
	listPerSlot  = 0.4
)
