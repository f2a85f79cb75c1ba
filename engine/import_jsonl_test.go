package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// richOptions summarise early, so that small stores have summaries.
func richOptions(m llm.Completer) Options {
	o := testOptions(m)
	o.SummaryFragments = 3
	o.Embedder = &words{hook: untied}
	return o
}

// untied makes sure that no two texts are equally near to a question: hits with
// the same score come in the order of ids, which depends on who was faster.
func untied(texts []string, vecs [][]float32) ([][]float32, error) {
	for i, text := range texts {
		vecs[i][0] += float32(graphstore.TextHash(text)%10_000) / 50_000
	}
	return vecs, nil
}

// rich fills a store with one of everything that a store can hold.
func rich(t *testing.T, db *DB) {
	t.Helper()
	docs := corpus(14)
	for i := range docs {
		docs[i].Metadata = map[string]string{"number": fmt.Sprint(i), "quote": `"<&>"` + "\u2028"}
	}
	inserted(t, db, docs...)
	inserted(t, db, Document{ID: "pre chunked", Path: "book.txt", Chunks: []Chunk{
		{Order: 7, Path: "seven.txt", Content: "@e|Grace|person|Seventh.\n@r|Grace|Cobol|made|She made it.\n"},
		{Order: 2, Content: "@e|Grace|person|Second.\n@e|Grace|Admiral|Third, longer.\n@r|Cobol|Grace|made, of|Made by her.\n"},
		{Order: 9, Content: "Nothing in here. \ufeff \t"},
	}})
	if _, err := db.DeleteDocuments(t.Context(), docs[3].ID, docs[8].ID); err != nil {
		t.Fatal(err)
	}
	same := docs[5] // two documents of one text
	same.ID, same.Replace = docs[6].ID, true
	inserted(t, db, same)
	refuse := func(d Document) {
		rep, err := db.Insert(t.Context(), d)
		if err != nil || rep.Documents[0].Status != StatusFailed {
			t.Fatalf("%+v, %v", rep.Documents, err)
		}
	}
	refuse(doc("failed", "REFUSE"))
	rep, err := db.Insert(t.Context(), doc("garbled", "GARBLE"))
	if err != nil || rep.Documents[0].FailedChunks != 1 {
		t.Fatalf("%+v, %v", rep.Documents, err)
	}
	next := doc(docs[5].ID, "REFUSE", "another text")
	next.Replace = true
	refuse(next)
	commitHub(t, db, 1)
	commitHub(t, db, 2) // its vector is of another text by now
	if _, err := db.Query(t.Context(), Query{Text: "Who made Cobol?"}); err != nil {
		t.Fatal(err)
	}
}

// refusing fails the documents that hold the word REFUSE, and has nothing to say
// about those that hold GARBLE.
func refusing() *fakeModel {
	return &fakeModel{hook: func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if strings.Contains(req.Input.Text, "REFUSE") {
			return llm.Response{}, false, errors.New("no answer")
		}
		if strings.Contains(req.Input.Text, "GARBLE") {
			return llm.Response{Text: "I would rather not."}, true, nil
		}
		return llm.Response{}, false, nil
	}}
}

func fullExportOf(t testing.TB, db *DB) string {
	t.Helper()
	v := db.View()
	defer v.Close()
	var b bytes.Buffer
	if err := v.ExportFull(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFullExportMakesAnEqualStore(t *testing.T) {
	o := richOptions(refusing())
	db := opened(t, "store", o)
	rich(t, db)
	want := fullExportOf(t, db)
	for _, kind := range []string{
		`"kind":"summary"`, `"status":"failed"`, `"kind":"answer"`, `"kind":"meta"`, `"keywords":["made","of"]`, `"cache_keys"`,
		`"kind":"vector","of":"chunk"`, `"kind":"vector","of":"entity"`, `"kind":"vector","of":"relation"`, `"path":"seven.txt"`, `"failure":`, `"calls":`,
	} {
		if !strings.Contains(want, kind) {
			t.Fatalf("the store has no %s:\n%s", kind, want)
		}
	}

	rep, err := ImportJSONL(t.Context(), "copy", strings.NewReader(want), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Differences) > 0 {
		t.Errorf("differences: %q", rep.Differences)
	}
	if rep.Documents != 18 || rep.Summaries == 0 || rep.Vectors == 0 || rep.Answers == 0 {
		t.Errorf("report %+v", rep)
	}
	m := refusing()
	o.Completer = m
	silent := &words{hook: func([]string, [][]float32) ([][]float32, error) { return nil, errors.New("asked to embed") }}
	o.Embedder = silent
	again := opened(t, "copy", o)
	if n := len(m.calls); n != 0 {
		t.Errorf("opening made %d calls", n)
	}
	sameText(t, fullExportOf(t, again), want)
	if exported(t, again) != exported(t, db) {
		t.Error("the plain exports differ")
	}
	sound(t, again)
	silent.hook = untied
	for _, q := range []string{"Grace made Cobol", "hub", "Town 3", "nothing of the kind"} {
		q := Query{Text: q, LowLevel: []string{q}, HighLevel: []string{q}}
		a, err := db.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Context != b.Context {
			t.Errorf("%q finds\n%s\nand\n%s", q.Text, a.Context, b.Context)
		}
	}
	// Both go on alike: ids, order and what is stale are the same.
	for _, db := range []*DB{db, again} {
		if err := db.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		inserted(t, db, doc("later", "@e|Grace|person|Fourth.", "@e|hub|place|Said later."))
		if _, err := db.DeleteDocuments(t.Context(), "pre chunked"); err != nil {
			t.Fatal(err)
		}
		sound(t, db)
	}
	if exported(t, again) != exported(t, db) {
		t.Error("the stores differ after the same changes")
	}
}

// sameText shows the first line that differs.
func sameText(t testing.TB, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d of %d (%d) is\n%s\nwant\n%s", i+1, len(g), len(w), g[i], w[i])
		}
	}
	t.Fatalf("%d lines, want %d", len(g), len(w))
}

// TestFullExportHoldsListedSources takes over documents whose relations do not
// imply sources of entities.
func TestFullExportHoldsListedSources(t *testing.T) {
	o := testOptions(&fakeModel{})
	db := opened(t, "store", o)
	reg, err := db.store.Register(t.Context(), []graphstore.NewDocument{{
		ID: "d", Chunks: []graphstore.NewChunk{{Text: "one"}, {Order: 1, Text: "two"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, _ := db.store.View()
	chunks, err := v.DocumentChunks(reg[0].Doc)
	v.Close()
	if err != nil {
		t.Fatal(err)
	}
	key := func(order, index int) format.FragmentKey {
		return format.FragmentKey{Doc: reg[0].Doc, Order: uint32(order), Index: uint16(index)}
	}
	p, err := db.store.Prepare(t.Context(), graphstore.Contribution{
		Doc: reg[0].Doc, ListedSources: true,
		Chunks:   []graphstore.ChunkContribution{{ID: chunks[0].ID}, {ID: chunks[1].ID, Order: 1}},
		Entities: []graphstore.EntityFragment{{Name: "A", Chunk: chunks[0].ID, Key: key(0, 0), Type: "x", Description: "a"}},
		Relations: []graphstore.RelationFragment{
			{Src: "A", Tgt: "B", Chunk: chunks[1].ID, Key: key(1, 0), Description: "ab", Weight: 1},
			{Src: "A", Tgt: "B", Chunk: chunks[1].ID, Key: key(1, 1), Description: "ab again", Weight: 2_500_000},
		},
	})
	if err == nil {
		_, err = db.store.Commit(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := fullExportOf(t, db)
	if !strings.Contains(want, `"listed_sources":true`) || !strings.Contains(want, `"weight":2.5}`) || !strings.Contains(want, `"weight":0.000001}`) {
		t.Error(want)
	}
	if _, err := ImportJSONL(t.Context(), "copy", strings.NewReader(want), o); err != nil {
		t.Fatal(err)
	}
	sameText(t, fullExportOf(t, opened(t, "copy", o)), want)
}

// knowsFields fails the test when row has other fields than those known.
func knowsFields(t *testing.T, row any, known string) {
	t.Helper()
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(row)) {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != known {
		t.Errorf("%T has the fields %s; the full export knows %s", row, got, known)
	}
}

// TestFullExportKnowsEveryField fails when a row gets a field: it must be
// exported and imported, or follow from what is.
func TestFullExportKnowsEveryField(t *testing.T) {
	for _, c := range []struct {
		row   any
		known string
	}{
		{format.Document{}, "ID Path Hash Status Generation Chunks Entities Relations Malformed Removed Failed Error Created Updated Metadata Calls PromptTokens CachedTokens CompletionTokens"},
		{format.Chunk{}, "ID Path Tokens Text"},
		{format.ChunkRow{}, "Doc Order VectorVersion LineTokens Keywords CacheKeys Malformed Failure"},
		{format.Fragment{}, "Class Chunk Type Description Keywords Weight Relation"},
		{format.Summary{}, "Last Input Model Text"},
		{format.Answer{}, "Text PromptTokens CachedTokens CompletionTokens Task Created"},
		{format.Identity{}, "Embedder Dim Checksum Tokenizer Created"},
		{graphstore.SummaryPolicy{}, "Fragments Tokens Join Model"},
	} {
		knowsFields(t, c.row, c.known)
	}
}

// broken returns a full export with its lines edited.
func broken(t testing.TB, full string, edit func(lines []string) []string) string {
	t.Helper()
	return strings.Join(edit(strings.Split(strings.TrimSuffix(full, "\n"), "\n")), "\n") + "\n"
}

// smallExport is a full export of a few lines of every kind.
func smallExport(t testing.TB) string {
	t.Helper()
	o := richOptions(&fakeModel{})
	o.Embedder = &words{dim: 4}
	db := opened(t, "store", o)
	inserted(t, db, doc("d", "@e|A|x|a", "@e|A|x|aa", "@e|A|x|aaa", "@r|A|B|k|They."))
	return fullExportOf(t, db)
}

func TestImportNamesTheLineAndTheField(t *testing.T) {
	full := smallExport(t)
	at := func(prefix string) int {
		i := 0
		for l := range strings.Lines(full) {
			if strings.HasPrefix(l, prefix) {
				return i
			}
			i++
		}
		t.Fatalf("no line begins with %s:\n%s", prefix, full)
		return 0
	}
	replace := func(prefix, old, new string) func([]string) []string {
		return func(l []string) []string {
			i := at(prefix)
			if !strings.Contains(l[i], old) {
				t.Fatalf("no %s in %s", old, l[i])
			}
			l[i] = strings.Replace(l[i], old, new, 1)
			return l
		}
	}
	drop := func(prefix string) func([]string) []string {
		return func(l []string) []string { return append(l[:at(prefix)], l[at(prefix)+1:]...) }
	}
	last := strings.Count(full, "\n")
	line := func(prefix string) int { return at(prefix) + 1 }
	const (
		store    = `{"kind":"store"`
		document = `{"kind":"document"`
		chunk    = `{"kind":"chunk"`
		fragment = `{"kind":"fragment","of":"entity"`
		related  = `{"kind":"fragment","of":"relation"`
		entity   = `{"kind":"entity"`
		summary  = `{"kind":"summary"`
		vector   = `{"kind":"vector","of":"entity"`
		chunkVec = `{"kind":"vector","of":"chunk"`
		answer   = `{"kind":"answer"`
		end      = `{"kind":"end"`
	)
	for name, c := range map[string]struct {
		edit  func([]string) []string
		line  int
		field string
	}{
		"no JSON":             {replace(chunk, `{`, `[`), line(chunk), ""},
		"not an object":       {func(l []string) []string { l[1] = `7`; return l }, 2, ""},
		"null":                {func(l []string) []string { l[1] = `null`; return l }, 2, "kind"},
		"no kind":             {replace(chunk, `"kind":"chunk",`, ``), line(chunk), "kind"},
		"unknown kind":        {replace(chunk, `"kind":"chunk"`, `"kind":"piece"`), line(chunk), "kind"},
		"no store line":       {drop(store), 1, "kind"},
		"two store lines":     {func(l []string) []string { return append(l[:1:1], l...) }, 2, "kind"},
		"newer version":       {replace(store, `"version":1`, `"version":2`), 1, "version"},
		"bad tokenizer":       {replace(store, `"chars4"`, `"words"`), 1, "tokenizer"},
		"bad dimension":       {replace(store, `"dim":4`, `"dim":70000`), 1, "dim"},
		"negative dimension":  {replace(store, `"dim":4`, `"dim":-4`), 1, "dim"},
		"unknown field":       {replace(chunk, `"tokens"`, `"token"`), line(chunk), "token"},
		"other case":          {replace(chunk, `"tokens"`, `"Tokens"`), line(chunk), "Tokens"},
		"missing field":       {replace(chunk, `"order":0,`, ``), line(chunk), "order"},
		"field twice":         {replace(chunk, `"order":0,`, `"order":0,"order":1,`), line(chunk), "order"},
		"wrong type":          {replace(chunk, `"order":0`, `"order":"0"`), line(chunk), "order"},
		"out of range":        {replace(fragment, `"pass":0`, `"pass":256`), line(fragment), "pass"},
		"bad hash":            {replace(document, `"hash":"`, `"hash":"zz`), line(document), "hash"},
		"bad status":          {replace(document, `"processed"`, `"done"`), line(document), "status"},
		"not committed":       {replace(document, `"committed":true`, `"committed":false`), line(document), "committed"},
		"blank id":            {replace(document, `"id":"d"`, `"id":" "`), line(document), "id"},
		"hostile path":        {replace(document, `"path":"d.md"`, `"path":"a\u0000"`), line(document), "path"},
		"another document":    {replace(chunk, `"doc":"d"`, `"doc":"e"`), line(chunk), "doc"},
		"no document":         {drop(document), line(document), "kind"},
		"no chunk":            {drop(chunk), line(chunkVec) - 1, "order"},
		"chunk of a fragment": {replace(fragment, `"order":0`, `"order":5`), line(fragment), "order"},
		"fragment of nothing": {replace(fragment, `"of":"entity"`, `"of":"chunk"`), line(fragment), "of"},
		"blank name":          {replace(fragment, `"name":"A"`, `"name":" "`), line(fragment), "name"},
		"two owners":          {replace(fragment, `"name":"A"`, `"name":"A","src":"B"`), line(fragment), "src"},
		"ends out of order":   {replace(related, `"src":"A","tgt":"B"`, `"src":"B","tgt":"A"`), line(related), "src"},
		"self loop":           {replace(related, `"tgt":"B"`, `"tgt":"A"`), line(related), "src"},
		"negative weight":     {replace(related, `"weight":1`, `"weight":-1`), line(related), "weight"},
		"seven decimals":      {replace(related, `"weight":1`, `"weight":1.0000001`), line(related), "weight"},
		"same key twice":      {func(l []string) []string { i := at(fragment); return append(l[:i+1:i+1], l[i:]...) }, line(document), ""},
		"unknown entity": {func(l []string) []string {
			i := at(entity)
			return append(l[:i:i], append([]string{strings.Replace(l[i], `"name":"A"`, `"name":"0"`, 1)}, l[i:]...)...)
		}, line(entity), ""},
		"entity twice":      {func(l []string) []string { i := at(entity); return append(l[:i+1:i+1], l[i:]...) }, line(entity) + 1, "kind"},
		"vector of another": {replace(vector, `"name":"A"`, `"name":"B"`), line(vector), "of"},
		"vector cut":        {replace(vector, `"data":"`, `"data":"AAAA`), line(vector), "data"},
		"vector not base64": {replace(vector, `"data":"`, `"data":"?`), line(vector), "data"},
		"vector of zeros": {func(l []string) []string {
			l[at(vector)] = `{"kind":"vector","of":"entity","name":"A","text_hash":"0000000000000001","data":"` + strings.Repeat("A", 22) + `=="}`
			return l
		}, line(vector), "data"},
		"vector without a text": {replace(vector, `"text_hash":"`, `"text_hash":"0000000000000000","x":"`), line(vector), "x"},
		"summary of nothing":    {replace(summary, `"doc":"d"`, `"doc":"e"`), line(entity), "summary"},
		"document late":         {func(l []string) []string { i := at(entity); return append(l[:i+1:i+1], l[1:]...) }, line(entity) + 1, "kind"},
		"answer key":            {replace(answer, `"key":"`, `"key":"0`), line(answer), "key"},
		"entity after answers":  {func(l []string) []string { l[at(end)] = l[at(entity)]; return l }, line(end), "kind"},
		"cut short":             {drop(end), last - 1, ""},
		"a line missing":        {drop(answer), last - 1, "lines"},
		"more after the end":    {func(l []string) []string { return append(l, l[1]) }, last + 1, "kind"},
		"not UTF-8":             {replace(chunk, `"content":"`, "\"content\":\"\xff"), line(chunk), ""},
		"empty":                 {func([]string) []string { return nil }, 1, ""},
		"plain export":          {func(l []string) []string { return l[at(entity):] }, 1, "kind"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(&fakeModel{})
			_, err := ImportJSONL(t.Context(), "copy", strings.NewReader(broken(t, full, c.edit)), o)
			var le *LineError
			if !errors.As(err, &le) || !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooNew) {
				t.Fatalf("error %v", err)
			}
			if le.Line != c.line || le.Field != c.field {
				t.Errorf("line %d, field %q, want line %d, field %q: %v", le.Line, le.Field, c.line, c.field, err)
			}
			if names, err := o.Storage.FS.List(""); err == nil && len(names) > 0 {
				t.Errorf("the import left %q", names)
			}
		})
	}
}

// TestImportNotesDifferences changes what is derived by hand.
func TestImportNotesDifferences(t *testing.T) {
	full := smallExport(t)
	edited := strings.Replace(full, `"description":"aaa","doc"`, "", 1)
	edited = strings.Replace(edited, `"type":"x","description":"aaa"`, `"type":"x","description":"changed"`, 1)
	if edited == full {
		t.Fatal(full)
	}
	o := testOptions(&fakeModel{})
	rep, err := ImportJSONL(t.Context(), "copy", strings.NewReader(edited), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Differences) != 2 || !strings.Contains(rep.Differences[1], `entity "A"`) {
		t.Errorf("%q", rep.Differences)
	}
	o.Embedder = &words{dim: 4}
	o.SummaryFragments = 0
	db := opened(t, "copy", o)
	sound(t, db)
}

func TestImportNeedsANewStore(t *testing.T) {
	full := smallExport(t)
	o := testOptions(&fakeModel{})
	o.Embedder = &words{dim: 4}
	if _, err := ImportJSONL(t.Context(), "copy", strings.NewReader(full), o); err != nil {
		t.Fatal(err)
	}
	_, err := ImportJSONL(t.Context(), "copy", strings.NewReader(full), o)
	if !errors.Is(err, ErrExists) {
		t.Errorf("the second import: %v", err)
	}
	stage, err := graphstore.Stage(o.Storage.FS, "other")
	if err != nil {
		t.Fatal(err)
	}
	_, err = ImportJSONL(t.Context(), "other", strings.NewReader(full), o)
	if !errors.Is(err, ErrLocked) {
		t.Errorf("an import beside another: %v", err)
	}
	if err := stage.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "empty")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Storage.FS = nil
	if _, err := ImportJSONL(t.Context(), dir+"/", strings.NewReader(full), o); err != nil {
		t.Errorf("into an empty directory: %v", err)
	}
	opened(t, dir, o)
}

// TestInterruptedImportLeavesNothing ends an import at every stage, by an
// error of the reader and by a cancelled context.
func TestInterruptedImportLeavesNothing(t *testing.T) {
	full := smallExport(t)
	lines := strings.SplitAfter(full, "\n")
	for n := 1; n < len(lines); n += 3 {
		mem := vfs.NewMem()
		o := testOptions(&fakeModel{})
		o.Storage.FS = mem
		ctx, cancel := context.WithCancel(t.Context())
		head := strings.NewReader(strings.Join(lines[:n], ""))
		readErr := errors.New("the pipe broke")
		_, err := ImportJSONL(ctx, "copy", io.MultiReader(head, readerFunc(func([]byte) (int, error) {
			if n%2 == 0 {
				cancel()
				return copy([]byte{}, ""), io.EOF
			}
			return 0, readErr
		})), o)
		cancel()
		if err == nil || n%2 == 1 && !errors.Is(err, readErr) {
			t.Errorf("after %d lines: %v", n, err)
		}
		if names, _ := mem.List(""); len(names) > 0 {
			t.Errorf("after %d lines there is %q", n, names)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestWeightsAreExact(t *testing.T) {
	for _, m := range []millionth{0, 1, 999_999, 1_000_000, 2_500_000, 1<<63 - 1} {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back millionth
		if err := json.Unmarshal(b, &back); err != nil || back != m {
			t.Errorf("%d became %s, then %d: %v", m, b, back, err)
		}
	}
}

func helpImport(args []string) error {
	_, err := ImportJSONL(context.Background(), args[0], os.Stdin, Options{})
	return err
}

// TestKilledImportLeavesNoStore kills a process that imports, half way.
func TestKilledImportLeavesNoStore(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	var docs []Document
	for i := range 7 {
		docs = append(docs, Document{ID: fmt.Sprint("long ", i), Chunks: []Chunk{{
			Content: fmt.Sprintf("@e|Word %d|noun|Said.\n", i) + strings.Repeat("and so on ", 50_000),
		}}})
	}
	inserted(t, db, docs...)
	full := fullExportOf(t, db)

	parent := t.TempDir()
	dir := filepath.Join(parent, "copy")
	cmd := helper(t, "import", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// When this returns all but what buffers hold has been read.
	if _, err := io.WriteString(in, full[:len(full)/2]); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if _, err := os.Stat(dir + ".unfinished"); err != nil {
		t.Fatalf("the import had not begun: %v", err)
	}
	o := testOptions(&fakeModel{})
	o.Storage.FS, o.MustExist = nil, true
	if _, err := Open(dir, o); !errors.Is(err, ErrNotFound) {
		t.Errorf("after the kill: %v", err)
	}
	if _, err := ImportJSONL(t.Context(), dir, strings.NewReader(full), o); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(parent); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	sameText(t, fullExportOf(t, opened(t, dir, o)), full)
}

// TestImportOnABrokenDisk fails every kind of operation once, at many moments.
func TestImportOnABrokenDisk(t *testing.T) {
	full := smallExport(t)
	for n := int64(0); ; n += 7 {
		mem := vfs.NewMem()
		var count atomic.Int64
		broken := errors.New("input/output error")
		o := testOptions(&fakeModel{})
		o.Embedder = &words{dim: 4}
		o.Storage.FS = errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, "copy") && count.Add(1) > n {
				return broken
			}
			return nil
		}))
		_, err := ImportJSONL(t.Context(), "copy", strings.NewReader(full), o)
		if err == nil {
			if n == 0 {
				t.Fatal("nothing was written")
			}
			return
		}
		if !strings.Contains(err.Error(), "input/output error") {
			t.Fatalf("after %d writes: %v", n, err)
		}
		o.Storage.FS, o.MustExist = mem, true
		db, err := Open("copy", o) // whole, or not there
		if err == nil {
			sameText(t, fullExportOf(t, db), full)
			sound(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !errors.Is(err, ErrNotFound) {
			t.Fatalf("after %d writes: %v", n, err)
		}
		if _, err := ImportJSONL(t.Context(), "copy", strings.NewReader(full), o); err != nil {
			t.Fatalf("after %d writes, once more: %v", n, err)
		}
	}
}
