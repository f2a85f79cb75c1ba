package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// must returns the report of a change that must succeed.
func must(t testing.TB) func(*CurationReport, error) *CurationReport {
	return func(rep *CurationReport, err error) *CurationReport {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
}

func ptr[T any](v T) *T { return &v }

// couple is a store with two spellings of one person.
func couple(t testing.TB, o Options) *DB {
	db := opened(t, "store", o)
	inserted(t, db,
		doc("one", "@e|Jon|person|Jon of one.", "@e|City|place|A city.", "@r|Jon|City|home|Jon lives there."),
		doc("two", "@e|Jon Marquez|writer|Jon Marquez of two.", "@r|Jon Marquez|City|work|He works there.", "@r|Jon|Jon Marquez|same|They are one."))
	return db
}

func TestMergeIsFoundByBothNames(t *testing.T) {
	o := testOptions(&fakeModel{})
	db := couple(t, o)
	before := exported(t, db)
	rep := must(t)(db.MergeEntities(t.Context(), []string{" Jon "}, "Jon Marquez", MergeOptions{}))
	if rep.Change != 1 || rep.Stale != 0 || rep.Gone.Entities != 1 || rep.Gone.Relations != 2 || rep.Entity == nil || rep.Entity.Degree != 1 ||
		rep.Entity.Description != "Jon of one.<SEP>Jon Marquez of two." || fmt.Sprint(rep.Entity.Aliases) != "[Jon]" {
		t.Fatalf("%+v %+v", rep, rep.Entity)
	}
	v := db.View()
	e, err := v.Entity("Jon")
	if err != nil || e.Name != "Jon Marquez" || fmt.Sprint(e.Sources) != "[one#0 two#0]" {
		t.Fatalf("%+v, %v", e, err)
	}
	r, err := v.Relation("City", "Jon")
	if err != nil || r.Tgt != "Jon Marquez" || r.Weight != 2 || fmt.Sprint(r.Keywords) != "[home work]" {
		t.Fatalf("%+v, %v", r, err)
	}
	v.Close()
	got, err := db.Retrieve(t.Context(), Query{Text: "q", Mode: Local, LowLevel: []string{"Jon"}, CosineThreshold: -1})
	if err != nil || len(got.Entities) != 2 || got.Entities[0].Name != "Jon Marquez" {
		t.Fatalf("%+v, %v", got, err)
	}
	// A filter sees what its document says of any name.
	got, err = db.Retrieve(t.Context(), Query{Text: "q", Mode: Local, LowLevel: []string{"Jon"}, CosineThreshold: -1, Documents: []string{"one"}})
	if err != nil || len(got.Entities) != 2 || got.Entities[0].Description != "Jon of one." || len(got.Relations) != 1 || got.Relations[0].Weight != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	inserted(t, db, doc("three", "@e|Jon|person|Jon of three."))
	must(t)(db.Undo(t.Context(), rep.Change))
	sound(t, db)
	if _, err := db.DeleteDocuments(t.Context(), "three"); err != nil {
		t.Fatal(err)
	}
	if after := exported(t, db); after != before {
		t.Fatalf("after undo\n%s\nbefore the merge\n%s", after, before)
	}
	changes, err := db.Changes()
	if err != nil || len(changes) != 1 || changes[0].Kind != "merge" || changes[0].Undone == nil || changes[0].CanUndo || fmt.Sprint(changes[0].Names) != "[Jon Jon Marquez]" {
		t.Fatalf("%+v, %v", changes, err)
	}
}

func TestMergeReportsWhatAnAliasStandsFor(t *testing.T) {
	db := couple(t, testOptions(&fakeModel{}))
	must(t)(db.RenameEntity(t.Context(), "City", "Town", false))
	must(t)(db.MergeEntities(t.Context(), []string{"Jon"}, "Jon Marquez", MergeOptions{TypeBy: MergeKeepFirst}))
	rep := must(t)(db.MergeEntities(t.Context(), []string{"City"}, "Jon", MergeOptions{Description: ptr("All in one.")}))
	if fmt.Sprint(rep.Resolved) != "map[City:Town Jon:Jon Marquez]" || rep.Entity.Name != "Jon Marquez" || rep.Entity.Type != "writer" ||
		rep.Entity.Description != "All in one." || fmt.Sprint(rep.Entity.Curated) != "[type description]" || rep.Entity.Degree != 0 {
		t.Fatalf("%+v %+v", rep, rep.Entity)
	}
	sound(t, db)
}

func TestCurationErrors(t *testing.T) {
	db := couple(t, testOptions(&fakeModel{}))
	ctx := t.Context()
	must(t)(db.DeleteEntities(ctx, "City"))
	for name, c := range map[string]struct {
		want error
		call func() (*CurationReport, error)
	}{
		"blank name": {ErrInvalid, func() (*CurationReport, error) { return db.CreateEntity(ctx, NewEntity{Name: "   "}) }},
		"there":      {ErrExists, func() (*CurationReport, error) { return db.CreateEntity(ctx, NewEntity{Name: "\"Jon\""}) }},
		"type":       {ErrInvalid, func() (*CurationReport, error) { return db.CreateEntity(ctx, NewEntity{Name: "X", Type: "a/b"}) }},
		"related": {ErrExists, func() (*CurationReport, error) {
			return db.CreateRelation(ctx, NewRelation{Src: "Jon", Tgt: "Jon Marquez"})
		}},
		"self loop":   {ErrInvalid, func() (*CurationReport, error) { return db.CreateRelation(ctx, NewRelation{Src: "Jon", Tgt: "Jon"}) }},
		"unknown end": {ErrNotFound, func() (*CurationReport, error) { return db.CreateRelation(ctx, NewRelation{Src: "Jon", Tgt: "nobody"}) }},
		"weight": {ErrInvalid, func() (*CurationReport, error) {
			return db.CreateRelation(ctx, NewRelation{Src: "Jon", Tgt: "X", Weight: -1})
		}},
		"weight whose sums overflow": {ErrInvalid, func() (*CurationReport, error) {
			return db.CreateRelation(ctx, NewRelation{Src: "Jon", Tgt: "X", Weight: 4e12})
		}},
		"edit of nothing": {ErrInvalid, func() (*CurationReport, error) { return db.EditEntity(ctx, "Jon", EntityEdit{}) }},
		"edit of nobody":  {ErrNotFound, func() (*CurationReport, error) { return db.EditEntity(ctx, "nobody", EntityEdit{Type: ptr("x")}) }},
		"field": {ErrInvalid, func() (*CurationReport, error) {
			return db.EditEntity(ctx, "Jon", EntityEdit{Reset: []Field{FieldWeight}})
		}},
		"deleted relation": {ErrNotFound, func() (*CurationReport, error) {
			return db.EditRelation(ctx, "Jon", "City", RelationEdit{Weight: ptr(2.0)})
		}},
		"rename onto": {ErrExists, func() (*CurationReport, error) { return db.RenameEntity(ctx, "Jon", "Jon Marquez", false) }},
		"strategy": {ErrInvalid, func() (*CurationReport, error) {
			return db.MergeEntities(ctx, []string{"Jon"}, "X", MergeOptions{TypeBy: "any"})
		}},
		"no source":        {ErrInvalid, func() (*CurationReport, error) { return db.MergeEntities(ctx, nil, "X", MergeOptions{}) }},
		"delete nobody":    {ErrNotFound, func() (*CurationReport, error) { return db.DeleteEntities(ctx, "Jon", "nobody") }},
		"undo of deletion": {ErrInvalid, func() (*CurationReport, error) { return db.Undo(ctx, 1) }},
		"undo of nothing":  {ErrNotFound, func() (*CurationReport, error) { return db.Undo(ctx, 77) }},
		"cancelled context": {context.Canceled, func() (*CurationReport, error) {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			return db.DeleteEntities(gone, "Jon")
		}},
	} {
		if rep, err := c.call(); !errors.Is(err, c.want) || rep != nil {
			t.Errorf("%s: %+v, %v, want %v", name, rep, err, c.want)
		}
	}
	if changes, err := db.Changes(); err != nil || len(changes) != 1 {
		t.Fatalf("%+v, %v", changes, err)
	}
}

func TestCuratedValuesAreKeptAndShown(t *testing.T) {
	o := testOptions(&fakeModel{})
	db := couple(t, o)
	ctx := t.Context()
	rep := must(t)(db.EditEntity(ctx, "Jon", EntityEdit{Type: ptr("Author"), Description: ptr(" By hand. ")}))
	if rep.Entity.Type != "author" || rep.Entity.Description != "By hand." || fmt.Sprint(rep.Entity.Curated) != "[type description]" {
		t.Fatalf("%+v", rep.Entity)
	}
	must(t)(db.EditRelation(ctx, "Jon", "City", RelationEdit{Weight: ptr(2.5), Keywords: &[]string{"b, a"}}))
	must(t)(db.CreateEntity(ctx, NewEntity{Name: "Editor", Type: "person", Description: "Nobody wrote of her."}))
	rep = must(t)(db.CreateRelation(ctx, NewRelation{Src: "Jon", Tgt: "Editor", Description: "She edits him.", Keywords: []string{"edits"}}))
	if r := rep.Relation; r == nil || r.Src != "Editor" || r.Weight != 1 || len(r.Sources) != 0 {
		t.Fatalf("%+v", rep)
	}
	d := doc("one", "@e|Jon|person|Other words.", "@r|Jon|City|new|Other words too.")
	d.Replace = true
	inserted(t, db, d)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = opened(t, "store", o)
	v := db.View()
	defer v.Close()
	e, err := v.Entity("Jon")
	if err != nil || e.Type != "author" || e.Description != "By hand." || e.Degree != 3 || fmt.Sprint(e.Fragments) != "[Other words.]" {
		t.Fatalf("%+v, %v", e, err)
	}
	r, err := v.Relation("Jon", "City")
	if err != nil || r.Weight != 2.5 || fmt.Sprint(r.Keywords) != "[a b]" || r.Description != "Other words too." || fmt.Sprint(r.Curated) != "[keywords weight]" {
		t.Fatalf("%+v, %v", r, err)
	}
	got, err := db.Retrieve(ctx, Query{Text: "q", Mode: Local, LowLevel: []string{"By hand"}, TopK: 1, CosineThreshold: -1})
	if err != nil || got.Entities[0].Name != "Jon" || got.Entities[0].Description != "By hand." {
		t.Fatalf("%+v, %v", got, err)
	}
	sound(t, db)
}

// A merge may make a curated text of what several documents say: that is no
// way past a filter.
func TestMergedTextDoesNotPassAFilter(t *testing.T) {
	db := tenants(t)
	must(t)(db.EditEntity(t.Context(), "Common", EntityEdit{Description: ptr("By hand.")}))
	must(t)(db.MergeEntities(t.Context(), []string{"Common"}, "Shared", MergeOptions{}))
	for i := range 4 {
		r, err := db.Retrieve(t.Context(), Query{Text: "shared", Mode: Mix, LowLevel: []string{"shared"}, HighLevel: []string{"kept"}, CosineThreshold: -1,
			Documents: []string{fmt.Sprint("tenant ", i)}})
		if err != nil {
			t.Fatal(err)
		}
		shown := fmt.Sprintf("%+v", *r)
		for j := range 4 {
			if word := fmt.Sprint("secret", j); strings.Contains(shown, word) != (i == j) {
				t.Errorf("document %d, %q: %s", i, word, shown)
			}
		}
	}
	sound(t, db)
}

func TestCurationWithTheEmbedderDown(t *testing.T) {
	down := false
	o := testOptions(&fakeModel{})
	o.Embedder = &words{hook: func(_ []string, vecs [][]float32) ([][]float32, error) {
		if down {
			return nil, fmt.Errorf("no embedder: %w", llm.ErrUnavailable)
		}
		return vecs, nil
	}}
	db := couple(t, o)
	down = true
	rep := must(t)(db.RenameEntity(t.Context(), "Jon", "John", false))
	if rep.Stale == 0 || rep.Entity.Name != "John" {
		t.Fatalf("%+v", rep)
	}
	down = false
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := db.store.StaleCount(); err != nil || n != 0 {
		t.Fatal(n, err)
	}
	sound(t, db)
}

// Entities without relations stay in listings and exports, and a rename of an
// entity that says something about itself loses nothing.
func TestIsolatedAndSelfNamedEntities(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("one", "@e|A|thing|Of A.", "@e|B|thing|Of B.", "@r|A|A|loop|Dropped.", "@r|A|B|k|Both."))
	must(t)(db.RenameEntity(t.Context(), "A", "C", false))
	must(t)(db.DeleteRelations(t.Context(), [2]string{"A", "B"}))
	if got := exported(t, db); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"name":"C"`) || !strings.Contains(got, `"name":"B"`) {
		t.Fatal(got)
	}
	sound(t, db)
}

func TestCurationBesideInserts(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("seed", "@e|Hub|thing|The hub.", "@e|Hob|thing|The hob."))
	done := make(chan error, 2)
	go func() {
		for i := range 8 {
			if _, err := db.Insert(context.Background(), doc(fmt.Sprint("d", i), "@e|Hub|thing|More.", fmt.Sprintf("@r|Hob|N%d|k|Knows.", i))); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	go func() {
		for range 8 {
			rep, err := db.MergeEntities(context.Background(), []string{"Hob"}, "Hub", MergeOptions{})
			if err == nil {
				_, err = db.Undo(context.Background(), rep.Change)
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	sound(t, db)
	v := db.View()
	defer v.Close()
	if e, err := v.Entity("Hob"); err != nil || e.Name != "Hob" || e.Degree != 8 {
		t.Fatalf("%+v, %v", e, err)
	}
}
