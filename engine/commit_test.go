package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

func TestDocumentsThatWaitAreCommittedTogether(t *testing.T) {
	var groups [][]int
	begun, goOn := make(chan struct{}), make(chan struct{})
	written := 0
	q := newCommitter(func(group []*ready) func() {
		var docs []int
		for _, d := range group {
			docs = append(docs, int(d.c.Doc))
		}
		if groups = append(groups, docs); len(groups) == 1 {
			close(begun)
			<-goOn
		}
		return func() { written += len(group) }
	})
	var wg sync.WaitGroup
	start := func(doc, chunks int) {
		d := &ready{c: graphstore.Contribution{Doc: format.DocID(doc)}, chunks: make([]graphstore.Chunk, chunks)}
		wg.Go(func() { q.commit(d) })
	}
	waiting := func(n int) {
		for got := -1; got != n; {
			q.mu.Lock()
			got = len(q.queue)
			q.mu.Unlock()
		}
	}
	start(1, 1)
	<-begun
	for i, chunks := range []int{1, commitChunks - 2, 1, commitChunks + 1, 1} {
		start(2+i, chunks)
		waiting(1 + i)
	}
	close(goOn)
	wg.Wait()
	if want := [][]int{{1}, {2, 3, 4}, {5}, {6}}; fmt.Sprint(groups) != fmt.Sprint(want) || written != 6 {
		t.Errorf("committed %v, %d documents written, want %v", groups, written, want)
	}
}

func TestADocumentThatCannotBeEmbeddedFailsAlone(t *testing.T) {
	broken := errors.New("broken")
	e := &words{hook: func(texts []string, vecs [][]float32) ([][]float32, error) {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "poison") }) {
			return nil, broken
		}
		return vecs, nil
	}}
	o := testOptions(&fakeModel{})
	o.Embedder = e
	db := opened(t, "store", o)
	var docs []Document
	for i := range 40 {
		docs = append(docs, doc(fmt.Sprint("d", i), fmt.Sprintf("@e|Hub|place|Hub is said by number %d.", i), fmt.Sprintf("@e|E%d|thing|One of many.", i)))
	}
	docs[17].Text += " poison"
	rep, err := db.Insert(t.Context(), docs...)
	if err != nil || rep.Stale != 0 {
		t.Fatal(err, rep.Stale)
	}
	for i, d := range rep.Documents {
		if bad := i == 17; bad != (d.Status == StatusFailed) || bad != errors.Is(d.Err, broken) || !bad && d.Entities != 2 {
			t.Errorf("document %d is %s with %d entities: %v", i, d.Status, d.Entities, d.Err)
		}
	}
	e.hook = nil
	if rep, err := db.Retry(t.Context()); err != nil || rep.Count(StatusProcessed) != 1 {
		t.Errorf("%+v: %v", rep, err)
	}
	sound(t, db)
	one := opened(t, "store", testOptions(&fakeModel{}))
	for i := range docs {
		inserted(t, one, docs[i])
	}
	if a, b := exported(t, db), exported(t, one); a != b {
		t.Errorf("together:\n%s\none by one:\n%s", a, b)
	}
}

// Without the embedder every document of a step fails by itself, after as many attempts as a call makes: not one
// after another.
func TestDocumentsOfAFailedStepAreTriedSideBySide(t *testing.T) {
	broken := errors.New("broken")
	beside := make(chan struct{})
	o := testOptions(&fakeModel{})
	o.Embedder = &words{hook: func(texts []string, _ [][]float32) ([][]float32, error) {
		if len(texts) == 1 {
			select {
			case beside <- struct{}{}:
			case <-beside:
			case <-time.After(10 * time.Second):
				t.Error("nobody is beside")
			}
		}
		return nil, broken
	}}
	db := opened(t, "store", o)
	var group []*ready
	for _, id := range []string{"a", "b"} {
		res, err := db.store.Register(t.Context(), []graphstore.NewDocument{{ID: id, Hash: [32]byte{id[0]}, Chunks: []graphstore.NewChunk{{Text: id}}}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := db.store.View()
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := v.DocumentChunks(res[0].Doc)
		v.Close()
		if err != nil {
			t.Fatal(err)
		}
		group = append(group, &ready{chunks: chunks, c: graphstore.Contribution{
			Doc: res[0].Doc, Chunks: []graphstore.ChunkContribution{{ID: chunks[0].ID}},
		}})
	}
	r := db.newRun(t.Context(), "test")
	defer r.stop()
	r.prepare(group)()
	for i, d := range group {
		if !errors.Is(d.err, broken) {
			t.Errorf("document %d: %v", i, d.err)
		}
	}
}
