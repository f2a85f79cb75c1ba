package graphstore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
)

func oneChunk(id, name string) *testDoc {
	return &testDoc{id: id, chunks: []testChunk{{entities: []EntityFragment{e(0, name, "t", "about "+name)}}}}
}

func TestRegisterStatuses(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	ctx := context.Background()
	step := func(id, text string, replace bool, want RegisterStatus) RegisterResult {
		t.Helper()
		d := oneChunk(id, text).newDocument()
		d.Hash, d.Replace = [32]byte{text[0]}, replace
		res, err := s.Register(ctx, []NewDocument{d})
		if err != nil {
			t.Fatal(err)
		}
		if res[0].Status != want {
			t.Fatalf("%s with text %s: %s, want %s", id, text, res[0].Status, want)
		}
		checked(t, s)
		return res[0]
	}
	a := step("a", "1", false, Registered)
	step("a", "1", false, Resumed)
	if dup := step("b", "1", false, Duplicate); dup.Original != "a" {
		t.Errorf("original %q", dup.Original)
	}
	if err := s.SetStatus(ctx, a.Doc, Attempt{Status: format.StatusFailed, Cause: "no reason", Failed: 2, Usage: Usage{Calls: 3, PromptTokens: 20}}); err != nil {
		t.Fatal(err)
	}
	step("a", "1", false, Resumed)
	commit(t, s, oneChunk("a", "1"), a.Doc)
	step("a", "1", true, Unchanged)
	step("a", "2", false, Conflict)
	b := step("a", "2", true, Registered)
	step("a", "2", false, Resumed) // the replacement is known
	c := step("a", "3", true, Registered)
	if b.Doc == c.Doc {
		t.Error("one id for two texts")
	}
	step("b", "2", false, Registered) // nobody holds that text any more
	step("a", "1", false, Unchanged)  // back to the text it has
	d := step("a", "3", true, Registered)
	commit(t, s, oneChunk("a", "3"), d.Doc)
	checked(t, s)
	step("a", "3", false, Unchanged)
	step("c", "1", false, Registered)
	if err := s.SetStatus(ctx, 999, Attempt{Status: format.StatusFailed}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	doc, row, ok, err := v.FindDocument("a")
	if err != nil || !ok || doc != d.Doc || row.Status != format.StatusProcessed || row.Generation != 1 {
		t.Errorf("document %d %+v %v %v", doc, row, ok, err)
	}
	if n, err := s.Pending(v); err != nil || len(n) != 2 {
		t.Errorf("pending %v, %v", n, err)
	}
}

func TestDeletingAReplacedDocumentLeavesItsSuccessor(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	ctx := context.Background()
	old := insert(t, s, oneChunk("a", "Old"))
	next := oneChunk("a", "New")
	next.replace = true
	doc := register(t, s, next)
	if _, err := s.Delete(ctx, []DocID{old}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	commit(t, s, next, doc)
	checked(t, s)
	last := oneChunk("a", "Last")
	last.replace = true
	pending := register(t, s, last)
	info, err := s.Delete(ctx, []DocID{doc, pending, 77, doc}, DeleteOptions{})
	if err != nil || len(info.Deleted) != 2 || len(info.Unknown) != 1 || info.Entities != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	checked(t, s)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, _, ok, err := v.FindDocument("a"); ok || err != nil || v.Counts() != (Counts{}) {
		t.Errorf("%v %v, counts %+v", ok, err, v.Counts())
	}
}

func TestRegisterRefusesTheWholeCall(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	good := oneChunk("good", "x").newDocument()
	for name, bad := range map[string]NewDocument{
		"blank":       {ID: " \t"},
		"NUL":         {ID: "a\x00b"},
		"bad UTF-8":   {ID: "a\xff"},
		"path":        {ID: "a", Path: "\xff"},
		"same orders": {ID: "a", Chunks: []NewChunk{{Order: 1}, {Order: 1}}},
		"same id":     {ID: "good"},
	} {
		if _, err := s.Register(context.Background(), []NewDocument{good, bad}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.Stats().Documents; n != 0 {
		t.Errorf("%d documents were stored", n)
	}
}

func TestCommitAgainChangesNothing(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	d := &testDoc{id: "d", chunks: []testChunk{{
		entities:  []EntityFragment{e(0, "A", "t", "one"), e(1, "A", "t", "two")},
		relations: []RelationFragment{r(2, "A", "B", "rel", 1_000_000, "k")},
	}}}
	doc := insert(t, s, d)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	before := observe(t, v)
	v.Close()
	commit(t, s, d, doc)
	checked(t, s)
	v, err = s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	same(t, observe(t, v), before)
	row, err := v.Document(doc)
	if err != nil || row.Generation != 2 {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestAnswersAndMeta(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	key := [32]byte{1}
	if _, ok, err := s.Answer(key); ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := s.PutAnswer(key, format.Answer{Text: "yes", Created: 7}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutAnswer([32]byte{2}, format.Answer{Text: "no"}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetMeta("counters", []byte("mine")); err != nil { // not the store's own row
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, fs, nil)
	if a, ok, err := s.Answer(key); !ok || err != nil || a.Text != "yes" || a.Created != 7 {
		t.Errorf("%+v %v %v", a, ok, err)
	}
	if b, ok, err := s.Meta("counters"); !ok || err != nil || string(b) != "mine" {
		t.Errorf("%q %v %v", b, ok, err)
	}
	if st, err := s.AnswerStats(); err != nil || st.Answers != 2 || st.Bytes < 5 {
		t.Errorf("%+v %v", st, err)
	}
	d := oneChunk("d", "A")
	doc := register(t, s, d)
	p, err := prepared(s, d, doc)
	if err != nil {
		t.Fatal(err)
	}
	p.plan.chunks[0].row.CacheKeys = [][32]byte{key}
	if _, err := s.Commit(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Delete(context.Background(), []DocID{doc}, DeleteOptions{Answers: true}); err != nil || info.Answers != 1 {
		t.Errorf("%+v %v", info, err)
	}
	if _, ok, _ := s.Answer(key); ok {
		t.Error("the answer is still there")
	}
	if err := s.ClearAnswers(); err != nil {
		t.Fatal(err)
	}
	if st, err := s.AnswerStats(); err != nil || st.Answers != 0 {
		t.Errorf("%+v %v", st, err)
	}
}

// gate holds back the syncs of the log while it is shut.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil = open
}

func (*gate) String() string { return "gate" }

func (g *gate) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		g.mu.Lock()
		shut := g.shut
		g.mu.Unlock()
		if shut != nil && strings.HasSuffix(op.Path, ".log") {
			<-shut
		}
	}
	return nil
}

// TestRegisteringAgainWaitsForTheFirst has a document registered twice before
// the first time is durable: until then the second has nothing to report.
func TestRegisteringAgainWaitsForTheFirst(t *testing.T) {
	g := &gate{}
	s, _ := opened(t, errorfs.Wrap(vfs.NewMem(), g), nil)
	d := &testDoc{id: "d", chunks: []testChunk{{}}}
	shut := make(chan struct{})
	g.mu.Lock()
	g.shut = shut
	g.mu.Unlock()
	seen := make(chan error, 2)
	for range cap(seen) {
		go func() {
			res, err := s.Register(context.Background(), []NewDocument{d.newDocument()})
			if err == nil {
				var v *View
				if v, err = s.View(); err == nil {
					_, err = v.Document(res[0].Doc)
					v.Close()
				}
			}
			seen <- err
		}()
	}
	select {
	case err := <-seen:
		t.Errorf("it did not wait: %v", err)
		seen <- err
	case <-time.After(50 * time.Millisecond):
	}
	close(shut)
	g.mu.Lock()
	g.shut = nil
	g.mu.Unlock()
	for range cap(seen) {
		if err := <-seen; err != nil {
			t.Error(err)
		}
	}
}
