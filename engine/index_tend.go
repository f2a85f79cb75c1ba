package engine

import (
	"context"
	"runtime"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

const (
	// deadShare is the share of dead slots, still in the graph, from which they
	// are taken out: every search passes them.
	deadShare = 1.0 / 16
	// deadMost is that share while vectors wait to be linked, which is done first:
	// to take slots out costs looking at all lists, whatever the number of slots.
	deadMost = 1.0 / 4
	// staleEvery is the share of new slots after which the linker looks for
	// slots that died.
	staleEvery = 1.0 / 32
)

// staleSet is slots that no view opened from now on names. They are killed when
// the views that may name them are closed.
type staleSet struct {
	slots []uint32
	seq   uint64 // of the view that did not name them
	bound uint32 // of the graph when it was last looked at
}

// tend does what is to be done now and then, in the goroutine that links: it
// kills slots, takes the dead out of the graph, and saves.
func (x *vectorIndex) tend(ctx context.Context, i int, k *kindIndex) {
	x.bury(i, k)
	x.consolidate(ctx, k)
	if x.every > 0 && k.graph.Mark() >= k.saved+max(x.every, k.saved/saveShare) && x.store.Health() == nil {
		if err := x.saveKind(i, int(k.graph.Dead())); err != nil { // it is derived: the next Open rebuilds it
			x.log.Warn("lightrag: the vector index was not saved", "file", indexName(i), "error", err)
			k.saved = k.graph.Mark() // not again at once
		}
	}
}

// bury kills stale slots, and looks for more of them, when enough has changed.
func (x *vectorIndex) bury(i int, k *kindIndex) {
	n := k.graph.Bound()
	if float64(n-k.stale.bound) < staleEvery*float64(n)+1 {
		return
	}
	if len(k.stale.slots) > 0 {
		if st := x.store.Stats(); st.Seq == 0 || st.OldestView < k.stale.seq {
			k.stale.bound = n
			return
		}
		for _, s := range k.stale.slots {
			k.graph.Kill(s)
		}
		k.stale.slots = k.stale.slots[:0]
	}
	v, err := x.store.View()
	if err != nil {
		return
	}
	defer v.Close()
	k.stale.seq, k.stale.bound = v.Seq(), n
	k.stale.slots = k.unnamed(v, i, k.stale.slots)
}

// unnamed appends the slots of kind i that are alive, but no owner's vector in a view nor in later ones.
func (k *kindIndex) unnamed(v *graphstore.View, i int, slots []uint32) []uint32 {
	kind := format.Kind(i + 1)
	for s := range v.Bound(kind) {
		if now, ok := v.Slot(kind, k.owners.get(s).Owner); (!ok || now != s) && !k.graph.IsDead(s) {
			slots = append(slots, s)
		}
	}
	return slots
}

// consolidate takes dead slots out of the graph when there are many (deadShare); where walks
// need rows, which slots of a file may have lost, when there are any.
func (x *vectorIndex) consolidate(ctx context.Context, k *kindIndex) {
	dead, share := float64(k.graph.Lingering()), deadShare
	if k.graph.Mark() < k.graph.Bound() {
		share = deadMost
	}
	if dead == 0 || k.graph.HasCodes() && dead < share*float64(k.graph.Mark()) {
		return
	}
	if _, err := k.graph.Consolidate(ctx); err != nil && ctx.Err() == nil {
		x.log.Error("lightrag: dead vectors stay in the index", "error", err)
	}
	runtime.Gosched()
}
