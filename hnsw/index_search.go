package hnsw

import (
	"fmt"

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
	// Exact looks at every vector.
	Exact bool
}

// finder is the filter of one search, and the memory it needs, reused.
type finder struct {
	c      *contents
	bound  uint32
	allow  *roaring64.Bitmap
	accept func(uint64) bool
	slots  []uint32
	accNow func(uint32) bool // accepts, bound once
}

func newFinder() *finder {
	f := &finder{}
	f.accNow = f.accepts
	return f
}

func (f *finder) accepts(slot uint32) bool {
	chunk, i := f.c.at(slot)
	if until := chunk.until[i].Load(); until != 0 && f.bound >= until {
		return false
	}
	id := chunk.id[i]
	return (f.allow == nil || f.allow.Contains(id)) && (f.accept == nil || f.accept(id))
}

// Search returns the k vectors nearest to q, fewer only when fewer are eligible, by score descending; of equal
// scores the vector that was added first comes first. q need not be normalised; it is refused as in Add.
func (ix *Index) Search(q []float32, k int, o IndexSearchOptions) ([]Result, error) {
	norm, err := checkVector(q, len(ix.unit))
	if err != nil {
		return nil, fmt.Errorf("hnsw: search: %w", err)
	}
	if k < 0 || o.Ef < 0 || o.Ef > maxEf || o.MinScore != o.MinScore {
		return nil, fmt.Errorf("hnsw: search: %w: k %d, ef %d, minimum score %v", ErrInvalid, k, o.Ef, o.MinScore)
	}
	f := ix.finders.Get().(*finder)
	defer func() {
		f.c, f.allow, f.accept = nil, nil, nil
		ix.finders.Put(f)
	}()
	f.accept, f.allow = o.Accept, o.Allow
	only := ix.pin(f, k, &o)
	if f.bound == 0 {
		return nil, nil
	}
	g := f.c.g
	so := SearchOptions{Ef: o.Ef, Bound: f.bound, Exact: o.Exact, keepDead: true,
		MinScore: o.MinScore, HasMinScore: o.HasMinScore}
	if f.allow != nil || f.accept != nil || f.c.stale.Load() > 0 {
		so.Accept = f.accNow
	}
	c := g.borrow()
	defer g.release(c)
	simd.Scale(c.q, q, norm)
	ranks := g.search(c, k, &so, only)
	results := make([]Result, 0, len(ranks))
	for _, r := range ranks {
		if o.HasMinScore && r.score() < o.MinScore {
			break
		}
		chunk, i := f.c.at(r.slot())
		results = append(results, Result{ID: chunk.id[i], Score: r.score()})
	}
	return results, nil
}

// pin chooses the contents and bound a search works on. Where a list of allowed ids is short enough to look at
// each, it also returns their slots, never nil then; the filter need not ask the list again.
func (ix *Index) pin(f *finder, k int, o *IndexSearchOptions) []uint32 {
	if o.Allow == nil {
		f.c = ix.current.Load()
		f.bound = f.c.bound.Load()
		return nil
	}
	ix.names.RLock()
	defer ix.names.RUnlock()
	f.c = ix.cur
	f.bound = f.c.bound.Load()
	ef := o.Ef
	if ef == 0 {
		ef = ix.o.EfSearch
	}
	allowed := o.Allow.GetCardinality()
	if allowed > uint64(f.bound) || !f.c.g.scanIsCheaper(listCost(int(allowed), int(f.bound)), int(allowed), f.bound, max(ef, min(k, int(f.bound)))) {
		return nil
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
	return f.slots
}
