package engine

import (
	"errors"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// Whatever a store holds, the estimate counts exactly the calls that Insert
// then makes.
func TestAnEstimateCountsTheCallsThatAreMade(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	db := opened(t, "store", o)
	insert := func(what string, docs ...Document) {
		t.Helper()
		e, err := NewEstimator(o, db)
		if err != nil {
			t.Fatal(err)
		}
		var sum Estimate
		want := make([]DocumentStatus, len(docs))
		for i := range docs {
			x, err := e.Document(t.Context(), &docs[i])
			if err != nil {
				t.Fatal(err)
			}
			want[i] = x.Status
			sum.Calls += x.Calls
			sum.PromptTokens += x.PromptTokens
			if x.Calls == 0 && x.PromptTokens+x.CompletionTokens > 0 || x.Calls > 0 && x.PromptTokens < 100 {
				t.Errorf("%s: %+v", what, x)
			}
		}
		calls := m.count(llm.TaskExtract) + m.count(llm.TaskGlean)
		rep, err := db.Insert(t.Context(), docs...)
		if err != nil {
			t.Fatal(err)
		}
		if n := m.count(llm.TaskExtract) + m.count(llm.TaskGlean) - calls; n != sum.Calls {
			t.Errorf("%s: %d calls, estimated %d", what, n, sum.Calls)
		}
		for i := range docs {
			got := rep.Documents[i].Status
			if got == StatusProcessed {
				got = StatusPending
			}
			if got != want[i] {
				t.Errorf("%s: %q is %s, estimated %s", what, docs[i].ID, got, want[i])
			}
		}
	}
	a := chunksOf("a", "@e|A|t|One.", "@e|B|t|Two.", " ")
	insert("new", a, Document{ID: "b", Text: "@e|C|t|Three."})
	insert("again", a)
	insert("duplicates", Document{ID: "c", Text: "@e|C|t|Three."}, Document{ID: "d", Text: "@e|D|t|Four."}, Document{ID: "e", Text: "@e|D|t|Four."})
	next := chunksOf("a", "@e|A|t|One.", "@e|E|t|Five.")
	insert("conflict", next)
	next.Replace = true
	insert("replaced", next)
	insert("cached chunk", chunksOf("f", "@e|B|t|Two.", "@e|F|t|Six."))
	if err := db.ClearCache(); err != nil {
		t.Fatal(err)
	}
	insert("cleared", chunksOf("g", "@e|B|t|Two.", "@e|A|t|One."))
	back := chunksOf("a", "@e|E|t|Five.", "@e|H|t|Eight.")
	back.Replace = true
	insert("replaced, cleared", back)
	o.MaxExtractTokens = 50 // no gleaning call fits
	e, err := NewEstimator(o, db)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := e.Document(t.Context(), &Document{ID: "z", Text: "@e|Z|t|New."}); err != nil || x.Calls != 1 {
		t.Errorf("%+v %v", x, err)
	}
	if _, err := e.Document(t.Context(), &Document{ID: "blank"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("blank: %v", err)
	}
	if _, err := e.Document(t.Context(), &Document{ID: "z", Text: "other"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("an id twice: %v", err)
	}
}

func TestEstimateWithoutAStore(t *testing.T) {
	e, err := NewEstimator(testOptions(&fakeModel{}), nil)
	if err != nil || e.Tokenizer() != "chars4" {
		t.Fatal(err)
	}
	d := chunksOf("a", "@e|A|t|One.", "@e|A|t|One.")
	x, err := e.Document(t.Context(), &d)
	if err != nil || x.Calls != 2 || x.CachedCalls != 2 || x.Chunks != 2 || x.Tokens != 6 || x.Status != StatusPending {
		t.Errorf("%+v %v", x, err)
	}
	d.ID = "b"
	if x, err := e.Document(t.Context(), &d); err != nil || x.Status != StatusDuplicate || x.Original != "a" || x.Calls != 0 {
		t.Errorf("%+v %v", x, err)
	}
}
