package simd

import "math"

// Offer makes, of each id below 2^31 and how near it is, the key (MaxInt32-near[i])<<32 | ids[i]<<1, so that the nearest
// have the least, and puts it into pool, which is sorted, without the last keys beyond limit. It returns the pool,
// with all the room it had, and the place of the least key that was put in, or its length where none was. near has as
// many elements as ids, and pool has room for limit keys, no fewer than it has.
//
// This is what a step in a graph walk ends with: nobody can guess which of the neighbours are good enough and where
// they belong.
func Offer[K ~uint64](pool []K, limit int, ids []uint32, near []int32) ([]K, int) {
	near = near[:len(ids)]
	all, first := pool, limit
	pool = pool[:len(pool):limit]
	for len(ids) > 0 {
		n := min(len(ids), offerMost)
		var at int
		pool, at = offer(pool, ids[:n], near[:n])
		first = min(first, at)
		ids, near = ids[n:], near[n:]
	}
	return all[:len(pool)], min(first, len(pool))
}

// offerMost is the number of ids that a kernel takes.
const offerMost = 64

// offerGo is Offer with the limit as the capacity of pool, where a place beyond what is returned stands for none.
func offerGo[K ~uint64](pool []K, ids []uint32, near []int32) ([]K, int) {
	limit := cap(pool)
	first := limit
	for i, id := range ids {
		k := K(uint32(math.MaxInt32-near[i]))<<32 | K(id)<<1
		var at int
		pool, at = Insert(pool, k, limit)
		first = min(first, at)
	}
	return pool, first
}

// Insert puts k into the sorted pool, which keeps at most limit keys, and returns the pool and the place of k, or limit
// where there was no room for it.
func Insert[K ~uint64](pool []K, k K, limit int) ([]K, int) {
	if len(pool) >= limit {
		if limit == 0 || k >= pool[limit-1] {
			return pool, limit
		}
		pool = pool[:limit-1]
	}
	// Halving without a branch: which half it is nobody can guess.
	lo := 0
	for n := len(pool); n > 0; {
		half := (n + 1) >> 1
		n -= half
		if pool[lo+half-1] < k {
			lo += half
		}
	}
	pool = append(pool, k)
	copy(pool[lo+1:], pool[lo:])
	pool[lo] = k
	return pool, lo
}
