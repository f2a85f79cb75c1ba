package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RebuildIndex makes the vector index of the store in dir anew from its
// vectors, whatever its files hold, and writes it, and the postings of lexical
// matching from its texts. No model is asked, and it
// does not matter for the result which one o names; the embedder must be the
// store's or have no name. progress may be nil; it is told how many of the
// vectors that are to be linked are, where there are so many that they are. A
// cancelled context leaves an index that is finished when the store is next
// open.
func RebuildIndex(ctx context.Context, dir string, o Options, progress func(linked, vectors int)) (map[string]IndexStats, error) {
	o.MustExist, o.ReadOnly, o.freshIndex = true, false, true
	db, err := Open(dir, o)
	if err != nil {
		return nil, err
	}
	err = db.index.linkAll(ctx, progress)
	stats := db.index.stats()
	if err = errors.Join(err, db.Close()); err != nil {
		return stats, fmt.Errorf("lightrag: rebuild index of %s: %w", dir, err)
	}
	return stats, nil
}

// linkAll waits until every vector is linked that is to be.
func (x *vectorIndex) linkAll(ctx context.Context, progress func(linked, vectors int)) error {
	total := x.behind()
	for left := total; ; left = x.behind() {
		if progress != nil {
			progress(max(total-left, 0), total)
		}
		if left == 0 {
			return nil
		}
		x.wake()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.done:
			return fmt.Errorf("%d vectors cannot be linked", left)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
