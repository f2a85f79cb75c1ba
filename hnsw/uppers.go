package hnsw

import "math/bits"

// uppers tells where the lists above layer 0 of a chunk of slots are, in words of table.upper: those of a slot follow one
// another, and come after those of the slots before. How many a slot has depends on nothing but its number, so that
// uppers are made with the chunk, slots that are yet to come included, and never change.
type uppers struct {
	has    [chunkSlots / 64]uint64 // slots that have such lists
	before [chunkSlots / 64]uint16 // by word of has: how many bits are set in the words before it
	at     []uint32                // where the lists of each such slot begin, counted from begin
	begin  uint64                  // where those of the chunk do
	words  uint32                  // of all of them
}

// roomOf returns about how many slots of some chunks have lists, seldom fewer.
func roomOf(chunks, m int) int { return chunks*chunkSlots/m*9/8 + 16 }

// firstUpper is where the first list is; the word before is zero.
const firstUpper = 1

// newUppers is for a chunk whose lists begin at a word: where those of the chunk before end. It takes room for what it
// allocates, if there is some.
func newUppers(seed uint64, m, chunk int, begin uint64, room []uint32) uppers {
	u := uppers{begin: begin}
	at, first := room[:0], uint32(chunk)<<chunkShift
	least := uint64(float64(1<<53) / float64(m) * (1 + levelSlack)) // see levelAt
	for i := range uint32(chunkSlots) {
		if i&63 == 0 {
			u.before[i>>6] = uint16(len(at))
		}
		random := levelBits(seed, first+i)
		if random>>11 > least {
			continue
		}
		if level := levelAt(random, m); level > 0 {
			u.has[i>>6] |= 1 << (i & 63)
			at = append(at, u.words)
			u.words += uint32(level) * uint32(1+m)
		}
	}
	u.at = at[:len(at):len(at)]
	return u
}

// rank returns how many of the slots before one of the chunk have lists.
func (u *uppers) rank(i uint32) int {
	return int(u.before[i>>6]) + bits.OnesCount64(u.has[i>>6]&(1<<(i&63)-1))
}

// listsOf returns where the lists of a slot of the chunk begin that has some.
func (u *uppers) listsOf(i uint32) int { return int(u.begin) + int(u.at[u.rank(i)]) }

// end returns where those of the next chunk begin.
func (u *uppers) end() uint64 { return u.begin + uint64(u.words) }

// after returns where the lists of the slots behind one of the chunk begin.
func (u *uppers) after(i uint32) uint64 {
	rank := u.rank(i) + int(u.has[i>>6]>>(i&63)&1)
	if rank < len(u.at) {
		return u.begin + uint64(u.at[rank])
	}
	return u.end()
}

// reaches says whether a slot of the chunk has a list on a layer above 0.
func (u *uppers) reaches(i uint32, layer, m int) bool {
	return slotSet(u.has[:]).has(i) && (layer == 1 || u.level(i, m) >= layer)
}

// level returns the top layer of a slot of the chunk.
func (u *uppers) level(i uint32, m int) int {
	if !slotSet(u.has[:]).has(i) {
		return 0
	}
	rank, next := u.rank(i), u.words
	if rank+1 < len(u.at) {
		next = u.at[rank+1]
	}
	return int(next-u.at[rank]) / (1 + m)
}
