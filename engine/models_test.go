package engine

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm/offline"
)

// A store that was made offline says so, in all that comes out of it and when it
// is opened again with a language model.
func TestModelsOfAStore(t *testing.T) {
	ctx := context.Background()
	fake := testOptions(&fakeModel{})
	o := fake
	o.Completer, o.Embedder = nil, nil
	db := opened(t, "store", o)
	if m := db.Models(); len(m.Extraction) != 0 || m.String() != "vectors by "+m.Embedder+", answers by rules (offline-2)" {
		t.Errorf("an empty store: %v", m)
	}
	if _, err := db.Insert(ctx, Document{Path: "a.md", Text: "Mount Wilson has a telescope. John Hooker paid for it."}); err != nil {
		t.Fatal(err)
	}
	embedder := offline.NewEmbedder().Info().Name
	made := "graph by rules (offline-2), vectors by " + embedder
	v := db.View()
	var md, html bytes.Buffer
	if err := v.ExportMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := v.ExportHTML(&html, HTMLOptions{}); err != nil {
		t.Fatal(err)
	}
	v.Close()
	if !strings.Contains(md.String(), "\nMade offline, at least in part: "+made+".\n") {
		t.Errorf("markdown: %.300s", md.String())
	}
	if !strings.Contains(html.String(), `"models":"`+made+`"`) {
		t.Error("the page does not say who made it")
	}
	r, err := db.Query(ctx, Query{Text: "Who paid for the telescope?", Explain: true})
	if err != nil || r.Explain.Keywords != KeywordsRules || r.Models.String() != made+", answers by rules (offline-2)" || !r.Models.Offline() {
		t.Errorf("%v: %v", err, r.Models)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	o.Completer = fake.Completer
	db = opened(t, "store", o)
	defer db.Close()
	if _, err := db.Insert(ctx, Document{Path: "b.md", Text: "Another text."}); err != nil {
		t.Fatal(err)
	}
	want := []string{fake.Completer.Model(), "offline-2"}
	if m := db.Models(); !m.Offline() || strings.Join(m.Extraction, " ") != strings.Join(want, " ") || m.Answer != fake.Completer.Model() {
		t.Errorf("%+v", m)
	}
	s, err := db.Stats()
	if err != nil || s.Models.String() != db.Models().String() {
		t.Errorf("%v: %+v", err, s.Models)
	}
}

func TestModelsWithoutTheOfflinePair(t *testing.T) {
	m := Models{Extraction: []string{"gpt", "qwen"}, Embedder: "e5", Answer: "gpt"}
	if m.Offline() || m.String() != "graph by gpt and qwen, vectors by e5, answers by gpt" {
		t.Errorf("%v %v", m, m.Offline())
	}
}
