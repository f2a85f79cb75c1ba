package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/llm"
)

// named is an embedder that is known by name and dimension and cannot embed:
// what a store is opened with when its model is elsewhere.
func named(dim int) *words {
	return &words{name: "model-of-the-store", dim: dim, hook: func([]string, [][]float32) ([][]float32, error) {
		return nil, errors.New("there is no model")
	}}
}

// importOptions are those of a store in memory whose models are counted and
// must not be asked.
func importOptions(m *fakeModel, dim int) Options {
	o := testOptions(m)
	o.Embedder = named(dim)
	return o
}

func importRAG(t testing.TB, db *DB, dir string, o LightRAGImport) *ImportReport {
	t.Helper()
	o.TempDir = t.TempDir()
	rep, err := db.ImportLightRAG(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(o.TempDir)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
	return rep
}

// replayed is a store into which the documents of s were inserted with the
// answers that its chunks have.
func (s *ragStore) replayed(t testing.TB) *DB {
	t.Helper()
	r := &replayer{lines: make(map[string]*replayLine)}
	var docs []Document
	for _, d := range s.docs {
		doc := Document{ID: d.id, Path: d.path}
		for i := range d.chunks {
			c := &d.chunks[i]
			r.lines[c.text] = &replayLine{Content: c.text, Extract: c.first, Glean: &c.glean}
			doc.Chunks = append(doc.Chunks, Chunk{Order: c.order, Content: c.text})
		}
		docs = append(docs, doc)
	}
	o := testOptions(r)
	o.MaxExtractTokens = -1
	db := opened(t, "store", o)
	inserted(t, db, docs...)
	return db
}

func (r *ImportReport) kinds() map[string]int {
	out := make(map[string]int)
	for _, i := range r.Issues {
		out[i.Kind] = i.Count
	}
	return out
}

// differences are kinds of issues that say that the store differs from the
// graph file.
var differences = []string{
	"type differs", "weight differs", "description differs", "description summarised", "degree differs", "sources more", "sources fewer",
	"keywords differ", "missing in the store",
}

func TestImportFromAnswersGivesWhatInsertGives(t *testing.T) {
	s := someStore(3, 5, 25, 7)
	want := exported(t, s.replayed(t))
	for _, form := range []string{formNano, form13, form15} {
		t.Run(form, func(t *testing.T) {
			m := &fakeModel{}
			db := opened(t, "store", importOptions(m, s.dim))
			dir := s.write(t, form)
			rep := importRAG(t, db, dir, LightRAGImport{})
			if rep.Documents != 3 || rep.Chunks != 15 || rep.Replayed != 15 || rep.Answers != 30 || rep.FromRows != 0 {
				t.Errorf("report: %+v", rep)
			}
			if rep.Entities != len(s.nodes) || rep.Relations != len(s.edges) || rep.Unquoted != (form == formNano) {
				t.Errorf("report: %+v", rep)
			}
			for _, kind := range differences {
				if rep.Issue(kind) > 0 {
					t.Errorf("%s: %+v", kind, rep.Issues)
				}
			}
			if got := exported(t, db); got != want {
				t.Errorf("the graph differs from that of the same answers\n%s", firstDifference(got, want))
			}
			if all := len(s.nodes) + len(s.edges) + 15; rep.Vectors != all || rep.VectorsMissing != 0 {
				t.Errorf("%d vectors, %d missing; want %d, 0", rep.Vectors, rep.VectorsMissing, all)
			}
			if n, err := db.store.StaleCount(); err != nil || n != rep.VectorsStale {
				t.Errorf("%d stale, want the %d of another text (%v)", n, rep.VectorsStale, err)
			}
			sound(t, db)

			again := importRAG(t, db, dir, LightRAGImport{})
			if again.Documents != 0 || again.Unchanged != 3 || again.Answers != 0 || again.Vectors != 0 {
				t.Errorf("the second import is not idle: %+v", again)
			}
			if got := exported(t, db); got != want {
				t.Error("the second import changed something")
			}
			sound(t, db)
			if len(m.calls) > 0 {
				t.Errorf("%d model calls", len(m.calls))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func TestImportFromRowsKeepsTheGraph(t *testing.T) {
	s := someStore(3, 5, 25, 8)
	for _, form := range []string{formNano, form13, form15} {
		t.Run(form, func(t *testing.T) {
			db := opened(t, "store", importOptions(&fakeModel{}, s.dim))
			rep := importRAG(t, db, s.write(t, form, answersFile), LightRAGImport{})
			if rep.Replayed != 0 || rep.FromRows == 0 {
				t.Errorf("report: %+v", rep)
			}
			for _, kind := range differences {
				if rep.Issue(kind) > 0 {
					t.Errorf("%s: %+v", kind, rep.Issues)
				}
			}
			v := db.View()
			defer v.Close()
			if c := v.Counts(); int(c.Entities) != len(s.nodes) || int(c.Relations) != len(s.edges) {
				t.Errorf("%+v, want %d entities, %d relations", c, len(s.nodes), len(s.edges))
			}
			for _, n := range s.nodes {
				e, err := v.Entity(n.name)
				if err != nil {
					t.Fatal(err)
				}
				if !sameSet(e.Fragments, n.texts) || e.Type != n.kind || len(e.Sources) != len(n.sources) {
					t.Errorf("%+v\nwant %+v", e, n)
				}
			}
			for _, x := range s.edges {
				e, err := v.Relation(x.src, x.tgt)
				if err != nil {
					t.Fatal(err)
				}
				if !sameSet(e.Fragments, x.texts) || e.Weight != x.weight || !slices.Equal(e.Keywords, x.keywords) || len(e.Sources) != len(x.sources) {
					t.Errorf("%+v\nwant %+v", e, x)
				}
			}
			sound(t, db)
		})
	}
}

func TestADeletedImportedDocumentWasNeverThere(t *testing.T) {
	full := someStore(4, 4, 20, 9)
	rest := &ragStore{docs: slices.Concat(full.docs[:1], full.docs[2:]), embed: full.embed, dim: full.dim}
	rest.graphOf()
	for _, form := range []string{formNano, form13, form15} {
		t.Run(form, func(t *testing.T) {
			m := &fakeModel{}
			db := opened(t, "store", importOptions(m, full.dim))
			importRAG(t, db, full.write(t, form), LightRAGImport{})
			if rep, err := db.DeleteDocuments(t.Context(), full.docs[1].id); err != nil || len(rep.Deleted) != 1 {
				t.Fatalf("%+v %v", rep, err)
			}
			never := opened(t, "store", importOptions(m, full.dim))
			importRAG(t, never, rest.write(t, form), LightRAGImport{})
			if got, want := exported(t, db), exported(t, never); got != want {
				t.Errorf("what is left differs\n%s", firstDifference(got, want))
			}
			if len(m.calls) > 0 {
				t.Errorf("%d model calls", len(m.calls))
			}
			sound(t, db)
		})
	}
}

// TestImportedAnswersAreCached indexes the text of an imported chunk again.
func TestImportedAnswersAreCached(t *testing.T) {
	s := someStore(2, 3, 10, 10)
	m := &fakeModel{}
	o := importOptions(m, s.dim)
	db := opened(t, "store", o)
	importRAG(t, db, s.write(t, form15), LightRAGImport{})
	if _, err := db.DeleteDocuments(t.Context(), s.docs[0].id, s.docs[1].id); err != nil {
		t.Fatal(err)
	}
	db.opts.Embedder = &words{name: "model-of-the-store", dim: s.dim}
	doc := Document{ID: "again"}
	for _, c := range s.docs[0].chunks {
		doc.Chunks = append(doc.Chunks, Chunk{Order: c.order, Content: c.text})
	}
	rep := inserted(t, db, doc)
	if len(m.calls) > 0 || rep.Cached != 6 {
		t.Errorf("%d model calls, %d cached", len(m.calls), rep.Cached)
	}
}

// TestEveryFileMayBeMissing leaves files out one by one.
func TestEveryFileMayBeMissing(t *testing.T) {
	s := someStore(2, 3, 12, 11)
	for _, name := range lightragFiles {
		for _, how := range []string{"missing", "empty"} {
			t.Run(name+" "+how, func(t *testing.T) {
				dir := s.write(t, form15, name)
				if how == "empty" {
					if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				db := opened(t, "store", importOptions(&fakeModel{}, s.dim))
				rep := importRAG(t, db, dir, LightRAGImport{})
				if i := slices.IndexFunc(rep.Files, func(f ImportFile) bool { return f.Name == name }); i < 0 || rep.Files[i].Note != how {
					t.Errorf("files: %+v", rep.Files)
				}
				v := db.View()
				defer v.Close()
				c := v.Counts()
				if int(c.Entities) != len(s.nodes) || int(c.Relations) != len(s.edges) || c.Documents != 2 || c.Chunks != 6 {
					t.Errorf("%+v; %v", c, rep.kinds())
				}
				sound(t, db)
			})
		}
	}
}

func TestImportWithoutChunkTexts(t *testing.T) {
	s := someStore(2, 3, 12, 12)
	m := &fakeModel{}
	db := opened(t, "store", importOptions(m, s.dim))
	rep := importRAG(t, db, s.write(t, form13, textChunksFile, chunkVectorsFile), LightRAGImport{})
	v := db.View()
	c := v.Counts()
	v.Close()
	// Both documents, cut anew, and one that stands for the six lost chunks.
	if c.Documents != 3 || c.Chunks != 2+6 || int(c.Entities) != len(s.nodes) || int(c.Relations) != len(s.edges) {
		t.Errorf("%+v; %v", c, rep.kinds())
	}
	if rep.Issue("chunks cut anew") != 2 || rep.Issue("source unknown") == 0 {
		t.Errorf("issues: %v", rep.kinds())
	}
	_, chunks, err := db.Document(unknownSourcesID)
	if err != nil || len(chunks) != 6 || !strings.Contains(chunks[0].Content, "ENTITY") {
		t.Errorf("%+v %v", chunks, err)
	}
	sound(t, db)
	if len(m.calls) != 0 {
		t.Error("a model was asked")
	}
}

func TestImportOfWorkspaces(t *testing.T) {
	s := someStore(1, 2, 6, 13)
	inner := s.write(t, form15)
	root := t.TempDir()
	if err := os.Rename(inner, filepath.Join(root, "books")); err != nil {
		t.Fatal(err)
	}
	db := opened(t, "store", importOptions(&fakeModel{}, s.dim))
	if rep := importRAG(t, db, root, LightRAGImport{}); rep.Workspace != "books" || rep.Documents != 1 {
		t.Errorf("%+v", rep)
	}
	if err := os.CopyFS(filepath.Join(root, "films"), os.DirFS(filepath.Join(root, "books"))); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ImportLightRAG(t.Context(), root, LightRAGImport{}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "books, films") {
		t.Errorf("two workspaces: %v", err)
	}
	if rep := importRAG(t, db, root, LightRAGImport{Workspace: "films"}); rep.Unchanged != 1 {
		t.Errorf("%+v", rep)
	}
	for _, o := range []LightRAGImport{{Workspace: "../books"}, {Workspace: "a/b"}} {
		if _, err := db.ImportLightRAG(t.Context(), root, o); !errors.Is(err, ErrInvalid) {
			t.Errorf("workspace %q: %v", o.Workspace, err)
		}
	}
	if _, err := db.ImportLightRAG(t.Context(), t.TempDir(), LightRAGImport{}); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), graphFile) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := db.ImportLightRAG(t.Context(), filepath.Join(root, "no"), LightRAGImport{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := db.ImportLightRAG(t.Context(), filepath.Join(root, "books", graphFile), LightRAGImport{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a file: %v", err)
	}
}

// TestInterruptedImportGoesOn fails the disk in the middle.
func TestInterruptedImportGoesOn(t *testing.T) {
	s := someStore(40, 2, 60, 14)
	dir := s.write(t, form15)
	whole := opened(t, "store", importOptions(&fakeModel{}, s.dim))
	importRAG(t, whole, dir, LightRAGImport{})
	want := exported(t, whole)

	fs := vfs.NewMem()
	for _, stop := range []int{1, 12, 12} {
		o := importOptions(&fakeModel{}, s.dim)
		o.Storage.FS = fs
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		o.Progress = func(Progress) {
			if n++; n == stop {
				cancel()
			}
		}
		db, err := Open("store", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ImportLightRAG(ctx, dir, LightRAGImport{}); err == nil {
			t.Fatal("the import was not interrupted")
		}
		cancel()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	o := importOptions(&fakeModel{}, s.dim)
	o.Storage.FS = fs
	db := opened(t, "store", o)
	rep := importRAG(t, db, dir, LightRAGImport{})
	if rep.Unchanged == 0 || rep.Documents == 0 || rep.Documents+rep.Unchanged != 40 {
		t.Errorf("%+v", rep)
	}
	if got := exported(t, db); got != want {
		t.Errorf("the continued import differs\n%s", firstDifference(got, want))
	}
	if n, _ := db.store.StaleCount(); n != rep.VectorsStale && rep.VectorsMissing != 0 {
		t.Errorf("%d stale, %+v", n, rep)
	}
	sound(t, db)
}

// TestQuestionsToAnImportedStore asks with a model for the keywords and the
// answer.
func TestQuestionsToAnImportedStore(t *testing.T) {
	s := someStore(3, 4, 20, 15)
	m := &fakeModel{}
	o := importOptions(m, s.dim)
	asked := 0
	o.Embedder = &words{name: "model-of-the-store", dim: s.dim, hook: func(_ []string, v [][]float32) ([][]float32, error) { asked++; return v, nil }}
	fs := o.Storage.FS
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	importRAG(t, db, s.write(t, form15), LightRAGImport{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.Storage.FS = fs
	db = opened(t, "store", o)
	if len(m.calls)+asked > 0 {
		t.Errorf("%d completions and %d embeddings by import and opening", len(m.calls), asked)
	}
	res, err := db.Query(t.Context(), Query{Text: "What is said of entity 101?", CosineThreshold: -1})
	if err != nil || !res.Found {
		t.Fatalf("%+v %v", res, err)
	}
	if len(m.calls) != 2 || m.count(llm.TaskKeywords) != 1 || m.count(llm.TaskAnswer) != 1 || asked != 1 {
		t.Errorf("%d completions, %d embeddings", len(m.calls), asked)
	}
}
