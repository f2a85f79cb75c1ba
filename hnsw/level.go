package hnsw

import "math"

// maxLevel caps the layers of the graph; with M = 2 a slot reaches it once in 32,768.
const maxLevel = 15

// levelOf returns the top layer of a slot, distributed as in section 4.1 of the paper. It depends on nothing
// but its arguments, so neither timing nor a reload can change a layer.
func levelOf(seed uint64, slot uint32, m int) int {
	return levelAt(levelBits(seed, slot), m)
}

// levelBits returns the random bits of a slot.
func levelBits(seed uint64, slot uint32) uint64 {
	return mix(seed ^ mix(uint64(slot)+0x9e3779b97f4a7c15))
}

// levelSlack is more than what rounding makes of the product that decides a level.
const levelSlack = 1e-9

// levelAt maps 64 random bits to a layer.
func levelAt(bits uint64, m int) int {
	// The +1 keeps u above 0, where the logarithm would be infinite.
	u := (float64(bits>>11) + 1) / (1 << 53)
	// For nearly all it is plain what the logarithm would be.
	v := u * float64(m)
	if v > 1+levelSlack {
		return 0
	}
	if v < 1-levelSlack && v*float64(m) > 1+levelSlack {
		return 1
	}
	return min(int(-math.Log(u)/math.Log(float64(m))), maxLevel)
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
