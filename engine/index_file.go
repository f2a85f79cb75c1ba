package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/hnsw"
)

// maxDeadShare is the share of dead slots above which a graph is not worth
// saving: the next Open links the live vectors afresh, which also gives back
// the memory of the dead ones.
const maxDeadShare = 0.5

// savedIndex is what the index files promise: the slot of every vector. The
// store delivers the vectors.
type savedIndex struct {
	kinds [indexKinds]*savedKind
}

type savedKind struct {
	slots map[uint64]savedSlot // vectors that the store has not delivered yet
	all   int                  // how many there were at first
}

type savedSlot struct{ slot, sum uint32 }

func slotKey(owner, version uint32) uint64 { return uint64(owner)<<32 | uint64(version) }

func indexName(i int) string { return format.Kind(i+1).String() + ".hnsw" }

// take returns the slot of a vector that is in a file. One of the same owner and
// version, but not the same, is another: a store that lost its last commits
// in a crash, or was restored from a backup, gives versions again.
func (x *savedIndex) take(kind format.Kind, o format.SlotOwner) (uint32, bool) {
	s := x.kinds[kind-1]
	if s == nil {
		return 0, false
	}
	key := slotKey(o.Owner, o.Version)
	saved, ok := s.slots[key]
	if !ok || saved.sum != o.Sum {
		return 0, false
	}
	delete(s.slots, key)
	return saved.slot, true
}

// load reads the index files. One that is missing is silent; one that is
// damaged is reported; both cost a rebuild, no data.
func (x *vectorIndex) load() error {
	x.saved = &savedIndex{}
	if x.fresh {
		return nil
	}
	for i := range x.kinds {
		k, err := x.loadKind(i)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				x.log.Warn("lightrag: a vector index file cannot be used and is rebuilt", "file", indexName(i), "error", err)
			}
			if rerr := x.reset(i); rerr != nil {
				return rerr
			}
			x.kinds[i].rebuilt = !errors.Is(err, os.ErrNotExist)
			continue
		}
		x.saved.kinds[i] = k
	}
	return nil
}

func (x *vectorIndex) loadKind(i int) (*savedKind, error) {
	f, err := x.files.Open(indexName(i))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	graph, own, err := hnsw.LoadGraph(f, f.Size(), x.dim, x.graphOptions(i))
	if err != nil {
		return nil, err
	}
	var head format.IndexHead
	if err := format.ReadIndexHead(own, &head); err != nil {
		return nil, err
	}
	if head.Kind != format.Kind(i+1) || int(head.Dim) != x.dim || len(head.Slots) != int(graph.Bound()) {
		return nil, fmt.Errorf("%w: it is for %d %s vectors of dimension %d", ErrMismatch, len(head.Slots), head.Kind, head.Dim)
	}
	idx := &kindIndex{graph: graph, saved: graph.Mark()}
	k := &savedKind{slots: make(map[uint64]savedSlot, len(head.Slots))}
	for s, o := range head.Slots {
		idx.owners.set(uint32(s), o)
		if !graph.IsDead(uint32(s)) {
			k.slots[slotKey(o.Owner, o.Version)] = savedSlot{uint32(s), o.Sum}
		}
	}
	if len(k.slots) != len(head.Slots)-int(graph.Dead()) {
		return nil, fmt.Errorf("%w: a vector has two slots", ErrCorrupt)
	}
	x.kinds[i], k.all = idx, len(k.slots)
	return k, nil
}

// settle ends loading: slots whose vectors the store does not have any more are
// dead. They stay stepping stones until they are taken out of the graph.
func (x *vectorIndex) settle() {
	for i, k := range x.saved.kinds {
		if k == nil {
			continue
		}
		for _, s := range k.slots {
			x.kinds[i].graph.Kill(s.slot)
		}
		if n := len(k.slots); n > 0 && n == k.all {
			x.log.Warn("lightrag: a vector index file is that of another store and is rebuilt", "file", indexName(i), "vectors", n)
			x.kinds[i].rebuilt = true
		}
	}
	x.saved = nil
}

// remove removes the index files.
func (x *vectorIndex) remove() error {
	var errs []error
	for i := range x.kinds {
		errs = append(errs, x.files.Remove(indexName(i)))
	}
	return errors.Join(errs...)
}

// save writes the index files, each beside the old one and then renamed over
// it.
func (x *vectorIndex) save() error {
	v, err := x.store.View()
	if err != nil {
		return err
	}
	defer v.Close()
	var errs []error
	for i, k := range x.kinds {
		dead := int(k.graph.Dead()) + len(k.unnamed(v, i, nil))
		if err := x.saveKind(i, dead); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", indexName(i), err))
		}
	}
	return errors.Join(errs...)
}

// saveKind writes one of them, or removes it when it is not worth reading.
func (x *vectorIndex) saveKind(i, dead int) error {
	k := x.kinds[i]
	mark := k.graph.Mark()
	if n := k.graph.Bound(); n == 0 || mark == 0 || float64(dead) > maxDeadShare*float64(n) {
		return x.files.Remove(indexName(i))
	}
	own := func(slots uint32) []byte {
		head := format.IndexHead{Kind: format.Kind(i + 1), Dim: uint32(x.dim), Slots: make([]format.SlotOwner, slots)}
		for s := range head.Slots {
			head.Slots[s] = k.owners.get(uint32(s))
		}
		return format.AppendIndexHead(nil, &head)
	}
	err := x.files.Write(indexName(i), func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<20)
		if err := k.graph.Save(buf, own); err != nil {
			return err
		}
		return buf.Flush()
	})
	if err == nil {
		k.saved = mark
	}
	return err
}
