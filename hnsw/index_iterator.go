package hnsw

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/lightctl/lightrag/hnsw/simd"
)

// IndexIterator is [Iterator] for an Index: it sees the index as it was when it was made. While it is open, the memory
// of vectors that are replaced or deleted is not used again. It outlives Compact and Close of the index.
type IndexIterator struct {
	ix     *Index
	it     Iterator
	f      *finder // nil when closed
	hits   []Hit
	forgot runtime.Cleanup
}

// Iterate starts to look for the vectors nearest to q, as Search does, for as many as Next will be asked for.
// IndexSearchOptions.Ef is how many candidates the walk is to be ahead. The iterator should be closed.
func (ix *Index) Iterate(q []float32, o IndexSearchOptions) (*IndexIterator, error) {
	norm, err := checkVector(q, len(ix.unit))
	if err != nil {
		return nil, fmt.Errorf("hnsw: iterate: %w", err)
	}
	if o.Ef < 0 || o.Ef > maxEf || o.MinScore != o.MinScore {
		return nil, fmt.Errorf("hnsw: iterate: %w: ef %d, minimum score %v", ErrInvalid, o.Ef, o.MinScore)
	}
	f := ix.finders.Get().(*finder)
	f.accept, f.allow = o.Accept, o.Allow
	only := ix.pin(f, 1, &o)
	begun := false
	defer func() {
		if !begun { // closed, or Accept has panicked
			ix.unpin(f)
		}
	}()
	if ix.closed.Load() {
		return nil, fmt.Errorf("hnsw: iterate: %w", ErrClosed)
	}
	simd.Scale(f.s.q, q, norm)
	so := SearchOptions{Ef: o.Ef, Exact: o.Exact, MinScore: o.MinScore, HasMinScore: o.HasMinScore, Accept: f.accNow}
	it := &IndexIterator{ix: ix, f: f}
	h := hold{f.c.g, f.s.place, f.epoch}
	it.it.begin(f.s, h, &so, f.bound, only)
	begun = true
	it.forgot = runtime.AddCleanup(it, hold.end, h)
	return it, nil
}

// Next yields the n nearest of what was not yielded, fewer when fewer are left, and none in the end, by score descending,
// then id ascending. They overwrite dst, which is grown when its capacity is below their number; with enough, and once
// warm, nothing is allocated.
func (it *IndexIterator) Next(n int, dst []Result) ([]Result, error) {
	dst = dst[:0]
	hits, err := it.it.Next(n, it.hits)
	if err != nil {
		return dst, err
	}
	it.hits = hits
	defer runtime.KeepAlive(it) // slots keep their ids no longer
	tied := false
	for i, h := range hits {
		chunk, at := it.f.c.at(h.Slot)
		dst = append(dst, Result{ID: chunk.id[at], Score: h.Score})
		tied = tied || i > 0 && hits[i-1].Score == h.Score
	}
	if tied {
		slices.SortFunc(dst, func(a, b Result) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
		})
	}
	return dst, nil
}

// Close lets go of what the iterator holds. It may be called more than once, and an iterator that nobody can use any
// more is closed by the garbage collector, some time.
func (it *IndexIterator) Close() {
	if it.f == nil {
		return
	}
	it.forgot.Stop()
	it.it.tidy()
	it.it = Iterator{}
	it.ix.unpin(it.f)
	it.f = nil
}
