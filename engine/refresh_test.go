package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// commitHub commits a document that says something new about the entity
// "hub", and leaves it stale.
func commitHub(t *testing.T, db *DB, n int) {
	t.Helper()
	id := fmt.Sprint("doc ", n)
	reg, err := db.store.Register(t.Context(), []graphstore.NewDocument{{
		ID: id, Hash: [32]byte{byte(n)}, Chunks: []graphstore.NewChunk{{Text: "text of " + id}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	view, err := db.store.View()
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := view.DocumentChunks(reg[0].Doc)
	view.Close()
	if err != nil {
		t.Fatal(err)
	}
	p, err := db.store.Prepare(t.Context(), graphstore.Contribution{
		Doc:    reg[0].Doc,
		Chunks: []graphstore.ChunkContribution{{ID: chunks[0].ID, Vector: wordVector(id, wordsDim)}},
		Entities: []graphstore.EntityFragment{{
			Name: "hub", Chunk: chunks[0].ID, Key: format.FragmentKey{Doc: reg[0].Doc}, Type: "place", Description: "said by " + id,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Roots() {
		if r.New {
			r.Vector = wordVector(r.Text, wordsDim)
		}
	}
	if _, err := db.store.Commit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// A call that refreshes must not work for the calls that go on committing.
func TestRefreshLeavesLaterChangesToTheirOwnCalls(t *testing.T) {
	e := &words{}
	o := testOptions(&fakeModel{})
	o.Embedder = e
	db := opened(t, "store", o)
	commitHub(t, db, 1)
	commitHub(t, db, 2)

	calls := 0
	e.hook = func(texts []string, vecs [][]float32) ([][]float32, error) {
		if len(texts) > 0 {
			calls++
		}
		if calls < 20 {
			commitHub(t, db, 2+calls)
		}
		return vecs, nil
	}
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls != 1 {
		t.Errorf("%d embedding calls, want 1 for what was stale at first", calls)
	}
	if n, err := db.store.StaleCount(); err != nil || n != 1 {
		t.Errorf("%d stale, %v; want the hub, for its later change", n, err)
	}

	e.hook = nil
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := db.store.StaleCount(); err != nil || n != 0 {
		t.Errorf("%d stale, %v; want none", n, err)
	}
}

// A run of many parts embeds a hub when the store has doubled and at its end,
// and what it leaves is what one call leaves.
func TestARunRefreshesWhenTheStoreHasDoubledAndAtItsEnd(t *testing.T) {
	var docs []Document
	for i := range 70 {
		docs = append(docs, doc(fmt.Sprint("d", i), fmt.Sprintf("@e|Hub|place|Hub is said by number %d.", i)))
	}
	options := func(e *words) Options {
		o := testOptions(&fakeModel{})
		o.Embedder, o.SummaryFragments, o.refreshEvery = e, 4, 4
		return o
	}
	e := &words{}
	hubs := 0
	e.hook = func(texts []string, vecs [][]float32) ([][]float32, error) {
		for _, text := range texts {
			if strings.HasPrefix(text, "Hub\n") {
				hubs++
			}
		}
		return vecs, nil
	}
	o := options(e)
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		rep, err := db.InsertPart(t.Context(), docs[i])
		if err != nil || rep.Documents[0].Status != StatusProcessed {
			t.Fatal(err, rep.Documents[0])
		}
		n := i + 1
		doubled := n >= o.refreshEvery && n&(n-1) == 0
		if waits := n > 1 && !doubled; waits != (rep.Stale > 0) {
			t.Errorf("%d stale after part %d", rep.Stale, n)
		}
	}
	if hubs != 6 { // when it is new, and after 4, 8, 16, 32 and 64 parts
		t.Errorf("the hub was embedded %d times, want 6", hubs)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	db = opened(t, "store", o)
	if rep, err := db.Insert(t.Context()); err != nil || rep.Stale != 0 || hubs != 7 {
		t.Errorf("%d stale after the last call, hub embedded %d times: %v", rep.Stale, hubs, err)
	}
	sound(t, db)
	once := opened(t, "store", options(&words{}))
	inserted(t, once, docs...)
	if a, b := exported(t, db), exported(t, once); a != b {
		t.Errorf("in parts:\n%s\nat once:\n%s", a, b)
	}
}
