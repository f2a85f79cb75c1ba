package engine

import (
	"context"
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
