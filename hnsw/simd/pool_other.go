//go:build !amd64 || purego || race

package simd

func offer[K ~uint64](pool []K, ids []uint32, near []int32) ([]K, int) {
	return offerGo(pool, ids, near)
}
