package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ragChunks = `{
  "chunk-1": {"tokens": 12, "content": "` + adaText + `", "chunk_order_index": 0, "full_doc_id": "doc-1", "file_path": "notes.txt"},
  "chunk-2": null
}`

const ragGraph = `<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d9" for="node" attr.name="entity_type" attr.type="string" />
  <key id="d0" for="node" attr.name="description" attr.type="string" />
  <key id="d1" for="node" attr.name="source_id" attr.type="string" />
  <key id="d2" for="edge" attr.name="weight" attr.type="double" />
  <key id="d3" for="edge" attr.name="source_id" attr.type="string" />
  <key id="d4" for="edge" attr.name="description" attr.type="string" />
  <key id="d5" for="edge" attr.name="keywords" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="Ada Lovelace"><data key="d9">person</data><data key="d0">Ada Lovelace wrote the notes.</data><data key="d1">chunk-1</data></node>
    <node id="Analytical Engine"><data key="d9">artifact</data><data key="d0">A mechanical computer.</data><data key="d1">chunk-1</data></node>
    <edge source="Ada Lovelace" target="Analytical Engine"><data key="d2">2.5</data><data key="d3">chunk-1</data><data key="d4">She wrote notes on it.</data><data key="d5">notes</data></edge>
    <edge source="Ada Lovelace" target="Ada Lovelace"><data key="d3">chunk-1</data></edge>
  </graph>
</graphml>`

func TestImportLightRAG(t *testing.T) {
	b := newBench(t)
	b.file("rag/kv_store_text_chunks.json", ragChunks)
	b.file("rag/graph_chunk_entity_relation.graphml", ragGraph)
	dir := filepath.Join(b.dir, "rag")
	got := decode[importReport](t, b.ok("import", "lightrag", dir, "--json"))
	if got.Documents != 1 || got.Entities != 2 || got.Relations != 1 || got.FromRows != 3 || got.Stale != 0 || got.Store.Entities != 2 {
		t.Errorf("%+v", got)
	}
	kinds := make(map[string]int)
	for _, i := range got.Issues {
		kinds[i.Kind] = i.Count
		if i.Meaning == "" {
			t.Errorf("no meaning of %q", i.Kind)
		}
	}
	if len(kinds) != 2 || kinds["self loop"] != 1 || kinds["row malformed"] != 1 {
		t.Errorf("issues: %v", kinds)
	}
	golden(t, "import_lightrag.txt", b.ok("import", "lightrag", dir).out)
	if r := b.ok("import", "lightrag", dir, "--refresh"); strings.Contains(r.out, "no model was asked") {
		t.Errorf("the models were asked for what was missing:\n%s", r.out)
	}
	r := b.ok("query", "--mode", "local", "--ll", "Ada Lovelace", "--context-only", "Ada?")
	if !strings.Contains(r.out, "She wrote notes on it.") || !strings.Contains(r.out, "notes.txt") {
		t.Error(r.out)
	}
}

func TestImportNamesAnEmbedderThatIsNotThere(t *testing.T) {
	b := newBench(t)
	b.file("rag/kv_store_text_chunks.json", ragChunks)
	b.chdir()
	b.exits(exitUsage, "import", "lightrag", "rag", "--embed-model", "there")
	b.exits(exitUsage, "query", "x", "--embed-model", "there", "--embed-dim", "8")
	got := decode[importReport](t, b.ok("import", "lightrag", "rag", "--embed-model", "there", "--embed-dim", "8", "--json"))
	if got.Stale != 1 || got.Store.Chunks != 1 {
		t.Errorf("%+v", got)
	}
	if r := b.exits(exitFailure, "query", "x"); !strings.Contains(r.err, "--embed-model there --embed-dim 8") {
		t.Error(r.err)
	}
}

func TestImportLightRAGOfNothing(t *testing.T) {
	b := newBench(t)
	b.exits(exitUsage, "import")
	b.exits(exitUsage, "import", "lightrag")
	b.exits(exitNotFound, "import", "lightrag", filepath.Join(b.dir, "no"))
	if _, err := os.Stat(b.env["LIGHTRAG_DB"]); err == nil {
		t.Error("a store was made")
	}
	if err := os.Mkdir(filepath.Join(b.dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.exits(exitNotFound, "import", "lightrag", filepath.Join(b.dir, "none")); !strings.Contains(r.err, "vdb_entities.json") {
		t.Error(r.err)
	}
	b.exits(exitUsage, "import", "kg", b.file("bad.json", "[]"))
	if _, err := os.Stat(b.env["LIGHTRAG_DB"]); err == nil {
		t.Error("a failed import left a store")
	}
	b.ok("import", "kg", b.file("good.json", `{"entities": [{"entity_name": "Ada"}]}`))
	b.exits(exitUsage, "import", "kg", b.file("bad.json", "[]"))
	b.exits(exitNotFound, "import", "lightrag", filepath.Join(b.dir, "none"))
	b.ok("entity", "show", "Ada") // a store that was there stays
}

func TestImportKG(t *testing.T) {
	b := newBench(t)
	b.file("graph.json", `{
		"chunks": [{"content": "`+adaText+`", "source_id": "notes"}],
		"entities": [{"entity_name": "Ada Lovelace", "entity_type": "Person", "description": "She wrote notes.", "source_id": "notes"}],
		"relationships": [{"src_id": "Ada Lovelace", "tgt_id": "Charles Babbage", "description": "Friends.", "keywords": "friendship", "source_id": "notes"}]}`)
	b.chdir()
	got := decode[importReport](t, b.ok("import", "kg", "graph.json", "--json"))
	if got.Documents != 1 || got.Entities != 1 || got.Relations != 1 || got.Store.Entities != 2 || got.Stale != 0 {
		t.Errorf("%+v", got)
	}
	if r := b.ok("docs", "list"); !strings.Contains(r.out, "graph.json#notes") {
		t.Error(r.out)
	}
	for db, want := range map[string]string{
		"store": "0 documents (1 unchanged), 0 chunks, 1 entity, 1 relation\nthe store holds 1 document, 1 chunk, 2 entities, 1 relation\n",
		"new":   "1 document, 1 chunk, 1 entity, 1 relation\nthe store holds 1 document, 1 chunk, 2 entities, 1 relation\n",
	} {
		r := b.ok("import", "kg", "graph.json", "--db", db)
		if last, found := strings.CutPrefix(r.out, want); !found || strings.Count(last, "\n") != 1 || !strings.HasSuffix(last, " s\n") {
			t.Errorf("%s:\n%swant\n%s", db, r.out, want)
		}
	}
	b.exits(exitNotFound, "import", "kg", "no.json")
	b.file("bad.json", `{"entities": [{"entity_name": "A"}, {}]}`)
	if r := b.exits(exitUsage, "import", "kg", "bad.json"); !strings.Contains(r.err, "entities[1].entity_name: missing") {
		t.Error(r.err)
	}
}
