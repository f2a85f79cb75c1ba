package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func importKG(t testing.TB, db *DB, text string) *ImportReport {
	t.Helper()
	rep, err := db.ImportKG(t.Context(), strings.NewReader(text), KGImport{Name: "graphs/hand.json", TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

const handMade = `{
  "relationships": [
    {"src_id": "Ada", "tgt_id": "Engine", "description": "old", "keywords": "x", "source_id": "one"},
    {"src_id": "Engine", "tgt_id": "Ada", "description": "Ada wrote about it.", "keywords": "notes, work", "weight": 2.5, "source_id": "one"},
    {"src_id": "Ada", "tgt_id": "Nobody", "description": "They met.", "keywords": ["meeting"], "source_id": "elsewhere"}
  ],
  "entities": [
    {"entity_name": "Ada", "description": "first", "source_id": "one"},
    {"entity_name": " “Ada” ", "entity_type": "Person", "description": "A mathematician.", "source_id": "one", "file_path": "a.txt"},
    {"entity_name": "Engine", "source_id": "two"},
    {"entity_name": "Loner", "entity_type": "UNKNOWN", "description": "Known to nobody."}
  ],
  "further": [{"is": "ignored"}],
  "chunks": [
    {"content": "Ada wrote notes.", "source_id": "one", "file_path": "a.txt"},
    {"content": "The engine was never built.", "source_id": "two", "chunk_order_index": 3},
    {"content": "It was planned in London.", "source_id": "two"}
  ]
}`

func TestImportKG(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	rep := importKG(t, db, handMade)
	if rep.Documents != 3 || rep.Chunks != 4 || rep.Entities != 3 || rep.Relations != 2 || rep.Issue("row twice") != 2 || rep.VectorsMissing != 0 {
		t.Errorf("%+v", rep)
	}
	want := []string{
		`{"kind":"entity","name":"Ada","type":"person","description":"A mathematician.","fragments":["A mathematician."],"sources":["graphs/hand.json#one#0","graphs/hand.json#UNKNOWN#0"],"degree":2}`,
		`{"kind":"entity","name":"Engine","type":"UNKNOWN","description":"No description provided","fragments":["No description provided"],"sources":["graphs/hand.json#one#0","graphs/hand.json#two#0"],"degree":1}`,
		`{"kind":"entity","name":"Loner","type":"UNKNOWN","description":"Known to nobody.","fragments":["Known to nobody."],"sources":["graphs/hand.json#UNKNOWN#0"],"degree":0}`,
		`{"kind":"entity","name":"Nobody","type":"UNKNOWN","description":"They met.","fragments":["They met."],"sources":["graphs/hand.json#UNKNOWN#0"],"degree":1}`,
		`{"kind":"relation","src":"Ada","tgt":"Engine","weight":2.5,"keywords":["notes","work"],"description":"Ada wrote about it.","fragments":["Ada wrote about it."],"sources":["graphs/hand.json#one#0"]}`,
		`{"kind":"relation","src":"Ada","tgt":"Nobody","weight":1,"keywords":["meeting"],"description":"They met.","fragments":["They met."],"sources":["graphs/hand.json#UNKNOWN#0"]}`,
	}
	graph := exported(t, db)
	if graph != strings.Join(want, "\n")+"\n" {
		t.Errorf("got\n%s", firstDifference(graph, strings.Join(want, "\n")+"\n"))
	}
	sound(t, db)
	res, err := db.Retrieve(t.Context(), Query{Text: "mathematician", Mode: Local, LowLevel: []string{"mathematician"}})
	if err != nil || len(res.Entities) == 0 || res.Entities[0].Name != "Ada" || res.Chunks[0].Content != "Ada wrote notes." {
		t.Errorf("%+v %v", res, err)
	}

	if again := importKG(t, db, handMade); again.Documents != 0 || again.Unchanged != 3 || exported(t, db) != graph {
		t.Errorf("the second import is not idle: %+v", again)
	}
	changed := strings.Replace(handMade, "A mathematician.", "A countess.", 1)
	if rep := importKG(t, db, changed); rep.Documents != 1 || rep.Unchanged != 2 {
		t.Errorf("%+v", rep)
	}
	v := db.View()
	if e, err := v.Entity("Ada"); err != nil || len(e.Fragments) != 1 || e.Description != "A countess." || e.Degree != 2 {
		t.Errorf("%+v %v", e, err)
	}
	v.Close()
	if _, err := db.DeleteDocuments(t.Context(), "graphs/hand.json#UNKNOWN"); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, db); strings.Contains(got, "Nobody") || strings.Contains(got, "Loner") || !strings.Contains(got, "A countess.") {
		t.Errorf("after the deletion\n%s", got)
	}
	sound(t, db)
	if len(m.calls) > 0 {
		t.Errorf("%d completions", len(m.calls))
	}
}

func TestKGReportsProgress(t *testing.T) {
	var got []Progress
	o := testOptions(&fakeModel{})
	o.Progress = func(p Progress) { got = append(got, p) }
	db := opened(t, "store", o)
	for range 2 { // what is there already is done too
		got = nil
		importKG(t, db, handMade)
		if len(got) != 3 || got[0].Documents != 3 || got[0].Chunks != 4 || got[0].DocumentsDone != 1 {
			t.Fatalf("%+v", got)
		}
		if last := got[2]; last.DocumentsDone != 3 || last.ChunksDone != 4 {
			t.Errorf("%+v", last)
		}
	}
}

func TestKGJoinsWhatDocumentsSay(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, Document{ID: "doc", Text: "@e|Ada|Person|She lived in London."})
	importKG(t, db, handMade)
	v := db.View()
	defer v.Close()
	if e, err := v.Entity("Ada"); err != nil || len(e.Fragments) != 2 || len(e.Sources) != 3 {
		t.Errorf("%+v %v", e, err)
	}
}

// TestKGWithoutEmbedder keeps the graph when no vector can be made.
func TestKGWithoutEmbedder(t *testing.T) {
	db := opened(t, "store", importOptions(&fakeModel{}, 16))
	if rep := importKG(t, db, handMade); rep.Documents != 3 || rep.VectorsMissing != 4+2+4 {
		t.Errorf("%+v", rep)
	}
	sound(t, db)
}

func TestWrongGraphsAreRefused(t *testing.T) {
	entity := func(fields string) string { return `{"entities": [{"entity_name": "A"}, {` + fields + `}]}` }
	relation := func(fields string) string { return `{"relationships": [{` + fields + `}]}` }
	chunk := func(fields string) string { return `{"chunks": [{` + fields + `}]}` }
	db := opened(t, "store", testOptions(&fakeModel{}))
	for _, c := range []struct{ file, want string }{
		{``, "ends in the middle"},
		{`[]`, `'[' where '{' should be`},
		{`{}`, "none of the lists"},
		{`{"entities": []}`, "nothing in them"},
		{`{"entities": [{"entity_name": "A"}`, "ends in the middle"},
		{`{"entities": [{"entity_name": "A"}]} x`, "after the end"},
		{`{"entities": {"a": 1}}`, "entities: not a list"},
		{`{"entities": [{"entity_name": "A"}, 7]}`, "entities[1]: not an object"},
		{entity(``), "entities[1].entity_name: missing"},
		{entity(`"entity_name": 7`), "entities[1].entity_name: not a text"},
		{entity(`"entity_name": "  "`), "entities[1].entity_name: blank"},
		{entity(`"entity_name": "12"`), "entities[1].entity_name: \"12\" is no name"},
		{entity(`"entity_name": "B", "entity_type": "a/b"`), "entities[1].entity_type"},
		{entity(`"entity_name": "B", "description": []`), "entities[1].description: not a text"},
		{entity(`"entity_name": "B", "file_path": "a\u0000b"`), "entities[1].file_path"},
		{entity(`"entity_name": "B", "source_id": "a\nb"`), "entities[1].source_id"},
		{relation(`"src_id": "A", "tgt_id": " A ", "description": "d", "keywords": "k"`), "relationships[0].tgt_id: the relation connects"},
		{relation(`"src_id": "A", "tgt_id": "B", "keywords": "k"`), "relationships[0].description: missing"},
		{relation(`"src_id": "A", "tgt_id": "B", "description": "d"`), "relationships[0].keywords: missing"},
		{relation(`"src_id": "A", "tgt_id": "B", "description": "d", "keywords": [1]`), "relationships[0].keywords: 1 is not a text"},
		{relation(`"src_id": "A", "tgt_id": "B", "description": "d", "keywords": "k", "weight": -1`), "relationships[0].weight: -1"},
		{relation(`"src_id": "A", "tgt_id": "B", "description": "d", "keywords": "k", "weight": "2"`), "relationships[0].weight: not a number"},
		{chunk(`"source_id": "s"`), "chunks[0].content: missing"},
		{chunk(`"content": " ", "source_id": "s"`), "chunks[0].content: blank"},
		{chunk(`"content": "c"`), "chunks[0].source_id: missing"},
		{chunk(`"content": "c", "source_id": "s", "chunk_order_index": 1.5`), "chunks[0].chunk_order_index"},
		{`{"chunks": [{"content": "c", "source_id": "s", "chunk_order_index": 1}, {"content": "d", "source_id": "s", "chunk_order_index": 1}]}`, "two chunks"},
	} {
		_, err := db.ImportKG(t.Context(), strings.NewReader(c.file), KGImport{Name: "bad.json"})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v\nwant %s", c.file, err, c.want)
		}
	}
	var many strings.Builder
	for range 100 {
		many.WriteString(",{}")
	}
	_, err := db.ImportKG(t.Context(), strings.NewReader(`{"entities": [`+many.String()[1:]+`]}`), KGImport{Name: "bad.json"})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("and %d problems more", 100-maxKGProblems)) || len(err.Error()) > 4000 {
		t.Errorf("%v", err)
	}
	if _, err := db.ImportKG(t.Context(), strings.NewReader(handMade), KGImport{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no name: %v", err)
	}
	v := db.View()
	defer v.Close()
	if c := v.Counts(); c != (Counts{}) {
		t.Errorf("something was stored: %+v", c)
	}
}
