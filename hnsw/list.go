package hnsw

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A list is a row of words: a head, then the neighbours, then room for more. The head is their number and two flags, so
// that a walk, and who changes a list, need no other cache line. All words are accessed atomically wherever somebody
// may be writing. A word that was never written is a valid neighbour, for slot 0 is the first to be linked.
const (
	hasTwins  = 1 << 31 // the slot begins a chain of twins
	locked    = 1 << 30 // somebody is changing the list; walks do not care
	countMask = locked - 1
)

// lock keeps others from changing a list until unlock is called. Lists are locked for a microsecond or two, by few.
func lock(list []uint32) {
	for try := 0; ; try++ {
		if head := atomic.LoadUint32(&list[0]); head&locked == 0 && atomic.CompareAndSwapUint32(&list[0], head, head|locked) {
			return
		}
		switch {
		case try < 100:
		case try < 200:
			runtime.Gosched()
		default: // who has it was put off its processor
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func unlock(list []uint32) { atomic.StoreUint32(&list[0], atomic.LoadUint32(&list[0])&^locked) }

// neighbours appends the slots below n in a list to ids, and says whether the owner begins a chain of twins.
// The list may be changing meanwhile.
func neighbours(list []uint32, n uint32, ids []uint32) ([]uint32, bool) {
	head := atomic.LoadUint32(&list[0])
	for i := range list[1:][:head&countMask] {
		if id := atomic.LoadUint32(&list[1+i]); id < n {
			ids = append(ids, id)
		}
	}
	return ids, head&hasTwins != 0
}

// listed returns the neighbours in a list that nobody else changes meanwhile. They are words of the list, not copies.
func listed(list []uint32) []uint32 { return list[1:][:atomic.LoadUint32(&list[0])&countMask] }

// replace writes a list that is locked, or not known to anybody yet, so that readers see valid neighbours at every
// moment: words are stored before the count grows over them, and the count shrinks only to drop words that stay valid.
func replace(list, ids []uint32) {
	for i, id := range ids {
		atomic.StoreUint32(&list[1+i], id)
	}
	atomic.StoreUint32(&list[0], atomic.LoadUint32(&list[0])&^countMask|uint32(len(ids)))
}

// rewrite is replace for a list that the caller has not locked.
func rewrite(list, ids []uint32) {
	lock(list)
	replace(list, ids)
	unlock(list)
}

// extend adds a neighbour to a locked list of n.
func extend(list []uint32, n int, id uint32) {
	atomic.StoreUint32(&list[1+n], id)
	atomic.StoreUint32(&list[0], atomic.LoadUint32(&list[0])+1)
}

// drop takes the i-th neighbour out of a locked list: the last takes its place.
func drop(list []uint32, i int) {
	head := atomic.LoadUint32(&list[0])
	atomic.StoreUint32(&list[1+i], list[head&countMask])
	atomic.StoreUint32(&list[0], head-1)
}

// setTwins says of a list that the caller has not locked whether its slot begins a chain of twins.
func setTwins(list []uint32, twins bool) {
	lock(list)
	defer unlock(list)
	head := atomic.LoadUint32(&list[0]) &^ hasTwins
	if twins {
		head |= hasTwins
	}
	atomic.StoreUint32(&list[0], head)
}
