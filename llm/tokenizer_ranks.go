package llm

import "github.com/tiktoken-go/tokenizer"

// ranks is a vocabulary in a form that texts are merged by: the rank of a token
// is its number. It is never changed.
//
// Nearly all tokens of a text have at most shortBytes. They are looked for by one
// number that holds them whole, so that finding one is one access to memory.
type ranks struct {
	keys  []uint64 // a hash table with linear probing: short tokens as shortKey gives them
	short []uint32 // their ranks, in the same places
	long  map[string]uint32
	most  int      // bytes of the longest token
	pairs []uint32 // ranks of every two bytes
}

const (
	noRank     = 1<<32 - 1
	shortBytes = 7
	keyBits    = 18 // of a place in keys; it is half full with o200k
)

// newRanks reads the vocabulary of a codec, or returns nil if it has more tokens
// than any that is known here.
func newRanks(c tokenizer.Codec) *ranks {
	r := &ranks{
		keys:  make([]uint64, 1<<keyBits),
		short: make([]uint32, 1<<keyBits),
		long:  make(map[string]uint32, 1<<(keyBits-2)),
		pairs: make([]uint32, 1<<16),
	}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	for id := uint32(0); ; id++ {
		token, err := c.Decode([]uint{uint(id)})
		switch {
		case err != nil:
			return r
		case id >= 1<<keyBits*4/5:
			return nil
		case len(token) > shortBytes:
			r.long[token] = id
			r.most = max(r.most, len(token))
			continue
		case len(token) == 2:
			r.pairs[int(token[0])<<8|int(token[1])] = id
		}
		key := shortKey(token, 0, len(token))
		i := shortPlace(key)
		for r.keys[i] != 0 {
			i = (i + 1) % (1 << keyBits)
		}
		r.keys[i], r.short[i] = key, id
	}
}

// shortKey returns the n bytes at i as a number with n above them. n is at least
// 1 and at most shortBytes.
func shortKey(s string, i, n int) uint64 {
	if i+8 <= len(s) {
		s = s[i : i+8]
		key := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		return key&(1<<(8*n)-1) | uint64(n)<<56
	}
	key := uint64(n) << 56
	for k := range n {
		key |= uint64(s[i+k]) << (8 * k)
	}
	return key
}

func shortPlace(key uint64) uint64 { return (key ^ key>>29) * 0x9e3779b97f4a7c15 >> (64 - keyBits) }

// rank returns the rank of the token s[i:end], or noRank if it is none.
func (r *ranks) rank(s string, i, end int) uint32 {
	n := end - i
	if n > shortBytes {
		if n > r.most {
			return noRank
		}
		if id, ok := r.long[s[i:end]]; ok {
			return id
		}
		return noRank
	}
	key := shortKey(s, i, n)
	for at := shortPlace(key); ; at = (at + 1) % (1 << keyBits) {
		switch r.keys[at] {
		case key:
			return r.short[at]
		case 0:
			return noRank
		}
	}
}
