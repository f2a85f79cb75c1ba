package graphstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
)

func TestAnotherAnalyzerMakesThePostingsAnew(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, oneChunk("a", "Alpha"))
	insert(t, s, oneChunk("b", "Beta"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reopen := func(edit func(*Options)) *Store {
		t.Helper()
		s, _ := opened(t, fs, edit)
		return s
	}
	look := func(s *Store, want string) {
		t.Helper()
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if got := fmt.Sprintf("%q", found(t, v, "alpha", "ahpla")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		checked(t, s)
		v.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const forwards, backwards, none = `["Alpha 2" ""]`, `["" "Alpha 2"]`, `["" ""]`
	other := func(o *Options) { o.Terms = words{"words-2"} }
	look(reopen(nil), forwards)
	s = reopen(func(o *Options) { other(o); o.ReadOnly = true })
	withView(t, s, func(v *View) {
		if n, tokens := v.LexicalStats(format.KindEntity); n != 0 || tokens != 0 {
			t.Errorf("a read-only store with another analyzer says %d, %d", n, tokens)
		}
	})
	s.opts.Terms = nil // it has none to compare
	look(s, none)
	s = reopen(other)
	insert(t, s, oneChunk("c", "Delta"))
	look(s, backwards)
	look(reopen(other), backwards)
	s = reopen(func(o *Options) { o.Terms = nil })
	insert(t, s, oneChunk("d", "Epsilon"))
	look(s, none)
	s = reopen(func(o *Options) { o.MaxSources = 1 }) // both at once
	look(s, forwards)
	if _, err := Open("store", func() Options { o, _ := testOptions(fs); o.Terms = words{}; return o }()); !errors.Is(err, ErrInvalid) {
		t.Errorf("an analyzer without a name: %v", err)
	}
	look(reopen(nil), forwards)
}

func TestDamagedPostingsAreMadeAnew(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, oneChunk("a", "Alpha"))
	if _, err := s.write(func(tx *txn) error {
		tx.dirty = true
		return tx.batch.Merge(format.AppendPostingsKey(nil, format.KindEntity, "alpha", 0), []byte("damage"), nil)
	}); err != nil {
		t.Fatal(err)
	}
	damaged := func(want bool) {
		t.Helper()
		withView(t, s, func(v *View) {
			if _, err := v.Postings(format.KindEntity, []string{"alpha"}, nil); errors.Is(err, ErrCorrupt) != want || (err != nil) != want {
				t.Errorf("%v, damaged: %v", err, want)
			}
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	damaged(true)
	s, _ = opened(t, fs, nil)
	damaged(true)
	s, _ = opened(t, fs, func(o *Options) { o.RebuildTerms, o.ReadOnly = true, true })
	damaged(true)
	s, _ = opened(t, fs, func(o *Options) { o.RebuildTerms = true })
	checked(t, s)
	damaged(false)
	s, _ = opened(t, fs, nil)
	checked(t, s)
	damaged(false)
}

// TestPowerCutWhilePostingsAreMade cuts the power before every operation of an
// opening that makes all postings anew, and opens with either analyzer.
func TestPowerCutWhilePostingsAreMade(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s, _ := opened(t, mem, nil)
	for i := range 5 {
		insert(t, s, oneChunk(fmt.Sprint("doc ", i), fmt.Sprint("Name ", i%3)))
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
	o.Terms = words{"words-2"}
	s, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(points) < 10 {
		t.Fatalf("only %d power cuts", len(points))
	}
	for i, fs := range points {
		for _, name := range []string{"words-1", "words-2"} {
			o, _ := testOptions(fs.CrashClone(vfs.CrashCloneCfg{}))
			o.Terms = words{name}
			s, err := Open("store", o)
			if err != nil {
				t.Fatalf("cut %d, %s: %v", i, name, err)
			}
			checked(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
