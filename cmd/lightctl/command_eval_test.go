package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const evalSet = `{"id":"wilson","title":"Mount Wilson","text":"The telescope on Mount Wilson was paid for by John Hooker."}
{"id":"hooker","text":"John Hooker was a merchant of iron in Los Angeles."}
{"id":"bread","text":"Bread is baked from flour, water and salt."}
{"question":"Who paid for the telescope on Mount Wilson?","gold":["wilson"]}
{"question":"What is bread baked from?","gold":["bread"]}
`

func TestEvalOfACorpus(t *testing.T) {
	b := newBench(t)
	file := b.file("set.jsonl", evalSet)
	r := decode[evalJSON](t, b.ok("eval", file, "--json", "--k", "2,1,2"))
	if r.Questions != 2 || r.Documents != 3 {
		t.Errorf("%d questions, %d documents", r.Questions, r.Documents)
	}
	found := 0
	for _, row := range r.Rows {
		if row.Low > row.Value || row.High < row.Value {
			t.Errorf("%+v: the value is not in its interval", row)
		}
		if (row.ToBM25 == nil) != (row.System == "bm25") {
			t.Errorf("%+v: compared with itself, or not at all", row)
		}
		if (row.System == "bm25" || row.System == "naive") && row.Measure == "recall@1" {
			found++
			if row.Value != 1 {
				t.Errorf("%s finds %.2f of the gold documents first, want all", row.System, row.Value)
			}
		}
	}
	if want := (1 + len(evalModes)) * 5; len(r.Rows) != want || found != 2 {
		t.Errorf("%d rows, want %d; %d of the two first looked for", len(r.Rows), want, found)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "store")); err == nil {
		t.Error("the store of --db was made")
	}
}

func TestEvalForPeople(t *testing.T) {
	b := newBench(t)
	golden(t, "eval.txt", b.ok("eval", b.file("set.jsonl", evalSet), "--k", "1,2", "--mode", "naive,local").out)
}

func TestEvalOfAStore(t *testing.T) {
	b := newBench(t)
	b.chdir()
	b.file("wilson.txt", "The telescope on Mount Wilson was paid for by John Hooker.")
	b.file("bread.txt", "Bread is baked from flour, water and salt.")
	b.ok("index", "wilson.txt", "bread.txt")
	questions := b.file("q.jsonl", `{"question":"Who paid for the telescope?","gold":["wilson.txt"]}`)
	r := decode[evalJSON](t, b.ok("eval", questions, "--json", "--mode", "naive", "--k", "1"))
	if len(r.Rows) != 3 || r.Rows[0].Value != 1 || r.Documents != 2 || r.Rows[0].ToBM25 != nil {
		t.Errorf("%+v", r)
	}
	wrong := b.file("w.jsonl", "\n"+`{"question":"Who?","gold":["nobody.txt"]}`)
	got := b.exits(exitUsage, "eval", wrong)
	if !strings.Contains(got.err, `w.jsonl:2: there is no document "nobody.txt"`) {
		t.Errorf("stderr %q", got.err)
	}
}

func TestEvalRefusesWhatItCannotMeasure(t *testing.T) {
	b := newBench(t)
	set := b.file("set.jsonl", evalSet)
	for _, tt := range []struct {
		name string
		code int
		args []string
		says string
	}{
		{"no file", exitUsage, []string{"eval"}, "usage: "},
		{"a missing file", exitNotFound, []string{"eval", b.dir + "/none.jsonl"}, "none.jsonl"},
		{"a broken line", exitUsage, []string{"eval", b.file("broken.jsonl", "{\n")}, "broken.jsonl:1: "},
		{"no question", exitUsage, []string{"eval", b.file("docs.jsonl", `{"id":"a","text":"b"}`)}, "there is no question"},
		{"an unknown mode", exitUsage, []string{"eval", set, "--mode", "psychic"}, `"psychic"`},
		{"an unknown match", exitUsage, []string{"eval", set, "--match", "luck"}, `"luck"`},
		{"no rank", exitUsage, []string{"eval", set, "--k", "0"}, "--k takes ranks"},
		{"a store and documents", exitUsage, []string{"eval", set, "--db", b.dir + "/x"}, "temporary store"},
		{"no store", exitNotFound, []string{"eval", b.file("q.jsonl", `{"question":"q","gold":["a"]}`)}, "no store in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := b.exits(tt.code, tt.args...); !strings.Contains(r.err, tt.says) {
				t.Errorf("stderr %q does not say %q", r.err, tt.says)
			}
		})
	}
}
