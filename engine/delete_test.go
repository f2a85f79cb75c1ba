package engine

import (
	"fmt"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func TestDeletingWithARefusedKeyStands(t *testing.T) {
	w := &words{}
	o := testOptions(&fakeModel{})
	o.Embedder = w
	db := opened(t, "store", o)
	inserted(t, db, doc("a", "@e|Hub|t|what a says"), doc("b", "@e|Hub|t|what b says"))
	w.hook = func([]string, [][]float32) ([][]float32, error) { return nil, fmt.Errorf("%w: revoked", llm.ErrAuth) }
	rep, err := db.DeleteDocuments(t.Context(), "a")
	if err != nil || len(rep.Deleted) != 1 || rep.Stale != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	w.hook = nil
	if err := db.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	sound(t, db)
}
