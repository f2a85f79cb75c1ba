package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm"
)

// corpus is a set of documents that share hubs, disagree on types and give one
// pair several descriptions.
func corpus(n int) []Document {
	docs := make([]Document, n)
	for i := range docs {
		var lines []string
		for j := range 6 {
			lines = append(lines,
				fmt.Sprintf("@e|Hub|%s|The hub as text %d.%d sees it.", []string{"place", "thing", "idea"}[(i+j)%3], i, j),
				fmt.Sprintf("@e|Town %d|place|Town seen from %d.", (i*3+j)%7, i),
				fmt.Sprintf("@r|Hub|Town %d|road, trade %d|Road number %d of text %d.", (i+j)%7, j%2, j, i),
				fmt.Sprintf("@r|Town %d|Castle %d|war|Siege %d.", (i+j)%7, i%4, i*j))
		}
		docs[i] = doc(fmt.Sprintf("text %02d", i), lines...)
	}
	return docs
}

// unsteady delays every call by a random time, so that answers come in any
// order, and fails the calls for one text once.
func unsteady(seed uint64, failing string) *fakeModel {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	failed := false
	return &fakeModel{hook: func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		mu.Lock()
		d := time.Duration(rng.IntN(3000)) * time.Microsecond
		fail := req.Task == llm.TaskExtract && failing != "" && strings.Contains(req.Input.Text, failing) && !failed
		failed = failed || fail
		mu.Unlock()
		time.Sleep(d)
		if fail {
			return llm.Response{}, true, fmt.Errorf("%w: down for now", llm.ErrUnavailable)
		}
		return llm.Response{}, false, nil
	}}
}

func TestSameDocumentsGiveTheSameGraph(t *testing.T) {
	docs := corpus(9)
	options := func(m llm.Completer, concurrency int) Options {
		o := testOptions(m)
		o.Concurrency, o.SummaryFragments, o.ChunkTokens, o.ChunkOverlap = concurrency, 4, 80, -1
		return o
	}
	first := opened(t, "store", options(&fakeModel{}, 1))
	inserted(t, first, docs...)
	want := exported(t, first)
	if !strings.Contains(want, "summary of") || !strings.Contains(want, `"UNKNOWN"`) {
		t.Fatalf("the graph has no summary or no implied entity:\n%s", want)
	}
	for _, concurrency := range []int{1, 8} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("concurrency=%d,seed=%d", concurrency, seed), func(t *testing.T) {
				db := opened(t, "store", options(unsteady(seed, "text 04"), concurrency))
				rep, err := db.Insert(t.Context(), docs...)
				if err != nil {
					t.Fatal(err)
				}
				if d := rep.Documents[4]; d.Status != StatusFailed || !errors.Is(d.Err, llm.ErrUnavailable) {
					t.Fatalf("the failing document: %+v", d)
				}
				if n := rep.Count(StatusProcessed); n != len(docs)-1 {
					t.Fatalf("%d processed", n)
				}
				if exported(t, db) == want {
					t.Fatal("the graph does not miss the failed document")
				}
				rep, err = db.Retry(t.Context())
				if err != nil || rep.Count(StatusProcessed) != 1 {
					t.Fatalf("retry: %v %+v", err, rep)
				}
				if got := exported(t, db); got != want {
					t.Errorf("another graph:\n%s\nwant\n%s", got, want)
				}
				sound(t, db)
			})
		}
	}
}

func TestDeletedDocumentsLeaveNoTrace(t *testing.T) {
	docs := corpus(8)
	gone := map[int]bool{0: true, 3: true, 7: true}
	options := func() Options {
		o := testOptions(&fakeModel{})
		o.SummaryFragments = 4
		return o
	}
	db, never := opened(t, "a", options()), opened(t, "b", options())
	inserted(t, db, docs...)
	before := exported(t, db)
	var ids []string
	var rest []Document
	for i, d := range docs {
		if gone[i] {
			ids = append(ids, d.ID)
		} else {
			rest = append(rest, d)
		}
	}
	inserted(t, never, rest...)
	rep, err := db.DeleteDocuments(t.Context(), append(slices.Clone(ids), "nobody", ids[0])...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rep.Deleted, ids) || !slices.Equal(rep.NotFound, []string{"nobody"}) || rep.Stale != 0 {
		t.Errorf("report: %+v", rep)
	}
	got, want := exported(t, db), exported(t, never)
	if got == before {
		t.Fatal("nothing was deleted")
	}
	if got != want {
		t.Errorf("after deleting:\n%s\nnever seen:\n%s", got, want)
	}
	sound(t, db)
	q := Query{Text: "hub road castle", LowLevel: []string{"hub", "town"}, HighLevel: []string{"road siege"}}
	a, errA := db.Retrieve(t.Context(), q)
	b, errB := never.Retrieve(t.Context(), q)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if x, y := found(a), found(b); !slices.Equal(x, y) || len(a.Chunks) == 0 || len(a.Entities) == 0 || len(a.Relations) == 0 {
		t.Errorf("retrieved after deleting:\n%s\nnever seen:\n%s", strings.Join(x, "\n"), strings.Join(y, "\n"))
	}
	for _, id := range ids {
		if strings.Contains(a.Context, id) {
			t.Errorf("the context still speaks of %q", id)
		}
	}
}

// found lists what a result holds without its order, in which equal scores are
// told apart by ids, and those depend on history.
func found(r *Result) []string {
	var out []string
	for _, e := range r.Entities {
		out = append(out, fmt.Sprintf("%s (%s): %s", e.Name, e.Type, e.Description))
	}
	for _, e := range r.Relations {
		out = append(out, fmt.Sprintf("%s - %s %q %v: %s", e.Src, e.Tgt, e.Keywords, e.Weight, e.Description))
	}
	for _, c := range r.Chunks {
		out = append(out, c.ID+": "+c.Content)
	}
	slices.Sort(out)
	return out
}
