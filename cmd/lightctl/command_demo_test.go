package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type demoDoc struct {
	Queries []queryJSON `json:"queries"`
}

func TestDemoAnswersItsQuestions(t *testing.T) {
	b := newBench(t)
	t.Setenv("TMPDIR", b.dir)
	d := decode[demoDoc](t, b.ok("demo", "--json"))
	want := []struct {
		sentences, docs []string
	}{
		{[]string{"In 1888 Williamina Fleming discovered the Horsehead Nebula"}, []string{"fleming.md"}},
		{[]string{"With the Leavitt law astronomers could measure distances far beyond the reach of parallax"}, []string{"leavitt.md"}},
		{
			[]string{"Edwin Hubble found a Cepheid in the Andromeda Nebula with the Hooker Telescope", "John D. Hooker paid for the mirror"},
			[]string{"hubble.md", "mountwilson.md"},
		},
	}
	if len(d.Queries) != len(want) {
		t.Fatalf("%d queries", len(d.Queries))
	}
	for i, w := range want {
		q := d.Queries[i]
		for _, s := range w.sentences {
			if !strings.Contains(q.Answer, s) {
				t.Errorf("%s\nanswer %q\nlacks  %q", q.Query, q.Answer, s)
			}
		}
		for _, doc := range w.docs {
			id := ""
			for _, r := range q.Refs {
				if r.Path == doc {
					id = r.ID
				}
			}
			if id == "" || !strings.Contains(q.Answer, "["+id+"]") {
				t.Errorf("%s\nanswer %q\ndoes not cite %s", q.Query, q.Answer, doc)
			}
		}
		if !q.Found || len(q.Entities) == 0 || len(q.Relations) == 0 || len(q.Chunks) == 0 || q.Timings.Total == 0 {
			t.Errorf("%s: found %v, %d entities, %d relations, %d chunks", q.Query, q.Found, len(q.Entities), len(q.Relations), len(q.Chunks))
		}
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "lightctl-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDemoForPeople(t *testing.T) {
	b := newBench(t)
	keep := filepath.Join(b.dir, "kept")
	r := b.ok("demo", "--keep", keep)
	for _, want := range append([]string{"Indexed 9 documents", "fleming.md\n", "total "}, demoQuestions...) {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing:\n%s", want, r.out)
		}
	}
	if !strings.Contains(r.err, "offline") {
		t.Errorf("nothing says that the offline pair was used: %s", r.err)
	}
	if out := b.ok("--db", keep, "query", "헨리에타 스완 리빗은 어디에서 태어났는가?").out; !strings.Contains(out, "랭커스터") || !strings.Contains(out, "leavitt.ko.md") {
		t.Errorf("Korean: %s", out)
	}
	if out := b.ok("--db", keep, "query", "Wann entdeckte Joseph von Fraunhofer dunkle Linien?").out; !strings.Contains(out, "1814") || !strings.Contains(out, "fraunhofer.de.md") {
		t.Errorf("German: %s", out)
	}
	b.exits(exitUsage, "demo", "--keep", keep)
	if _, err := os.Stat(b.env["LIGHTRAG_DB"]); err == nil {
		t.Error("the demo touched the user's store")
	}
}
