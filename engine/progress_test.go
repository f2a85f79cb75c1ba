package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/lightctl/lightrag/llm"
)

func TestProgressCountsEverything(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	o.Gleaning = -1
	var steps []Progress
	o.Progress = func(p Progress) { steps = append(steps, p) }
	db := opened(t, "store", o)
	docs := []Document{chunksOf("a", "@e|A|t|One.", "@e|B|t|Two."), doc("b", "@e|C|t|Three.")}
	inserted(t, db, docs...)
	last := steps[len(steps)-1]
	want := llm.Usage{Calls: 3, PromptTokens: 30, CompletionTokens: 15}
	if last.Documents != 2 || last.DocumentsDone != 2 || last.Chunks != 3 || last.ChunksDone != 3 || last.Usage != want || last.Cached != 0 {
		t.Errorf("%+v", last)
	}
	for i := 1; i < len(steps); i++ {
		a, b := steps[i-1], steps[i]
		if b.ChunksDone < a.ChunksDone || b.DocumentsDone < a.DocumentsDone || b.Elapsed < a.Elapsed || b.ChunksDone > b.Chunks || b.TimeLeft < 0 {
			t.Errorf("%+v after %+v", b, a)
		}
	}
	steps = nil
	if _, err := db.DeleteDocuments(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Insert(t.Context(), docs[1], docs[0]); err != nil { // one unchanged, one whose answers are cached
		t.Fatal(err)
	}
	last = steps[len(steps)-1]
	if last.Documents != 2 || last.DocumentsDone != 2 || last.ChunksDone != 2 || last.Cached != 2 || last.Usage.Calls != 0 {
		t.Errorf("%+v", last)
	}
}

func TestTimeLeftGoesByTheChunksThatAreAskedAbout(t *testing.T) {
	now := &Progress{Chunks: 40, ChunksDone: 30, Elapsed: 20 * time.Second}
	for _, tt := range []struct {
		p         pace
		cut, left int
		want      time.Duration
	}{
		{pace{cut: 40, asked: 10}, 1000, 0, 20 * time.Second},               // 20 of the 30 were cached
		{pace{cut: 40, asked: 10}, 1000, 1000, (10 + 40) * 2 * time.Second}, // as many are not cut yet
		{pace{cut: 40, asked: 0}, 1000, 0, 0},
		{pace{asked: 10}, 0, 0, 20 * time.Second}, // taken up, nothing cut
	} {
		if got := tt.p.left(now, tt.cut, tt.left); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt, got, tt.want)
		}
	}
}

// The texts of a call are cut a page at a time; what is cut is let go when it
// is durable.
func TestInsertCutsAPageAtATime(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	o.Gleaning, o.Concurrency = -1, 1
	big := strings.Repeat("word ", registerBytes/5+1)
	docs := []Document{{ID: "a", Text: "@e|A|t|One.\n" + big}, {ID: "b", Text: "@e|B|t|Two.\n" + big}}
	first := 0
	o.Progress = func(p Progress) {
		if p.ChunksDone == 1 && first == 0 {
			first = p.Chunks
		}
	}
	db := opened(t, "store", o)
	rep := inserted(t, db, docs...)
	if n := rep.Documents[0].Chunks; first != n || rep.Documents[1].Chunks != n || n < 500 {
		t.Errorf("%d chunks were cut when the first was done, the documents have %d and %d", first, n, rep.Documents[1].Chunks)
	}
}
