package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// answerTask answers one task with a fixed text.
func answerTask(task llm.Task, text string) func(context.Context, *llm.Request) (llm.Response, bool, error) {
	return func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		return llm.Response{Text: text, Usage: llm.Usage{Calls: 1}}, req.Task == task, nil
	}
}

func asked(t *testing.T, db *DB, q Query) *Result {
	t.Helper()
	r, err := db.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return r
}

func TestHistoryIsForTheAnswerOnly(t *testing.T) {
	db, m := planets(t, nil)
	q := Query{Text: "mars", LowLevel: []string{"mars"}}
	plain := asked(t, db, q)
	q.History = []llm.Message{{Role: llm.RoleUser, Content: "speak of venus"}, {Role: llm.RoleAssistant, Content: "earlier"}}
	m.hook = answerTask(llm.TaskAnswer, "with history")
	r := asked(t, db, q)
	if r.Context != plain.Context {
		t.Error("history changed what was retrieved")
	}
	if r.Answer != "with history" || r.Cached {
		t.Errorf("%q, cached %v", r.Answer, r.Cached)
	}
	m.mu.Lock()
	last := m.calls[len(m.calls)-1].Messages
	m.mu.Unlock()
	if len(last) != 4 || last[1].Content != "speak of venus" || last[3].Content != "mars" {
		t.Errorf("messages %+v", last)
	}
	q.History = nil
	if r = asked(t, db, q); r.Answer != plain.Answer || !r.Cached {
		t.Errorf("without history again: %q, cached %v", r.Answer, r.Cached)
	}
}

func TestTheAnswerCacheTellsRequestsApart(t *testing.T) {
	db, m := planets(t, nil)
	q := Query{Text: "mars", LowLevel: []string{"mars"}}
	asked(t, db, q)
	for name, edit := range map[string]func(*Query){
		"question":      func(q *Query) { q.Text = "mars?" },
		"user prompt":   func(q *Query) { q.UserPrompt = "Rhyme." },
		"response type": func(q *Query) { q.ResponseType = "One line" },
		"context":       func(q *Query) { q.Mode = Naive },
		"no cache":      func(q *Query) { q.NoCache = true },
	} {
		other := q
		edit(&other)
		before := m.count(llm.TaskAnswer)
		if r := asked(t, db, other); r.Cached || m.count(llm.TaskAnswer) != before+1 {
			t.Errorf("another %s: answered from the cache", name)
		}
	}
	before := m.count(llm.TaskAnswer)
	if r := asked(t, db, q); !r.Cached || m.count(llm.TaskAnswer) != before {
		t.Error("the same question: not answered from the cache")
	}
	if requestKey("a", &llm.Request{Messages: []llm.Message{{Role: "abc", Content: "x"}}}) ==
		requestKey("a", &llm.Request{Messages: []llm.Message{{Role: "ab", Content: "cx"}}}) {
		t.Error("two requests share a key")
	}
	if requestKey("a", &llm.Request{}) == requestKey("b", &llm.Request{}) {
		t.Error("two models share a key")
	}
}

func TestATruncatedAnswerIsNotCached(t *testing.T) {
	db, m := planets(t, nil)
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		return llm.Response{Text: "half", Truncated: true}, req.Task == llm.TaskAnswer, nil
	}
	for range 2 {
		if r := asked(t, db, Query{Text: "mars", LowLevel: []string{"mars"}}); r.Answer != "half" || r.Cached {
			t.Errorf("%+v", r)
		}
	}
}

func TestStreamedEventsComeInOrder(t *testing.T) {
	db, m := planets(t, nil)
	for _, tt := range []struct {
		name   string
		q      Query
		want   []EventType
		answer string
	}{
		{"fresh", Query{Text: "mars", LowLevel: []string{"mars"}}, []EventType{EventReferences, EventText, EventDone}, "answer to mars"},
		{"cached", Query{Text: "mars", LowLevel: []string{"mars"}}, []EventType{EventReferences, EventText, EventDone}, "answer to mars"},
		{"nothing found", Query{Text: "zebra", LowLevel: []string{"zebra"}, CosineThreshold: 0.999}, []EventType{EventText, EventDone}, NoAnswer},
		{"bypass", Query{Text: "mars", Mode: Bypass}, []EventType{EventText, EventDone}, "answer to mars"},
		{"context only", Query{Text: "mars", LowLevel: []string{"mars"}, ContextOnly: true}, []EventType{EventDone}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var types []EventType
			var text strings.Builder
			tt.q.Stream = func(e Event) error {
				types = append(types, e.Type)
				text.WriteString(e.Text)
				if (e.Type == EventReferences) != (len(e.References) > 0) {
					t.Errorf("%+v", e)
				}
				return nil
			}
			r := asked(t, db, tt.q)
			if got := slices.Compact(types); !slices.Equal(got, tt.want) {
				t.Errorf("events %v, want %v", got, tt.want)
			}
			if text.String() != tt.answer || r.Answer != tt.answer {
				t.Errorf("streamed %q, answer %q", text.String(), r.Answer)
			}
		})
	}
	stop := errors.New("enough")
	for _, at := range []EventType{EventReferences, EventText, EventDone} {
		_, err := db.Query(t.Context(), Query{Text: "mars", LowLevel: []string{"mars"}, NoCache: true, Stream: func(e Event) error {
			if e.Type == at {
				return stop
			}
			return nil
		}})
		if !errors.Is(err, stop) {
			t.Errorf("stopped at %v: %v", at, err)
		}
	}
	_ = m
}

func TestContextAndPromptWithoutAnAnswer(t *testing.T) {
	db, m := planets(t, nil)
	q := Query{Text: "mars", LowLevel: []string{"mars"}, ContextOnly: true}
	r := asked(t, db, q)
	if r.Context == "" || r.Answer != "" || r.Prompt != "" {
		t.Errorf("context only: %+v", r)
	}
	q.PromptOnly = true // wins
	p := asked(t, db, q)
	if !strings.Contains(p.Prompt, r.Context) || !strings.HasSuffix(p.Prompt, "mars") || p.Answer != "" {
		t.Errorf("prompt only: %q", p.Prompt)
	}
	if r := asked(t, db, Query{Text: "mars", Mode: Bypass, PromptOnly: true}); r.Prompt != "mars" {
		t.Errorf("bypass: %+v", r)
	}
	if n := m.count(llm.TaskAnswer) + m.count(llm.TaskChat); n != 0 {
		t.Errorf("%d answers were made", n)
	}
	if r := asked(t, db, Query{Text: "mars", Mode: Bypass}); r.Answer == "" || r.Found {
		t.Errorf("bypass: %+v", r)
	}
	if m.count(llm.TaskChat) != 1 || m.count(llm.TaskKeywords) != 0 {
		t.Error("bypass did not go straight to the model")
	}
}
