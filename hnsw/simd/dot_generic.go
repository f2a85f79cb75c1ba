//go:build !amd64 || purego || race

package simd

// Dot returns the inner product of two vectors of equal, non-zero length.
func Dot(a, b []float32) float32 { return dotGo(a, b) }
