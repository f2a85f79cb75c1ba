package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm/llmtest"
)

func TestReadVerbsNeedAStore(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{
		{"stats"}, {"check"}, {"docs", "list"}, {"docs", "show", "x"}, {"docs", "delete", "x"}, {"docs", "retry"}, {"entity", "list"},
		{"entity", "show", "x"}, {"relation", "show", "x", "y"}, {"entity", "create", "x"}, {"entity", "changes"}, {"entity", "undo", "1"}, {"relation", "delete", "x", "y"}, {"graph", "neighbors", "x"}, {"graph", "export"},
		{"cache", "stats"}, {"cache", "clear"}, {"query", "x"},
	} {
		f := decode[failureDoc](t, b.exits(exitNotFound, append(args, "--json")...))
		if f.Error.Code != "not_found" || f.Error.Object != b.env["LIGHTRAG_DB"] || !strings.Contains(f.Error.Message, "no store in") {
			t.Errorf("%q: %+v", args, f)
		}
	}
	if _, err := os.Stat(b.env["LIGHTRAG_DB"]); err == nil {
		t.Error("a store was made")
	}
}

func TestALockedStoreIsExitCode5(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	b.ok("index", "-")
	db, err := engine.Open(b.env["LIGHTRAG_DB"], engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, args := range [][]string{{"stats"}, {"check"}, {"query", "x"}, {"index", "-"}, {"docs", "list"}} {
		f := decode[failureDoc](t, b.exits(exitLocked, append(args, "--json")...))
		if f.Error.Code != "locked" {
			t.Errorf("%q: %+v", args, f)
		}
	}
}

// TestACrashedStoreIsReadable copies a store while it is open, which is what a
// crash leaves.
func TestACrashedStoreIsReadable(t *testing.T) {
	b := newBench(t)
	db, err := engine.Open(b.env["LIGHTRAG_DB"], engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Insert(t.Context(), engine.Document{ID: "a", Text: adaText}); err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(b.dir, "crashed")
	if err := os.CopyFS(crashed, os.DirFS(b.env["LIGHTRAG_DB"])); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.env["LIGHTRAG_DB"] = crashed
	for range 2 {
		b.ok("stats")
		b.ok("check", "--deep")
		if out := b.ok("query", "Who wrote notes?").out; !strings.Contains(out, "Ada Lovelace") {
			t.Errorf("query: %s", out)
		}
		b.ok("entity", "show", "Ada Lovelace")
	}
	b.stdin = hullText
	b.ok("index", "-")
}

func TestADamagedStoreIsExitCode4(t *testing.T) {
	b := newBench(t)
	b.stdin = adaText
	b.ok("index", "-")
	err := filepath.WalkDir(b.env["LIGHTRAG_DB"], func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".sst") {
			return err
		}
		bytes, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for i := len(bytes) / 4; i < len(bytes)/2; i++ {
			bytes[i] ^= 0xff
		}
		return os.WriteFile(p, bytes, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	r := b.exits(exitCorrupt, "check", "--deep", "--json")
	var doc struct {
		Error    *failureJSON  `json:"error"`
		Findings []findingJSON `json:"findings"`
		OK       bool          `json:"ok"`
		Deep     bool          `json:"deep"`
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || doc.Error == nil && len(doc.Findings) == 0 || doc.OK {
		t.Errorf("%v: %s", err, r.out)
	}
	b.exits(exitCorrupt, "query", "x")
}

// Wherever a table of the store is damaged, some verb says so with the right exit code, in one line, and none says
// anything else.
func TestDamagedTables(t *testing.T) {
	b, _, _ := asked(t)
	store := b.env["LIGHTRAG_DB"]
	tables, err := filepath.Glob(filepath.Join(store, "kv", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, part := range []int{1, 3, 5, 7, 9} {
		for _, p := range tables {
			whole, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(whole)
			bad[len(bad)*part/10] ^= 0x5a
			if err := os.WriteFile(p, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, verb := range [][]string{{"stats"}, {"docs", "list"}, {"query", "x", "--context-only"}, {"check", "--deep"}} {
				r := b.run(append(verb, "--quiet")...)
				if r.code != exitOK && r.code != exitCorrupt || strings.Contains(r.err, "stack") || strings.Contains(r.err, "<") {
					t.Errorf("%q with %s damaged at %d/10: exit code %d: %s", verb, filepath.Base(p), part, r.code, r.err)
				}
				if verb[0] == "check" && r.code == exitOK {
					t.Errorf("check has not found %s damaged at %d/10", filepath.Base(p), part)
				}
			}
			if err := os.WriteFile(p, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.ok("check", "--deep")
}

func TestStatsCheckCacheVersion(t *testing.T) {
	b, _, _ := asked(t)
	s := decode[engine.Stats](t, b.ok("stats", "--json"))
	if s.Documents != 2 || s.Entities != 4 || s.Relations != 3 || s.Identity.Tokenizer != "chars4" || s.Ledger["extract"].Calls != 2 || s.CachedAnswers != 4 {
		t.Errorf("%+v", s)
	}
	text := b.ok("stats").out
	for _, want := range []string{"documents", "offline-static-1", "spent on extract", "cached answers"} {
		if !strings.Contains(text, want) {
			t.Errorf("stats lacks %q:\n%s", want, text)
		}
	}
	if out := b.ok("check", "--deep", "--json").out; !strings.Contains(out, `"ok": true`) || !strings.Contains(out, `"findings": []`) {
		t.Errorf("check: %s", out)
	}
	if c := decode[engine.CacheStats](t, b.ok("cache", "stats", "--json")); c.Answers != 4 || c.Bytes == 0 {
		t.Errorf("cache: %+v", c)
	}
	b.ok("cache", "clear")
	if c := decode[engine.CacheStats](t, b.ok("cache", "stats", "--json")); c.Answers != 0 {
		t.Errorf("cleared cache: %+v", c)
	}
	if v := decode[versionJSON](t, b.ok("version", "--json")); v.Format != engine.FormatVersion || v.Go == "" {
		t.Errorf("%+v", v)
	}
}

func TestDocsDeleteAndRetry(t *testing.T) {
	b, srv, flags := asked(t)
	r := b.exits(exitNotFound, with(flags, "docs", "delete", "notes", "nobody", "notes", "--json")...)
	golden(t, "docs_delete.json", r.out)
	b.exits(exitNotFound, "entity", "show", "Ada Lovelace")
	if out := b.ok("entity", "show", "Analytical Engine").out; strings.Contains(out, "mechanical") {
		t.Errorf("words of the deleted document stay: %s", out)
	}
	b.ok("check")

	srv.OnEmbed(nil)
	srv.OnChat(func(llmtest.ChatRequest) llmtest.ChatReply {
		return llmtest.ChatReply{Status: http.StatusBadRequest, Body: `{"error":{"message":"no such model"}}`}
	})
	b.stdin = "Johannes Kepler lived in Prague."
	rep := decode[indexReport](t, b.exits(exitFailure, with(flags, "index", "-", "--json")...))
	if d := rep.Documents[0]; d.Status != "failed" || !strings.Contains(*d.Error, "no such model") {
		t.Fatalf("%+v", d)
	}
	b.exits(exitFailure, with(flags, "docs", "retry")...)
	srv.OnChat(model)
	again := struct {
		rows[reportRow]
		Totals  reportTotals `json:"totals"`
		LLM     usageJSON    `json:"llm"`
		Seconds float64      `json:"seconds"`
	}{}
	if err := json.Unmarshal([]byte(b.ok(with(flags, "docs", "retry", "stdin", "--json")...).out), &again); err != nil {
		t.Fatal(err)
	}
	if len(again.Rows) != 1 || again.Rows[0].Status != "processed" || again.Totals.Processed != 1 {
		t.Errorf("%+v", again)
	}
	b.exits(exitNotFound, with(flags, "docs", "retry", "nobody")...)
}

func TestTheEmbedderOfAStoreIsFixed(t *testing.T) {
	b := newBench(t)
	srv := llmtest.NewServer(t, model)
	embed := []string{"--embed-url", srv.URL, "--embed-model", "small"}
	b.stdin = adaText
	b.ok(with(embed, "index", "-")...)
	for _, args := range [][]string{{"stats"}, {"docs", "list"}, {"check"}, {"graph", "export"}, {"cache", "clear"}, {"entity", "list"}} {
		b.ok(args...) // these embed nothing
	}
	r := b.exits(exitFailure, "query", "Who?")
	for _, want := range []string{"embedder small of dimension 16", "--embed-url URL --embed-model small --embed-dim 16"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("%q is missing: %s", want, r.err)
		}
	}
	f := decode[failureDoc](t, b.exits(exitFailure, "index", "-", "--json"))
	if f.Error.Code != "mismatch" {
		t.Errorf("%+v", f)
	}
	b.ok(with(embed, "query", "Who wrote notes?", "--embed-dim", "16")...)
	b.exits(exitFailure, with(embed, "query", "Who?", "--embed-dim", "8")...)
	if r := b.exits(exitFailure, with(embed, "index", "-", "--tokenizer", "cl100k")...); !strings.Contains(r.err, "tokenizer o200k") {
		t.Errorf("tokenizer: %s", r.err)
	}
}

func TestALLMAloneKeepsTheOfflineEmbedder(t *testing.T) {
	b, srv, _ := asked(t)
	if len(srv.Embeds()) != 0 {
		t.Error("the chat server was asked for vectors")
	}
	s := decode[engine.Stats](t, b.ok("stats", "--json"))
	if !strings.HasPrefix(s.Identity.Embedder, "offline-") {
		t.Errorf("%+v", s.Identity)
	}
	b.env[envKey] = "a-key-alone"
	if r := b.ok("query", "Who?"); !strings.Contains(r.err, "no endpoint configured") {
		t.Errorf("a key alone configured something: %s", r.err)
	}
	if r := b.ok("query", "Who?", "--quiet"); r.err != "" {
		t.Errorf("--quiet: %s", r.err)
	}
	n := len(srv.Chats())
	b.ok("query", "Who?", "--offline", "--llm-url", srv.URL, "--llm-model", "x")
	if len(srv.Chats()) != n {
		t.Error("--offline asked the server")
	}
}
