package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm/llmtest"
)

func rowsByID(r indexReport) map[string]string {
	m := make(map[string]string)
	for _, d := range r.Documents {
		m[d.ID] = d.Status
	}
	return m
}

func TestIndexWalksDirectoriesInOrder(t *testing.T) {
	b := newBench(t)
	b.chdir()
	b.file("in/b.md", "Grace Hopper wrote the A-0 compiler at Remington Rand.")
	b.file("in/a.TXT", "Ada Lovelace knew Charles Babbage.")
	b.file("in/sub/c.html", "<title>Kepler</title><p>Johannes Kepler lived in Prague.")
	b.file("in/.hidden.txt", "secret")
	b.file("in/.git/x.txt", "secret")
	b.file("in/z.png", "no text")
	b.file("outside.txt", "Tycho Brahe lived in Denmark.")
	if err := os.Symlink("../outside.txt", "in/out.txt"); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("b.md", "in/within.md"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", "in/loop"); err != nil {
		t.Fatal(err)
	}
	r := decode[indexReport](t, b.ok("index", "./in", "--json"))
	var ids []string
	for _, d := range r.Documents {
		ids = append(ids, d.ID+" "+d.Status)
	}
	want := []string{"in/a.TXT processed", "in/b.md processed", "in/sub/c.html processed", "in/within.md duplicate"}
	if !slices.Equal(ids, want) {
		t.Errorf("rows %q, want %q", ids, want)
	}
	if r.Documents[3].Original != "in/b.md" {
		t.Errorf("duplicate of %q", r.Documents[3].Original)
	}
	var left []string
	for _, s := range r.Skipped {
		left = append(left, s.Path)
	}
	if want := []string{"in/.git", "in/.hidden.txt", "in/loop", "in/out.txt", "in/z.png"}; !slices.Equal(left, want) || r.Totals.Skipped != 5 {
		t.Errorf("skipped %q (%d), want %q", left, r.Totals.Skipped, want)
	}
	if got := b.ok("docs", "show", "in/sub/c.html").out; !strings.Contains(got, "Kepler\n\nJohannes Kepler lived in Prague.") {
		t.Errorf("html text: %s", got)
	}
	again := decode[indexReport](t, b.ok("index", "in", "in/b.md", "--json"))
	if again.Totals.Unchanged != 3 || again.Totals.Documents != 4 || again.LLM.Calls != 0 {
		t.Errorf("second run: %+v %+v", again.Totals, again.LLM)
	}
}

func TestIndexReportsWhatItCannotUse(t *testing.T) {
	b := newBench(t)
	b.chdir()
	b.file("blank.txt", " \n\x00\xff\t")
	b.file("good.txt", adaText)
	b.file("big.txt", strings.Repeat("x", 1<<20+1))
	b.file("odd.xyz", "text")
	b.file("bad\nname.txt", "Somebody.")
	b.file("dirty.txt", "Emmy \x00Noether worked in \xff\xfeGoettingen.")
	r := decode[indexReport](t, b.exits(exitFailure, "index", "--json", "--max-file-mib", "1",
		"blank.txt", "good.txt", "big.txt", "odd.xyz", "bad\nname.txt", "dirty.txt"))
	want := map[string]string{
		"blank.txt": "failed", "good.txt": "processed", "big.txt": "failed", "odd.xyz": "failed",
		"bad\nname.txt": "failed", "dirty.txt": "processed",
	}
	got := rowsByID(r)
	for id, status := range want {
		if got[id] != status {
			t.Errorf("%q is %q, want %q", id, got[id], status)
		}
	}
	for i, id := range []string{"blank.txt", "good.txt", "big.txt", "odd.xyz", "bad\nname.txt", "dirty.txt"} {
		d := r.Documents[i]
		if d.ID != id {
			t.Errorf("row %d is %q, want %q: rows stand in the order given", i, d.ID, id)
		}
		if (d.Status == "failed") != (d.Error != nil) {
			t.Errorf("%q: status %s, error %v", id, d.Status, d.Error)
		}
	}
	if d := r.Documents[5]; d.Removed != 2 {
		t.Errorf("removed %d, want 2", d.Removed)
	}
	if !strings.Contains(*r.Documents[2].Error, "limit of 1.0 MiB") {
		t.Errorf("big.txt: %s", *r.Documents[2].Error)
	}
}

func TestIndexKeepsOrReplacesChangedDocuments(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	if r := decode[indexReport](t, b.ok("index", "-", "--json")); rowsByID(r)["stdin"] != "processed" {
		t.Fatalf("%+v", r.Documents[0])
	}
	b.stdin = hullText
	r := decode[indexReport](t, b.exits(exitFailure, "index", "-", "--json"))
	if d := r.Documents[0]; d.Status != "conflict" || d.Error == nil {
		t.Fatalf("%+v", d)
	}
	b.exits(exitNotFound, "entity", "show", "London")
	r = decode[indexReport](t, b.ok("index", "-", "--json", "--replace"))
	if d := r.Documents[0]; d.Status != "processed" || d.Error != nil {
		t.Fatalf("%+v", d)
	}
	b.exits(exitNotFound, "entity", "show", "Ada Lovelace")
	b.ok("entity", "show", "London")
}

func TestIndexInputThatIsNotThere(t *testing.T) {
	b := newBench(t)
	b.chdir()
	if err := os.MkdirAll("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	b.exits(exitFailure, "index", "empty")
	f := decode[failureDoc](t, b.exits(exitNotFound, "index", "nowhere.txt", "--json"))
	if f.Error.Code != "not_found" || f.Error.Object != "nowhere.txt" {
		t.Errorf("%+v", f)
	}
	if _, err := os.Stat("store"); err == nil {
		t.Error("a store was made for nothing")
	}
}

func TestIndexPreChunked(t *testing.T) {
	b, srv, flags := scripted(t)
	file := b.file("chunks.jsonl", chunked)
	r := b.ok(with(flags, "index", "--pre-chunked", file, "--tokenizer", "chars4", "--json")...)
	golden(t, "index_prechunked.json", r.out)
	if !strings.Contains(string(srv.Chats()[0].Raw), "Analytical Engine") {
		t.Error("the model was not asked about the chunk")
	}
	if n := len(srv.Chats()); n != 4 {
		t.Errorf("%d calls, want an extraction and a gleaning for each of two chunks", n)
	}
	golden(t, "export.jsonl", b.ok("graph", "export").out)
	golden(t, "docs_list.json", b.ok("docs", "list", "--json").out)
	golden(t, "docs_list.txt", b.ok("docs", "list").out)
	golden(t, "docs_show.json", b.ok("docs", "show", "engine", "--json").out)
	golden(t, "entity_show.json", b.ok("entity", "show", "Analytical Engine", "--json").out)
	golden(t, "entity_show.txt", b.ok("entity", "show", "Analytical Engine").out)
	golden(t, "entity_list.txt", b.ok("entity", "list").out)
	golden(t, "entity_list_person.json", b.ok("entity", "list", "--type", "Person", "--limit", "1", "--json").out)
	golden(t, "relation_show.json", b.ok("relation", "show", "London", "Charles Babbage", "--json").out)
	golden(t, "relation_show.txt", b.ok("relation", "show", "London", "Charles Babbage").out)
	golden(t, "neighbors.json", b.ok("graph", "neighbors", "London", "--hops", "3", "--json").out)
	golden(t, "neighbors.txt", b.ok("graph", "neighbors", "London", "--hops", "2").out)
	first, same := decode[indexReport](t, r), decode[indexReport](t, b.ok(with(flags, "index", "--pre-chunked", file, "--json")...))
	for i, d := range same.Documents {
		if w := first.Documents[i]; d.Status != "unchanged" || d.Entities != w.Entities || d.Relations != w.Relations || d.Chunks != w.Chunks || d.Entities == 0 {
			t.Errorf("unchanged: %+v, first %+v", d, w)
		}
	}
	if same.Totals.Entities != first.Totals.Entities || same.Totals.Relations != first.Totals.Relations {
		t.Errorf("totals %+v, first %+v", same.Totals, first.Totals)
	}
	again := b.ok(with(flags, "index", "--pre-chunked", file)...)
	golden(t, "index_again.txt", again.out)
	if n := len(srv.Chats()); n != 4 {
		t.Errorf("%d calls after an unchanged run, want 4", n)
	}
	out := filepath.Join(b.dir, "graph.jsonl")
	b.ok("graph", "export", "-o", out)
	if got, err := os.ReadFile(out); err != nil || string(got) != b.ok("graph", "export").out {
		t.Errorf("graph export -o: %v\n%s", err, got)
	}
}

func TestPreChunkedKeepsContentAndOrder(t *testing.T) {
	b := newBench(t)
	content := "\ufeff  Kepler \n wrote <|#|> to Galileo.\t "
	text, _ := json.Marshal(content)
	file := b.file("c.jsonl", "\ufeff"+`{"doc_id":"two","chunk_order":9,"content":"Later."}
{"doc_id":"one","chunk_order":0,"content":"First."}

{"doc_id":"two","chunk_order":2,"path":"p.txt","content":`+string(text)+`}`)
	r := decode[indexReport](t, b.ok("index", "--json", "--pre-chunked", file))
	if r.Documents[0].ID != "two" || r.Documents[0].Chunks != 2 || r.Documents[1].ID != "one" {
		t.Fatalf("%+v %+v", r.Documents[0], r.Documents[1])
	}
	d := decode[rows[documentJSON]](t, b.ok("docs", "show", "two", "--json")).Rows[0]
	if d.Passages[0].ID != "two#2" || d.Passages[0].Content != content || d.Passages[1].ID != "two#9" {
		t.Errorf("%+v", d.Passages)
	}
}

func TestPreChunkedErrorsNameTheLine(t *testing.T) {
	good := `{"doc_id":"a","chunk_order":0,"content":"x"}` + "\n"
	for _, c := range []struct{ name, line, want string }{
		{"null", `{"doc_id":"a","chunk_order":1,"content":null}`, `:2: field "content" is null`},
		{"missing", `{"doc_id":"a","content":"x"}`, `:2: field "chunk_order" is missing`},
		{"no id", `{"chunk_order":1,"content":"x"}`, `:2: field "doc_id" is missing`},
		{"case", `{"Doc_ID":"a","chunk_order":1,"content":"x"}`, `:2: field "doc_id" is missing`},
		{"type", `{"doc_id":7,"chunk_order":1,"content":"x"}`, `:2: field "doc_id" is not a string`},
		{"fraction", `{"doc_id":"a","chunk_order":1.5,"content":"x"}`, `:2: field "chunk_order" is 1.5`},
		{"negative", `{"doc_id":"a","chunk_order":-1,"content":"x"}`, `:2: field "chunk_order" is -1`},
		{"twice", `{"doc_id":"a","chunk_order":0,"content":"x"}`, `:2: document "a" has chunk_order 0 already in line 1`},
		{"no JSON", `{"doc_id":`, ":2: no JSON object"},
		{"array", `[1]`, ":2: no JSON object"},
		{"blank id", `{"doc_id":" ","chunk_order":1,"content":"x"}`, `:2: field "doc_id" is blank`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			f := decode[failureDoc](t, b.exits(exitUsage, "index", "--json", "--pre-chunked", b.file("c.jsonl", good+c.line)))
			if f.Error.Code != "invalid" || !strings.Contains(f.Error.Message, c.want) {
				t.Errorf("message %q, want %q in it", f.Error.Message, c.want)
			}
			b.exits(exitNotFound, "stats")
		})
	}
}

func TestIndexOptionsReachTheModel(t *testing.T) {
	b, srv, flags := scripted(t)
	file := b.file("chunks.jsonl", chunked)
	b.ok(with(flags, "index", "--pre-chunked", file, "--gleaning", "0", "--language", "Korean", "--entity-types", "Gadget, Boat")...)
	if n := len(srv.Chats()); n != 2 {
		t.Errorf("%d calls without gleaning, want 2", n)
	}
	for _, c := range srv.Chats() {
		if s := c.System(); !strings.Contains(s, "Korean") || !strings.Contains(s, "Gadget") || !strings.Contains(s, "Boat") {
			t.Errorf("the prompt names neither language nor types: %s", s)
		}
	}
}

func TestSummariesAreMadeUnlessSwitchedOff(t *testing.T) {
	var lines strings.Builder
	for i := range 12 {
		lines.WriteString(`{"doc_id":"d` + string(rune('a'+i)) + `","chunk_order":0,"content":"part ` + string(rune('a'+i)) + `"}` + "\n")
	}
	for flag, want := range map[string]bool{"2": true, "0": false} {
		b, srv, flags := scripted(t)
		srv.OnChat(func(r llmtest.ChatRequest) llmtest.ChatReply {
			_, rest, _ := strings.Cut(r.User(), "part ")
			return llmtest.ChatReply{Text: "entity<|#|>Hub<|#|>Concept<|#|>Said in part " + rest[:1] + ".\n<|COMPLETE|>"}
		})
		b.ok(with(flags, "index", "--gleaning", "0", "--summary-fragments", flag, "--pre-chunked", b.file("c.jsonl", lines.String()))...)
		if got := len(srv.Chats()) > 12; got != want {
			t.Errorf("--summary-fragments %s: %d calls for 12 chunks", flag, len(srv.Chats()))
		}
	}
}

func TestDryRunStoresNothing(t *testing.T) {
	b, srv, flags := scripted(t)
	file := b.file("chunks.jsonl", chunked)
	r := b.ok(with(flags, "index", "--dry-run", "--json", "--tokenizer", "chars4", "--pre-chunked", file)...)
	e := decode[estimate](t, r)
	if !e.DryRun || e.Totals.Documents != 2 || e.Totals.Chunks != 2 || e.Totals.Calls != 4 || e.Totals.PromptTokens < 100 || e.Tokenizer != "chars4" {
		t.Errorf("%+v", e)
	}
	one := decode[estimate](t, b.ok(with(flags, "index", "--dry-run", "--json", "--gleaning", "0", "--pre-chunked", file)...))
	if one.Totals.Calls != 2 || one.Totals.PromptTokens >= e.Totals.PromptTokens*2 || one.Tokenizer != "o200k" {
		t.Errorf("%+v", one.Totals)
	}
	if len(srv.Chats())+len(srv.Embeds()) != 0 {
		t.Error("a model was called")
	}
	b.exits(exitNotFound, "stats")
	b.exits(exitFailure, "index", "--dry-run", b.file("blank.txt", " "))
}

// What is stored, cached or kept by a replacement costs nothing, and the rest
// costs what it then does.
func TestDryRunLeavesOutWhatIsKnown(t *testing.T) {
	b, srv, flags := scripted(t)
	file := b.file("chunks.jsonl", chunked)
	dry := func(args ...string) estimate {
		t.Helper()
		n := len(srv.Chats())
		e := decode[estimate](t, b.run(with(flags, append([]string{"index", "--dry-run", "--json"}, args...)...)...))
		if len(srv.Chats()) != n {
			t.Error("a model was called")
		}
		return e
	}
	before := dry("--pre-chunked", file, "--price-in", "1000000", "--price-out", "2000000")
	if s := before.Totals; before.Cost == nil || *before.Cost != float64(s.PromptTokens+2*s.CompletionTokens) {
		t.Errorf("%+v", before)
	}
	rep := decode[indexReport](t, b.ok(with(flags, "index", "--json", "--pre-chunked", file)...))
	if rep.LLM.Calls != before.Totals.Calls {
		t.Errorf("%d calls, estimated %d", rep.LLM.Calls, before.Totals.Calls)
	}
	after := dry("--pre-chunked", file)
	for _, d := range after.Documents {
		if d.Status != "unchanged" {
			t.Errorf("%+v", d)
		}
	}
	if s := after.Totals; s.Calls+s.PromptTokens+s.CompletionTokens != 0 || s.Chunks != 2 {
		t.Errorf("unchanged: %+v", s)
	}

	lines := strings.Split(strings.TrimSpace(chunked), "\n")
	longer := b.file("longer.jsonl", lines[0]+"\n"+strings.Replace(lines[0], `"chunk_order":0`, `"chunk_order":7`, 1))
	if c := dry("--pre-chunked", longer); c.Totals.Calls != 0 || c.Documents[0].Status != "conflict" {
		t.Errorf("conflict: %+v", c)
	}
	if c := dry("--pre-chunked", longer, "--replace"); c.Documents[0].KnownChunks != 2 || c.Documents[0].Calls != 0 {
		t.Errorf("replace: %+v", c)
	}
	b.ok(with(flags, "docs", "delete", rep.Documents[0].ID)...)
	if c := dry("--pre-chunked", file); c.Totals.Calls != 0 || c.Totals.CachedCalls != 2 || c.Documents[0].Status != "pending" {
		t.Errorf("cached: %+v", c)
	}
	if c := dry("--pre-chunked", file, "--language", "Welsh"); c.Totals.Calls != 2 || c.Totals.CachedCalls != 0 {
		t.Errorf("another prompt: %+v", c)
	}
	b.exits(exitUsage, with(flags, "index", "--price-in", "1", "--pre-chunked", file)...)
}

func TestPromptsOfTheUser(t *testing.T) {
	b, srv, flags := scripted(t)
	b.chdir()
	list := decode[rows[promptFileJSON]](t, b.ok("prompts", "mine", "--json"))
	if len(list.Rows) != 8 || list.Rows[0].Status != "written" {
		t.Fatalf("%+v", list)
	}
	if again := decode[rows[promptFileJSON]](t, b.ok("prompts", "mine", "--json")); again.Rows[0].Status != "kept" {
		t.Errorf("%+v", again)
	}
	for _, f := range list.Rows {
		if !strings.HasSuffix(f.File, "_user.txt") {
			if err := os.Remove(f.File); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.file("mine/extract_user.txt", "ON MY TERMS\n{{FENCE}}\n{{TEXT}}\n{{FENCE}}\n")
	b.file("examples.txt", "MY EXAMPLES\n")
	b.ok(with(flags, "index", "--prompts", "mine", "--examples", "examples.txt", "--pre-chunked", b.file("chunks.jsonl", chunked))...)
	for _, c := range srv.Chats() {
		if raw := string(c.Raw); !strings.Contains(raw, "ON MY TERMS") || !strings.Contains(raw, "MY EXAMPLES") {
			t.Errorf("asked: %s", raw)
		}
	}
	b.file("mine/glean_user.txt", "{{NOTHNG}}")
	r := b.exits(exitUsage, with(flags, "query", "--prompts", "mine", "who?")...)
	if !strings.Contains(r.err, "glean_user.txt") || !strings.Contains(r.err, "{{NOTHNG}} is not a placeholder") {
		t.Errorf("%s", r.err)
	}
	b.exits(exitNotFound, with(flags, "query", "--prompts", "nowhere", "who?")...)
}

func TestChunkFlags(t *testing.T) {
	b := newBench(t)
	b.chdir()
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "Ada Lovelace wrote letter %d to Charles Babbage about engine %x.\n\n", i, i*i*7919)
	}
	b.file("a.txt", text.String())
	chunks := func(args ...string) int {
		t.Helper()
		return decode[estimate](t, b.ok(with(args, "index", "--dry-run", "--json", "--tokenizer", "chars4", "a.txt")...)).Totals.Chunks
	}
	if n := chunks(); n != 1 {
		t.Errorf("%d chunks", n)
	}
	if n := chunks("--chunk-tokens", "100", "--chunk-overlap", "0"); n < 6 || n > 8 {
		t.Errorf("%d windows", n)
	}
	if n := chunks("--chunk-tokens", "100", "--chunk-by", "paragraphs"); n < 8 || n > 28 {
		t.Errorf("%d chunks of paragraphs", n)
	}
	b.exits(exitUsage, "index", "--chunk-by", "pages", "a.txt")
	b.exits(exitUsage, "index", "--chunk-tokens", "100", "a.txt")
	b.exits(exitUsage, "index", "--chunk-tokens", "0", "a.txt")
}

func TestInterruptedIndexGoesOn(t *testing.T) {
	b, srv, flags := scripted(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.ctx = ctx
	srv.OnChat(func(r llmtest.ChatRequest) llmtest.ChatReply {
		if strings.Contains(string(r.Raw), "designed the Analytical Engine in London") {
			cancel()
		}
		return model(r)
	})
	file := b.file("chunks.jsonl", chunked)
	r := b.exits(exitFailure, with(flags, "index", "--json", "--quiet", "--concurrency", "1", "--pre-chunked", file)...)
	rep := decode[indexReport](t, r)
	if rep.Totals.Pending == 0 || !strings.Contains(r.err, "run the same command again") {
		t.Errorf("%+v\n%s", rep.Totals, r.err)
	}
	b.ctx = t.Context()
	rep = decode[indexReport](t, b.ok(with(flags, "index", "--json", "--pre-chunked", file)...))
	if d := rowsByID(rep); d["notes"] == "failed" || d["engine"] != "processed" && d["engine"] != "unchanged" {
		t.Errorf("%v", d)
	}
	list := decode[rows[documentJSON]](t, b.ok("docs", "list", "--json"))
	for _, d := range list.Rows {
		if d.Status != "processed" {
			t.Errorf("%s is %s", d.ID, d.Status)
		}
	}
}

func TestHostileIDsFailAlone(t *testing.T) {
	b := newBench(t)
	b.chdir()
	b.file("d.jsonl", strings.Join([]string{
		`{"id":"good","text":"Ada Lovelace."}`,
		`{"id":"bell\u0007","text":"Charles Babbage."}`,
		`{"id":"` + strings.Repeat("x", 1025) + `","text":"Johannes Kepler."}`,
		`{"id":"  ","text":"Tycho Brahe."}`,
		`{"id":"../../etc/passwd","text":"Galileo Galilei."}`,
		`{"id":"a#b/c#1","text":"Emmy Noether."}`,
		`{"id":"good","text":"Grace Hopper."}`,
	}, "\n"))
	r := decode[indexReport](t, b.exits(exitFailure, "index", "--json", "--replace", "d.jsonl"))
	want := []string{"processed", "failed", "failed", "failed", "processed", "processed", "failed"}
	for i, w := range want {
		if d := r.Documents[i]; d.Status != w {
			t.Errorf("document %d, %.40q: %s, want %s", i+1, d.ID, d.Status, w)
		}
	}
	if e := *r.Documents[6].Error; !strings.Contains(e, "already used by d.jsonl#1") {
		t.Errorf("an id twice: %s", e)
	}
	b.ok("docs", "delete", "a#b/c#1", "../../etc/passwd")
	b.ok("check")
}

func TestFailedChunksAreNamed(t *testing.T) {
	b, srv, flags := scripted(t)
	b.chdir()
	srv.OnChat(func(r llmtest.ChatRequest) llmtest.ChatReply {
		if strings.Contains(string(r.Raw), "gibberish") {
			return llmtest.ChatReply{Text: "I would rather not."}
		}
		return model(r)
	})
	file := b.file("c.jsonl", `{"doc_id":"a","chunk_order":2,"content":"Ada Lovelace wrote letters."}`+"\n"+`{"doc_id":"a","chunk_order":5,"content":"gibberish"}`+"\n")
	rep := decode[indexReport](t, b.ok(with(flags, "index", "--json", "--pre-chunked", file)...))
	if d := rep.Documents[0]; d.Status != "processed" || d.FailedChunks != 1 || len(d.Failures) != 1 || d.Failures[0].Order != 5 || d.Failures[0].Error == "" {
		t.Errorf("%+v", d)
	}
	show := decode[rows[documentJSON]](t, b.ok("docs", "show", "a", "--json")).Rows[0]
	if show.FailedChunks != 1 || len(show.Failures) != 1 || show.Failures[0].Order != 5 || show.LLM.Calls < 2 {
		t.Errorf("%+v", show)
	}
	if r := b.ok("docs", "show", "a"); !strings.Contains(r.out, "chunk 5") || !strings.Contains(r.out, "no records") {
		t.Errorf("%s", r.out)
	}
	n := len(srv.Chats())
	srv.OnChat(model)
	if r := b.ok(with(flags, "docs", "retry")...); !strings.Contains(r.out, "1 processed") {
		t.Errorf("%s", r.out)
	}
	for _, c := range srv.Chats()[n:] {
		if strings.Contains(string(c.Raw), "Ada Lovelace wrote letters") {
			t.Errorf("asked again about a chunk that had not failed: %s", c.Raw)
		}
	}
	srv.OnChat(func(llmtest.ChatRequest) llmtest.ChatReply { return llmtest.ChatReply{Text: "No."} })
	b.exits(exitFailure, with(flags, "index", "--fail-on-chunk", "--quiet", b.file("bad.txt", "more gibberish"))...)
}
