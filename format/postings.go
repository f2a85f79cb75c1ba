package format

import (
	"bytes"
	"math/bits"
	"slices"
)

// Postings of a term say in whose texts it occurs, and how often. A row is of
// one shard: 4,096 consecutive owners. It is a container of a roaring bitmap
// (Chambi, Lemire, Kaser, Godin: Better bitmap performance with Roaring
// bitmaps, 2016, section 2), an array or a bitmap as its size says, with the
// counts beside it, in the order of the owners:
//
//	list  := 1 u8 ‖ owner's low 12 bits u16 [n] ‖ count u8 [n], n <= 256
//	words := 2 u8 ‖ word u64 [64] ‖ count u8 [n], n > 256 bits are set
//
// Containers are a sixteenth of roaring's, so that reading or changing a row
// takes microseconds however common its term, and they have no head: most
// terms have one to three owners.
//
// The same bytes are an edit: what they say of an owner takes the place of
// what older ones said, and count 0 says that the term is gone from its text.
// In a row that is read no count is 0; it may have no owners, which is as good
// as no row.
const (
	postingsDamaged = 0 // the whole row: what PostingsMerge makes of damage
	postingsList    = 1
	postingsWords   = 2

	shardBits    = 12
	shardOwners  = 1 << shardBits
	shardWords   = shardOwners / 64
	shardListMax = shardOwners / 16

	// MaxPostingsSize is the most bytes that a row of postings takes.
	MaxPostingsSize = 1 + 8*shardWords + shardOwners
)

// PostingsShard returns the number of the shard of an owner.
func PostingsShard(owner uint32) uint32 { return owner >> shardBits }

// Posting says how often a term occurs in the text of an owner, 255 for all
// that is more; 0 in an edit: no longer.
type Posting struct {
	Owner uint32
	Count uint8
}

// AppendPostings appends the encoding of a list that is ascending, distinct and
// of one shard; else the error matches ErrInvalid.
func AppendPostings(dst []byte, list []Posting) ([]byte, error) {
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1].Owner, list[i].Owner; a >= b || PostingsShard(a) != PostingsShard(b) {
			return dst, invalidf("postings: %d before %d", a, b)
		}
	}
	if len(list) <= shardListMax {
		dst = append(dst, postingsList)
		for _, p := range list {
			dst = le.AppendUint16(dst, uint16(p.Owner%shardOwners))
		}
	} else {
		var words [shardWords]uint64
		for _, p := range list {
			words[p.Owner%shardOwners/64] |= 1 << (p.Owner % 64)
		}
		dst = append(dst, postingsWords)
		for _, w := range words {
			dst = le.AppendUint64(dst, w)
		}
	}
	for _, p := range list {
		dst = append(dst, p.Count)
	}
	return dst, nil
}

// DecodePostings appends the owners and the counts of a row that was read to
// owners and counts. It allocates nothing but what they need. After an error
// they are returned as they were; it matches ErrCorrupt or ErrTooNew.
func DecodePostings(owners []uint32, counts []uint8, shard uint32, b []byte) ([]uint32, []uint8, error) {
	p, err := checkPostings(b)
	if err == nil && bytes.IndexByte(p.counts, 0) >= 0 {
		err = corruptf("postings: an edit in the place of a row")
	}
	if err != nil {
		return owners, counts, err
	}
	owners = slices.Grow(owners, len(p.counts))
	first := shard << shardBits
	for ; len(p.list) >= 2; p.list = p.list[2:] {
		owners = append(owners, first+uint32(le.Uint16(p.list)))
	}
	for i := 0; i < len(p.words); i += 8 {
		for w := le.Uint64(p.words[i:]); w != 0; w &= w - 1 {
			owners = append(owners, first+uint32(8*i+bits.TrailingZeros64(w)))
		}
	}
	return owners, append(counts, p.counts...), nil
}

// postings are the parts of a row. At most one of list and words has bytes.
type postings struct {
	list, words, counts []byte
}

// checkPostings verifies everything about a row, whose parts alias b.
func checkPostings(b []byte) (p postings, err error) {
	bad := ""
	switch {
	case len(b) == 0:
		bad = "no bytes"
	case b[0] > postingsWords:
		return p, &TooNewError{What: "postings", Have: postingsWords, Need: uint32(b[0])}
	case b[0] == postingsDamaged:
		bad = "made of damaged ones"
	case b[0] == postingsList && len(b)%3 == 1 && len(b) <= 1+3*shardListMax:
		n := len(b) / 3
		p.list, p.counts = b[1:1+2*n], b[1+2*n:]
		bad = checkPostingsList(p.list)
	case b[0] == postingsWords && len(b) > 1+8*shardWords+shardListMax:
		p.words, p.counts = b[1:1+8*shardWords], b[1+8*shardWords:]
		n := 0
		for i := 0; i < len(p.words); i += 8 {
			n += bits.OnesCount64(le.Uint64(p.words[i:]))
		}
		if n != len(p.counts) {
			bad = "count does not match the bitmap"
		}
	default:
		bad = "the wrong number of bytes"
	}
	if bad != "" {
		return postings{}, corruptf("postings of %d bytes: %s", len(b), bad)
	}
	return p, nil
}

func checkPostingsList(list []byte) string {
	for last := -1; len(list) >= 2; list = list[2:] {
		owner := int(le.Uint16(list))
		if owner <= last || owner >= shardOwners {
			return "list out of order"
		}
		last = owner
	}
	return ""
}
