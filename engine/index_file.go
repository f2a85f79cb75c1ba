package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// maxDeadShare is the share of dead slots above which links are not worth
// saving: the next Open links the live vectors afresh, which also drops the
// dead ones.
const maxDeadShare = 0.25

// savedIndex is what the index files of an earlier Close promise: the slot of
// every vector, and links for them.
type savedIndex struct {
	kinds [indexKinds]*savedKind
}

type savedKind struct {
	head  format.IndexHead
	links int64             // where the links begin in the file
	slots map[uint64]uint32 // vectors that the store has not delivered yet
}

func slotKey(owner, version uint32) uint64 { return uint64(owner)<<32 | uint64(version) }

func indexName(i int) string { return format.Kind(i+1).String() + ".hnsw" }

// loadHeads reads the slot tables of the index files. A file that is missing
// is silent; one that is damaged is reported; both cost a rebuild, no data.
func (x *vectorIndex) loadHeads(files graphstore.IndexFiles) error {
	x.files = files
	x.saved = &savedIndex{}
	for i := range x.kinds {
		k, err := x.loadHead(i)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				x.log.Warn("lightrag: a vector index file cannot be used and is rebuilt", "file", indexName(i), "error", err)
			}
			if err := x.reset(i); err != nil {
				return err
			}
			continue
		}
		x.saved.kinds[i] = k
	}
	return nil
}

func (x *vectorIndex) loadHead(i int) (*savedKind, error) {
	f, err := x.files.Open(indexName(i))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k := &savedKind{}
	if k.links, err = format.ReadIndexHead(f, f.Size(), &k.head); err != nil {
		return nil, err
	}
	if k.head.Kind != format.Kind(i+1) || int(k.head.Dim) != x.dim {
		return nil, fmt.Errorf("%w: it is for %s vectors of dimension %d", ErrMismatch, k.head.Kind, k.head.Dim)
	}
	k.slots = make(map[uint64]uint32, len(k.head.Owners))
	for s, o := range k.head.Owners {
		k.slots[slotKey(o.Owner, o.Version)] = uint32(s)
	}
	if len(k.slots) != len(k.head.Owners) {
		return nil, fmt.Errorf("%w: a vector has two slots", ErrCorrupt)
	}
	idx := x.kinds[i]
	if err := idx.graph.Grow(uint32(len(k.head.Owners))); err != nil {
		return nil, err
	}
	for s, o := range k.head.Owners {
		idx.owners.set(uint32(s), slotOwner{o.Owner, o.Version})
	}
	for _, d := range k.head.Dead {
		delete(k.slots, slotKey(k.head.Owners[d.Slot].Owner, k.head.Owners[d.Slot].Version))
		if err := idx.graph.PlaceRow(d.Slot, d.Row); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// loadLinks reads the links once every row is in its slot. Where a row is
// missing or the links do not verify, everything is linked afresh.
func (x *vectorIndex) loadLinks() {
	defer func() { x.saved = nil }()
	for i, k := range x.saved.kinds {
		if k == nil {
			continue
		}
		err := x.loadKind(i, k)
		if err == nil {
			continue
		}
		x.log.Warn("lightrag: a vector index file cannot be used and is rebuilt", "file", indexName(i), "error", err)
		for _, slot := range k.slots { // no row came for it
			x.kinds[i].graph.Kill(slot)
		}
	}
}

func (x *vectorIndex) loadKind(i int, k *savedKind) error {
	if n := len(k.slots); n > 0 {
		return fmt.Errorf("%w: %d of its %d vectors are not in the store", ErrMismatch, n, len(k.head.Owners))
	}
	f, err := x.files.Open(indexName(i))
	if err != nil {
		return err
	}
	defer f.Close()
	return x.kinds[i].graph.LoadLinks(io.NewSectionReader(f, k.links, f.Size()-k.links), f.Size()-k.links)
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
	for i := range x.kinds {
		if err := x.saveKind(v, i); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", indexName(i), err))
		}
	}
	return errors.Join(errs...)
}

func (x *vectorIndex) saveKind(v *graphstore.View, i int) error {
	k := x.kinds[i]
	n := k.graph.Bound()
	if n == 0 || k.graph.Mark() == 0 {
		return x.files.Remove(indexName(i))
	}
	head := format.IndexHead{Kind: format.Kind(i + 1), Dim: uint32(x.dim), Owners: make([]format.SlotOwner, n)}
	for s := range n {
		o := k.owners.get(s)
		head.Owners[s] = format.SlotOwner{Owner: o.owner, Version: o.version}
		if now, ok := v.Slot(head.Kind, o.owner); !ok || now != s {
			head.Dead = append(head.Dead, format.DeadRow{Slot: s, Row: k.graph.Row(s)})
		}
	}
	if float64(len(head.Dead)) > maxDeadShare*float64(n) {
		return x.files.Remove(indexName(i))
	}
	return x.files.Write(indexName(i), func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<20)
		if _, err := buf.Write(format.AppendIndexHead(nil, &head)); err != nil {
			return err
		}
		if err := k.graph.SaveLinks(buf); err != nil {
			return err
		}
		return buf.Flush()
	})
}
