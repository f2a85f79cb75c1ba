package graphstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
)

// TestCompactErasesWhatWasDeleted looks for the words of a deleted document in
// every file.
func TestCompactErasesWhatWasDeleted(t *testing.T) {
	mem := vfs.NewMem()
	s, _ := opened(t, mem, nil)
	insert(t, s, oneChunk("kept", "Keptname"))
	doc := insert(t, s, oneChunk("gone", "Secretname"))
	if err := s.sealVectors(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	old, err := s.View() // whose rows a compaction meanwhile has to keep
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(ctx, []DocID{doc}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(ctx, CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if id, ok, err := old.FindEntity("Secretname"); err != nil || !ok {
		t.Errorf("an older view has lost an entity: %v", err)
	} else if got, err := old.Vectors(format.KindEntity, []uint32{uint32(id)}); err != nil || got[0].Vector == nil {
		t.Errorf("an older view has lost a vector: %v", err)
	}
	old.Close()
	checked(t, s)
	if info, err := s.Compact(ctx, CompactOptions{}); err != nil || info != (CompactInfo{}) {
		t.Fatalf("again: %+v, %v", info, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var sink *memorySink
		s, sink = opened(t, mem, nil)
		checked(t, s)
		vectorsMatch(t, s, sink)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !inFiles(t, mem, "store", "keptname") || inFiles(t, mem, "store", "secretname") {
		t.Errorf("in the files: keptname %v, secretname %v", inFiles(t, mem, "store", "keptname"), inFiles(t, mem, "store", "secretname"))
	}
	s, _ = opened(t, mem, func(o *Options) { o.ReadOnly = true })
	if _, err := s.Compact(ctx, CompactOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

func TestCompactCountsWhatItTakesOut(t *testing.T) {
	mem := vfs.NewMem()
	s, _ := opened(t, mem, nil)
	ctx := context.Background()
	docs := []DocID{insert(t, s, oneChunk("a", "Ada")), insert(t, s, oneChunk("b", "Bob"))}
	if err := s.sealVectors(); err != nil {
		t.Fatal(err)
	}
	insert(t, s, oneChunk("c", "Carol"))
	if err := s.sealVectors(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"one", "two"} {
		if err := s.PutAnswer(sha256.Sum256([]byte(key)), format.Answer{Text: key}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := s.Compact(ctx, CompactOptions{}); err != nil || info != (CompactInfo{}) {
		t.Fatalf("%+v, %v", info, err)
	}
	if _, err := s.Delete(ctx, docs[:1], DeleteOptions{}); err != nil { // half of a segment
		t.Fatal(err)
	}
	info, err := s.Compact(ctx, CompactOptions{Answers: true})
	if err != nil || info.Terms == 0 || info.Vectors == 0 || info.Answers != 2 || s.Stats().Segments != 2 {
		t.Fatalf("%+v, %d segments, %v", info, s.Stats().Segments, err)
	}
	if _, err := s.Delete(ctx, docs[1:], DeleteOptions{}); err != nil { // and the other half
		t.Fatal(err)
	}
	info, err = s.Compact(ctx, CompactOptions{Answers: true})
	if err != nil || info.Vectors == 0 || info.Answers != 0 || s.Stats().Segments != 1 {
		t.Fatalf("%+v, %d segments, %v", info, s.Stats().Segments, err)
	}
	checked(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if names, err := mem.List("store/seg"); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
}

// TestPowerCutWhileCompacting cuts the power at every sync of a compaction and
// of the close behind it, which removes files.
func TestPowerCutWhileCompacting(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s, _ := opened(t, mem, nil)
	insert(t, s, oneChunk("kept", "Ada"))
	doc := insert(t, s, oneChunk("gone", "Bob"))
	if err := s.sealVectors(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), []DocID{doc}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var points []*vfs.MemFS
	var mu sync.Mutex // the log is synced on a goroutine of its own
	o, _ := testOptions(errorfs.Wrap(mem, syncTap{func() {
		mu.Lock()
		defer mu.Unlock()
		points = append(points, mem.CrashClone(vfs.CrashCloneCfg{}))
	}}))
	s, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Compact(t.Context(), CompactOptions{})
	if err := errors.Join(err, s.Close()); err != nil || info.Vectors == 0 {
		t.Fatalf("%+v, %v", info, err)
	}
	if len(points) < 10 {
		t.Fatalf("only %d power cuts", len(points))
	}
	for i, fs := range append(points, mem) {
		s, sink := opened(t, fs, nil)
		checked(t, s)
		vectorsMatch(t, s, sink)
		withView(t, s, func(v *View) {
			if got := found(t, v, "ada", "bob"); !slices.Equal(got, []string{"Ada 2", ""}) {
				t.Errorf("cut %d: %q", i, got)
			}
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompactCanBeCancelled(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	insert(t, s, oneChunk("a", "Ada"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Compact(ctx, CompactOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	checked(t, s)
}

// inFiles reports whether a word stands in a file of the directory.
func inFiles(t testing.TB, fs vfs.FS, dir, word string) bool {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			return inFiles(t, fs, path, word)
		}
		b := bytes.ToLower(fileBytes(t, fs, path))
		return bytes.Contains(b, []byte(word)) || bytes.Contains([]byte(path), []byte(word))
	})
}

func fileBytes(t testing.TB, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// closingAt is a context that has the store closed when it is asked for the
// n-th time.
type closingAt struct {
	context.Context
	s    *Store
	left int
	done chan error
}

func (c *closingAt) Err() error {
	if c.left--; c.left == 0 {
		go func() { c.done <- c.s.Close() }()
		for !c.s.closed.Load() {
			runtime.Gosched()
		}
		for range 100 { // as long as Close does not wait
			if c.s.current.Load() == nil {
				break
			}
			time.Sleep(time.Millisecond / 10)
		}
	}
	return nil
}

// TestCloseWhileCompacting closes a store at every step of a compaction.
func TestCloseWhileCompacting(t *testing.T) {
	for n, compacted := 1, false; !compacted; n++ {
		mem := vfs.NewMem()
		s, _ := opened(t, mem, nil)
		var docs []DocID
		for _, name := range []string{"Ada", "Bob", "Carol"} {
			docs = append(docs, insert(t, s, oneChunk(name, name)))
			if err := s.sealVectors(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Delete(t.Context(), docs[1:], DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx := &closingAt{context.Background(), s, n, make(chan error, 1)}
		_, err := s.Compact(ctx, CompactOptions{Answers: true})
		if compacted = ctx.left > 0; compacted {
			ctx.left = 1
			_ = ctx.Err()
		} else if err != nil && !errors.Is(err, ErrClosed) {
			t.Fatalf("closed at %d: %v", n, err)
		}
		if err := <-ctx.done; err != nil {
			t.Fatalf("close at %d: %v", n, err)
		}
		s, sink := opened(t, mem, nil)
		checked(t, s)
		vectorsMatch(t, s, sink)
	}
}
