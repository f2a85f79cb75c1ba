package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// chunksOf is a document of chunks with the given contents.
func chunksOf(id string, contents ...string) Document {
	d := Document{ID: id, Path: id + ".md"}
	for i, c := range contents {
		d.Chunks = append(d.Chunks, Chunk{Order: i, Content: c})
	}
	return d
}

// asked returns the texts that extraction was asked about.
func (m *fakeModel) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for i := range m.calls {
		if m.calls[i].Task == llm.TaskExtract {
			out = append(out, m.calls[i].Input.Text)
		}
	}
	return out
}

func TestChunksThatAReplacementKeepsAreNotExtractedAgain(t *testing.T) {
	m := &fakeModel{}
	// The second answer adds to the first, so that taken-over fragments are of two passes.
	m.hook = func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if req.Task != llm.TaskGlean {
			return llm.Response{}, false, nil
		}
		for i := range req.Messages {
			if strings.Contains(req.Messages[i].Content, "@glean") {
				return llm.Response{Text: records("@e|Gleaned|t|Seen late.\n@r|Gleaned|Alpha|late|Met late.")}, true, nil
			}
		}
		return llm.Response{}, false, nil
	}
	one := "@e|Alpha|t|One.\n@r|Alpha|Nobody|knows|Implied only.\n@glean"
	two := "@e|Beta|t|Two.\n@r|Beta|Alpha|likes,sees|They met.\nentity malformed"
	db := opened(t, "store", testOptions(m))
	other := doc("other", "@e|Alpha|u|Of another.", "@r|Alpha|Beta|likes|Elsewhere.")
	inserted(t, db, other, chunksOf("a", one, "@e|Gone|t|Old words.", two))
	if err := db.ClearCache(); err != nil {
		t.Fatal(err)
	}
	before := len(m.asked())

	next := chunksOf("a", two, "@e|New|t|New words.", one, one)
	next.Replace = true
	inserted(t, db, next)
	if got := m.asked()[before:]; !slices.Equal(got, []string{"@e|New|t|New words."}) {
		t.Errorf("the model was asked about %q", got)
	}
	fresh := opened(t, "fresh", testOptions(&fakeModel{hook: m.hook}))
	inserted(t, fresh, other, next)
	if got, want := exported(t, db), exported(t, fresh); got != want {
		t.Errorf("after the replacement:\n%s\nwant\n%s", got, want)
	}
	if got, want := fragmentKeys(t, db, "a"), fragmentKeys(t, fresh, "a"); got != want || !strings.Contains(want, "Gleaned 1 0") {
		t.Errorf("fragments\n%swant\n%s", got, want)
	}
	a, _, _ := db.Document("a")
	b, _, _ := fresh.Document("a")
	if a.Malformed != b.Malformed || a.Entities != b.Entities || a.Relations != b.Relations || a.Chunks != 4 {
		t.Errorf("%+v, want as in %+v", a, b)
	}
	sound(t, db)
}

// fragmentKeys lists the place, pass and index of what a document said.
func fragmentKeys(t *testing.T, db *DB, id string) string {
	t.Helper()
	v, err := db.store.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	doc, _, _, err := v.FindDocument(id)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := v.CommittedChunks(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range chunks {
		for _, f := range chunks[i].Entities {
			lines = append(lines, fmt.Sprintf("%d %s %d %d\n", f.Key.Order, f.Name, f.Key.Pass, f.Key.Index))
		}
		for _, f := range chunks[i].Relations {
			lines = append(lines, fmt.Sprintf("%d %s-%s %d %d\n", f.Key.Order, f.Src, f.Tgt, f.Key.Pass, f.Key.Index))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// What is taken over keeps the answers it was made from, so that they can go
// with it.
func TestTakenOverChunksKeepTheirAnswers(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db, chunksOf("a", "@e|Alpha|t|One.", "@e|Beta|t|Two."))
	keys := func() (out [][32]byte) {
		v, err := db.store.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		d, _, _, err := v.FindDocument("a")
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := v.CommittedChunks(t.Context(), d)
		if err != nil || len(chunks[0].CacheKeys) == 0 {
			t.Fatal(err, chunks)
		}
		return chunks[0].CacheKeys
	}
	want := keys()
	next := chunksOf("a", "@e|Alpha|t|One.", "@e|Gamma|t|Three.")
	next.Replace = true
	inserted(t, db, next)
	if got := keys(); !slices.Equal(got, want) {
		t.Errorf("answers %x, want %x", got, want)
	}
}

func TestRetryAsksForTheFailedChunksOnly(t *testing.T) {
	m := costing()
	o := testOptions(m)
	o.Gleaning = -1
	db := opened(t, "store", o)
	inserted(t, db, chunksOf("a", "@e|Alpha|t|One.", "@silent\n@e|Beta|t|Two.", "@e|Gamma|t|Three."))
	if err := db.ClearCache(); err != nil {
		t.Fatal(err)
	}
	m.hook = nil
	before := len(m.asked())
	rep, err := db.Retry(t.Context())
	if err != nil || rep.Count(StatusProcessed) != 1 || rep.Documents[0].FailedChunks != 0 {
		t.Fatal(err, rep)
	}
	if got := m.asked()[before:]; !slices.Equal(got, []string{"@silent\n@e|Beta|t|Two."}) {
		t.Errorf("the model was asked about %q", got)
	}
	fresh := opened(t, "fresh", testOptions(&fakeModel{}))
	inserted(t, fresh, chunksOf("a", "@e|Alpha|t|One.", "@silent\n@e|Beta|t|Two.", "@e|Gamma|t|Three."))
	if got, want := exported(t, db), exported(t, fresh); got != want {
		t.Errorf("after the retry:\n%s\nwant\n%s", got, want)
	}
	sound(t, db)
}

// An id must not go on naming a text that its owner has replaced, whoever else
// holds the new one.
func TestReplacingWithATextThatAnotherIDHolds(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	status := func(d Document) DocumentReport {
		t.Helper()
		rep, err := db.Insert(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		return rep.Documents[0]
	}
	inserted(t, db, Document{ID: "a", Text: "@e|Alpha|t|One."}, Document{ID: "b", Text: "@e|Beta|t|Two."})
	calls := len(m.calls)
	if d := status(Document{ID: "a", Text: "@e|Beta|t|Two.", Replace: true}); d.Status != StatusProcessed || d.Original != "" {
		t.Fatalf("%+v", d)
	}
	if len(m.calls) != calls {
		t.Error("a text that is known was extracted again")
	}
	if got := exported(t, db); strings.Contains(got, "Alpha") || !strings.Contains(got, `"b#0","a#0"`) {
		t.Errorf("after the replacement:\n%s", got)
	}
	if d := status(Document{ID: "c", Text: "@e|Beta|t|Two."}); d.Status != StatusDuplicate || d.Original != "b" {
		t.Errorf("a third one: %+v", d)
	}
	if _, err := db.DeleteDocuments(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"now", "after reopening"} {
		if d := status(Document{ID: "c", Text: "@e|Beta|t|Two."}); d.Status != StatusDuplicate || d.Original != "a" {
			t.Errorf("the original is gone, %s: %+v", when, d)
		}
		sound(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if db, err = Open("store", o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.DeleteDocuments(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if d := status(Document{ID: "c", Text: "@e|Beta|t|Two."}); d.Status != StatusProcessed {
		t.Errorf("nobody holds it any more: %+v", d)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// prose is a text of n paragraphs of 20 to 120 tokens.
func prose(rng *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = paragraphOf(rng, i)
	}
	return out
}

func paragraphOf(rng *rand.Rand, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@e|Thing %d|t|Made in paragraph %d.\n", i, i)
	for range 3 + rng.IntN(20) {
		fmt.Fprintf(&b, "word%d and %x; ", rng.IntN(1000), rng.Uint32())
	}
	return strings.TrimSpace(b.String())
}

func TestASmallEditExtractsAtMostThreeChunks(t *testing.T) {
	m := &fakeModel{}
	o := testOptions(m)
	o.ChunkBy, o.Gleaning = ByParagraphs, -1
	db := opened(t, "store", o)
	rng := rand.New(rand.NewPCG(1, 2))
	text := prose(rng, 200)
	put := func(what string, most int) {
		t.Helper()
		if err := db.ClearCache(); err != nil {
			t.Fatal(err)
		}
		before := len(m.asked())
		d := Document{ID: "a", Text: strings.Join(text, "\n\n"), Replace: true}
		inserted(t, db, d)
		if n := len(m.asked()) - before; n < 1 || n > most {
			t.Errorf("%s: %d chunks were extracted", what, n)
		}
	}
	put("all of it", 100)
	if n := len(m.asked()); n < 8 {
		t.Errorf("%d chunks in all", n)
	}
	for i := range 36 {
		at := rng.IntN(len(text))
		switch i % 3 {
		case 0:
			text[at] = paragraphOf(rng, 1000+i)
			put(fmt.Sprintf("edit %d: paragraph %d of %d changed", i, at, len(text)), 3)
		case 1:
			text = slices.Insert(text, at, paragraphOf(rng, 1000+i))
			put(fmt.Sprintf("edit %d: inserted before %d of %d", i, at, len(text)), 3)
		case 2:
			text = slices.Delete(text, at, at+1)
			put(fmt.Sprintf("edit %d: deleted %d of %d", i, at, len(text)), 3)
		}
	}
	fresh := opened(t, "fresh", func() Options { o := testOptions(&fakeModel{}); o.ChunkBy, o.Gleaning = ByParagraphs, -1; return o }())
	inserted(t, fresh, Document{ID: "a", Text: strings.Join(text, "\n\n")})
	if exported(t, db) != exported(t, fresh) {
		t.Error("after all edits the graph differs from one that saw the last text alone")
	}
	sound(t, db)
}

// What is taken over is what the document said, by the names that it used,
// whatever people have made of them; what they deleted stays deleted.
func TestAReplacementKeepsWhatWasCurated(t *testing.T) {
	kept := "@e|Jon|person|Jon of one.\n@r|Jon|City|home|He lives there.\n@r|City|Bridge|has|It has one.\n@r|Jon|Ann|knows|They met."
	one, next := chunksOf("one", kept, "@e|Old|t|Old."), chunksOf("one", kept, "@e|New|t|New.")
	two := doc("two", "@e|John|person|John of two.", "@r|John|City|work|He works there.")
	next.Replace = true
	curate := func(db *DB) {
		must(t)(db.MergeEntities(t.Context(), []string{"Jon"}, "John", MergeOptions{}))
		must(t)(db.RenameEntity(t.Context(), "City", "Town", false))
		must(t)(db.DeleteRelations(t.Context(), [2]string{"Bridge", "City"}))
		must(t)(db.DeleteEntities(t.Context(), "Ann"))
	}
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db, two, one)
	curate(db)
	inserted(t, db, next)
	if got := m.asked(); len(got) != 4 || got[3] != "@e|New|t|New." {
		t.Errorf("the model was asked about %q", got)
	}
	sound(t, db)
	fresh := opened(t, "fresh", testOptions(&fakeModel{}))
	inserted(t, fresh, two, next)
	curate(fresh)
	got, want := exported(t, db), exported(t, fresh)
	if got != want || !strings.Contains(want, "Bridge") || strings.Contains(want, "Ann") {
		t.Errorf("after the replacement:\n%s\nwant\n%s", got, want)
	}
	for _, id := range []uint32{2, 1} {
		must(t)(db.Undo(t.Context(), id))
		must(t)(fresh.Undo(t.Context(), id))
	}
	if got, want := exported(t, db), exported(t, fresh); got != want || !strings.Contains(want, `"Jon"`) {
		t.Errorf("after undo:\n%s\nwant\n%s", got, want)
	}
}
