package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// costing answers with what a chunk's text says in a line "@cost|prompt|cached|completion".
func costing() *fakeModel {
	return &fakeModel{hook: func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if req.Task != llm.TaskExtract {
			return llm.Response{}, false, nil
		}
		u := llm.Usage{Calls: 1}
		for line := range strings.Lines(req.Input.Text) {
			_, _ = fmt.Sscanf(line, "@cost|%d|%d|%d", &u.PromptTokens, &u.CachedTokens, &u.CompletionTokens)
		}
		if strings.Contains(req.Input.Text, "@silent") {
			return llm.Response{Text: "no idea", Usage: u}, true, nil
		}
		return llm.Response{Text: records(req.Input.Text), Usage: u}, true, nil
	}}
}

func TestWhatADocumentCostIsInItsRow(t *testing.T) {
	o := testOptions(costing())
	o.Gleaning = -1
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db,
		Document{ID: "a", Chunks: []Chunk{{Order: 3, Content: "@e|A|t|One.\n@cost|100|40|7"}, {Order: 5, Content: "@e|B|t|Two.\n@cost|10|0|1"}}},
		Document{ID: "b", Text: "@e|C|t|Three.\n@cost|1000|0|50"})
	// Which of two documents of one call pays for what both hold is anybody's
	// guess; one that comes later finds it paid.
	inserted(t, db, Document{ID: "same chunk", Chunks: []Chunk{{Content: "@e|A|t|One.\n@cost|100|40|7"}, {Order: 1, Content: "@e|D|t|Four.\n@cost|5|5|5"}}})
	want := map[string]llm.Usage{
		"a":          {Calls: 2, PromptTokens: 110, CachedTokens: 40, CompletionTokens: 8},
		"b":          {Calls: 1, PromptTokens: 1000, CompletionTokens: 50},
		"same chunk": {Calls: 1, PromptTokens: 5, CachedTokens: 5, CompletionTokens: 5},
	}
	verify := func(what string) {
		t.Helper()
		docs, err := db.Documents()
		if err != nil || len(docs) != len(want) {
			t.Fatal(err, docs)
		}
		var sum llm.Usage
		for _, d := range docs {
			sum = sum.Add(d.Usage)
			if w := want[d.ID]; d.Usage != w {
				t.Errorf("%s: %s cost %+v, want %+v", what, d.ID, d.Usage, w)
			}
		}
		if sum != db.Ledger()["extract"] {
			t.Errorf("%s: documents cost %+v, the ledger says %+v", what, sum, db.Ledger())
		}
	}
	verify("after the insert")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = opened(t, "store", o)
	verify("after reopening")
}

// A document that fails, is retried, and is interrupted has cost what all its
// attempts did.
func TestWhatADocumentCostIsSummedOverItsAttempts(t *testing.T) {
	m := costing()
	o := testOptions(m)
	o.Gleaning, o.Concurrency, o.ChunkPolicy = -1, 1, FailDocument
	db := opened(t, "store", o)
	d := Document{ID: "a", Chunks: []Chunk{{Content: "@e|A|t|One.\n@cost|100|0|7"}, {Order: 1, Content: "@silent\n@cost|10|0|1"}}}
	cost := func() llm.Usage {
		t.Helper()
		info, _, err := db.Document("a")
		if err != nil {
			t.Fatal(err)
		}
		return info.Usage
	}
	rep, err := db.Insert(t.Context(), d)
	if err != nil || rep.Documents[0].Status != StatusFailed {
		t.Fatal(err, rep)
	}
	if f := rep.Documents[0].Failures; len(f) != 1 || f[0].Order != 1 || !errors.Is(f[0].Err, errNoRecords) {
		t.Errorf("failures: %+v", f)
	}
	if got := cost(); got != (llm.Usage{Calls: 2, PromptTokens: 110, CompletionTokens: 8}) {
		t.Errorf("after it failed: %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answer := m.hook
	m.hook = func(c context.Context, req *llm.Request) (llm.Response, bool, error) {
		cancel()
		return answer(c, req)
	}
	if _, err := db.Retry(ctx); !errors.Is(err, context.Canceled) { // its second chunk is paid for, then it ends
		t.Fatal(err)
	}
	if got := cost(); got != (llm.Usage{Calls: 3, PromptTokens: 120, CompletionTokens: 9}) {
		t.Errorf("after a cancelled retry: %+v", got)
	}
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		return llm.Response{Text: records("@e|B|t|Two."), Usage: llm.Usage{Calls: 1, PromptTokens: 1000}}, true, nil
	}
	if rep, err := db.Retry(t.Context()); err != nil || rep.Documents[0].Status != StatusProcessed {
		t.Fatal(err, rep)
	}
	if got := cost(); got != (llm.Usage{Calls: 4, PromptTokens: 1120, CompletionTokens: 9}) {
		t.Errorf("at the end: %+v", got)
	}
}

func TestWhatQuestionsCostIsKept(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, doc("a", "@e|Alpha|t|One."))
	ask := func(q Query) {
		t.Helper()
		if _, err := db.Query(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	ask(Query{Text: "alpha?"})
	ask(Query{Text: "alpha?"}) // from the cache
	if _, err := db.Retrieve(t.Context(), Query{Text: "what of alpha", Mode: Local}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Retrieve(t.Context(), Query{Text: "given", LowLevel: []string{"alpha"}, Mode: Local}); err != nil {
		t.Fatal(err)
	}
	one := llm.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 5}
	verify := func(db *DB) {
		t.Helper()
		q := db.QueryCosts()
		if q.Count != 2 || q.Usage != one.Add(one).Add(one) || len(q.Last) != 2 {
			t.Fatalf("%+v", q)
		}
		if c := q.Last[0]; c.Text != "alpha?" || c.Mode != Mix || c.Usage != one.Add(one) || c.Time.IsZero() {
			t.Errorf("first: %+v", c)
		}
		if c := q.Last[1]; c.Text != "what of alpha" || c.Mode != Local || c.Usage != one {
			t.Errorf("second: %+v", c)
		}
	}
	verify(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = opened(t, "store", o)
	verify(db)

	long := strings.Repeat("é", loggedText)
	for i := range loggedCalls + 5 {
		ask(Query{Text: fmt.Sprint(i, long), Mode: Bypass})
	}
	q := db.QueryCosts()
	if q.Count != 2+loggedCalls+5 || len(q.Last) != loggedCalls || !strings.HasPrefix(q.Last[loggedCalls-1].Text, fmt.Sprint(loggedCalls+4)) {
		t.Errorf("%d questions, %d kept, the last is %+v", q.Count, len(q.Last), q.Last[len(q.Last)-1])
	}
	for _, c := range q.Last {
		if len(c.Text) > loggedText || !strings.HasSuffix(c.Text, "é") {
			t.Errorf("text kept: %q", c.Text)
		}
	}
}

// Questions are booked in the background, not in their own time, and a process
// that ends without Close has lost no more than the last moment.
func TestTheLedgerIsSavedInTheBackground(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	db.ledger.mu.Lock()
	flush := db.ledger.flush
	called := make(chan struct{}, 1)
	db.ledger.flush = func() { called <- struct{}{} }
	db.ledger.mu.Unlock()
	stored := func() string {
		b, _, err := db.store.Meta(ledgerMeta)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if _, err := db.Query(t.Context(), Query{Text: "first", Mode: Bypass}); err != nil {
		t.Fatal(err)
	}
	if s := stored(); s != "" {
		t.Errorf("the question waited for %s", s)
	}
	<-called
	flush()
	if s := stored(); !strings.Contains(s, "first") {
		t.Errorf("stored: %s", s)
	}
}

func TestWhichChunksFailedAndWhy(t *testing.T) {
	m := costing()
	o := testOptions(m)
	o.Gleaning = -1
	db := opened(t, "store", o)
	rep := inserted(t, db, Document{ID: "a", Chunks: []Chunk{
		{Order: 1, Content: "@e|A|t|One."}, {Order: 4, Content: "@silent four"}, {Order: 9, Content: "@silent nine"}}})
	if f := rep.Documents[0].Failures; len(f) != 2 || f[0].Order != 4 || f[1].Order != 9 || rep.Documents[0].FailedChunks != 2 {
		t.Errorf("reported: %+v", rep.Documents[0])
	}
	info, chunks, err := db.Document("a")
	if err != nil || len(chunks) != 3 || info.Failed != 2 || len(info.Failures) != 2 {
		t.Fatal(err, info)
	}
	for i, order := range []int{4, 9} {
		if f := info.Failures[i]; f.Order != order || f.Err.Error() != errNoRecords.Error() {
			t.Errorf("stored: %+v", f)
		}
	}
}
