package store

import (
	"path/filepath"
	"testing"

	"github.com/lightctl/lightrag/engine"
)

func TestABuiltStoreHoldsWhatTheCorpusSays(t *testing.T) {
	c := NewCorpus(70)
	dir := filepath.Join(t.TempDir(), "store")
	cost, err := c.Build(t.Context(), dir, 65)
	if err != nil {
		t.Fatal(err)
	}
	if cost.Visible.Wall <= 0 || cost.Embedded.Wall <= 0 {
		t.Errorf("nothing was measured: %+v", cost)
	}
	db, err := engine.Open(dir, c.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	q := Query(&c.Questions()[0], engine.Hybrid, 0)
	r, err := db.Retrieve(t.Context(), q)
	if err != nil || len(r.Entities) < 40 {
		t.Fatalf("%d entities, %v", len(r.Entities), err)
	}
	if _, err := c.Ingest(t.Context(), db, 65, 70); err != nil {
		t.Error(err)
	}
	if _, err := c.Ingest(t.Context(), db, 65, 70); err == nil {
		t.Error("documents that were stored before count as processed")
	}
}

func TestNoTwoRoundsAskTheSame(t *testing.T) {
	c := NewCorpus(20)
	seen := map[string]bool{}
	for round := range 9 {
		for i := range c.Questions()[:20] {
			q := Query(&c.Questions()[i], engine.Mix, round)
			c.KnowQuery(q)
			key := q.Text
			if seen[key] {
				t.Fatalf("round %d asks %q again", round, key)
			}
			seen[key] = true
		}
	}
	if n := len(c.Embedder.known); n < 20*9 {
		t.Errorf("the embedder knows %d texts", n)
	}
}
