package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{
		{"nonsense"}, {"docs"}, {"docs", "lst"}, {"docs", "show"}, {"stats", "extra"}, {"--nonsense"}, {"index"},
		{"index", ""}, {"index", "--pre-chunked", "f", "path"}, {"index", "x", "--gleaning", "-2"}, {"index", "x", "--tokenizer", "gpt"},
		{"index", "x", "--summary-fragments", "1"}, {"index", "x", "--max-file-mib", "0"}, {"index", "x", "--entity-types", ","},
		{"stats", "--db", ""}, {"stats", "--concurrency", "0"}, {"query", "x", "--llm-url", "http://x"}, {"query", "x", "--llm-model", "x"},
		{"query", "x", "--embed-url", "http://x"}, {"query", "x", "--embed-model", "x"}, {"query", "x", "--embed-dim", "3"},
		{"query", "x", "--llm-url", "ftp://x", "--llm-model", "x"}, {"graph", "export", "--format", "dot"},
		{"graph", "neighbors", "x", "--hops", "0"}, {"entity", "list", "--limit", "-1"},
	} {
		r := b.exits(exitUsage, args...)
		if r.out != "" || !strings.HasPrefix(r.err, "lightctl: ") || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%q: stdout %q, stderr %q", args, r.out, r.err)
		}
		f := decode[failureDoc](t, b.exits(exitUsage, append([]string{"--json"}, args...)...))
		if f.Error.Code != "usage" || f.Error.Message == "" {
			t.Errorf("%q: %+v", args, f)
		}
	}
}

func TestTooManyArguments(t *testing.T) {
	b := newBench(t)
	for want, args := range map[string][]string{
		`"paid" is too much: words that belong together stand in quotes; usage: lightctl query QUESTION [flags]`: {"query", "Who", "paid", "for", "it?"},
		`"extra" is too much; usage: lightctl stats [flags]`:                                                     {"stats", "extra"},
		`usage: lightctl query QUESTION [flags]`:                                                                 {"query"},
	} {
		if r := b.exits(exitUsage, args...); r.err != "lightctl: "+want+"\n" {
			t.Errorf("%q: %q, want %q", args, r.err, want)
		}
	}
}

func TestSuggestions(t *testing.T) {
	b := newBench(t)
	if r := b.exits(exitUsage, "docs", "lst"); !strings.Contains(r.err, "did you mean list?") {
		t.Error(r.err)
	}
	b, _, _ = asked(t)
	if r := b.exits(exitNotFound, "entity", "show", "ada lovelace"); !strings.Contains(r.err, `"Ada Lovelace"`) {
		t.Error(r.err)
	}
	if r := b.exits(exitNotFound, "relation", "show", "Ada Lovelace", "babbage"); !strings.Contains(r.err, `"Charles Babbage"`) {
		t.Error(r.err)
	}
}

// Whatever looks a name up offers those that may be meant.
func TestNamesThatAreNotThere(t *testing.T) {
	b, _, _ := asked(t)
	for want, args := range map[string][]string{
		`delete entities "Ada Lovelace, ada lovelace": entity "ada lovelace": not found; did you mean "Ada Lovelace"?`: {"entity", "delete", "Ada Lovelace", "ada lovelace"},
		`edit entity "lovelace": entity "lovelace": not found; did you mean "Ada Lovelace"?`:                           {"entity", "edit", "lovelace", "--type", "x"},
		`rename entity "lovelace": entity "lovelace": not found; did you mean "Ada Lovelace"?`:                         {"entity", "rename", "lovelace", "Ada"},
		`merge into "Ada": entity "lovelace": not found; did you mean "Ada Lovelace"?`:                                 {"entity", "merge", "London", "lovelace", "Ada"},
		`entity "LONDON": not found; did you mean "London"?`:                                                           {"graph", "neighbors", "LONDON"},
		`create relation of "London" and "engine": entity "engine": not found; did you mean "Analytical Engine"?`:      {"relation", "create", "London", "engine"},
		`edit relation of "babbage" and "London": entity "babbage": not found; did you mean "Charles Babbage"?`:        {"relation", "edit", "babbage", "London", "--weight", "2"},
		`delete 1 relation: entity "babbage": not found; did you mean "Charles Babbage"?`:                              {"relation", "delete", "London", "babbage"},
		`delete 1 relation: relation of "London" and "Ada Lovelace": not found`:                                        {"relation", "delete", "London", "Ada Lovelace"},
		`delete entities "nope": entity "nope": not found`:                                                             {"entity", "delete", "nope"},
		"undo change 99: change 99: not found; `lightctl entity changes` lists those that there are":                   {"entity", "undo", "99"},
		`document "": not found`:                                                             {"docs", "show", ""},
		`document "NOTES": not found; did you mean "notes"?`:                                 {"docs", "show", "NOTES"},
		`retry: document "./notes": not found; did you mean "notes"?`:                        {"docs", "retry", "engine", "./notes"},
		`query: document "/somewhere/notes" of the filter: not found; did you mean "notes"?`: {"query", "x", "--doc", "/somewhere/notes"},
	} {
		r := b.exits(exitNotFound, args...)
		if got := lastLine(r.err); got != "lightctl: "+want {
			t.Errorf("%q:\ngot  %s\nwant lightctl: %s", args, got, want)
		}
	}
	for want, args := range map[string][]string{
		`delete entities "": "" is no name`: {"entity", "delete", ""},
		`merge into "Ada": merge strategy "first" is none of keep_first, keep_last, concatenate, join_unique`: {"entity", "merge", "London", "Ada", "--type-by", "first"},
	} {
		if r := b.exits(exitUsage, args...); lastLine(r.err) != "lightctl: "+want {
			t.Errorf("%q: %s", args, lastLine(r.err))
		}
	}
	if r := b.exits(exitNotFound, "docs", "delete", "note", "nope"); r.out != "not found: note; did you mean \"notes\"?\nnot found: nope\n" {
		t.Error(r.out)
	}
	list := b.file("reviewed.json", `[{"target":"London","members":[{"name":"ada"}]}]`)
	if r := b.exits(exitNotFound, "entity", "merge", "--from", list); !strings.Contains(r.out, `did you mean "Ada Lovelace"?`) {
		t.Error(r.out)
	}
}

func TestHelp(t *testing.T) {
	b := newBench(t)
	golden(t, "help.txt", b.ok("--help").out)
	golden(t, "help_index.txt", b.ok("index", "--help").out)
	golden(t, "help_query.txt", b.ok("query", "--help").out)
	if a, b := b.ok().out, b.ok("--help").out; a != b {
		t.Error("no arguments is not --help")
	}
}

func TestHostileNamesDoNotReachTheTerminal(t *testing.T) {
	b := newBench(t)
	b.stdin = "Evil \x1b]0;title\x07 Corporation employs Ada Lovelace \u202egnp."
	b.ok("index", "-")
	for _, args := range [][]string{
		{"docs", "show", "stdin"}, {"entity", "list"}, {"query", "Who is Ada Lovelace?"}, {"query", "Ada Lovelace?", "--stream"},
		{"query", "Ada Lovelace?", "--explain"}, {"query", "Ada Lovelace?", "--context-only"},
	} {
		r := b.ok(args...)
		if strings.ContainsAny(r.out+r.err, "\x1b\x07\u202e") {
			t.Errorf("%q: %q", args, r.out)
		}
	}
	r := b.exits(exitNotFound, "docs", "show", "\x1b[31mred")
	if strings.Contains(r.err, "\x1b") {
		t.Errorf("%q", r.err)
	}
}

func TestTypesThatAreNotThere(t *testing.T) {
	b, _, flags := asked(t)
	const want = `no entity is of type "nope"; there are person (2), UNKNOWN (1), artifact (1)`
	if r := b.ok("entity", "list", "--type", "Nope"); r.err != "lightctl: "+want+"\n" {
		t.Error(r.err)
	}
	if r := b.ok("entity", "list", "--type", "Person"); r.err != "" {
		t.Error(r.err)
	}
	r := decode[queryJSON](t, b.ok(with(flags, "query", "Ada Lovelace?", "--json", "--type", "person", "--type", "nope", "--ll", "zyx", "--match", "lexical")...))
	if len(r.Entities) != 0 || len(r.Warnings) != 1 || r.Warnings[0] != want {
		t.Errorf("%+v", r.Warnings)
	}
	if r = decode[queryJSON](t, b.ok(with(flags, "query", "Ada Lovelace?", "--json", "--type", "Person", "--ll", "zyx", "--match", "lexical")...)); len(r.Warnings) != 0 {
		t.Errorf("%+v", r.Warnings)
	}
}

// A file that a verb takes as a whole or not at all is refused with one code,
// and named.
func TestFilesThatCannotBeUsed(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	b.ok("index", "-")
	b.chdir()
	b.file("empty", "")
	b.file("bad", "[{")
	for _, args := range [][]string{
		{"index", "--pre-chunked", "FILE"}, {"import", "jsonl", "FILE", "--db", "new"}, {"import", "kg", "FILE"}, {"eval", "FILE"},
		{"query", "x", "--history", "FILE"}, {"entity", "merge", "--from", "FILE"},
	} {
		for _, name := range []string{"empty", "bad"} {
			args := slices.Clone(args)
			args[slices.Index(args, "FILE")] = name
			r := b.exits(exitUsage, args...)
			if last := lastLine(r.err); !strings.Contains(last, name) || strings.Contains(last, "invalid argument") || strings.Contains(last, "line 0") {
				t.Errorf("%q: %s", args, last)
			}
			args[slices.Index(args, name)] = "missing"
			b.exits(exitNotFound, args...)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	b.ok("index", "-")
	for _, args := range [][]string{{"stats"}, {"docs", "list"}, {"graph", "export"}, {"query", "Ada Lovelace"}, {"version", "--json"}} {
		var errOut strings.Builder
		code := run(b.ctx, args, strings.NewReader(""), brokenPipe{}, &errOut, func(k string) string { return b.env[k] })
		if code != exitFailure || !strings.Contains(errOut.String(), "broken pipe") {
			t.Errorf("%q: exit code %d, %s", args, code, errOut.String())
		}
	}
}

func TestAnswerPrinterLeavesOutTheModelsList(t *testing.T) {
	const answer = "One [1].\n\n## Two\n\nThree.\n\n### References\n\n- [1] a.md\n"
	for size := 1; size <= len(answer); size++ {
		var out strings.Builder
		p := &answerPrinter{a: &app{out: &out}}
		for s := answer; s != ""; {
			n := min(size, len(s))
			if err := p.text(s[:n]); err != nil {
				t.Fatal(err)
			}
			s = s[n:]
		}
		if err := p.end(); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "One [1].\n\n## Two\n\nThree.\n"; got != want {
			t.Fatalf("pieces of %d: %q, want %q", size, got, want)
		}
	}
}
