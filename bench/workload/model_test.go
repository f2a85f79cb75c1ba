package workload

import (
	"errors"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func TestModelAnswersWhatBelongsToTheMarker(t *testing.T) {
	c := NewCorpus()
	chunks := []Chunk{c.Next(), c.Next(), c.Next()}
	m := NewModel(chunks[:2])
	ask := func(task llm.Task, text string) (string, error) {
		r, err := m.Complete(t.Context(), llm.Request{Task: task, Input: llm.Input{Text: text}})
		return r.Text, err
	}
	for _, c := range chunks[:2] {
		if got, err := ask(llm.TaskExtract, "a prompt [[c1]] [[cx23456]] "+c.Text); err != nil || got != c.Answer {
			t.Errorf("%s: %q, %v", c.ID, got, err)
		}
	}
	for _, text := range []string{chunks[2].Text, "no marker", "[[c00000", "[[c"} {
		if got, err := ask(llm.TaskExtract, text); !errors.Is(err, llm.ErrBadResponse) {
			t.Errorf("%.20q: %q, %v", text, got, err)
		}
	}
	if got, err := ask(llm.TaskSummary, ""); err != nil || len(got) != 207 {
		t.Errorf("a summary of %d characters, %v; want 207", len(got), err)
	}
	if _, err := ask(llm.TaskAnswer, chunks[0].Text); !errors.Is(err, llm.ErrBadResponse) {
		t.Errorf("an answer to a question: %v", err)
	}
}
