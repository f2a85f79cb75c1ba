package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lightctl/lightrag/format"
)

// Calls that insert, replace and delete the same documents at once, one of them cancelled, leave each document whole,
// once or not at all, and the store that a new one would be with what is left.
func TestCallsForTheSameDocumentsAtOnce(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := testOptions(&fakeModel{})
			o.Concurrency = 3
			db := opened(t, "store", o)
			var calls sync.WaitGroup
			insert := func(from, to, version int, replace bool, call func(context.Context, ...Document) (*Report, error)) {
				var docs []Document
				for i := from; i < to; i++ {
					d := crowded(i, version)
					d.Replace = replace
					docs = append(docs, d)
				}
				calls.Go(func() {
					rep, err := call(t.Context(), docs...)
					if err != nil {
						t.Error(err)
						return
					}
					for _, d := range rep.Documents {
						if d.Status == StatusFailed && !errors.Is(d.Err, ErrNotFound) {
							t.Errorf("document %q: %v", d.ID, d.Err)
						}
					}
				})
			}
			insert(0, 60, 0, false, db.Insert)
			insert(30, 90, 0, false, db.InsertPart)
			insert(20, 50, 1, true, db.Insert)
			insert(20, 50, 2, true, db.InsertPart)
			calls.Go(func() {
				r := rand.New(rand.NewPCG(seed, 0))
				for range 50 {
					time.Sleep(2 * time.Millisecond)
					if _, err := db.DeleteDocuments(t.Context(), fmt.Sprint("d", r.IntN(90))); err != nil && !errors.Is(err, ErrNotFound) {
						t.Error(err)
					}
				}
			})
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seed)*time.Millisecond)
				defer cancel()
				if _, err := db.Insert(ctx, crowded(100, 0), crowded(101, 0), crowded(102, 0)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
			calls.Wait()
			rep, err := db.Resume(t.Context())
			if err != nil || rep.Stale != 0 {
				t.Fatal(err, rep.Stale)
			}
			sound(t, db)
			again := opened(t, "again", testOptions(&fakeModel{}))
			for _, d := range storedDocuments(t, db) {
				inserted(t, again, d)
			}
			if a, b := exported(t, db), exported(t, again); a != b {
				t.Errorf("after all calls:\n%s\nof the documents that are left:\n%s", a, b)
			}
		})
	}
}

// crowded is a document that shares an entity with all others, and others with some.
func crowded(i, version int) Document {
	return doc(fmt.Sprint("d", i),
		fmt.Sprintf("@e|Hub|place|Hub is said by number %d of version %d.", i, version),
		fmt.Sprintf("@e|E%d|thing|One of many.", i/3),
		fmt.Sprintf("@r|Hub|E%d|near|They are near in version %d.|5", i/3, version),
		fmt.Sprintf("@r|X%d|E%d|near|Implied by version %d.|5", i%5, i/3, version))
}

// storedDocuments returns the documents of db, of one chunk each, in the order in which they were accepted.
func storedDocuments(t *testing.T, db *DB) (docs []Document) {
	t.Helper()
	v, err := db.store.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Documents(func(id format.DocID, d format.Document) error {
		chunks, err := v.DocumentChunks(id)
		if err != nil {
			return err
		}
		if len(chunks) != 1 || d.Status != format.StatusProcessed {
			t.Errorf("document %q has %d chunks and status %d", d.ID, len(chunks), d.Status)
			return nil
		}
		docs = append(docs, Document{ID: d.ID, Path: d.Path, Text: chunks[0].Text})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return docs
}
