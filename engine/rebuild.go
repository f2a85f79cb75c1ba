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
		return stats, fmt.Errorf("lightrag: rebuild index of %s: %w", dir, within(err))
	}
	return stats, nil
}

// WaitLinked returns when every vector is linked that is to be, and what died
// is taken out of the index. Else that happens in the background, as far as it
// comes until Close; what is not linked is found by scanning. All cores work on
// it. Call it when many documents have come in and the store is about to be
// closed, or is to answer as fast as it can. progress may be nil; it is told how
// many of the vectors that waited are linked. It waits too for what other calls
// bring meanwhile, and Close waits for it: when ctx ends first, its cause is the
// error, and the background goes on.
func (db *DB) WaitLinked(ctx context.Context, progress func(linked, vectors int)) error {
	if err := db.begin(false); err != nil {
		return err
	}
	defer db.end()
	if err := db.index.linkAll(ctx, progress); err != nil {
		return fmt.Errorf("lightrag: link vectors: %w", within(err))
	}
	return nil
}

// linkAll waits until every vector is linked that is to be.
func (x *vectorIndex) linkAll(ctx context.Context, progress func(linked, vectors int)) error {
	x.hasty.Add(1)
	defer x.hasty.Add(-1)
	total, idles, pause := x.behind(), int64(-1), time.Millisecond/4
	for left := total; ; left = x.behind() {
		if progress != nil {
			progress(max(total-left, 0), total)
		}
		switch {
		case left > 0:
			idles = -1
		case idles < 0:
			idles = x.idles.Load() // of then, or sooner: all is linked, not all is tended
		case x.idles.Load() > idles:
			return nil
		}
		x.wake()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.done:
			if left == 0 {
				return nil
			}
			return fmt.Errorf("%d vectors cannot be linked", left)
		case <-time.After(pause):
			pause = min(2*pause, 20*time.Millisecond)
		}
	}
}
