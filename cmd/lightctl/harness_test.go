package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm/llmtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// bench is a directory with a store in it, and an environment.
type bench struct {
	t     *testing.T
	dir   string
	env   map[string]string
	stdin string
	ctx   context.Context
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	return &bench{t: t, dir: dir, env: map[string]string{"LIGHTRAG_DB": filepath.Join(dir, "store")}, ctx: t.Context()}
}

// result is what a command line gave.
type result struct {
	code     int
	out, err string
}

func (b *bench) run(args ...string) result {
	b.t.Helper()
	var out, errOut bytes.Buffer
	code := run(b.ctx, args, strings.NewReader(b.stdin), &out, &errOut, func(k string) string { return b.env[k] })
	return result{code, out.String(), errOut.String()}
}

// ok runs a command that must succeed.
func (b *bench) ok(args ...string) result {
	b.t.Helper()
	return b.exits(exitOK, args...)
}

// exits runs a command that must end with code.
func (b *bench) exits(code int, args ...string) result {
	b.t.Helper()
	r := b.run(args...)
	if r.code != code {
		b.t.Fatalf("lightctl %q: exit code %d, want %d\nstdout: %s\nstderr: %s", args, r.code, code, r.out, r.err)
	}
	return r
}

// file writes a file below the bench and returns its path.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	p := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// chdir makes the bench the working directory, so that ids are short.
func (b *bench) chdir() { b.t.Chdir(b.dir) }

// decode reads the one JSON document on standard output.
func decode[T any](t *testing.T, r result) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(strings.NewReader(r.out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("standard output is no such JSON: %v\n%s", err, r.out)
	}
	if dec.More() {
		t.Fatalf("more than one JSON document:\n%s", r.out)
	}
	return v
}

type failureDoc struct {
	Error failureJSON `json:"error"`
}

var scrubs = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`("(?:keywords|embed|search|expand|context|answer|total|rerank)": )\d+`), "${1}0"},
	{regexp.MustCompile(`("seconds": )[\d.]+`), "${1}0"},
	{regexp.MustCompile(`("score": )[\d.e-]+`), "${1}0"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "DATE AND TIME      "},
	{regexp.MustCompile(`[\d.]+ (µs|ms|s)\b`), "0 s"},
	{regexp.MustCompile(`(?m)^([+-]  )?\d\.\d{3}  `), "${1}0.000  "},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://SERVER"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "SERVER"},
	{regexp.MustCompile(`offline-(hash|static)[-0-9]*`), "OFFLINE-EMBEDDER"},
	{regexp.MustCompile(`[ \t]+\n`), "\n"},
}

// golden compares text, without its times, with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	for _, s := range scrubs {
		text = s.re.ReplaceAllString(text, s.to)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (-update rewrites it)\ngot:\n%s\nwant:\n%s", path, text, want)
	}
}

// Two chunks and what the fake model says about them.
const (
	adaText  = "Ada Lovelace wrote notes on the Analytical Engine of Charles Babbage."
	hullText = "Charles Babbage designed the Analytical Engine in London."

	adaAnswer = "entity<|#|>Ada Lovelace<|#|>Person<|#|>Ada Lovelace wrote the notes.\n" +
		"entity<|#|>Analytical Engine<|#|>Artifact<|#|>A mechanical computer.\n" +
		"relation<|#|>Ada Lovelace<|#|>Analytical Engine<|#|>notes, programs<|#|>She wrote notes on it.\n<|COMPLETE|>"
	hullAnswer = "entity<|#|>Charles Babbage<|#|>Person<|#|>Charles Babbage designed engines.\n" +
		"entity<|#|>Analytical Engine<|#|>Artifact<|#|>Designed in London.\n" +
		"relation<|#|>Charles Babbage<|#|>Analytical Engine<|#|>design<|#|>He designed it.\n" +
		"relation<|#|>Charles Babbage<|#|>London<|#|>place<|#|>He worked in London.\n<|COMPLETE|>"
)

// model answers the engine's prompts about the two chunks.
func model(r llmtest.ChatRequest) llmtest.ChatReply {
	reply := script(r)
	reply.Usage = &llmtest.Usage{Prompt: 100, Completion: 20}
	return reply
}

func script(r llmtest.ChatRequest) llmtest.ChatReply {
	all := r.System()
	for _, m := range r.Messages {
		all += m.Content
	}
	switch {
	case r.JSON():
		return llmtest.ChatReply{Text: `{"high_level_keywords":["computing"],"low_level_keywords":["Ada Lovelace"]}`}
	case len(r.Messages) > 3: // gleaning
		return llmtest.ChatReply{Text: "<|COMPLETE|>"}
	case strings.Contains(all, "reference_id"):
		return llmtest.ChatReply{Text: "She wrote notes [1].\n\n### References\n\n- [1] notes.txt"}
	case strings.Contains(all, adaText):
		return llmtest.ChatReply{Text: adaAnswer}
	case strings.Contains(all, hullText):
		return llmtest.ChatReply{Text: hullAnswer}
	}
	return llmtest.ChatReply{Text: "<|COMPLETE|>"}
}

// chunked is a pre-chunked file of the two chunks.
const chunked = `{"doc_id":"notes","path":"notes.txt","chunk_order":0,"content":"` + adaText + `","extra":[1]}
{"doc_id":"engine","path":"engine.txt","chunk_order":3,"content":"` + hullText + `"}
`

// scripted returns a bench whose model is the fake one, and the flags that
// name it.
func scripted(t *testing.T) (*bench, *llmtest.Server, []string) {
	t.Helper()
	srv := llmtest.NewServer(t, model)
	return newBench(t), srv, []string{"--llm-url", srv.URL, "--llm-model", "fake"}
}

// with puts flags behind a command line.
func with(flags []string, args ...string) []string { return append(args, flags...) }
