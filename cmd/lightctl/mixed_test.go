package main

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// mixedQuestion is a question over testdata/mixed: the document that its answer
// must cite first, and words of that document that it must hold.
type mixedQuestion struct {
	Question, Document, Contains string
}

// TestMixedLanguages asks a folder of English, Korean and Chinese files. The
// files and questions were written before the offline pair was measured with
// them, so they are not changed to suit it.
func TestMixedLanguages(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "mixed_questions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var questions []mixedQuestion
	if err := json.Unmarshal(raw, &questions); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.ok("index", "--quiet", filepath.Join("testdata", "mixed"))
	first, holds := 0, 0
	for _, q := range questions {
		got := decode[queryJSON](t, b.ok("query", "--json", q.Question))
		cited := citedFirst(got)
		if cited == q.Document {
			first++
		} else {
			t.Logf("%s\ncites %q first, not %q: %s", q.Question, cited, q.Document, got.Answer)
		}
		if strings.Contains(got.Answer, q.Contains) {
			holds++
		} else {
			t.Logf("%s\nlacks %q: %s", q.Question, q.Contains, got.Answer)
		}
	}
	t.Logf("of %d questions %d cite the expected document first, %d hold the expected words", len(questions), first, holds)
	if first < 8 || holds < 8 {
		t.Errorf("%d of %d answers cite the expected document first, %d hold the expected words; want 8 of each", first, len(questions), holds)
	}
}

// citedFirst is the file name of the first reference in an answer's text.
func citedFirst(q queryJSON) string {
	text, _, _ := strings.Cut(q.Answer, "### References")
	at, cited := len(text), ""
	for _, r := range q.Refs {
		if i := strings.Index(text, "["+r.ID+"]"); i >= 0 && i < at {
			at, cited = i, path.Base(filepath.ToSlash(r.Path))
		}
	}
	return cited
}
