package hnsw

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/v1; only before version 1 is frozen")

// Files of every version that was released are read forever. How links come out may differ from machine to machine by
// a rounding, so that only what is read, and written again, is compared.
func TestGoldenFiles(t *testing.T) {
	dir := filepath.Join("testdata", "v1")
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string][]byte{"index.hnsw": smallIndexFile(t), "changed.hnsw": smallIndexFile(t)} {
			if err := os.WriteFile(filepath.Join(dir, name), p, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		ix := mustOpen(t, filepath.Join(dir, "changed.hnsw"), OpenOptions{})
		for i := range 3 {
			if err := ix.Add(uint64(i), []float32{1, float32(i), -2}); err != nil {
				t.Fatal(err)
			}
		}
		if err := ix.SaveChanges(); err != nil {
			t.Fatal(err)
		}
		p, _ := fixable(t, 3)
		if err := os.WriteFile(filepath.Join(dir, "graph.hnsw"), p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		p, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	index, changed := read("index.hnsw"), read("changed.hnsw")
	ix, err := loadIndex(index)
	if err != nil {
		t.Fatal(err)
	}
	if s := ix.Stats(); ix.Len() != 39 || s.Dead != 2 || s.Twins == 0 || !ix.Has(1<<40+5) || ix.Has(1<<40+3) {
		t.Errorf("%+v", s)
	}
	if !bytes.Equal(savedIndex(t, ix), index) {
		t.Error("an index is written otherwise")
	}
	opened := mustOpen(t, filepath.Join(dir, "changed.hnsw"), OpenOptions{})
	if !bytes.HasPrefix(changed, index) || opened.Torn() != nil || opened.Len() != 42 || !opened.Has(0) || !opened.Has(2) {
		t.Errorf("changes: %+v", opened.Stats())
	}
	if r, err := opened.Search([]float32{1, 2, -2}, 1, IndexSearchOptions{}); err != nil || len(r) != 1 || r[0].ID != 2 {
		t.Errorf("%v, %v", r, err)
	}

	graph := read("graph.hnsw")
	g, part, err := LoadGraph(bytes.NewReader(graph), int64(len(graph)), 3, Options{M: 2, EfConstruction: 8, ExactBelow: -1, Seed: 1})
	if err != nil || string(part) != "own" || g.Dead() != 4 || g.Free() != 3 {
		t.Fatalf("%q, %v", part, err)
	}
	for slot, row := range twinned(4, 70, 3)[:60] {
		if err := g.Place(uint32(slot), row); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := g.Save(&b, own); err != nil || !bytes.Equal(b.Bytes(), graph) {
		t.Errorf("a graph is written otherwise (%v)", err)
	}
}
