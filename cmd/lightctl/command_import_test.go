package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportJSONLMakesAnEqualStore(t *testing.T) {
	b := exportedGraph(t)
	file := filepath.Join(b.dir, "full.jsonl")
	b.ok("graph", "export", "--full", "-o", file)
	copied := filepath.Join(b.dir, "copy")
	r := decode[importJSON](t, b.ok("import", "jsonl", file, "--db", copied, "--json"))
	if r.Documents != 2 || r.Chunks != 2 || r.Entities != 4 || r.Relations != 3 || r.Vectors != 9 || r.Answers != 4 || len(r.Differences) != 0 {
		t.Errorf("%+v", r)
	}
	full, err := os.ReadFile(file)
	if err != nil || b.ok("graph", "export", "--full", "--db", copied).out != string(full) {
		t.Errorf("the full exports differ (%v)", err)
	}
	for _, args := range [][]string{{"docs", "list"}, {"graph", "export"}, {"cache", "stats"}} {
		if b.ok(args...).out != b.ok(append(args, "--db", copied)...).out {
			t.Errorf("%q differ", args)
		}
	}
	b.ok("check", "--deep", "--db", copied)

	if r := b.exits(exitFailure, "import", "jsonl", file, "--db", copied); !strings.Contains(r.err, "is there already") {
		t.Error(r.err)
	}
	b.stdin = string(full)
	if r := b.ok("import", "jsonl", "-", "--db", filepath.Join(b.dir, "piped")); !strings.Contains(r.out, "imported 2 documents, 2 chunks, 4 entities, 3 relations, 9 vectors, 0 summaries and 4 cached answers") {
		t.Error(r.out)
	}
}

func TestImportJSONLRefuses(t *testing.T) {
	b := newBench(t)
	b.exits(exitUsage, "import")
	b.exits(exitUsage, "graph", "export", "--full", "--format", "md")
	b.exits(exitNotFound, "import", "jsonl", filepath.Join(b.dir, "none.jsonl"))
	file := b.file("plain.jsonl", `{"kind":"entity","name":"A"}`)
	r := decode[failureDoc](t, b.exits(exitUsage, "import", "jsonl", file, "--json"))
	if !strings.Contains(r.Error.Message, `line 1: field "kind"`) || !strings.Contains(r.Error.Message, "--full") || r.Error.Object != file {
		t.Errorf("%+v", r)
	}
	if files, err := os.ReadDir(b.dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
