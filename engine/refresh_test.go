package engine

import (
	"fmt"
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
