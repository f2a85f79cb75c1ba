package engine

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/hnsw"
)

const (
	indexKinds = 3  // entity, relation, chunk
	linkPage   = 64 // slots linked before the linker looks up
	// hastyPage is how many are when somebody waits for it, by all cores: those
	// that are done first wait for the last.
	hastyPage = 1024
	// maxUnlinked is the number of slots of a kind, beyond exactBelow, that may
	// wait to be linked: a commit waits while there are more. To scan so many of
	// 768 components takes a search a good millisecond of one core.
	maxUnlinked = 1 << 14
	// linkBeside is how many may wait before they are linked while many documents
	// come in: until then the cores are better used for the documents.
	linkBeside = maxUnlinked / 2
	// defaultExactBelow is the number of slots of a kind up to which they are scanned,
	// all of them, and not linked: a scan of 64k rows of 384 components costs a
	// few milliseconds of one core and finds everything, and linking costs a
	// multiple of everything else that a commit does.
	defaultExactBelow = 65536
	// defaultSaveEvery is the number of newly linked vectors of a kind after
	// which its file is written anew, if they are one in saveShare of those in it:
	// what a crash costs is linking so many, and all that is written stays in
	// proportion to the last file.
	defaultSaveEvery = 32768
	saveShare        = 8
)

// vectorIndex holds one graph per kind of owner. The store appends vectors to
// it inside its commits; where they are many, a background goroutine links
// them. A search walks what is linked and scans the rest, so that a vector can
// be found as soon as its commit is visible.
type vectorIndex struct {
	log    *slog.Logger
	dim    int
	exact  uint32 // slots of a kind up to which they are scanned and not linked
	every  uint32 // see defaultSaveEvery; 0 = only when told
	kinds  [indexKinds]*kindIndex
	fresh  bool        // the index files are not read
	saved  *savedIndex // what the index files promise; nil once the store is open
	files  graphstore.IndexFiles
	store  *graphstore.Store
	bulk   atomic.Int32 // calls that bring many documents
	hasty  atomic.Int32 // calls that wait until vectors are linked
	idles  atomic.Int64 // times that nothing was left to do
	signal chan struct{}
	done   chan struct{}
	cancel context.CancelFunc
}

// kindIndex is the graph of one kind and the owner and version of each slot.
type kindIndex struct {
	graph   *hnsw.Graph
	owners  slotTable
	saved   uint32   // mark when it was last saved, or loaded
	rebuilt bool     // its file could not be used
	stale   staleSet // of the linker
}

func newVectorIndex(log *slog.Logger, exact, every int) *vectorIndex {
	return &vectorIndex{log: log, exact: uint32(exact), every: uint32(every), signal: make(chan struct{}, 1), done: make(chan struct{})}
}

// open makes graphs for vectors of dim components, with the slots of the index
// files where there are some.
func (x *vectorIndex) open(dim int, files graphstore.IndexFiles) error {
	x.dim, x.files = dim, files
	for i := range x.kinds {
		if err := x.reset(i); err != nil {
			return err
		}
	}
	return x.load()
}

// reset gives a kind an empty graph.
func (x *vectorIndex) reset(i int) error {
	g, err := hnsw.NewGraph(x.dim, x.graphOptions(i))
	if err != nil {
		return err
	}
	x.kinds[i] = &kindIndex{graph: g}
	return nil
}

// graphOptions are those of a new graph of a kind. Its rows are in a file of its
// own: what is read of them is the page cache's, not memory of the process.
func (x *vectorIndex) graphOptions(i int) hnsw.Options {
	rows, err := x.files.Scratch()
	if err != nil {
		x.log.Warn("lightrag: vectors are kept in memory", "kind", format.Kind(i+1).String(), "error", err)
	}
	return hnsw.Options{Seed: uint64(i + 1), ExactBelow: int(x.exact), RowFile: rows}
}

func (x *vectorIndex) kind(k format.Kind) *kindIndex {
	if k < 1 || k > indexKinds {
		return nil
	}
	return x.kinds[k-1]
}

// Append implements graphstore.VectorSink.
func (x *vectorIndex) Append(kind format.Kind, owner, version uint32, vec []float32) (uint32, error) {
	k := x.kind(kind)
	if k == nil {
		return 0, fmt.Errorf("%w: vectors of %s", ErrInvalid, kind)
	}
	now := format.SlotOwner{Owner: owner, Version: version, Sum: format.VectorSum(vec)}
	if x.saved != nil {
		if slot, ok := x.saved.take(kind, now); ok {
			return slot, k.graph.Place(slot, vec)
		}
	}
	k.owners.set(k.graph.Bound(), now)
	return k.graph.Append(vec)
}

// Bound implements graphstore.VectorSink.
func (x *vectorIndex) Bound(kind format.Kind) uint32 {
	if k := x.kind(kind); k != nil {
		return k.graph.Bound()
	}
	return 0
}

// start takes up the index once all vectors of the store are in it, and links
// in the background until stop.
func (x *vectorIndex) start(store *graphstore.Store) {
	x.store = store
	x.settle()
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	go x.linkLoop(ctx)
	x.wake()
}

func (x *vectorIndex) stop() {
	if x.cancel != nil {
		x.cancel()
		<-x.done
	}
}

func (x *vectorIndex) wake() {
	select {
	case x.signal <- struct{}{}:
	default:
	}
}

func (x *vectorIndex) linkLoop(ctx context.Context) {
	defer close(x.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.signal:
		}
		for again := true; again && ctx.Err() == nil; {
			again = false
			for i, k := range x.kinds {
				if k.graph.Bound() <= x.exact {
					continue
				}
				page, workers := linkPage, 1
				if x.hasty.Load() > 0 {
					page, workers = hastyPage, runtime.GOMAXPROCS(0)
				} else if x.bulk.Load() > 0 && k.beyond(x.exact) < linkBeside {
					x.bury(i, k)
					continue // the next commit, or the end of the call, wakes it
				}
				n, err := k.graph.LinkParallel(ctx, page, workers)
				if err != nil && ctx.Err() == nil {
					x.log.Error("lightrag: the vector index cannot link new vectors; they are found by scanning", "error", err)
					return
				}
				again = again || n > 0
				x.tend(ctx, i, k)
			}
			runtime.Gosched()
		}
		x.idles.Add(1)
	}
}

// hurry puts linking off until the call that brings many documents has ended
// and called what hurry returns, or until too much waits.
func (x *vectorIndex) hurry() (end func()) {
	x.bulk.Add(1)
	return func() {
		x.bulk.Add(-1)
		x.wake()
	}
}

// behind returns how many slots are still to be linked.
func (x *vectorIndex) behind() int {
	n := 0
	for _, k := range x.kinds {
		if bound := k.graph.Bound(); bound > x.exact {
			n += int(bound - k.graph.Mark())
		}
	}
	return n
}

// beyond returns how many slots wait to be linked, not counting those that would
// be scanned if there were no others.
func (k *kindIndex) beyond(exact uint32) int {
	return int(k.graph.Bound()) - int(max(k.graph.Mark(), exact))
}

// waitLinked holds back a writer while too many slots of a kind wait to be linked.
func (x *vectorIndex) waitLinked(ctx context.Context) error {
	most := func() (n int) {
		for _, k := range x.kinds {
			n = max(n, k.beyond(x.exact))
		}
		return n
	}
	if most() <= maxUnlinked {
		return nil
	}
	x.hasty.Add(1)
	defer x.hasty.Add(-1)
	for most() > maxUnlinked {
		x.wake()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.done:
			return nil
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// hit is a vector hit: the owner's id and its cosine with the query.
type hit struct {
	id    uint32
	score float32
}

// accept names the slots of a view: those that are their owner's vector in it
// and whose owner passes the filter.
type accept struct {
	view  *graphstore.View
	index *kindIndex
	kind  format.Kind
	allow func(owner uint32) bool // nil = all
}

func (a *accept) slot(s uint32) bool {
	owner := a.index.owners.get(s).Owner
	if now, ok := a.view.Slot(a.kind, owner); !ok || now != s {
		return false
	}
	return a.allow == nil || a.allow(owner)
}

const slotPage = 4096

// slotTable maps slots to owners. One goroutine writes; entries below a
// published bound never change and are read without a lock.
type slotTable struct {
	pages atomic.Pointer[[]*[slotPage]format.SlotOwner]
}

func (t *slotTable) set(slot uint32, o format.SlotOwner) {
	var pages []*[slotPage]format.SlotOwner
	if p := t.pages.Load(); p != nil {
		pages = *p
	}
	for int(slot/slotPage) >= len(pages) {
		pages = append(pages[:len(pages):len(pages)], new([slotPage]format.SlotOwner))
		grown := pages
		t.pages.Store(&grown)
	}
	pages[slot/slotPage][slot%slotPage] = o
}

func (t *slotTable) get(slot uint32) format.SlotOwner {
	return (*t.pages.Load())[slot/slotPage][slot%slotPage]
}
