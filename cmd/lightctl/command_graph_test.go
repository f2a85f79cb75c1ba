package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exportedGraph is a bench with a small graph.
func exportedGraph(t *testing.T) *bench {
	t.Helper()
	b, _, flags := scripted(t)
	b.ok(with(flags, "index", "--pre-chunked", b.file("chunks.jsonl", chunked), "--tokenizer", "chars4")...)
	return b
}

func TestGraphExportFormats(t *testing.T) {
	b := exportedGraph(t)
	for _, format := range []string{"graphml", "csv", "md"} {
		out := b.ok("graph", "export", "--format", format).out
		golden(t, "export."+format, out)
		file := filepath.Join(b.dir, "graph."+format)
		if r := b.ok("graph", "export", "--format", format, "-o", file); r.out != "" {
			t.Errorf("%s: -o wrote to standard output: %s", format, r.out)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != out {
			t.Errorf("%s: the file differs from standard output: %v", format, err)
		}
		if r := decode[exportJSON](t, b.ok("graph", "export", "--format", format, "-o", file, "--json")); r.Format != format || !slices.Equal(r.Files, []string{file}) {
			t.Errorf("%s: %+v", format, r)
		}
		if r := b.ok("graph", "export", "--format", format, "--json"); r.out != out {
			t.Errorf("%s: --json changes what standard output gets", format)
		}
	}
	page := b.ok("graph", "export", "--format", "html", "--limit", "2", "--title", "Two of <them>").out
	if !strings.Contains(page, "<title>Two of &lt;them&gt;</title>") || strings.Count(page, `{"n":`) != 2 {
		t.Errorf("page:\n%s", page)
	}
	b.exits(exitUsage, "graph", "export", "--format", "html", "--limit", "0")
	dir := filepath.Join(b.dir, "tables") + "/"
	for range 2 { // the second time the directory is there
		b.ok("graph", "export", "--format", "csv", "-o", dir)
	}
	var all string
	for _, name := range []string{"entities.csv", "relations.csv"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all += name + "\n" + string(got)
	}
	golden(t, "export_tables.csv", all)
	if r := decode[exportJSON](t, b.ok("graph", "export", "--format", "csv", "-o", dir, "--json")); len(r.Files) != 2 || r.Files[0] != filepath.Join(dir, "entities.csv") {
		t.Errorf("%+v", r)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("files %v: %v", files, err)
	}
}

func TestGraphExportLeavesNoHalfFile(t *testing.T) {
	b := exportedGraph(t)
	file := b.file("graph.md", "what was there before")
	b.exits(exitUsage, "graph", "export", "--format", "dot", "-o", file)
	b.exits(exitNotFound, "graph", "export", "--format", "md", "-o", file, "--db", filepath.Join(b.dir, "nothing"))
	b.exits(exitNotFound, "graph", "export", "--format", "md", "-o", filepath.Join(b.dir, "no", "such", "dir.md"))
	if got, err := os.ReadFile(file); err != nil || string(got) != "what was there before" {
		t.Errorf("%q, %v", got, err)
	}
	files, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(f.Name(), ".tmp") {
			t.Errorf("%s was left behind", f.Name())
		}
	}
}
