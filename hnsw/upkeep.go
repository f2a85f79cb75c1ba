package hnsw

import "sync/atomic"

// upkeep is the state of a consolidation, which is done in portions: between them everything else may go on. It
// belongs to who holds linking; others may read aparts.
type upkeep struct {
	running   bool
	next, end uint32       // slots from next on, below end, are yet to be swept
	gone      slotSet      // dead when the round began: at its end nobody names them
	apart     slotSet      // dead, and named by nobody
	aparts    atomic.Int32 // how many
	limbo     []parted
	reuse     bool        // whether spare is wanted
	spare     [2][]uint32 // apart, and nobody is there any more: free to be used again; of layer 0, and above
}

// parted is a slot that nobody names any more. Its lists stay until all searches that may stand there have left.
type parted struct {
	slot  uint32
	epoch uint64
}

// slotSet is a set of slots, one bit each.
type slotSet []uint64

func (s slotSet) has(slot uint32) bool {
	return int(slot>>6) < len(s) && s[slot>>6]>>(slot&63)&1 != 0
}

func (s *slotSet) add(slot uint32) {
	for int(slot>>6) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[slot>>6] |= 1 << (slot & 63)
}

func (s slotSet) remove(slot uint32) {
	if int(slot>>6) < len(s) {
		s[slot>>6] &^= 1 << (slot & 63)
	}
}
