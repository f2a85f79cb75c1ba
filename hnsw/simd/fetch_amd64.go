//go:build !purego && !race

package simd

import "unsafe"

const fetches = true

//go:noescape
func fetchRows(rows *unsafe.Pointer, n, bytes int)

//go:noescape
func fetchIDs(base unsafe.Pointer, stride, bytes int, ids *uint32, n int)
