package hnsw

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// Result is one hit of an Index.
type Result struct {
	ID    uint64
	Score float32 // cosine, in [-1, 1]
}

// IndexSearchOptions narrows and tunes one search of an Index. The zero value searches everything with the
// index's defaults.
type IndexSearchOptions struct {
	// Ef is the number of candidates to collect: more is slower and finds more. 0 means Options.EfSearch.
	Ef int
	// Accept says whether an id may be returned; nil accepts all. It must not change its mind during a search
	// and must not write to the index.
	Accept func(id uint64) bool
	// Allow lists the ids that may be returned; nil allows all. With Accept, both must agree. It must not
	// change during the search.
	Allow *roaring64.Bitmap
	// MinScore drops results below it when HasMinScore is set.
	MinScore    float32
	HasMinScore bool
	// Exact looks at every vector. The hits are the nearest ones for certain.
	Exact bool
}

// finder is the filter of one search, and the memory it needs, reused.
type finder struct {
	c       *contents
	s       *scratch
	epoch   uint64
	version uint64
	bound   uint32
	allow   *roaring64.Bitmap
	accept  func(uint64) bool
	slots   []uint32
	accNow  func(uint32) bool // accepts, bound once
}

func newFinder() *finder {
	f := &finder{}
	f.accNow = f.accepts
	return f
}

func (f *finder) accepts(slot uint32) bool {
	if !f.c.visible(slot, f.version) {
		return false
	}
	chunk, i := f.c.at(slot)
	id := chunk.id[i]
	return (f.allow == nil || f.allow.Contains(id)) && (f.accept == nil || f.accept(id))
}

// Search returns the k vectors nearest to q, fewer only when fewer are eligible, by score descending, then id
// ascending; where more than fit have the same score, it is not said which are left out. q need not be normalised;
// it is refused as in Add.
func (ix *Index) Search(q []float32, k int, o IndexSearchOptions) ([]Result, error) {
	norm, err := checkVector(q, len(ix.unit))
	if err != nil {
		return nil, fmt.Errorf("hnsw: search: %w", err)
	}
	if k < 0 || o.Ef < 0 || o.Ef > maxEf || o.MinScore != o.MinScore {
		return nil, fmt.Errorf("hnsw: search: %w: k %d, ef %d, minimum score %v", ErrInvalid, k, o.Ef, o.MinScore)
	}
	f := ix.finders.Get().(*finder)
	f.accept, f.allow = o.Accept, o.Allow
	only := ix.pin(f, k, &o)
	defer ix.unpin(f)
	if ix.closed.Load() {
		return nil, fmt.Errorf("hnsw: search: %w", ErrClosed)
	}
	if f.bound == 0 {
		return nil, nil
	}
	simd.Scale(f.s.q, q, norm)
	ranks := f.search(min(k, int(f.bound)), &o, only)
	if f.s.err != nil {
		return nil, fmt.Errorf("hnsw: search: %w", f.s.err)
	}
	return f.results(ranks, &o), nil
}

// maxHidden is the number of hidden slots up to which a search asks for as many more, rather than for the visible
// ones only, which costs it a look at every slot that it collects.
const maxHidden = 32

// search returns what is visible, best first, valid until the scratch is used again.
func (f *finder) search(k int, o *IndexSearchOptions, only []uint32) []rank {
	g := f.c.g
	so := SearchOptions{Ef: o.Ef, Exact: o.Exact, MinScore: o.MinScore, HasMinScore: o.HasMinScore}
	if hidden := int(f.c.hidden.Load()); f.allow == nil && f.accept == nil && only == nil && hidden <= maxHidden {
		ranks := g.search(f.s, k+hidden, &so, nil)
		seen := ranks[:0]
		for _, r := range ranks {
			if f.c.visible(r.slot(), f.version) {
				seen = append(seen, r)
			}
		}
		if len(seen) >= k || len(ranks) < k+hidden {
			return seen[:min(k, len(seen))]
		}
		// More was published meanwhile than was hidden.
	}
	so.Accept, so.Bound = f.accNow, f.bound
	return g.search(f.s, k, &so, only)
}

func (f *finder) results(ranks []rank, o *IndexSearchOptions) []Result {
	results := make([]Result, 0, len(ranks))
	tied := false
	for i, r := range ranks {
		score := r.score()
		if o.HasMinScore && score < o.MinScore {
			break
		}
		chunk, at := f.c.at(r.slot())
		results = append(results, Result{ID: chunk.id[at], Score: score})
		tied = tied || i > 0 && results[i-1].Score == score
	}
	if tied { // slots are used again, and say nothing about age
		slices.SortFunc(results, func(a, b Result) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
		})
	}
	return results
}

// pin chooses the contents and version that a search works on. Where a list of allowed ids is short enough to look
// at each, it also returns their slots, never nil then; the filter need not ask the list again.
func (ix *Index) pin(f *finder, k int, o *IndexSearchOptions) []uint32 {
	for {
		f.c = ix.current.Load()
		f.s = f.c.g.borrow()
		f.epoch = f.c.g.readers.enter(f.s.place)
		if ix.current.Load() != f.c { // it may have been released in between
			f.leave()
			continue
		}
		if o.Allow == nil {
			f.version = f.c.version.Load()
			f.bound = f.c.bound.Load()
			return nil
		}
		if only, ok := ix.list(f, k, o); ok {
			return only
		}
		f.leave()
	}
}

func (f *finder) leave() {
	f.c.g.readers.leave(f.s.place, f.epoch)
	f.c.g.release(f.s)
	f.c, f.s = nil, nil
}

func (ix *Index) unpin(f *finder) {
	f.leave()
	f.allow, f.accept = nil, nil
	ix.finders.Put(f)
}

// list is the part of pin that looks at a list. It returns false when the contents have just been replaced.
func (ix *Index) list(f *finder, k int, o *IndexSearchOptions) ([]uint32, bool) {
	ix.ensureNames()
	ix.names.RLock()
	defer ix.names.RUnlock()
	if ix.cur != f.c {
		return nil, false
	}
	f.version = f.c.version.Load()
	f.bound = f.c.bound.Load()
	ef := o.Ef
	if ef == 0 {
		ef = ix.o.EfSearch
	}
	allowed := o.Allow.GetCardinality()
	if allowed > uint64(f.bound) || !f.c.g.idsAreCheaper(uint32(allowed), f.bound, max(ef, min(k, int(f.bound)))) {
		return nil, true
	}
	f.slots = f.slots[:0]
	for it := o.Allow.Iterator(); it.HasNext(); {
		if slot, ok := ix.slots[it.Next()]; ok {
			f.slots = append(f.slots, slot)
		}
	}
	f.allow = nil
	if f.slots == nil {
		f.slots = []uint32{}
	}
	return f.slots, true
}
