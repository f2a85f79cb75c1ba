package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/llm"
)

// The documents of these tests hold what is to be extracted from them: a line
// "@e|name|type|description" is an entity, "@r|a|b|keywords|description" a
// relation. records turns a text into the answer of a well-behaved model.
func records(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch f := strings.Split(strings.TrimSpace(line), "|"); {
		case f[0] == "@e" && len(f) == 4:
			fmt.Fprintf(&b, "entity<|#|>%s<|#|>%s<|#|>%s\n", f[1], f[2], f[3])
		case f[0] == "@r" && len(f) == 5:
			fmt.Fprintf(&b, "relation<|#|>%s<|#|>%s<|#|>%s<|#|>%s\n", f[1], f[2], f[3], f[4])
		}
	}
	return b.String() + "<|COMPLETE|>"
}

// digest is the summary of the tests: a function of the list it was made from.
func digest(texts []string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%q", t)
	}
	return fmt.Sprintf("summary of %d texts %x", len(texts), h.Sum(nil)[:8])
}

// fakeModel answers every task in its own process. hook may answer first; its
// ok says that it did.
type fakeModel struct {
	name string
	hook func(ctx context.Context, req *llm.Request) (res llm.Response, ok bool, err error)

	mu    sync.Mutex
	calls []llm.Request
}

func (m *fakeModel) Model() string { return cmp.Or(m.name, "fake") }

func (m *fakeModel) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.mu.Lock()
	m.calls = append(m.calls, req)
	m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return llm.Response{}, context.Cause(ctx)
	}
	if m.hook != nil {
		if res, ok, err := m.hook(ctx, &req); ok || err != nil {
			return res, err
		}
	}
	res := llm.Response{Usage: llm.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 5}}
	switch req.Task {
	case llm.TaskExtract:
		res.Text = records(req.Input.Text)
	case llm.TaskGlean:
		res.Text = "<|COMPLETE|>"
	case llm.TaskSummary:
		res.Text = digest(req.Input.Descriptions)
	case llm.TaskKeywords:
		res.Text = `{"high_level_keywords":["themes"],"low_level_keywords":["` + strings.ReplaceAll(req.Input.Question, `"`, "") + `"]}`
	default:
		res.Text = "answer to " + req.Input.Question
		if req.Stream != nil {
			for _, piece := range strings.SplitAfter(res.Text, " ") {
				if err := req.Stream(piece); err != nil {
					return res, err
				}
			}
		}
	}
	return res, nil
}

// count returns how many calls of a task were made.
func (m *fakeModel) count(task llm.Task) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for i := range m.calls {
		if m.calls[i].Task == task {
			n++
		}
	}
	return n
}

const wordsDim = 128

// words is an embedder whose vectors are bags of hashed words, so that texts
// that share words are near to one another.
type words struct {
	name string
	dim  int
	hook func(texts []string, vecs [][]float32) ([][]float32, error)
}

func (w *words) Info() llm.EmbedderInfo {
	return llm.EmbedderInfo{Name: cmp.Or(w.name, "words"), Dim: cmp.Or(w.dim, wordsDim)}
}

func (w *words) Embed(ctx context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	vecs := make([][]float32, len(texts))
	for i, t := range texts {
		vecs[i] = wordVector(t, w.Info().Dim)
	}
	if w.hook != nil {
		return w.hook(texts, vecs)
	}
	return vecs, nil
}

func wordVector(text string, dim int) []float32 {
	v := make([]float32, dim)
	v[0] = 0.05 // so that no text is the zero vector
	for _, f := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		h := sha256.Sum256([]byte(f))
		v[1+(int(h[0])<<8|int(h[1]))%(dim-1)]++
	}
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// testOptions are those of a small store in memory.
func testOptions(m llm.Completer) Options {
	return Options{
		Completer: m, Embedder: &words{}, Tokenizer: "chars4", SummaryFragments: -1,
		Storage: Storage{FS: vfs.NewMem(), CacheBytes: 1 << 20, MemTableBytes: 1 << 20},
	}
}

// opened opens a store that is closed when the test ends.
func opened(t testing.TB, dir string, o Options) *DB {
	t.Helper()
	db, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// inserted inserts documents, all of which must be processed.
func inserted(t testing.TB, db *DB, docs ...Document) *Report {
	t.Helper()
	rep, err := db.Insert(t.Context(), docs...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		if d := &rep.Documents[i]; d.Status != StatusProcessed {
			t.Fatalf("document %q is %s: %v", d.ID, d.Status, d.Err)
		}
	}
	return rep
}

func exported(t testing.TB, db *DB) string {
	t.Helper()
	v := db.View()
	defer v.Close()
	var b bytes.Buffer
	if err := v.ExportJSONL(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sound fails the test if Check finds anything.
func sound(t testing.TB, db *DB) {
	t.Helper()
	found, err := db.Check(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// logged is a handler that keeps what was logged.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *logged) WithGroup(string) slog.Handler                    { return l }
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// doc is a document of one line per record.
func doc(id string, lines ...string) Document {
	return Document{ID: id, Path: id + ".md", Text: "About " + id + ".\n" + strings.Join(lines, "\n")}
}

func slogOf(l *logged) *slog.Logger { return slog.New(l) }
