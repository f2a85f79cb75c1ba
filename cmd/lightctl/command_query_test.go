package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm/llmtest"
)

// asked returns a bench with the two chunks indexed.
func asked(t *testing.T) (*bench, *llmtest.Server, []string) {
	t.Helper()
	b, srv, flags := scripted(t)
	b.ok(with(flags, "index", "--tokenizer", "chars4", "--pre-chunked", b.file("chunks.jsonl", chunked))...)
	return b, srv, flags
}

func TestQueryJSON(t *testing.T) {
	b, _, flags := asked(t)
	golden(t, "query.json", b.ok(with(flags, "query", "What did Ada Lovelace write?", "--json")...).out)
	r := decode[queryJSON](t, b.ok(with(flags, "query", "What did Ada Lovelace write?", "--json")...))
	if r.LLM.Calls != 0 || r.LLM.Cached != 1 {
		t.Errorf("asked again: %+v, want an answer from the cache", r.LLM)
	}
	r = decode[queryJSON](t, b.ok(with(flags, "query", "What did Ada Lovelace write?", "--json", "--explain", "--top-k", "1")...))
	if r.Explain == nil || r.Explain.Entities.Found < r.Explain.Entities.Kept || r.Explain.Chunks.Kept != len(r.Chunks) {
		t.Errorf("explain: %+v", r.Explain)
	}
}

func TestQueryForPeople(t *testing.T) {
	b, _, flags := asked(t)
	const q = "What did Ada Lovelace write?"
	golden(t, "query.txt", b.ok(with(flags, "query", q)...).out)
	golden(t, "query_stream.txt", b.ok(with(flags, "query", q, "--stream", "--no-cache")...).out)
	golden(t, "query_no_sources.txt", b.ok(with(flags, "query", q, "--no-sources")...).out)
	golden(t, "query_explain.txt", b.ok(with(flags, "query", q, "--explain")...).out)
	context := b.ok(with(flags, "query", q, "--context-only")...).out
	if !strings.Contains(context, adaText) || strings.Contains(context, "[1].") {
		t.Errorf("--context-only: %s", context)
	}
	prompt := b.ok(with(flags, "query", q, "--prompt-only", "--user-prompt", "Answer in verse")...).out
	if !strings.Contains(prompt, adaText) || !strings.Contains(prompt, "Answer in verse") || !strings.Contains(prompt, q) {
		t.Errorf("--prompt-only: %s", prompt)
	}
}

// What was not done is neither timed nor given a maker.
func TestLastLinesOfAQuery(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	if r := b.ok("index", "-"); !strings.Contains(r.out, "\nno language model was asked, ") || strings.Contains(r.out, "call") {
		t.Errorf("index:\n%s", r.out)
	}
	if r := b.ok("docs", "show", "stdin"); !strings.Contains(r.out, "\nspent        1 call, 0 + 0 tokens\n") || strings.Contains(r.out, "model call") {
		t.Errorf("docs show:\n%s", r.out)
	}
	const graph = "graph by rules (offline-2), vectors by "
	for _, c := range []struct {
		args     []string
		made     string
		answered bool
	}{
		{[]string{"What did Ada Lovelace write?"}, graph, true},
		{[]string{"What did Ada Lovelace write?", "--context-only"}, graph, false},
		{[]string{"zyx"}, graph, false},
		{[]string{"zyx", "--prompt-only"}, graph, false},
		{[]string{"Hello?", "--mode", "bypass"}, "answers by rules (offline-2)", true},
	} {
		lines := strings.Split(strings.TrimSpace(b.ok(append([]string{"query"}, c.args...)...).out), "\n")
		made, times := lines[len(lines)-2], lines[len(lines)-1]
		if !strings.HasPrefix(made, c.made) || strings.Contains(made, "answers by rules (offline-2)") != c.answered {
			t.Errorf("%q: %s", c.args, made)
		}
		if strings.Contains(times, " answer ") != c.answered || !strings.Contains(times, " total ") || strings.Contains(times, "search") == strings.HasPrefix(times, "bypass") {
			t.Errorf("%q: %s", c.args, times)
		}
	}
	if r := b.ok("query", "What did Ada Lovelace write?", "--explain"); !strings.Contains(r.out, "keywords from:       rules\n") {
		t.Error(r.out)
	}
}

func TestQueryFlagsReachTheEngine(t *testing.T) {
	b, srv, flags := asked(t)
	ask := func(args ...string) queryJSON {
		t.Helper()
		return decode[queryJSON](t, b.ok(with(flags, append([]string{"query", "What?", "--json", "--no-cache"}, args...)...)...))
	}
	if r := ask("--mode", "local", "--ll", "Ada Lovelace, Babbage", "--ll-json", `["a, b"]`); len(r.Keywords.Low) != 3 || r.Keywords.Low[2] != "a, b" || r.LLM.Calls != 1 {
		t.Errorf("keywords %q, %d calls", r.Keywords.Low, r.LLM.Calls)
	}
	if r := ask("--mode", "global", "--hl", "design"); r.Mode != "global" || len(r.Keywords.High) != 1 {
		t.Errorf("%+v", r.Keywords)
	}
	if r := ask("--cosine-threshold", "-1", "--chunk-top-k", "0", "--ll", "Ada Lovelace"); len(r.Chunks) != 0 || len(r.Entities) == 0 {
		t.Errorf("--chunk-top-k 0: %d chunks, %d entities", len(r.Chunks), len(r.Entities))
	}
	if r := ask("--cosine-threshold", "-1", "--ll", "Ada Lovelace", "--doc", "engine"); len(r.Refs) != 1 || r.Refs[0].Path != "engine.txt" {
		t.Errorf("--doc: %+v", r.Refs)
	}
	if r := ask("--cosine-threshold", "-1", "--mode", "local", "--ll", "Ada Lovelace", "--type", "Person"); len(r.Entities) != 2 {
		t.Errorf("--type: %+v", r.Entities)
	}
	if r := ask("--match", "lexical", "--ll", "ada LOVELACE", "--explain"); len(r.Entities) == 0 || r.Entities[0].Name != "Ada Lovelace" || r.Entities[0].Score != 0 || r.Explain.Match != "lexical" {
		t.Errorf("--match lexical: %+v", r.Entities)
	}
	asks := len(srv.Chats())
	r := decode[queryJSON](t, b.ok(with(flags, "query", "what did ada lovelace write?", "--json", "--no-cache", "--context-only", "--keywords", "lexical", "--explain")...))
	if len(r.Keywords.Low) != 1 || r.Keywords.Low[0] != "Ada Lovelace" || r.Explain.Keywords != "lexical" || len(srv.Chats()) != asks {
		t.Errorf("--keywords lexical: %+v, %d calls", r.Keywords, len(srv.Chats())-asks)
	}
	history := b.file("h.json", `[{"role":"user","content":"Speak up."},{"role":"assistant","content":"I shall."}]`)
	ask("--history", history, "--response-type", "One Haiku", "--cosine-threshold", "-1", "--ll", "Ada Lovelace")
	last := srv.Chats()[len(srv.Chats())-1]
	if raw := string(last.Raw); !strings.Contains(raw, "I shall.") || !strings.Contains(raw, "One Haiku") {
		t.Errorf("history or response type did not reach the model: %s", raw)
	}
}

func TestQueryWithoutResult(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	b.ok("index", "-")
	r := decode[queryJSON](t, b.ok("query", "zyx", "--json"))
	if r.Found || r.Answer != "Sorry, I'm not able to provide an answer to that question.[no-context]" || len(r.Refs) != 0 {
		t.Errorf("%+v", r)
	}
	out := b.ok("query", "zyx", "--json").out
	for _, field := range []string{"entities", "relations", "chunks", "references"} {
		if !strings.Contains(out, `"`+field+`": []`) {
			t.Errorf("%s is not an empty array:\n%s", field, out)
		}
	}
}

func TestQueryUsage(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	b.ok("index", "-")
	for _, args := range [][]string{
		{"query"}, {"query", " "}, {"query", "a", "b"}, {"query", "a", "--mode", "deep"}, {"query", "a", "--top-k", "-1"},
		{"query", "a", "--ll-json", "x"}, {"query", "a", "--ll", ","}, {"query", "a", "--pick", "x"}, {"query", "a", "--match", "x"}, {"query", "a", "--keywords", "x"},
		{"query", "a", "--mode", "local", "--hl", "theme"}, {"query", "a", "--type", " "},
		{"query", "a", "--history", b.file("bad.json", `{}`)},
		{"query", "a", "--history", b.file("role.json", `[{"role":"robot","content":"x"}]`)},
	} {
		r := b.exits(exitUsage, args...)
		if r.out != "" || !strings.HasPrefix(lastLine(r.err), "lightctl: ") {
			t.Errorf("%q: stdout %q, stderr %q", args, r.out, r.err)
		}
	}
	b.exits(exitNotFound, "query", "a", "--doc", "nobody")
	b.exits(exitNotFound, "query", "a", "--history", "nowhere.json")
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func TestBrokenStreamKeepsWhatCame(t *testing.T) {
	b, srv, flags := asked(t)
	long := strings.TrimSpace(strings.Repeat("She wrote ", 1000)) // what may be reasoning is held back
	srv.OnChat(func(r llmtest.ChatRequest) llmtest.ChatReply {
		reply := model(r)
		if r.Stream {
			return llmtest.ChatReply{Chunks: []string{long, " notes"}, Cut: true}
		}
		return reply
	})
	r := b.exits(exitFailure, with(flags, "query", "What did Ada Lovelace write?", "--stream")...)
	if r.out != long+" notes\n" || !strings.Contains(r.err, "cut short") {
		t.Errorf("stdout %q\nstderr %q", r.out, r.err)
	}
}

func TestKeysAreNeverShown(t *testing.T) {
	const key, embedKey = "sk-verysecret-0123456789", "embed-secret-987654321"
	b, srv, flags := asked(t)
	b.env[envKey], b.env[envEmbedKey] = key, embedKey
	srv.OnChat(func(r llmtest.ChatRequest) llmtest.ChatReply {
		return llmtest.ChatReply{Status: http.StatusUnauthorized, Body: `{"error":{"message":"bad key ` + r.Header.Get("Authorization") + `"}}`}
	})
	srv.OnEmbed(func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		return llmtest.EmbedReply{Status: http.StatusUnauthorized, Body: `{"error":{"message":"bad key ` + r.Header.Get("Authorization") + `"}}`}
	})
	for _, args := range [][]string{
		with(flags, "query", "a new question", "-vv"),
		with(flags, "query", "a new question", "--json"),
		with(flags, "index", "-", "--json", "-vv"),
		{"query", "x", "--embed-url", srv.URL, "--embed-model", "m", "-vv"},
		{"query", key, "--bad-flag", key},
		{"index", key},
		{"--llm-url", "http://" + key + "@[bad", "--llm-model", "m", "query", "x"},
	} {
		b.stdin = "Some new text about Johannes Kepler."
		r := b.run(args...)
		if r.code == exitOK {
			t.Errorf("%q: exit code 0", args)
		}
		for _, secret := range []string{key, embedKey} {
			if strings.Contains(r.out+r.err, secret) {
				t.Errorf("%q shows a key:\n%s\n%s", args, r.out, r.err)
			}
		}
	}
	if got := srv.Chats()[len(srv.Chats())-1].Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("the model was sent %q", got)
	}
	if got := srv.Embeds()[0].Header.Get("Authorization"); got != "Bearer "+embedKey {
		t.Errorf("the embedder was sent %q", got)
	}
}

func TestKeysGoOnlyWhereTheyBelong(t *testing.T) {
	for _, c := range []struct{ llmURL, embedURL, own, want string }{
		{"http://a:1/v1", "http://a:1/embed", "", "main"},
		{"http://a:1/v1", "http://b:1/v1", "", ""},
		{"", "http://b:1/v1", "", ""},
		{"", "https://api.openai.com/v1", "", "main"},
		{"http://a:1/v1", "http://a:1/v1", "own", "own"},
		{"a:1", "http://A:1", "", "main"},
	} {
		env := map[string]string{envKey: "main", envEmbedKey: c.own}
		a := &app{env: func(k string) string { return env[k] }, endpoints: endpoints{llmURL: c.llmURL, embedURL: c.embedURL}}
		if got := a.embedKey(); got != c.want {
			t.Errorf("%+v: key %q", c, got)
		}
	}
}
