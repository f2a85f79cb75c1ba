package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestMessagesOfBadInput holds what a person reads when there is nothing to
// index. No file here is a PDF, so that the PDF engine is not started.
func TestMessagesOfBadInput(t *testing.T) {
	var out string
	t.Run("commands", func(t *testing.T) { out = badInput(t) }) // in a directory of their own
	golden(t, "index_bad_input.txt", out)
}

func badInput(t *testing.T) string {
	b := newBench(t)
	b.chdir()
	for _, dir := range []string{"empty", "project"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.file("other/a.xyz", "text")
	b.file("other/b", "text")
	b.file("other/.c.txt", "text")
	b.file("project/a.txt", adaText)
	b.file("project/.git/config.txt", "x")
	b.file("project/picture.PNG", "x")
	b.file("empty.txt", "")
	b.file("empty.pdf", "")
	b.file("empty.docx", "")
	b.file("blank.md", " \n\t")
	b.file("program.txt", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00\x03", 40))
	b.file("picture.txt", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	b.file("text.pdf", "not a pdf")
	b.file("text.docx", "not an archive")
	b.file("text.epub", "not an archive")
	b.file("old.docx", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00")
	b.file("large.txt", strings.Repeat("x", 1<<20+1))
	b.file("latin.txt", "K\xe4the wohnt in K\xf6ln und i\xdft gern Br\xf6tchen.")
	var out strings.Builder
	for _, args := range [][]string{
		{"missing.txt"}, {"empty"}, {"other"}, {"project/a.txt", ""},
		{"empty.txt", "empty.pdf", "empty.docx", "blank.md", "program.txt", "picture.txt", "text.pdf", "text.docx", "text.epub", "old.docx", "large.txt", "other/a.xyz"},
		{"project", "latin.txt"},
	} {
		r := b.run(append([]string{"index", "--quiet", "--offline", "--max-file-mib", "1"}, args...)...)
		out.WriteString("$ lightctl index " + strings.Join(args, " ") + "\n" + r.err + r.out)
		out.WriteString("exit code " + string(rune('0'+r.code)) + "\n\n")
	}
	return out.String()
}

func TestNotesAndTheStoreInADirectory(t *testing.T) {
	b := newBench(t)
	b.chdir()
	b.file("a.txt", "K\xe4the wohnt in K\xf6ln und i\xdft gern Br\xf6tchen.")
	b.ok("index", "--quiet", "a.txt")
	r := decode[indexReport](t, b.ok("index", ".", "--json", "--replace"))
	if len(r.Documents) != 1 || len(r.Documents[0].Notes) != 1 || r.Documents[0].Notes[0] != "the encoding is a guess: windows-1252" {
		t.Errorf("%+v", r.Documents)
	}
	if r := b.ok("docs", "show", "a.txt"); !strings.Contains(r.out, "the encoding is a guess: windows-1252") {
		t.Error(r.out)
	}
	if len(r.Skipped) != 1 || r.Skipped[0] != (skipped{"store", "the store"}) {
		t.Errorf("skipped %+v", r.Skipped)
	}
}

func TestMessagesSayWhatToDo(t *testing.T) {
	b := exportedGraph(t)
	b.chdir()
	b.file("a.jsonl", "{}")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"query", "x", "--top-k", "ten"}, exitUsage, `lightctl: --top-k takes a whole number, not "ten"; see lightctl query --help`},
		{[]string{"graph", "export", "--limit", "3"}, exitUsage, "lightctl: --limit is for --format html"},
		{[]string{"graph", "export", "-o", "no/x"}, exitNotFound, "lightctl: write no/x: no such file or directory"},
		{[]string{"stats", "--db", "a.jsonl"}, exitUsage, "lightctl: a.jsonl cannot be used as a store: not a directory"},
		{[]string{"entity", "show", "ada lovelace"}, exitNotFound, `lightctl: entity "ada lovelace": not found; did you mean "Ada Lovelace"?`},
		{[]string{"prompts", "x", "--prompts", "no"}, exitNotFound, "lightctl: --prompts no: no such directory; `lightctl prompts no` makes it"},
		{[]string{"index", os.DevNull}, exitUsage, "lightctl: /dev/null is not a regular file; - reads standard input"},
	} {
		if r := b.exits(c.code, c.args...); strings.TrimSpace(r.err) != c.want {
			t.Errorf("lightctl %q:\ngot  %s\nwant %s", c.args, r.err, c.want)
		}
	}
}

func TestNeighborsSayWhenThereAreMore(t *testing.T) {
	b := exportedGraph(t)
	all := decode[neighborsJSON](t, b.ok("graph", "neighbors", "Ada Lovelace", "--hops", "2", "--json"))
	if n := len(all.Rows); n < 2 || all.Truncated {
		t.Fatalf("%+v", all)
	}
	for limit := 1; limit <= len(all.Rows); limit++ {
		some := decode[neighborsJSON](t, b.ok("graph", "neighbors", "Ada Lovelace", "--hops", "2", "--json", "--limit", strconv.Itoa(limit)))
		if len(some.Rows) != limit || some.Truncated != (limit < len(all.Rows)) || some.Rows[limit-1] != all.Rows[limit-1] {
			t.Errorf("limit %d: %+v", limit, some)
		}
	}
}
