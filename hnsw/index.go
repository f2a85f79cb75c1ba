package hnsw

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Index is a vector index over ids of the caller's choice: a Graph and what it takes to upsert and delete.
// Writers wait for each other; any number of searches run beside them without waiting.
//
// Every call that writes makes one version, which becomes visible as a whole: a search sees, for every id, what was
// there in the version it began with.
//
// A replaced or deleted vector stays a stepping stone for a while. When one in sixteen is of that kind, writers
// begin to take them out of the graph, each doing a little, and use their slots again: where about as much is added
// as deleted, there are at most 1.1 times as many slots as vectors. What an index that has shrunk
// does not need any more is freed by Compact.
type Index struct {
	o Options

	writing sync.Mutex
	unit    []float32 // scratch of writers
	changes []change
	fresh   []int

	names   sync.RWMutex      // guards the two below; writers hold it to publish a version, no longer
	slots   map[uint64]uint32 // nil until an id of a loaded index is asked for
	cur     *contents
	unnamed int // length of slots while it is nil

	current atomic.Pointer[contents] // cur, for searches
	closed  atomic.Bool
	home    *home // under writing
	moved   bool  // the index was built anew since it was saved, or has other sections than its file
	finders sync.Pool
}

// New returns an empty index for vectors of dim elements, 1 to 65,536. Options out of range are refused, all of them in
// one ErrInvalid.
func New(dim int, o Options) (*Index, error) {
	c, err := newContents(dim, o)
	if err != nil {
		return nil, err
	}
	return newIndex(c), nil
}

func newIndex(c *contents) *Index {
	ix := &Index{o: c.g.o, unit: make([]float32, c.g.dim), slots: map[uint64]uint32{}, cur: c}
	ix.current.Store(c)
	ix.finders.New = func() any { return newFinder() }
	return ix
}

// Dim returns the dimension of the vectors.
func (ix *Index) Dim() int { return len(ix.unit) }

// Len returns the number of ids.
func (ix *Index) Len() int {
	ix.names.RLock()
	defer ix.names.RUnlock()
	if ix.slots == nil {
		return ix.unnamed
	}
	return len(ix.slots)
}

// Has reports whether an id is in the index.
func (ix *Index) Has(id uint64) bool {
	ix.ensureNames()
	ix.names.RLock()
	defer ix.names.RUnlock()
	_, ok := ix.slots[id]
	return ok
}

// Add puts a copy of vec under id, replacing what was there: a search sees the old or the new one. The vector
// is linked when Add returns. A bad vector is refused as by Graph.Append and changes nothing; neither does the
// vector that is there already.
func (ix *Index) Add(id uint64, vec []float32) error {
	return ix.AddBatch([]uint64{id}, [][]float32{vec})
}

// AddBatch is Add for many; where an id comes twice, the later vector stays. All vectors are checked before the
// first is added, and a search sees all of them or none. Options.Workers goroutines append and link them. When the index
// is full, those that found a place stay.
func (ix *Index) AddBatch(ids []uint64, vecs [][]float32) error {
	if len(ids) != len(vecs) {
		return fmt.Errorf("hnsw: add: %w: %d ids, %d vectors", ErrInvalid, len(ids), len(vecs))
	}
	norms, err := checkVectors(vecs, len(ix.unit), ix.o.Workers, func(i int, err error) error {
		return fmt.Errorf("hnsw: add %d: %w", ids[i], err)
	})
	if err != nil {
		return err
	}
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if err := ix.ready(); err != nil {
		return fmt.Errorf("hnsw: add: %w", err)
	}
	ix.changes = ix.changes[:0]
	err = ix.putAll(ids, vecs, norms)
	// What was appended is linked even if the index is full now.
	if _, linkErr := ix.cur.g.LinkParallel(context.Background(), 0, ix.o.Workers); err == nil {
		err = linkErr
	}
	if len(ix.changes) > 0 {
		ix.publish(ix.changes, true)
	}
	return err
}

// publish makes changes the next version. Who is not seen any more is taken out of the graph, if that is sound.
func (ix *Index) publish(changes []change, sound bool) {
	c := ix.cur
	version := c.version.Load() + 1
	replaced := 0
	for i := range changes {
		if changes[i].replaces {
			replaced++
		}
	}
	c.hidden.Add(int32(replaced))
	ix.names.Lock()
	for i := range changes {
		ch := &changes[i]
		if ch.replaces {
			v, i := c.versionsOf(ch.old)
			v.until[i].Store(version)
		}
		if ch.removes {
			delete(ix.slots, ch.id)
			continue
		}
		v, i := c.versionsOf(ch.slot)
		v.born[i].Store(version)
		ix.slots[ch.id] = ch.slot
	}
	c.bound.Store(c.g.Bound())
	c.version.Store(version)
	live := len(ix.slots)
	ix.names.Unlock()

	epoch := c.g.readers.epoch.Load()
	for i := range changes {
		if !changes[i].removes {
			ix.wrote(changes[i].slot)
		}
		if ch := &changes[i]; ch.replaces {
			c.retired = append(c.retired, retiree{ch.old, ch.slot, ch.inherited, epoch})
		}
		if !changes[i].removes {
			c.hidden.Add(-1)
		}
	}
	if sound && (replaced > 0 || len(c.retired) > 0) {
		c.bury()
		c.g.tend(live, replaced)
	}
}

// Delete removes an id and reports whether it was there. It does so even where the file that the index was opened from
// turns out to be damaged.
func (ix *Index) Delete(id uint64) bool {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	ix.ensureNames()
	sound := ix.ready() == nil
	if !sound {
		ix.moved = true // changes cannot be told: they are saved as a whole
	}
	slot, ok := ix.slots[id]
	if !ok {
		return false
	}
	if len(ix.slots) == 1 {
		// Nothing is left to keep the dead for. The options were valid before.
		if empty, err := newContents(len(ix.unit), ix.o); err == nil {
			ix.swap(empty, map[uint64]uint32{}, 0)
			return true
		}
	}
	ix.changes = append(ix.changes[:0], change{id: id, old: slot, replaces: true, removes: true})
	ix.publish(ix.changes, sound)
	return true
}

// swap puts other contents in the place of what there is, whose memory is given back: see release.
func (ix *Index) swap(c *contents, slots map[uint64]uint32, within time.Duration) {
	left := ix.cur
	ix.moved = true
	ix.names.Lock()
	ix.slots, ix.cur = slots, c
	ix.current.Store(c)
	ix.names.Unlock()
	left.release(within)
}

// Compact builds the index anew without what was replaced or deleted, in the order of the remaining slots. Until
// it has ended, both are in memory; then what the old one took is given back at once, unless searches or iterators go on
// that still use it: they do no harm, and it is left to the garbage collector. Searches go on meanwhile, writers wait. When
// the context ends first, nothing has changed.
func (ix *Index) Compact(ctx context.Context) error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	if err := ix.ready(); err != nil {
		return fmt.Errorf("hnsw: compact: %w", err)
	}
	if int(ix.cur.g.Bound()) == len(ix.slots) {
		return nil
	}
	if t := ix.cur.g.table.Load(); t.lazy != nil {
		if err := t.lazy.all(t); err != nil {
			return fmt.Errorf("hnsw: compact: %w", err)
		}
	}
	next, err := newContents(len(ix.unit), ix.o)
	if err != nil {
		return err
	}
	slots := make(map[uint64]uint32, len(ix.slots))
	old := make([]uint32, 0, len(ix.slots))
	version := ix.cur.version.Load()
	for slot := range ix.cur.g.Bound() {
		if !ix.cur.visible(slot, version) {
			continue
		}
		chunk, i := ix.cur.at(slot)
		to := uint32(len(old))
		next.reserve(to, chunk.id[i], 0)
		slots[chunk.id[i]] = to
		old = append(old, slot)
	}
	fill := func(i int, row []float32) { copy(row, ix.cur.g.Row(old[i])) }
	if _, err := next.g.append(len(old), ix.o.Workers, fill); err != nil {
		return err
	}
	if _, err := next.g.LinkParallel(ctx, 0, ix.o.Workers); err != nil {
		return fmt.Errorf("hnsw: compact: %w", err)
	}
	next.bound.Store(next.g.Bound())
	ix.swap(next, slots, releaseWithin)
	return nil
}
