package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func TestWhatBecomesOfARepeatedDocument(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	first, other := doc("a", "@e|Alpha|t|One.", "@r|Alpha|Alpha2|k|They."), doc("a", "@e|Beta|t|Two.")
	done := inserted(t, db, first).Documents[0]
	before, calls := exported(t, db), len(m.calls)
	one := func(d Document) DocumentReport {
		t.Helper()
		rep, err := db.Insert(t.Context(), d)
		if err != nil || len(rep.Documents) != 1 {
			t.Fatal(err, rep)
		}
		return rep.Documents[0]
	}
	same := func(what string) {
		t.Helper()
		if exported(t, db) != before || len(m.calls) != calls {
			t.Errorf("%s: the graph changed or the model was asked", what)
		}
	}
	if d := one(first); d.Status != StatusUnchanged || d.Err != nil {
		t.Errorf("same id, same text: %+v", d)
	}
	same("unchanged")
	if again := one(first); again.Chunks != done.Chunks || again.Entities != done.Entities || again.Relations != done.Relations ||
		done.Entities != 2 || done.Relations != 1 {
		t.Errorf("unchanged: %+v, first %+v", again, done)
	}
	if d := one(other); d.Status != StatusConflict || !errors.Is(d.Err, ErrExists) {
		t.Errorf("same id, other text: %+v", d)
	}
	same("conflict")
	copied := first
	copied.ID = "b"
	if d := one(copied); d.Status != StatusDuplicate || d.Original != "a" {
		t.Errorf("other id, same text: %+v", d)
	}
	if _, _, err := db.Document("b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a duplicate was stored: %v", err)
	}
	same("duplicate")

	other.Replace = true
	if d := one(other); d.Status != StatusProcessed {
		t.Errorf("replace: %+v", d)
	}
	got := exported(t, db)
	if strings.Contains(got, "Alpha") || !strings.Contains(got, "Beta") {
		t.Errorf("after replacing:\n%s", got)
	}
	if list, _ := db.Documents(); len(list) != 1 {
		t.Errorf("%d documents", len(list))
	}
	if d := one(first); d.Status != StatusConflict {
		t.Errorf("the old text again, without Replace: %+v", d)
	}
	copied.ID = "c" // the old text is nowhere any more
	if d := one(copied); d.Status != StatusProcessed {
		t.Errorf("the old text under a new id: %+v", d)
	}
	sound(t, db)
}

func TestOneTextTwiceInOneCallIsStoredOnce(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	a := Document{ID: "a", Text: "@e|Alpha|t|One."}
	b := Document{ID: "b", Text: a.Text}
	rep, err := db.Insert(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if d := rep.Documents; d[0].Status != StatusProcessed || d[1].Status != StatusDuplicate || d[1].Original != "a" {
		t.Errorf("%+v", d)
	}
	if v := db.View(); v.Counts().Documents != 1 || v.Counts().Chunks != 1 {
		t.Errorf("%+v", v.Counts())
	} else {
		v.Close()
	}
}

// A text that is to replace another one and is not finished goes with it.
func TestDeletingTakesAPendingReplacementToo(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db, doc("a", "@e|Old|t|Old words."))
	ctx, cancel := context.WithCancel(t.Context())
	m.hook = func(context.Context, *llm.Request) (llm.Response, bool, error) {
		cancel()
		return llm.Response{}, true, ctx.Err()
	}
	next := doc("a", "@e|New|t|New words.")
	next.Replace = true
	rep, err := db.Insert(ctx, next)
	if !errors.Is(err, context.Canceled) || rep.Documents[0].Status != StatusPending {
		t.Fatalf("%v %+v", err, rep)
	}
	m.hook = nil
	if !strings.Contains(exported(t, db), "Old words") {
		t.Error("the old text went before the new one came")
	}
	del, err := db.DeleteDocuments(t.Context(), "a")
	if err != nil || len(del.Deleted) != 1 {
		t.Fatal(err, del)
	}
	if _, err := db.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := exported(t, db); got != "" {
		t.Errorf("what was deleted came back:\n%s", got)
	}
	sound(t, db)
}

func TestAReplacementThatWasInterruptedIsFinished(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db, doc("a", "@e|Old|t|Old words."), doc("b", "@e|Old|t|Words of b."))
	next := doc("a", "@e|New|t|New words.")
	next.Replace = true
	m.hook = func(context.Context, *llm.Request) (llm.Response, bool, error) {
		return llm.Response{}, true, llm.ErrUnavailable
	}
	rep, err := db.Insert(t.Context(), next)
	if err != nil || rep.Documents[0].Status != StatusFailed {
		t.Fatalf("%v %+v", err, rep)
	}
	if !strings.Contains(exported(t, db), "Old words") {
		t.Error("a failed replacement removed what it was to replace")
	}
	m.hook = nil
	if rep, err = db.Retry(t.Context(), "a"); err != nil || rep.Count(StatusProcessed) != 1 {
		t.Fatalf("%v %+v", err, rep)
	}
	fresh := opened(t, "fresh", testOptions(&fakeModel{}))
	inserted(t, fresh, doc("b", "@e|Old|t|Words of b."), doc("a", "@e|New|t|New words."))
	if got, want := exported(t, db), exported(t, fresh); got != want {
		t.Errorf("after the retry:\n%s\nwant\n%s", got, want)
	}
	if _, err := db.Retry(t.Context(), "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("retry of an unknown document: %v", err)
	}
}

func TestDeletingNothing(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("a", "@e|Alpha|t|One."))
	want := exported(t, db)
	for _, ids := range [][]string{nil, {}, {"unknown", "", "a\x00"}} {
		rep, err := db.DeleteDocuments(t.Context(), ids...)
		if err != nil || len(rep.Deleted) != 0 || len(rep.NotFound) != len(ids) {
			t.Errorf("%q: %v %+v", ids, err, rep)
		}
	}
	if exported(t, db) != want {
		t.Error("the graph changed")
	}
}

// Cancelled anywhere, a call leaves nothing half done, and the next one
// finishes it.
func TestACancelledInsertIsResumed(t *testing.T) {
	docs := corpus(4)
	fresh := opened(t, "fresh", testOptions(&fakeModel{}))
	inserted(t, fresh, docs...)
	want := exported(t, fresh)
	for _, after := range []int{0, 1, 3, 6} {
		ctx, cancel := context.WithCancel(t.Context())
		m := &fakeModel{}
		m.hook = func(context.Context, *llm.Request) (llm.Response, bool, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if len(m.calls) > after {
				cancel()
			}
			return llm.Response{}, false, nil
		}
		db := opened(t, "store", testOptions(m))
		if after == 0 {
			cancel()
		}
		rep, err := db.Insert(ctx, docs...)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d calls: %v", after, err)
		}
		v := db.View()
		for _, d := range rep.Documents {
			if d.ID == "" || d.Status == StatusFailed && after > 0 {
				t.Errorf("after %d calls: row %+v", after, d)
			}
		}
		if n := int(v.Counts().Chunks); n != rep.Count(StatusProcessed) { // one chunk each
			t.Errorf("after %d calls: %d chunks of %d documents are visible", after, n, rep.Count(StatusProcessed))
		}
		v.Close()
		sound(t, db)
		m.hook = nil
		if _, err := db.Insert(t.Context(), docs...); err != nil {
			t.Fatal(err)
		}
		if exported(t, db) != want {
			t.Errorf("after %d calls: the resumed graph differs", after)
		}
		if n := m.count(llm.TaskExtract); n > len(docs)+4 {
			t.Errorf("after %d calls: %d extractions", after, n)
		}
		cancel()
	}
}

// Two calls with the same documents share the work.
func TestConcurrentInsertsOfTheSameDocuments(t *testing.T) {
	docs := corpus(6)
	m := unsteady(3, "")
	o := testOptions(m)
	o.Concurrency = 2
	db := opened(t, "store", o)
	errs := make(chan error, 3)
	for range 3 {
		go func() {
			rep, err := db.Insert(context.Background(), docs...)
			if err == nil && rep.Count(StatusProcessed)+rep.Count(StatusUnchanged) < len(docs) {
				err = fmt.Errorf("a document is missing from the report %+v", rep.Documents)
			}
			errs <- err
		}()
	}
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := m.count(llm.TaskExtract); n != len(docs) {
		t.Errorf("%d extractions of %d chunks", n, len(docs))
	}
	fresh := opened(t, "fresh", testOptions(&fakeModel{}))
	inserted(t, fresh, docs...)
	if exported(t, db) != exported(t, fresh) {
		t.Error("the graph differs")
	}
	sound(t, db)
}
