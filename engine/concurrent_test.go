package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Readers work while documents come and go. Each document brings three
// entities of its own and their relations: a view shows all of them or none.
func TestReadersSeeWholeDocuments(t *testing.T) {
	o := testOptions(unsteady(1, ""))
	o.Storage.SealBytes = 8 << 10
	o.Concurrency = 4
	db := opened(t, "store", o)
	whole := func(i, version int) Document {
		d := doc(fmt.Sprint("d", i))
		for j := range 3 {
			d.Text += fmt.Sprintf("@e|Part %d %d|t|Version %d of document %d.\n@r|Part %d %d|Hub|k|Joins in version %d.\n", i, j, version, i, i, j, version)
		}
		d.Replace = true
		return d
	}
	inserted(t, db, whole(0, 0), whole(1, 0))

	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	var reads, writes atomic.Int64
	for w := range 2 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				i := 2*(n%4) + w // each writer has documents of its own
				if _, err := db.Insert(context.Background(), whole(i, n)); err != nil {
					t.Error(err)
					return
				}
				if n%3 == 2 {
					if _, err := db.DeleteDocuments(context.Background(), fmt.Sprint("d", i)); err != nil {
						t.Error(err)
						return
					}
				}
				writes.Add(1)
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				v := db.View()
				for i := range 8 {
					if err := wholeOrNone(v, i); err != nil {
						t.Error(err)
					}
				}
				v.Close()
				reads.Add(1)
			}
		})
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				r, err := db.Retrieve(context.Background(), Query{
					Text: fmt.Sprint("version of document ", n%8), Mode: Mix, LowLevel: []string{fmt.Sprint("part ", n%8)},
					HighLevel: []string{"joins in version"}, CosineThreshold: -1,
				})
				if err != nil || !r.Found {
					t.Errorf("Retrieve: %v %+v", err, r)
					return
				}
				if _, err := db.Stats(); err != nil {
					t.Error(err)
				}
				reads.Add(1)
			}
		})
	}
	wg.Wait()
	if reads.Load() < 10 || writes.Load() < 4 {
		t.Errorf("%d reads, %d writes", reads.Load(), writes.Load())
	}
	sound(t, db)
}

// wholeOrNone checks that a view shows one version of a document, whole, or
// nothing of it.
func wholeOrNone(v *View, i int) error {
	var descriptions []string
	for j := range 3 {
		e, err := v.Entity(fmt.Sprintf("Part %d %d", i, j))
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if e.Degree != 1 {
			return fmt.Errorf("%s has %d relations", e.Name, e.Degree)
		}
		r, err := v.Relation(e.Name, "Hub")
		if err != nil {
			return err
		}
		version, _, _ := strings.Cut(strings.TrimPrefix(e.Description, "Version "), " ")
		if r.Description != "Joins in version "+version+"." {
			return fmt.Errorf("%s is %q, its relation %q", e.Name, e.Description, r.Description)
		}
		descriptions = append(descriptions, e.Description)
	}
	if n := len(descriptions); n != 0 && (n != 3 || descriptions[0] != descriptions[1] || descriptions[0] != descriptions[2]) {
		return fmt.Errorf("document %d is half there: %q", i, descriptions)
	}
	return nil
}

// An old view stays as it was, whatever happens to the store.
func TestAViewDoesNotChange(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.Storage.SealBytes = 4 << 10
	db := opened(t, "store", o)
	docs := corpus(6)
	inserted(t, db, docs[:3]...)
	v := db.View()
	defer v.Close()
	read := func() string {
		var b strings.Builder
		if err := v.ExportJSONL(&b); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(v.Counts(), b.String())
	}
	want := read()
	inserted(t, db, docs[3:]...)
	if _, err := db.DeleteDocuments(t.Context(), docs[0].ID, docs[1].ID, docs[4].ID); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != want {
		t.Errorf("the view changed:\n%s\nwas\n%s", got, want)
	}
	if exported(t, db) == want {
		t.Error("the store did not change")
	}
}

// Waiting for somebody else's refresh ends with the context.
func TestRefreshWaitsOnlyAsLongAsItsContext(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	db.refreshing <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := db.Refresh(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Refresh: %v", err)
	}
	<-db.refreshing
	if err := db.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
}
