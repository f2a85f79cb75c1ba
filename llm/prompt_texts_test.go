package llm

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDefaultPromptsAreValid(t *testing.T) {
	p := DefaultPrompts()
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	dir := fstest.MapFS{}
	for _, f := range p.Files() {
		dir[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
	}
	if len(dir) != int(promptTexts) {
		t.Errorf("%d files", len(dir))
	}
	got, err := LoadPrompts(dir)
	if err != nil || got != p {
		t.Errorf("written and read again: %v", err)
	}
	zero := Prompts{}
	for i, f := range zero.Files() {
		if f != p.Files()[i] {
			t.Errorf("%s of no prompts is not the default", f.Name)
		}
	}
}

func TestPromptsOfTheirOwn(t *testing.T) {
	dir := fstest.MapFS{
		"extract_user.txt":        {Data: []byte("Lies!\n{{FENCE}}\n{{TEXT}}\n{{FENCE}}\n")},
		"extract_system.txt":      {Data: []byte("Rules: {{FORMAT}} in {{LANGUAGE}}")},
		"extract_format_json.txt": {Data: []byte(`{"entities":[], "relationships":[]} as in {{"this": "one"}}`)},
		"glean_user.txt":          {Data: []byte("More? {{NOTHING}}")},
		"keywords_user.txt":       {Data: []byte("high_level_keywords, low_level_keywords of {{FENCE}}{{TEXT}}")},
		"summary_user.txt":        {Data: []byte("Join {{NAME}} {{TEXT}} {{FENCE}}")},
		"answer_system.txt":       {Data: []byte("{{TEXT}} {{FENCE}} {{RESPONSE_TYPE}} {{USER_PROMPT}}")},
		"README.md":               {Data: []byte("not a prompt")},
	}
	p, err := LoadPrompts(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Glean("text", ExtractOptions{JSON: true, Language: "Welsh"}, "first")
	for i, want := range []string{`Rules: {"entities":[], "relationships":[]} as in {{"this": "one"}} in Welsh`, "Lies!\n```\ntext\n```", "first",
		"More? If nothing is missing, both lists are empty."} {
		if m[i].Content != want {
			t.Errorf("message %d: %q, want %q", i, m[i].Content, want)
		}
	}
	if got := p.Keywords("q?", "")[0].Content; got != "high_level_keywords, low_level_keywords of ```q?" {
		t.Errorf("%q", got)
	}
	if got := p.Summary("entity", "N", []string{"a"}, 5, "")[0].Content; got != "Join N {\"Description\":\"a\"} ```" {
		t.Errorf("%q", got)
	}
	if got := p.Answer("C", AnswerOptions{UserPrompt: "U"}); got != "C ``` Multiple Paragraphs U" {
		t.Errorf("%q", got)
	}
	if !p.Has("extract_system.txt", "LANGUAGE") || p.Has("extract_system.txt", "TYPES") || !p.Has("extract_format_rows.txt", "x") == p.Has("nothing", "x") {
		t.Error("Has")
	}
}

func TestUnusablePromptsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string
		want       []string
	}{
		"missing":      {"extract_user.txt", "Read {{FENCE}}", []string{"extract_user.txt", "{{TEXT}} is missing"}},
		"unknown":      {"extract_system.txt", "{{FORMAT}} {{KIND}} {{Types}}", []string{"{{KIND}} is not a placeholder", "{{Types}} is not", "{{TYPES}}, {{LANGUAGE}}"}},
		"spaces":       {"glean_user.txt", "{{ NOTHING }}", []string{"{{ NOTHING }} is not a placeholder"}},
		"none at all":  {"extract_format_rows.txt", "entity relation <|#|> <|COMPLETE|> {{TEXT}}", []string{"{{TEXT}} is not", "it holds none"}},
		"unreadable":   {"extract_format_rows.txt", "entity and relation, divided by commas", []string{"<|#|> is missing", "<|COMPLETE|> is missing"}},
		"user prompt":  {"answer_system.txt", "{{TEXT}}{{FENCE}}{{RESPONSE_TYPE}}", []string{"{{USER_PROMPT}} is missing"}},
		"empty":        {"summary_user.txt", " \n", []string{"summary_user.txt is empty"}},
		"misspelt":     {"extract-user.txt", "{{TEXT}}{{FENCE}}", []string{"extract-user.txt is not the name of a prompt", "extract_user.txt"}},
		"not text":     {"glean_user.txt", "\xff{{NOTHING}}", []string{"not clean text"}},
		"a huge file":  {"glean_user.txt", strings.Repeat("x", maxPromptBytes+1), []string{"glean_user.txt has 1048577 bytes"}},
		"several ones": {"summary_user.txt", "{{X}}", []string{"{{X}}", "{{TEXT}} is missing", "{{FENCE}} is missing", "{{NAME}} is missing"}},
	} {
		_, err := LoadPrompts(fstest.MapFS{tt.file: {Data: []byte(tt.text)}})
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error lacks %q:\n%v", name, w, err)
			}
		}
	}
	if _, err := LoadPrompts(fstest.MapFS{}); err != nil {
		t.Errorf("no file: %v", err)
	}
}
