//go:build !purego && !race

package simd

import "unsafe"

//go:noescape
func offerAVX512(pool *uint64, n, limit int, ids *uint32, near *int32, count int) (after, first int)

// offer takes 1 to offerMost ids.
func offer[K ~uint64](pool []K, ids []uint32, near []int32) ([]K, int) {
	if active != tierAVX512 || cap(pool) == 0 {
		return offerGo(pool, ids, near)
	}
	keys := (*uint64)(unsafe.Pointer(unsafe.SliceData(pool)))
	n, first := offerAVX512(keys, len(pool), cap(pool), &ids[0], &near[0], len(ids))
	return pool[:n], first
}
