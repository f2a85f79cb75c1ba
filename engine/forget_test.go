package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// marked is a document every field of which holds a word of its own.
func marked(n int, word string) Document {
	return Document{ID: fmt.Sprintf("doc %02d", n), Path: fmt.Sprintf("%02d.md", n), Text: fmt.Sprintf(
		"Text %02d of %s.\n@e|Hub|type%s|Hub as %02d says with %s.\n@e|Spoke|place|Spoke as %02d says with %s.\n@r|Hub|Spoke|joins,key%s|Joined as %02d says with %s.\n@e|Only %s|thing|Alone.",
		n, word, word, n, word, n, word, word, n, word, word)}
}

// outputs is everything that a store shows.
func outputs(t *testing.T, db *DB, question string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	v := db.View()
	defer v.Close()
	var b bytes.Buffer
	for name, export := range map[string]func() error{
		"jsonl": func() error { return v.ExportJSONL(&b) }, "graphml": func() error { return v.ExportGraphML(&b) },
		"md":           func() error { return v.ExportMarkdown(&b) },
		"csv entities": func() error { return v.ExportCSV(&b, CSVEntities) }, "csv relations": func() error { return v.ExportCSV(&b, CSVRelations) },
		"view": func() error {
			e, err := v.Entity("Hub")
			if err != nil {
				return err
			}
			r, err := v.Relation("Hub", "Spoke")
			if err != nil {
				return err
			}
			near, err := v.Neighbors("Hub", 2, 0)
			fmt.Fprintf(&b, "%+v %+v %+v", *e, *r, near)
			return err
		},
		"documents": func() error {
			docs, err := db.Documents()
			for i := range docs {
				info, chunks, derr := db.Document(docs[i].ID)
				fmt.Fprintf(&b, "%+v %+v", info, chunks)
				err = errors.Join(err, derr)
			}
			return err
		},
	} {
		b.Reset()
		if err := export(); err != nil {
			t.Fatal(name, err)
		}
		out[name] = b.String()
	}
	for _, mode := range []Mode{Naive, Local, Global, Hybrid, Mix} {
		for _, docs := range [][]string{nil, {"doc 00", "doc 01"}} {
			r, err := db.Query(t.Context(), Query{
				Text: question, Mode: mode, LowLevel: []string{question}, HighLevel: []string{question}, CosineThreshold: -1, PromptOnly: true, Documents: docs,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Found {
				t.Errorf("%s, documents %v: nothing was found", mode, docs)
			}
			out[fmt.Sprint(mode, docs)] = fmt.Sprintf("%s %+v", r.Prompt, *r)
		}
	}
	return out
}

// Between a deletion and the summaries and vectors that are made after it, no
// word of what was deleted is in anything that the store shows, although all
// models are down; when they are back the store is what it would be had it never
// seen the deleted documents.
func TestNoWordOfADeletedDocumentIsServed(t *testing.T) {
	const question = "hub spoke"
	const secret = "Quetzalcoatl"
	m := &fakeModel{hook: func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if req.Task != llm.TaskSummary { // one that leaves out nothing
			return llm.Response{}, false, nil
		}
		return llm.Response{Text: "All of: " + strings.Join(req.Input.Descriptions, " / ")}, true, nil
	}}
	e := &words{}
	o := testOptions(m)
	o.Embedder, o.SummaryFragments, o.SummaryTokens = e, 3, 300
	db := opened(t, "store", o)
	var kept []Document
	for n := range 24 {
		d := marked(n, secret)
		if n%3 != 2 || n < 2 {
			d = marked(n, "plain")
			d.Text = strings.ReplaceAll(d.Text, "Only plain", fmt.Sprint("Only ", n))
			kept = append(kept, d)
		}
		inserted(t, db, d)
	}
	for name, text := range outputs(t, db, question) {
		if !strings.Contains(text, secret) && !strings.Contains(name, "doc 00") {
			t.Errorf("%s never held the word, so that its absence says nothing", name)
		}
	}
	if m.count(llm.TaskSummary) < 5 {
		t.Fatalf("%d summaries were made", m.count(llm.TaskSummary))
	}

	answer := m.hook
	m.hook = func(context.Context, *llm.Request) (llm.Response, bool, error) {
		return llm.Response{}, true, llm.ErrUnavailable
	}
	e.hook = func(texts []string, vecs [][]float32) ([][]float32, error) {
		if texts[0] != question {
			return nil, llm.ErrUnavailable
		}
		return vecs, nil
	}
	var gone []string
	for n := 2; n < 24; n += 3 {
		gone = append(gone, fmt.Sprintf("doc %02d", n))
	}
	rep, err := db.DeleteDocuments(t.Context(), gone...)
	if err != nil || len(rep.Deleted) != len(gone) || rep.Stale < 3 {
		t.Fatal(err, rep)
	}
	silent := func(when string) {
		t.Helper()
		for name, text := range outputs(t, db, question) {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s: %s still holds the word: %.200q", when, name, text[max(0, i-100):])
			}
			if !strings.Contains(text, "plain") {
				t.Errorf("%s: %s lost what the others said: %.300q", when, name, text)
			}
		}
	}
	silent("models down")
	sound(t, db)
	e.hook = nil
	if err := db.Refresh(t.Context()); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("Refresh with the summariser down: %v", err)
	}
	silent("summariser down")

	m.hook = answer
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := db.store.StaleCount(); err != nil || n != 0 {
		t.Errorf("%d stale, %v", n, err)
	}
	silent("healed")
	fresh := opened(t, "fresh", func() Options {
		f := testOptions(&fakeModel{hook: answer})
		f.SummaryFragments, f.SummaryTokens = o.SummaryFragments, o.SummaryTokens
		return f
	}())
	for _, d := range kept {
		inserted(t, fresh, d)
	}
	if got, want := exported(t, db), exported(t, fresh); got != want {
		t.Errorf("healed:\n%s\nwant\n%s", got, want)
	}
}
