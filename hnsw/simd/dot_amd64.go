//go:build amd64 && !purego && !race

package simd

import "github.com/viterin/vek/vek32"

// Dot returns the inner product of two vectors of equal, non-zero length.
func Dot(a, b []float32) float32 { return vek32.Dot(a, b) }
