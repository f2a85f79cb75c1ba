package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/lightctl/lightrag/llm"
)

// Every part of a request that can change the answer changes the key; how the
// parts are divided does too.
func TestEveryPartOfARequestChangesItsKey(t *testing.T) {
	base := llm.Request{Task: llm.TaskAnswer, Messages: []llm.Message{{Role: "system", Content: "abc"}, {Role: "user", Content: "x"}}}
	keys := map[answerKey]string{requestKey("m", &base): "base"}
	add := func(name, model string, edit func(*llm.Request)) {
		t.Helper()
		r := base
		r.Messages = slices.Clone(base.Messages)
		edit(&r)
		k := requestKey(model, &r)
		if other, dup := keys[k]; dup {
			t.Errorf("%s has the key of %s", name, other)
		}
		keys[k] = name
	}
	add("model", "m2", func(*llm.Request) {})
	add("task", "m", func(r *llm.Request) { r.Task = llm.TaskChat })
	add("JSON", "m", func(r *llm.Request) { r.JSON = true })
	add("length", "m", func(r *llm.Request) { r.MaxTokens = 10 })
	add("other length", "m", func(r *llm.Request) { r.MaxTokens = 11 })
	add("system prompt", "m", func(r *llm.Request) { r.Messages[0].Content = "abd" })
	add("question", "m", func(r *llm.Request) { r.Messages[1].Content = "y" })
	add("role", "m", func(r *llm.Request) { r.Messages[1].Role = "assistant" })
	add("history", "m", func(r *llm.Request) {
		r.Messages = slices.Insert(r.Messages, 1, llm.Message{Role: "user", Content: "h"})
	})
	add("divided elsewhere", "m", func(r *llm.Request) { r.Messages[0].Content, r.Messages[1].Role = "ab", "cuser" })
	add("one message", "m", func(r *llm.Request) { r.Messages = []llm.Message{{Role: "system", Content: "abcuserx"}} })
}

// A cached answer is one to the very prompt: whatever changes the context
// changes the key, a later commit too.
func TestACachedAnswerIsNeverStale(t *testing.T) {
	b := &byLength{}
	db, m := planets(t, func(o *Options) { o.Reranker = b })
	q := Query{Text: "mars", LowLevel: []string{"mars"}, HighLevel: []string{"light"}, CosineThreshold: -1, Rerank: RerankOff}
	asked(t, db, q)
	ask := func(name string, want bool, edit func(*Query)) {
		t.Helper()
		other := q
		if edit != nil {
			edit(&other)
		}
		before := m.count(llm.TaskAnswer)
		r := asked(t, db, other)
		if r.Cached != want || (m.count(llm.TaskAnswer) == before) != want {
			t.Errorf("%s: cached %v", name, r.Cached)
		}
	}
	ask("the same", true, nil)
	ask("entity budget", false, func(q *Query) { q.MaxEntityTokens = 30 })
	ask("relation budget", false, func(q *Query) { q.MaxRelationTokens = 30 })
	ask("total budget", false, func(q *Query) { q.MaxTotalTokens = 600 })
	ask("chunk budget", false, func(q *Query) { q.MaxChunkTokens = 60 })
	ask("top k", false, func(q *Query) { q.TopK = 1 })
	ask("chunk top k", false, func(q *Query) { q.ChunkTopK = 2 })
	ask("threshold", false, func(q *Query) { q.CosineThreshold = 0.5 })
	ask("documents", false, func(q *Query) { q.Documents = []string{"mars"} })
	ask("types", false, func(q *Query) { q.EntityTypes = []string{"planet"} })
	ask("mode", false, func(q *Query) { q.Mode = Local })
	ask("keywords", false, func(q *Query) { q.LowLevel = []string{"venus"}; q.CosineThreshold = 0.2 })
	ask("rerank", false, func(q *Query) { q.Rerank = RerankAuto })
	ask("no references", false, func(q *Query) { q.NoReferences = true })
	ask("a NFD question", true, func(q *Query) { q.Text = norm.NFD.String(q.Text) })
	ask("the same still", true, nil)
	inserted(t, db, doc("new", "@e|Mars|planet|Mars has been seen anew."))
	ask("after an insert", false, nil)
	ask("after an insert, again", true, nil)
	if _, err := db.DeleteDocuments(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	before := asked(t, db, q)
	if !before.Cached || strings.Contains(before.Context, "anew") { // the context is the first one again
		t.Errorf("after the delete: cached %v", before.Cached)
	}
	db.opts.Completer = &fakeModel{name: "another"}
	if r := asked(t, db, q); r.Cached {
		t.Error("another model: cached")
	}
}

// Questions with history neither read nor write the cache.
func TestHistoryNeverMeetsTheCache(t *testing.T) {
	db, m := planets(t, nil)
	n := 0
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		n++
		return llm.Response{Text: strings.Repeat("x", n)}, req.Task == llm.TaskAnswer, nil
	}
	with := Query{Text: "mars", LowLevel: []string{"mars"}, History: []llm.Message{{Role: llm.RoleUser, Content: "h"}}}
	without := with
	without.History = nil
	first := asked(t, db, with).Answer
	if r := asked(t, db, without); r.Cached || r.Answer == first {
		t.Errorf("without history: %q, cached %v", r.Answer, r.Cached)
	}
	if r := asked(t, db, with); r.Cached || r.Answer == first {
		t.Errorf("with history again: %q, cached %v", r.Answer, r.Cached)
	}
}

func TestAQuestionMakesAtMostTwoCalls(t *testing.T) {
	for _, mode := range []Mode{Naive, Local, Global, Hybrid, Mix, Bypass} {
		db, m := planets(t, nil)
		before := len(m.calls)
		r := asked(t, db, Query{Text: "mars", Mode: mode})
		want := 2
		if mode == Naive || mode == Bypass {
			want = 1
		}
		if n := len(m.calls) - before; n != want && r.Found || n > want {
			t.Errorf("%s: %d calls", mode, n)
		}
		if n := len(m.calls) - before; r.Usage != (llm.Usage{Calls: n, PromptTokens: 10 * n, CompletionTokens: 5 * n}) {
			t.Errorf("%s: usage %+v of %d calls", mode, r.Usage, n)
		}
	}
}

func TestATruncatedAnswerIsFlagged(t *testing.T) {
	db, m := planets(t, nil)
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		return llm.Response{Text: "half", Truncated: true}, req.Task == llm.TaskAnswer, nil
	}
	if r := asked(t, db, Query{Text: "mars"}); !r.Truncated {
		t.Error("not flagged")
	}
}

// A stream that breaks off keeps what came, also when the caller leaves.
func TestABrokenStreamKeepsWhatCame(t *testing.T) {
	db, m := planets(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller left")
	for _, tt := range []struct {
		name string
		end  func() error
		want error
	}{
		{"cut", func() error { return llm.ErrStreamCut }, llm.ErrStreamCut},
		{"cancelled", func() error { cancel(why); return context.Cause(ctx) }, why},
	} {
		m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
			if req.Task != llm.TaskAnswer {
				return llm.Response{}, false, nil
			}
			if err := req.Stream("half "); err != nil {
				return llm.Response{}, true, err
			}
			return llm.Response{Text: "half ", Usage: llm.Usage{Calls: 1, PromptTokens: 7}}, true, tt.end()
		}
		var types []EventType
		text := ""
		r, err := db.Query(ctx, Query{Text: "mars", LowLevel: []string{"mars"}, NoCache: true, Stream: func(e Event) error {
			types, text = append(types, e.Type), text+e.Text
			return nil
		}})
		if !errors.Is(err, tt.want) || r == nil || r.Answer != "half" || text != "half " || r.Usage.PromptTokens != 7 {
			t.Errorf("%s: %v, %+v, streamed %q", tt.name, err, r, text)
		}
		if !slices.Equal(types, []EventType{EventReferences, EventText}) {
			t.Errorf("%s: events %v", tt.name, types)
		}
	}
}

// Names, keywords and types are the same in whatever Unicode form they come.
func TestComposedAndDecomposedNamesMeet(t *testing.T) {
	const name, typ = "Zo\u00eb Caf\u00e9", "g\u00e9nie"
	other := norm.NFD.String
	if other(name) == name {
		t.Fatal("the name has one form")
	}
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("a", "@e|"+name+"|"+typ+"|One."), doc("b", "@e|"+other(name)+"|"+other(typ)+"|Two.", "@r|"+other(name)+"|Paris|k|x"))
	v := db.View()
	defer v.Close()
	for _, n := range []string{name, other(name)} {
		e, err := v.Entity(n)
		if err != nil || len(e.Fragments) != 2 || e.Name != name {
			t.Errorf("%+q: %v %+v", n, err, e)
		}
		if r, err := v.Relation("Paris", n); err != nil || r.Tgt != name {
			t.Errorf("%+q: %v %+v", n, err, r)
		}
		q := Query{Text: n, Mode: Local, LowLevel: []string{n}}
		r := retrieved(t, db, q)
		if r.LowLevel[0] != name || r.Query != name || len(r.Entities) == 0 || r.Entities[0].Name != name {
			t.Errorf("%+q: %+v", n, r)
		}
		q.CosineThreshold, q.EntityTypes = -1, []string{map[bool]string{true: typ, false: other(typ)}[n == name]}
		if r := retrieved(t, db, q); len(r.Entities) != 1 {
			t.Errorf("types %+q: %v", q.EntityTypes, names(r))
		}
	}
}

func TestTheAnswerCitesNothingWhereNothingIsWanted(t *testing.T) {
	db, m := planets(t, nil)
	for _, no := range []bool{false, true} {
		r := asked(t, db, Query{Text: "mars", LowLevel: []string{"mars"}, NoReferences: no})
		system := m.calls[len(m.calls)-1].Messages[0].Content
		if strings.Contains(system, "### References") == no || strings.Contains(system, "{{") || len(r.References) == 0 {
			t.Errorf("no references %v: %s", no, system)
		}
	}
}
