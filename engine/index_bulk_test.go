package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// While a call brings many documents their vectors are found by scanning; they
// are linked when it has ended.
func TestLinkingIsPutOffWhileManyDocumentsComeIn(t *testing.T) {
	ctx := context.Background()
	o := testOptions(&fakeModel{})
	o.Completer, o.Embedder, o.exactBelow = nil, nil, 1
	db := opened(t, "store", o)
	defer db.Close()
	end := db.index.hurry()
	var docs []Document
	for i := range 20 {
		docs = append(docs, Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("Station %c%c measures the depth of Lake Brisby%d.", 'A'+i, 'A'+i, i)})
	}
	if _, err := db.Insert(ctx, docs...); err != nil {
		t.Fatal(err)
	}
	waiting := db.index.behind()
	if waiting < 20 {
		t.Errorf("%d vectors wait, want 20 chunks or more", waiting)
	}
	r, err := db.Retrieve(ctx, Query{Text: "Lake Brisby7", Mode: Naive})
	if err != nil || len(r.Chunks) == 0 || r.Chunks[0].Doc != "7" {
		t.Errorf("%v: %+v", err, r)
	}
	if again := db.index.behind(); again != waiting {
		t.Errorf("%d vectors wait, %d did", again, waiting)
	}
	end()
	for deadline := time.Now().Add(time.Minute); db.index.behind() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d vectors are still not linked", db.index.behind())
		}
	}
}

// WaitLinked has everything linked whatever else goes on, and nothing dead is
// left in the graphs.
func TestWaitLinkedLeavesNothingToDo(t *testing.T) {
	ctx := context.Background()
	o := testOptions(&fakeModel{})
	o.Completer, o.Embedder, o.exactBelow = nil, nil, 1
	db := opened(t, "store", o)
	end := db.index.hurry()
	defer end()
	text := func(i, year int) Document {
		return Document{ID: fmt.Sprint(i), Replace: year > 0, Text: fmt.Sprintf("Station %c%c measured the depth of Lake Brisby%d in %d.", 'A'+i, 'A'+i, i, 1900+year)}
	}
	for year := range 3 {
		var docs []Document
		for i := range 20 {
			docs = append(docs, text(i, year))
		}
		if _, err := db.Insert(ctx, docs...); err != nil {
			t.Fatal(err)
		}
		waiting, calls, last, total := db.index.behind(), 0, 0, 0
		err := db.WaitLinked(ctx, func(linked, vectors int) {
			if linked < last || linked > vectors || calls > 0 && vectors != total {
				t.Errorf("%d of %d, after %d of %d", linked, vectors, last, total)
			}
			calls++
			last, total = linked, vectors
		})
		if err != nil {
			t.Fatal(err)
		}
		if waiting < 20 || total != waiting || last != total {
			t.Errorf("%d waited, told of %d of %d", waiting, last, total)
		}
		for i, k := range db.index.kinds {
			if k.graph.Mark() != k.graph.Bound() || float64(k.graph.Lingering()) > deadShare*float64(k.graph.Mark()) {
				t.Errorf("%s: %d of %d are linked, %d linger", indexName(i), k.graph.Mark(), k.graph.Bound(), k.graph.Lingering())
			}
		}
	}
	if err := db.WaitLinked(ctx, nil); err != nil { // nothing waits
		t.Error(err)
	}
	if _, err := db.Insert(ctx, text(99, 0), text(98, 0)); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancelCause(ctx)
	cause := errors.New("somebody pressed a key")
	cancel(cause)
	if err := db.WaitLinked(gone, nil); !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
	if r, err := db.Retrieve(ctx, Query{Text: "Lake Brisby7", Mode: Naive}); err != nil || len(r.Chunks) == 0 || r.Chunks[0].Doc != "7" {
		t.Errorf("%v: %+v", err, r)
	}
	closed(t, db)
	if err := db.WaitLinked(ctx, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
}
