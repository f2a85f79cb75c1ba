package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/llmtest"
)

// sized is a model server with a context window, which it counts in its own
// tokens of so many characters.
type sized struct {
	window, perToken int
	say              func(window, prompt int) string // nil: as OpenAI does
	seen             []int                           // prompt tokens of answers asked for
}

func (s *sized) chat(r llmtest.ChatRequest) llmtest.ChatReply {
	if len(r.Messages) < 2 { // keywords
		return llmtest.ChatReply{Text: `{"high_level_keywords":["themes"],"low_level_keywords":["mars"]}`}
	}
	n := 0
	for _, m := range r.Messages {
		n += len(m.Content)/s.perToken + 4
	}
	s.seen = append(s.seen, n)
	if n <= s.window {
		return llmtest.ChatReply{Text: "fine", Usage: &llmtest.Usage{Prompt: n, Completion: 2}}
	}
	say := s.say
	if say == nil {
		say = func(window, prompt int) string {
			return fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", window, prompt)
		}
	}
	return llmtest.ChatReply{Status: 400, Body: fmt.Sprintf(`{"error":{"message":%q,"code":"context_length_exceeded"}}`, say(s.window, n))}
}

// longStore holds enough to fill the default budgets.
func longStore(t *testing.T, s *sized, edit func(*Options)) (*DB, *llmtest.Server) {
	srv := llmtest.NewServer(t, nil)
	model, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: srv.URL, Model: "m", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	o := testOptions(&splitModel{documents: &fakeModel{}, questions: model})
	if edit != nil {
		edit(&o)
	}
	db := opened(t, "store", o)
	var docs []Document
	for i := range 40 {
		d := doc(fmt.Sprint("d", i), fmt.Sprintf("@e|Mars%d|planet|mars %s", i, strings.Repeat("mars is described ", 35)),
			fmt.Sprintf("@r|Mars%d|Sun|light|%s", i, strings.Repeat("mars themes lit ", 40)))
		d.Text += strings.Repeat("A mars passage of mars goes on ", 12)
		docs = append(docs, d)
	}
	inserted(t, db, docs...)
	srv.OnChat(s.chat)
	return db, srv
}

// splitModel fills a store from one model and questions another.
type splitModel struct{ documents, questions llm.Completer }

func (s *splitModel) Model() string { return s.questions.Model() }

func (s *splitModel) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if req.Task <= llm.TaskSummary {
		return s.documents.Complete(ctx, req)
	}
	return s.questions.Complete(ctx, req)
}

func TestTheWindowIsLearntFromARefusal(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    sized
	}{
		{"as large tokens", sized{window: 8192, perToken: 4}},
		{"smaller tokens", sized{window: 8192, perToken: 2}},
		{"vLLM", sized{window: 4096, perToken: 3, say: func(w, p int) string {
			return fmt.Sprintf("The decoder prompt (length %d) is longer than the maximum model length of %d.", p, w)
		}}},
		{"llama.cpp", sized{window: 4096, perToken: 4, say: func(w, p int) string {
			return fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", p, w)
		}}},
		{"without what it counted", sized{window: 4096, perToken: 4, say: func(w, _ int) string { return fmt.Sprintf("context window of %d exceeded", w) }}},
		{"small", sized{window: 2048, perToken: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.s
			db, srv := longStore(t, &s, nil)
			var events []EventType
			q := Query{Text: "mars", Stream: func(e Event) error { events = append(events, e.Type); return nil }}
			r := asked(t, db, q)
			if r.Answer != "fine" || len(s.seen) != 2 || s.seen[0] <= s.window || s.seen[1] > s.window {
				t.Fatalf("%q after prompts of %v tokens", r.Answer, s.seen)
			}
			if s.seen[1] < s.window/3 {
				t.Errorf("a prompt of %d tokens wastes a window of %d", s.seen[1], s.window)
			}
			if n := len(srv.Chats()); n != 3 { // keywords once, the answer twice
				t.Errorf("%d calls", n)
			}
			if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], fmt.Sprint(s.window)) {
				t.Errorf("warnings %q", r.Warnings)
			}
			if len(r.Entities) == 0 || len(r.Relations) == 0 || len(r.Chunks) == 0 || len(r.References) == 0 {
				t.Errorf("%d entities, %d relations, %d chunks", len(r.Entities), len(r.Relations), len(r.Chunks))
			}
			if len(events) < 4 || events[0] != EventReferences || events[1] != EventReferences || events[2] != EventText || events[len(events)-1] != EventDone {
				t.Errorf("events %v", events)
			}
			if r.Usage.Calls != 2 || r.Usage.PromptTokens < s.seen[1] { // what was refused costs nothing
				t.Errorf("usage %+v", r.Usage)
			}
			// It is remembered, also for contexts that nobody answers from.
			r = asked(t, db, Query{Text: "mars too"})
			if r.Answer != "fine" || len(s.seen) != 3 || s.seen[2] > s.window || len(r.Warnings) != 0 {
				t.Errorf("the next question: %q, prompts %v, warnings %q", r.Answer, s.seen, r.Warnings)
			}
		})
	}
}

func TestTheConfiguredWindowSparesTheRefusal(t *testing.T) {
	s := sized{window: 6000, perToken: 4}
	db, _ := longStore(t, &s, func(o *Options) { o.ContextWindow = 6000 })
	history := []llm.Message{{Role: llm.RoleUser, Content: strings.Repeat("earlier words ", 400)}}
	for name, q := range map[string]Query{
		"plain":         {Text: "mars"},
		"history":       {Text: "mars", History: history},
		"large budgets": {Text: "mars", MaxEntityTokens: 50000, MaxRelationTokens: 50000, MaxTotalTokens: 200000, MaxChunkTokens: 90000},
		"user prompt":   {Text: "mars", UserPrompt: strings.Repeat("be brief ", 200)},
		"naive":         {Text: "mars", Mode: Naive},
		"explain":       {Text: "mars", Explain: true},
	} {
		before := len(s.seen)
		q.NoCache = true
		r := asked(t, db, q)
		if len(s.seen) != before+1 || s.seen[before] > s.window-answerReserve(s.window) || len(r.Chunks) == 0 {
			t.Errorf("%s: prompts %v, %d chunks", name, s.seen[before:], len(r.Chunks))
		}
		if q.Explain && (r.Explain.ContextWindow != 6000 || r.Explain.AnswerReserve != 1500) {
			t.Errorf("explained as %d, %d", r.Explain.ContextWindow, r.Explain.AnswerReserve)
		}
	}
	// What the caller wished is not exceeded.
	r := asked(t, db, Query{Text: "mars", MaxEntityTokens: 300, MaxRelationTokens: -1, MaxTotalTokens: 2000})
	if s.seen[len(s.seen)-1] > 2000 || len(r.Relations) != 0 {
		t.Errorf("prompt of %d tokens", s.seen[len(s.seen)-1])
	}
	history[0].Content = strings.Repeat("far too many words ", 2000)
	before := len(s.seen)
	if _, err := db.Query(t.Context(), Query{Text: "mars", History: history}); !errors.Is(err, llm.ErrContextLength) || len(s.seen) != before {
		t.Errorf("a history that fills the window: %v", err)
	}
	for _, bad := range []int{-1, 100} {
		o := testOptions(&fakeModel{})
		o.ContextWindow = bad
		if _, err := Open("other", o); !errors.Is(err, ErrInvalid) {
			t.Errorf("window %d: %v", bad, err)
		}
	}
}

func TestARefusalThatTeachesNothingIsAnError(t *testing.T) {
	for name, say := range map[string]func(w, p int) string{
		"no numbers":      func(int, int) string { return "please reduce the length of the messages" },
		"twice":           func(w, p int) string { return fmt.Sprintf("maximum context length is %d tokens", 300) },
		"larger than all": func(w, p int) string { return fmt.Sprintf("maximum context length is %d tokens", 1<<29) },
	} {
		s := sized{window: 10, perToken: 4, say: say}
		db, _ := longStore(t, &s, nil)
		_, err := db.Query(t.Context(), Query{Text: "mars"})
		if !errors.Is(err, llm.ErrContextLength) || len(s.seen) > 2 {
			t.Errorf("%s: %d prompts, %v", name, len(s.seen), err)
		}
	}
}

func TestWhatIsLearntNeverGrows(t *testing.T) {
	refusal := func(window, prompt int) error {
		return &llm.StatusError{Status: 400, Code: "context_length_exceeded",
			Message: fmt.Sprintf("maximum context length is %d tokens, resulted in %d", window, prompt)}
	}
	var w window
	for _, step := range []struct {
		window, prompt, sent int
		learnt               bool
		size                 int
		ratio                float64
	}{
		{8192, 10000, 10000, true, 8192, 1.02},
		{8192, 9000, 9000, false, 8192, 1.02},
		{8192, 9000, 6000, true, 8192, 1.53},
		{16384, 20000, 20000, false, 8192, 1.53},
		{4096, 0, 9000, true, 4096, unknownRatio},
		{4096, 5000, 10, true, 4096, 8},
	} {
		got := w.learn(refusal(step.window, step.prompt), step.sent)
		size, ratio := w.get()
		if got != step.learnt || size != step.size || cmp.Compare(ratio, step.ratio-0.001) < 0 || ratio > step.ratio+0.001 {
			t.Errorf("%+v: %v, %d, %v", step, got, size, ratio)
		}
	}
	if w.learn(errors.New("maximum context length is 64 tokens"), 1) {
		t.Error("learnt from an error of something else")
	}
}
