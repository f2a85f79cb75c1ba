package hnsw

import (
	"slices"
	"sync/atomic"
)

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

	// followers lists who names a slot that has inherited its place without being named by it, as far as is known: all
	// of them once they have been met, so that they can be told who inherits the place next.
	followers map[uint32][]uint32
	// heirs tells who inherited the place of a slot that somebody may still see; leaving has the same slots.
	heirs   map[uint32]uint32
	leaving slotSet
	left    []uint32 // slots that were still named when they left; see partLate
}

// bequeath notes that the place of a slot is another's.
func (u *upkeep) bequeath(slot, heir uint32) {
	if u.heirs == nil {
		u.heirs = map[uint32]uint32{}
	}
	u.heirs[slot] = heir
	u.leaving.add(slot)
}

// follow notes that owner names slot.
func (u *upkeep) follow(slot, owner uint32) {
	if u.followers == nil {
		u.followers = map[uint32][]uint32{}
	}
	if all := u.followers[slot]; !slices.Contains(all, owner) {
		u.followers[slot] = append(all, owner)
	}
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
