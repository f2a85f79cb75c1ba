package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// contextThatEnds ends with the next call of the model.
func contextThatEnds(t *testing.T, m *fakeModel) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	m.hook = func(context.Context, *llm.Request) (llm.Response, bool, error) {
		cancel()
		return llm.Response{}, true, context.Canceled
	}
	return ctx, cancel
}

// graphOf inserts texts as documents a, b, … and returns a view of the graph.
func graphOf(t *testing.T, texts ...string) (*View, *DB) {
	t.Helper()
	db := opened(t, "store", testOptions(&fakeModel{}))
	for i, text := range texts {
		inserted(t, db, Document{ID: string(rune('a' + i)), Text: text})
	}
	v := db.View()
	t.Cleanup(v.Close)
	return v, db
}

func TestMerging(t *testing.T) {
	for _, tt := range []struct {
		name   string
		texts  []string
		entity string // looked up
		want   Entity
	}{
		{"one name, two types: the vote decides",
			[]string{"@e|Washington|person|A president.", "@e|Washington|place|A city.", "@e|Washington|place|A state."},
			"Washington", Entity{Type: "place", Fragments: []string{"A president.", "A city.", "A state."}, Sources: []string{"a#0", "b#0", "c#0"}}},
		{"a tied vote: the first type",
			[]string{"@e|X|person|1.", "@e|X|place|2."},
			"X", Entity{Type: "person", Fragments: []string{"1.", "2."}, Sources: []string{"a#0", "b#0"}}},
		{"two of three",
			[]string{"@e|X|organization|1.", "@e|X|person|2.", "@e|X|person|3."},
			"X", Entity{Type: "person", Fragments: []string{"1.", "2.", "3."}, Sources: []string{"a#0", "b#0", "c#0"}}},
		{"the same description twice stands once",
			[]string{"@e|X|t|Same.", "@e|X|t|Same.\n@e|Y|t|y"},
			"X", Entity{Type: "t", Fragments: []string{"Same."}, Sources: []string{"a#0", "b#0"}}},
		{"an end that was never extracted",
			[]string{"@r|X|Y|k|X knows Y.", "@r|Y|Z|k|Y met Z last."},
			"Y", Entity{Type: "UNKNOWN", Fragments: []string{"X knows Y."}, Sources: []string{"a#0", "b#0"}, Degree: 2}},
		{"an end that another document extracts",
			[]string{"@r|X|Y|k|X knows Y.", "@e|Y|person|Y herself."},
			"Y", Entity{Type: "person", Fragments: []string{"Y herself."}, Sources: []string{"a#0", "b#0"}, Degree: 1}},
		{"the first of several types", []string{"@e|X|organization, company|1."},
			"X", Entity{Type: "organization", Fragments: []string{"1."}, Sources: []string{"a#0"}}},
		{"a quoted part of a name", []string{`@e|Danh mục "bài toán lớn"|t|1.`},
			`Danh mục "bài toán lớn"`, Entity{Type: "t", Fragments: []string{"1."}, Sources: []string{"a#0"}}},
		{"a self loop is no relation", []string{"@e|X|t|1.\n@r|X|X|k|Itself."},
			"X", Entity{Type: "t", Fragments: []string{"1."}, Sources: []string{"a#0"}}},
		{"full-width letters are the same name", []string{"@e|ＡＢＣ|t|1.", "@e|ABC|t|2."},
			"ＡＢＣ", Entity{Type: "t", Fragments: []string{"1.", "2."}, Sources: []string{"a#0", "b#0"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, db := graphOf(t, tt.texts...)
			e, err := v.Entity(tt.entity)
			if err != nil {
				t.Fatalf("%v\n%s", err, exported(t, db))
			}
			if e.Type != tt.want.Type || e.Degree != tt.want.Degree || !slices.Equal(e.Fragments, tt.want.Fragments) || !slices.Equal(e.Sources, tt.want.Sources) {
				t.Errorf("got %+v\nwant %+v", *e, tt.want)
			}
			if e.Description != strings.Join(e.Fragments, "<SEP>") {
				t.Errorf("description %q", e.Description)
			}
			for _, mode := range []Mode{Local, Hybrid} {
				r := retrieved(t, db, Query{Text: tt.entity, Mode: mode, LowLevel: []string{tt.entity + " " + e.Description}, CosineThreshold: -1})
				if !slices.Contains(names(r), e.Name) {
					t.Errorf("a %s search does not find it: %v", mode, names(r))
				}
			}
			sound(t, db)
		})
	}
}

func TestMergingRelations(t *testing.T) {
	for _, tt := range []struct {
		name  string
		texts []string
		want  Relation
	}{
		{"one more document, one more weight", []string{"@r|A|B|k|1.", "@r|A|B|k|2."},
			Relation{Weight: 2, Keywords: []string{"k"}, Fragments: []string{"1.", "2."}, Sources: []string{"a#0", "b#0"}}},
		{"either direction is the same relation", []string{"@r|B|A|x|1.", "@r|A|B|y|2."},
			Relation{Weight: 2, Keywords: []string{"x", "y"}, Fragments: []string{"1.", "2."}, Sources: []string{"a#0", "b#0"}}},
		{"keywords are split, trimmed, distinct and sorted", []string{"@r|A|B|z, a ,z，b|1.", "@r|A|B|a|1."},
			Relation{Weight: 2, Keywords: []string{"a", "b", "z"}, Fragments: []string{"1."}, Sources: []string{"a#0", "b#0"}}},
		{"a number is no weight", []string{"@r|A|B|count|42"},
			Relation{Weight: 1, Keywords: []string{"count"}, Fragments: []string{"42"}, Sources: []string{"a#0"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, db := graphOf(t, tt.texts...)
			for _, ends := range [][2]string{{"A", "B"}, {"B", "A"}} {
				r, err := v.Relation(ends[0], ends[1])
				if err != nil {
					t.Fatal(err)
				}
				if r.Src != "A" || r.Tgt != "B" || r.Weight != tt.want.Weight || !slices.Equal(r.Keywords, tt.want.Keywords) ||
					!slices.Equal(r.Fragments, tt.want.Fragments) || !slices.Equal(r.Sources, tt.want.Sources) {
					t.Errorf("got %+v\nwant %+v", *r, tt.want)
				}
			}
			sound(t, db)
		})
	}
	v, _ := graphOf(t, "@e|A|t|1.\n@e|B|t|2.")
	if _, err := v.Relation("A", "B"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no relation: %v", err)
	}
}

// What two documents share stays when one goes, and says only what the other
// said.
func TestDeletingOneOfTwoDocumentsThatShare(t *testing.T) {
	_, db := graphOf(t,
		"@e|E|person|E of a.\n@e|Only|t|Of a.\n@r|E|F|one|From a.\n@r|E|Only|k|Gone with a.",
		"@e|E|place|E of b.\n@r|E|F|two|From b.")
	if _, err := db.DeleteDocuments(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	v := db.View()
	defer v.Close()
	e, err := v.Entity("E")
	if err != nil || e.Type != "place" || e.Description != "E of b." || !slices.Equal(e.Sources, []string{"b#0"}) || e.Degree != 1 {
		t.Errorf("%+v %v", e, err)
	}
	f, err := v.Entity("F")
	if err != nil || f.Type != "UNKNOWN" || f.Description != "From b." {
		t.Errorf("%+v %v", f, err)
	}
	r, err := v.Relation("E", "F")
	if err != nil || r.Weight != 1 || r.Description != "From b." || !slices.Equal(r.Keywords, []string{"two"}) {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := v.Entity("Only"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an entity of the deleted document: %v", err)
	}
	if c := v.Counts(); c.Documents != 1 || c.Chunks != 1 || c.Entities != 2 || c.Relations != 1 {
		t.Errorf("%+v", c)
	}
	hits := retrieved(t, db, Query{Text: "of a gone with only", Mode: Mix, LowLevel: []string{"only of a"}, HighLevel: []string{"gone with a"}, CosineThreshold: -1})
	if strings.Contains(hits.Context, "of a") || strings.Contains(hits.Context, "a#0") || strings.Contains(hits.Context, "Only") {
		t.Errorf("retrieved:\n%s", hits.Context)
	}
	sound(t, db)
}

func TestADocumentWithNothingToExtract(t *testing.T) {
	_, db := graphOf(t, "No records here.")
	if got := exported(t, db); got != "" {
		t.Errorf("%s", got)
	}
	if r := retrieved(t, db, Query{Text: "records", Mode: Naive}); !r.Found {
		t.Error("its passage is not found")
	}
}
