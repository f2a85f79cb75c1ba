package offline

import (
	"math/bits"
	"strconv"
	"strings"
)

// Bounds of a weight, in hundredths.
const (
	minWeight = 25
	maxWeight = 1000
)

// weigh returns n x PMI of a pair (Church and Hanks, Computational Linguistics
// 16(1), 1990), in hundredths: n sentences with both, and the logarithm to base
// 2 of how much more often they meet than two strangers in so many sentences
// would. Integers give the same on every platform.
func (x *extraction) weigh(r *relation) int {
	n := uint64(r.sents)
	na, nb := uint64(len(x.entities[r.a].sents)), uint64(len(x.entities[r.b].sents))
	pmi := log2(n*uint64(len(x.sents))) - log2(max(na, 1)*max(nb, 1))
	return min(max(int(n)*pmi*100>>logBits, minWeight), maxWeight)
}

const logBits = 8 // of the fraction of log2

// log2 returns the logarithm of n to base 2 in 1/256, rounded down, for n < 2^32;
// greater ones count as that.
// Squaring doubles a logarithm, which yields it bit by bit.
func log2(n uint64) int {
	if n == 0 {
		return 0
	}
	n = min(n, 1<<32-1)
	k := bits.Len64(n) - 1
	m := n << 32 >> (k + 1) // 1 <= m < 2, in 1/2^31
	l := k
	for range logBits {
		m = m * m >> 31
		l <<= 1
		if m >= 1<<32 {
			m >>= 1
			l++
		}
	}
	return l
}

// hundredths writes a weight in decimal digits.
func hundredths(w int) string {
	if w%100 == 0 {
		return strconv.Itoa(w / 100)
	}
	return strings.TrimRight(strconv.Itoa(w/100)+"."+strconv.Itoa(w%100 + 100)[1:], "0")
}
