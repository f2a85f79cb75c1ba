package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/llm"
)

// helpOpen opens a store and says how that went.
func helpOpen(args []string) error {
	db, err := Open(args[0], Options{Embedder: &words{}, Tokenizer: "chars4"})
	fmt.Printf("locked=%v\n", errors.Is(err, ErrLocked))
	if err != nil {
		return nil
	}
	return db.Close()
}

func TestAStoreHasOneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	o := testOptions(&fakeModel{})
	o.Storage.FS = nil
	db := opened(t, dir, o)
	if _, err := Open(dir, o); !errors.Is(err, ErrLocked) {
		t.Errorf("second Open: %v", err)
	}
	ro := o
	ro.ReadOnly = true
	if _, err := Open(dir, ro); !errors.Is(err, ErrLocked) {
		t.Errorf("second Open, read-only: %v", err)
	}
	open := func() string {
		cmd := helper(t, "open", dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if got := open(); got != "locked=true" {
		t.Errorf("another process: %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open(); got != "locked=false" {
		t.Errorf("another process, after Close: %q", got)
	}
}

func TestAReadOnlyStoreAnswersAndRefusesWrites(t *testing.T) {
	o := testOptions(&fakeModel{})
	if _, err := Open("store", func() Options { o := o; o.ReadOnly = true; return o }()); !errors.Is(err, ErrNotFound) {
		t.Errorf("read-only, no store: %v", err)
	}
	if _, err := Open("store", func() Options { o := o; o.MustExist = true; return o }()); !errors.Is(err, ErrNotFound) {
		t.Errorf("MustExist, no store: %v", err)
	}
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(2)...)
	want := exported(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files := fileSums(t, o.Storage.FS, "store")
	o.ReadOnly = true
	db = opened(t, "store", o)
	if exported(t, db) != want {
		t.Error("the graph differs")
	}
	if r, err := db.Query(t.Context(), Query{Text: "hub"}); err != nil || !r.Found || r.Answer == "" {
		t.Errorf("Query: %v %+v", err, r)
	}
	for name, call := range writes(db) {
		if err := call(t.Context()); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sound(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if now := fileSums(t, o.Storage.FS, "store"); !maps.Equal(files, now) {
		t.Errorf("files changed:\n%v\nwere\n%v", now, files)
	}
}

func writes(db *DB) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Insert":          func(ctx context.Context) error { _, err := db.Insert(ctx, doc("x", "@e|X|t|x")); return err },
		"Resume":          func(ctx context.Context) error { _, err := db.Resume(ctx); return err },
		"Retry":           func(ctx context.Context) error { _, err := db.Retry(ctx); return err },
		"DeleteDocuments": func(ctx context.Context) error { _, err := db.DeleteDocuments(ctx, "text 00"); return err },
		"Refresh":         db.Refresh,
		"ClearCache":      func(context.Context) error { return db.ClearCache() },
	}
}

// fileSums reads every file below dir.
func fileSums(t *testing.T, fs vfs.FS, dir string) map[string][32]byte {
	t.Helper()
	out := make(map[string][32]byte)
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			maps.Copy(out, fileSums(t, fs, path))
			continue
		}
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		out[path] = sha256.Sum256(b)
	}
	return out
}

func TestUseAfterCloseIsAnError(t *testing.T) {
	db, err := Open("store", testOptions(&fakeModel{}))
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(1)...)
	for range 3 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	calls := writes(db)
	calls["Retrieve"] = func(ctx context.Context) error { _, err := db.Retrieve(ctx, Query{Text: "a"}); return err }
	calls["Query"] = func(ctx context.Context) error { _, err := db.Query(ctx, Query{Text: "a"}); return err }
	calls["Documents"] = func(context.Context) error { _, err := db.Documents(); return err }
	calls["Document"] = func(context.Context) error { _, _, err := db.Document("text 00"); return err }
	calls["Stats"] = func(context.Context) error { _, err := db.Stats(); return err }
	calls["Check"] = func(ctx context.Context) error { _, err := db.Check(ctx, true); return err }
	calls["CacheStats"] = func(context.Context) error { _, err := db.CacheStats(); return err }
	calls["View"] = func(context.Context) error { return db.View().Err() }
	calls["View.Entity"] = func(context.Context) error { _, err := db.View().Entity("Hub"); return err }
	calls["View.ExportJSONL"] = func(context.Context) error { return db.View().ExportJSONL(io.Discard) }
	for name, call := range calls {
		if err := call(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	db.View().Close()
}

// Close waits for what is running and refuses what comes later.
func TestCloseWaitsForRunningCalls(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	m := &fakeModel{hook: func(context.Context, *llm.Request) (llm.Response, bool, error) {
		once.Do(func() { close(asked) })
		<-release
		return llm.Response{}, false, nil
	}}
	o := testOptions(m)
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := db.Insert(context.Background(), corpus(2)...)
		result <- err
	}()
	<-asked
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- db.Close() }()
	}
	for {
		if _, err := db.CacheStats(); errors.Is(err, ErrClosed) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case <-closed:
		t.Error("Close did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	if err := errors.Join(<-result, <-closed, <-closed); err != nil {
		t.Error(err)
	}
	if list, err := opened(t, "store", o).Documents(); err != nil || len(list) != 2 || list[1].Status != StatusProcessed {
		t.Errorf("%+v %v", list, err)
	}
}

// A view that is still open keeps the store open; Close says so and can be
// called again.
func TestCloseWithAnOpenView(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the view")
	}
	o := testOptions(&fakeModel{})
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(1)...)
	v := db.View()
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "1 views are still open") {
		t.Errorf("Close: %v", err)
	}
	if _, err := v.Entity("Hub"); err != nil {
		t.Errorf("the view: %v", err)
	}
	v.Close()
	if err := db.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	opened(t, "store", o) // the lock is free
}

func TestAnotherEmbedderIsRefused(t *testing.T) {
	o := testOptions(&fakeModel{})
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(1)...)
	want := exported(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what       string
		edit       func(*Options)
		have, want string
	}{
		{"dimension", func(o *Options) { o.Embedder = &words{dim: 3} }, "128", "3"},
		{"name", func(o *Options) { o.Embedder = &words{name: "other"} }, "words", "other"},
		{"tokenizer", func(o *Options) { o.Tokenizer = "cl100k" }, "chars4", "cl100k"},
	} {
		other := o
		tt.edit(&other)
		_, err := Open("store", other)
		var m *MismatchError
		if !errors.Is(err, ErrMismatch) || !errors.As(err, &m) || m.Have != tt.have || m.Want != tt.want {
			t.Errorf("%s: %v", tt.what, err)
		} else if text := err.Error(); !strings.Contains(text, tt.have) || !strings.Contains(text, tt.want) {
			t.Errorf("%s: the message names not both: %s", tt.what, text)
		} else if strings.Contains(text, "ReEmbed") != (tt.what != "tokenizer") {
			t.Errorf("%s: the message does not name the way out, or one that is none: %s", tt.what, text)
		}
	}
	o.Tokenizer = "" // that of the store
	db = opened(t, "store", o)
	if db.Identity().Tokenizer != "chars4" || exported(t, db) != want {
		t.Errorf("%+v", db.Identity())
	}
}

func TestAnotherModelAndOptionsLeftOutKeepWhatWasDerived(t *testing.T) {
	o := testOptions(&fakeModel{name: "one"})
	o.SummaryFragments, o.SummaryTokens, o.MaxSources = 3, 900, 4
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		inserted(t, db, doc(id, "@e|Hub|t|what "+id+" says"))
	}
	want := exported(t, db)
	if !strings.Contains(want, "summary of") {
		t.Fatalf("nothing is summarised: %s", want)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	other := &fakeModel{name: "two"}
	o.Completer = other
	o.SummaryFragments, o.SummaryTokens, o.MaxSources = 0, 0, 0
	db = opened(t, "store", o)
	if now := exported(t, db); now != want {
		t.Errorf("opening changed the graph to\n%s\nfrom\n%s", now, want)
	}
	if err := db.Refresh(t.Context()); err != nil || other.count(llm.TaskSummary) != 0 {
		t.Errorf("%d summaries were made again: %v", other.count(llm.TaskSummary), err)
	}
	sound(t, db)
}
