package engine

import (
	"errors"
	"testing"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// A document that an Insert has accepted is not an import's to take back.
func TestAFailedImportTakesBackOnlyWhatItBrought(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	n := graphstore.NewDocument{ID: "a", Path: "a", Hash: [32]byte{1}, Chunks: []graphstore.NewChunk{{Text: "text"}}}
	broken := errors.New("broken")
	fails := func(format.DocID, []graphstore.Chunk) (graphstore.Contribution, error) {
		return graphstore.Contribution{}, broken
	}
	stored := func() bool {
		t.Helper()
		_, _, err := db.Document("a")
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	if _, err := db.importDocument(t.Context(), n, fails); !errors.Is(err, broken) || stored() {
		t.Errorf("%v; it is there: %v", err, stored())
	}
	if _, err := db.store.Register(t.Context(), []graphstore.NewDocument{n}); err != nil { // as Insert does
		t.Fatal(err)
	}
	if _, err := db.importDocument(t.Context(), n, fails); !errors.Is(err, broken) || !stored() {
		t.Errorf("%v; it is there: %v", err, stored())
	}
	sound(t, db)
}
