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

// With the answers gone, the same text is asked about again: of a document
// that failed, too, whose finished answers would make it fail again.
func TestDeletingWithTheAnswers(t *testing.T) {
	for _, fails := range []bool{false, true} {
		m := costing()
		o := testOptions(m)
		o.ChunkPolicy = FailDocument
		db := opened(t, "store", o)
		d := chunksOf("a", "@e|Alpha|t|One.", "@e|Beta|t|Two.")
		if fails {
			d.Chunks[1].Content += "\n@silent"
		}
		insert := func() {
			t.Helper()
			rep, err := db.Insert(t.Context(), d)
			if err != nil || (rep.Documents[0].Status == StatusFailed) != fails {
				t.Fatal(err, rep)
			}
		}
		insert()
		for _, answers := range []bool{false, true} {
			rep, err := db.Delete(t.Context(), DeleteOptions{Answers: answers}, "a")
			if err != nil || len(rep.Deleted) != 1 || (rep.Answers > 0) != (answers && !fails) {
				t.Fatal(err, rep)
			}
			first := d.Chunks[0].Content
			before := len(m.asked())
			insert()
			again := 0
			for _, text := range m.asked()[before:] {
				if text == first {
					again++
				}
			}
			if want := map[bool]int{true: 1}[answers]; again != want {
				t.Errorf("fails %v, answers %v: asked %d times about a chunk that was answered, want %d", fails, answers, again, want)
			}
		}
		c, err := db.CacheStats()
		if err != nil || c.Answers == 0 {
			t.Error(err, c)
		}
	}
}
