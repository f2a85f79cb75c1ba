package graphstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
)

// script is a short life of a store. step is told before each write what the
// documents will be after it, and after it that it was acknowledged.
func script(s *Store, before func(after map[DocID]*testDoc), acked func()) error {
	ctx := context.Background()
	live := make(map[DocID]*testDoc)
	waiting := make(map[DocID]*testDoc)
	step := func(after map[DocID]*testDoc, do func() error) error {
		before(maps.Clone(after))
		if err := do(); err != nil {
			return err
		}
		live = after
		acked()
		return nil
	}
	for i := range 6 {
		d := &testDoc{id: fmt.Sprint("doc ", i), chunks: []testChunk{{
			entities:  []EntityFragment{e(0, "Hub", "t", fmt.Sprint("hub of ", i)), e(1, fmt.Sprint("E", i%4), "u", "text")},
			relations: []RelationFragment{r(2, "Hub", fmt.Sprint("E", i%3), fmt.Sprint("rel ", i), 1_000_000, "k")},
		}}}
		var doc DocID
		if err := step(maps.Clone(live), func() error {
			res, err := s.Register(ctx, []NewDocument{d.newDocument()})
			if err == nil {
				doc = res[0].Doc
				waiting[doc] = d
			}
			return err
		}); err != nil {
			return err
		}
		after := maps.Clone(live)
		after[doc] = d
		if err := step(after, func() error {
			p, err := prepared(s, d, doc)
			if err != nil {
				return err
			}
			_, err = s.Commit(ctx, p)
			return err
		}); err != nil {
			return err
		}
		if i == 3 {
			if err := step(maps.Clone(live), s.sealVectors); err != nil {
				return err
			}
		}
		if i%2 == 1 {
			after := maps.Clone(live)
			delete(after, doc-1)
			if err := step(after, func() error {
				_, err := s.Delete(ctx, []DocID{doc - 1}, DeleteOptions{})
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncTap calls fn after every sync of a file or directory.
type syncTap struct{ fn func() }

func (syncTap) String() string { return "tap" }

func (x syncTap) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo {
		x.fn()
	}
	return nil
}

// TestACrashLeavesWhatWasAcknowledged cuts the power before every sync of a
// script, and after every acknowledgement. What is there afterwards is the last acknowledged state, or that
// with the change that was under way.
func TestACrashLeavesWhatWasAcknowledged(t *testing.T) {
	type crash struct {
		fs           vfs.FS
		acked, after map[DocID]*testDoc
	}
	mem := vfs.NewCrashableMem()
	var crashes []crash
	var acked, after atomic.Pointer[map[DocID]*testDoc]
	empty := map[DocID]*testDoc{}
	acked.Store(&empty)
	after.Store(&empty)
	var armed atomic.Bool
	rng := rand.New(rand.NewPCG(1, 2))
	lock := make(chan struct{}, 1)
	cut := func() {
		if !armed.Load() {
			return
		}
		lock <- struct{}{}
		defer func() { <-lock }()
		clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[rng.IntN(3)], RNG: rng})
		crashes = append(crashes, crash{clone, *acked.Load(), *after.Load()})
	}
	o, _ := testOptions(errorfs.Wrap(mem, syncTap{cut}))
	armed.Store(true)
	s, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := script(s, func(next map[DocID]*testDoc) { after.Store(&next) }, func() { acked.Store(after.Load()); cut() }); err != nil {
		t.Fatal(err)
	}
	armed.Store(false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(crashes) < 20 {
		t.Fatalf("only %d crashes", len(crashes))
	}
	inFlight := 0
	for i, c := range crashes {
		o, _ := testOptions(c.fs)
		s, err := Open("store", o)
		if err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		checked(t, s)
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		have := fmt.Sprint(sight(observe(t, v)))
		v.Close()
		max := DefaultMaxSources
		switch have {
		case fmt.Sprint(sight((&oracle{max: max, docs: c.acked}).expect())):
		case fmt.Sprint(sight((&oracle{max: max, docs: c.after}).expect())):
			inFlight++
		default:
			t.Fatalf("crash %d: neither what was acknowledged nor what was under way:\n%s", i, have)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if t.Logf("%d crashes, %d with the change under way", len(crashes), inFlight); inFlight == 0 {
		t.Error("no crash left the change that was under way")
	}
}

// sight makes what is seen comparable.
func sight(m map[string]*seen) map[string]seen {
	out := make(map[string]seen)
	for k, v := range m {
		out[k] = *v
	}
	return out
}

// failing makes writes of matching files fail once it is set.
type failing struct {
	on   atomic.Bool
	part string
	err  error
}

func (f *failing) String() string { return "failing " + f.part }

func (f *failing) MaybeError(op errorfs.Op) error {
	if !f.on.Load() || op.Kind.ReadOrWrite() != errorfs.OpIsWrite || !strings.HasSuffix(op.Path, f.part) {
		return nil
	}
	return f.err
}

func TestAWriteErrorFailsTheStoreAndReadersGoOn(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		f := &failing{part: ".log", err: cause}
		mem := vfs.NewCrashableMem()
		o, _ := testOptions(errorfs.Wrap(mem, f))
		s, err := Open("store", o)
		if err != nil {
			t.Fatal(err)
		}
		insert(t, s, oneChunk("a", "Alice"))
		d := oneChunk("b", "Bob")
		doc := register(t, s, d)
		p, err := prepared(s, d, doc)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		f.on.Store(true)
		if _, err = s.Commit(context.Background(), p); !errors.Is(err, ErrFailed) || !errors.Is(err, cause) {
			t.Errorf("commit: %v", err)
		}
		if errors.Is(err, ErrDiskFull) != (cause == syscall.ENOSPC) {
			t.Errorf("disk full: %v", err)
		}
		f.on.Store(false)
		if _, err := s.Delete(context.Background(), []DocID{1}, DeleteOptions{}); !errors.Is(err, ErrFailed) {
			t.Errorf("delete after it: %v", err)
		}
		if err := s.PutAnswer([32]byte{}, format.Answer{}); !errors.Is(err, ErrFailed) {
			t.Errorf("answer after it: %v", err)
		}
		if !errors.Is(s.Health(), ErrFailed) {
			t.Error(s.Health())
		}
		w, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []*View{v, w} {
			if _, ok, err := v.FindEntity("Alice"); !ok || err != nil {
				t.Errorf("Alice: %v %v", ok, err)
			}
			if _, ok, err := v.FindEntity("Bob"); ok || err != nil {
				t.Errorf("Bob: %v %v", ok, err)
			}
			v.Close()
		}
		if err := s.Close(); !errors.Is(err, ErrFailed) {
			t.Errorf("close: %v", err)
		}
		o, _ = testOptions(mem)
		if s, err = Open("store", o); err != nil {
			t.Fatal(err)
		}
		checked(t, s)
		if n := s.Stats().Documents; n != 2 {
			t.Errorf("%d documents", n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOneOpenAtATime(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	o, _ := testOptions(fs)
	if _, err := Open("store", o); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := s.View(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := s.Register(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	opened(t, fs, nil)
}

func TestOpeningWithOtherProperties(t *testing.T) {
	fs := vfs.NewMem()
	o, _ := testOptions(fs)
	o.MustExist = true
	if _, err := Open("store", o); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	s, _ := opened(t, fs, nil)
	insert(t, s, oneChunk("a", "Alice"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o, _ = testOptions(fs)
	o.Identity.Dim = 5
	var m *MismatchError
	if _, err := Open("store", o); !errors.As(err, &m) || m.Field != "dimension" || m.Have != "4" || m.Want != "5" {
		t.Error(err)
	}
	o.Identity = format.Identity{}
	o.ReadOnly = true
	ro, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	if id := ro.Identity(); id.Dim != testDim || id.Embedder != "test" {
		t.Errorf("%+v", id)
	}
	checked(t, ro)
	if _, err := ro.Register(context.Background(), []NewDocument{oneChunk("b", "B").newDocument()}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if _, err := ro.Delete(context.Background(), []DocID{1}, DeleteOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if err := ro.Close(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Options{{MaxSources: -2}, {CacheBytes: -1}, {Summary: SummaryPolicy{Fragments: 1}}} {
		bad.FS = fs
		if _, err := Open("store", bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestABackupIsAStore(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, oneChunk("a", "Alice"))
	if err := s.sealVectors(); err != nil {
		t.Fatal(err)
	}
	insert(t, s, oneChunk("b", "Bob"))
	if err := s.Backup(context.Background(), "copy"); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(context.Background(), "copy"); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	insert(t, s, oneChunk("c", "Carol"))
	o, sink := testOptions(fs)
	c, err := Open("copy", o)
	if err != nil {
		t.Fatal(err)
	}
	checked(t, c)
	vectorsMatch(t, c, sink)
	if n := c.Stats().Entities; n != 2 {
		t.Errorf("%d entities", n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
