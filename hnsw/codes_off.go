//go:build !(amd64 || arm64) || purego

package hnsw

// codesFromDim is beyond every dimension: in plain Go a product of bytes takes longer than one of floats.
const codesFromDim = maxDim + 1

// What a slot costs that a scan looks at, in order or from a list, in slots that a walk compares (see filter.go).
const (
	rangePerSlot = 0.4
	listPerSlot  = 0.6
)
