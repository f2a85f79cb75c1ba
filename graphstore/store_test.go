package graphstore

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

func TestInsertIsReadBackAfterReopening(t *testing.T) {
	fs := vfs.NewMem()
	d := &testDoc{id: "d", chunks: []testChunk{{order: 0,
		entities:  []EntityFragment{e(0, "Alice", "person", "Alice is here."), e(1, "Bob", "person", "Bob too.")},
		relations: []RelationFragment{r(2, "Bob", "Alice", "They met.", 2_000_000, "meeting", "a"), r(3, "Alice", "Carol", "Carol wrote.", 1_000_000)},
	}}}
	look := func(s *Store, sink *memorySink) {
		t.Helper()
		checked(t, s)
		vectorsMatch(t, s, sink)
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		id, ok, err := v.FindEntity("Carol")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		rec, err := v.EntityRecords([]EntityID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rec[0].Type != UnknownType || rec[0].Description != "Carol wrote." || v.Degree(id) != 1 {
			t.Errorf("Carol is %+v, degree %d", rec[0], v.Degree(id))
		}
		rel, ok, err := v.FindRelation("Bob", "Alice")
		if err != nil || !ok || v.Weight(rel) != 2_000_000 {
			t.Errorf("relation %d %v %v, weight %d", rel, ok, err, v.Weight(rel))
		}
		a, b := v.Ends(rel)
		if v.EntityName(a) != "Alice" || v.EntityName(b) != "Bob" {
			t.Errorf("ends %q, %q", v.EntityName(a), v.EntityName(b))
		}
		if src := v.Sources(format.KindRelation, uint32(rel)); len(src) != 1 {
			t.Errorf("sources %v", src)
		}
		chunks, err := v.Chunks(v.Sources(format.KindRelation, uint32(rel)), nil)
		if err != nil || chunks[0].DocID != "d" || chunks[0].Path != "d.txt" {
			t.Errorf("chunks %+v, %v", chunks, err)
		}
	}
	s, sink := opened(t, fs, nil)
	insert(t, s, d)
	look(s, sink)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, sink = opened(t, fs, nil)
	look(s, sink)
}
