package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func TestPromptsOfTheUserAreAsked(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	o.SummaryFragments = 2
	o.Prompts = llm.Prompts{
		ExtractSystem: "MY RULES {{FORMAT}} {{TYPES}} {{LANGUAGE}}", ExtractUser: "MY PASSAGE {{FENCE}}\n{{TEXT}}\n{{FENCE}}", GleanUser: "MY MORE",
		KeywordsUser: "MY high_level_keywords low_level_keywords {{TEXT}} {{FENCE}}", SummaryUser: "MY JOIN {{TEXT}} {{FENCE}} {{NAME}} {{LANGUAGE}}",
		AnswerSystem: "MY ANSWER {{TEXT}} {{FENCE}} {{RESPONSE_TYPE}} {{USER_PROMPT}}",
	}
	o.EntityTypes, o.Language, o.Examples, o.JSONExtraction = []string{"Ship"}, "Welsh", "MY EXAMPLES", true
	o.ChunkPolicy = KeepRest
	db := opened(t, "store", o)
	inserted(t, db, doc("a", "@e|Alpha|t|One."), doc("b", "@e|Alpha|t|Two."))
	if _, err := db.Query(t.Context(), Query{Text: "alpha"}); err != nil {
		t.Fatal(err)
	}
	want := map[llm.Task][]string{
		llm.TaskExtract: {"MY RULES", "MY PASSAGE", "MY EXAMPLES", "Ship", "Welsh", `"relationships"`},
		llm.TaskGlean:   {"MY RULES", "MY PASSAGE", "MY MORE", "MY EXAMPLES"}, llm.TaskSummary: {"MY JOIN", "Welsh"},
		llm.TaskKeywords: {"MY high_level"}, llm.TaskAnswer: {"MY ANSWER"},
	}
	for i := range m.calls {
		req := &m.calls[i]
		all := ""
		for _, x := range req.Messages {
			all += x.Content + "\n"
		}
		for _, w := range want[req.Task] {
			if !strings.Contains(all, w) {
				t.Errorf("%s lacks %q:\n%s", req.Task, w, all)
			}
		}
		if extraction := req.Task == llm.TaskExtract || req.Task == llm.TaskGlean; extraction && !req.JSON {
			t.Errorf("%s: JSON %v", req.Task, req.JSON)
		}
	}
	for task := range want {
		if m.count(task) == 0 {
			t.Errorf("no %s was asked for", task)
		}
	}
}

func TestUnusablePromptsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"placeholder": func(o *Options) { o.Prompts.SummaryUser = "{{TEXT}} {{FENCE}} {{NAMES}}" },
		"language":    func(o *Options) { o.Language, o.Prompts.ExtractSystem = "Welsh", "{{FORMAT}} {{TYPES}}" },
		"types":       func(o *Options) { o.EntityTypes, o.Prompts.ExtractSystem = []string{"x"}, "{{FORMAT}} {{LANGUAGE}}" },
	} {
		o := testOptions(&fakeModel{})
		change(&o)
		if db, err := Open("store", o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				_ = db.Close()
			}
		}
	}
}

// Everything that changes an answer changes its key.
func TestCacheKeysHoldWhatChangesTheAnswer(t *testing.T) {
	base := testOptions(&fakeModel{})
	key := func(o Options) answerKey {
		req := llm.Request{Task: llm.TaskExtract, JSON: o.JSONExtraction, Messages: o.Prompts.Extract("text", o.extraction())}
		return requestKey(o.Completer.Model(), &req)
	}
	seen := map[answerKey]string{key(base): "the default"}
	for name, change := range map[string]func(*Options){
		"model":        func(o *Options) { o.Completer = &fakeModel{name: "other"} },
		"types":        func(o *Options) { o.EntityTypes = []string{"a"} },
		"joined types": func(o *Options) { o.EntityTypes = []string{"a", "b"} },
		"language":     func(o *Options) { o.Language = "Welsh" },
		"json":         func(o *Options) { o.JSONExtraction = true },
		"examples":     func(o *Options) { o.Examples = "x" },
		"system":       func(o *Options) { o.Prompts.ExtractSystem = "{{FORMAT}}" },
		"rows":         func(o *Options) { o.Prompts.ExtractFormatRows = "other rows" },
		"user":         func(o *Options) { o.Prompts.ExtractUser = "{{TEXT}}" },
	} {
		o := base
		change(&o)
		k := key(o)
		if was, twice := seen[k]; twice {
			t.Errorf("%s has the key of %s", name, was)
		}
		seen[k] = name
	}
	a := llm.Request{Task: llm.TaskChat, Messages: []llm.Message{{Role: "abc", Content: "x"}}}
	b := llm.Request{Task: llm.TaskChat, Messages: []llm.Message{{Role: "ab", Content: "cx"}}}
	if requestKey("m", &a) == requestKey("m", &b) {
		t.Error("parts run into one another")
	}
}
