package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every document uses words that no other one does: secret0, secret1, …
func tenants(t *testing.T) *DB {
	o := testOptions(&fakeModel{})
	o.SummaryFragments = 2 // so that shared records are mixed
	db := opened(t, "store", o)
	var docs []Document
	for i := range 4 {
		docs = append(docs, doc(fmt.Sprint("tenant ", i),
			fmt.Sprintf("@e|Shared|%s|Shared thing, secret%d.", []string{"place", "place", "idea", "idea"}[i], i),
			fmt.Sprintf("@e|Own secret%d|thing|Only secret%d.", i, i),
			fmt.Sprintf("@r|Shared|Common|secret%d|Bound by secret%d.", i, i),
			fmt.Sprintf("@r|Shared|Own secret%d|key|Kept by secret%d.", i, i)))
	}
	inserted(t, db, docs...)
	return db
}

func TestNoWordOfAnotherDocumentPassesTheFilter(t *testing.T) {
	db := tenants(t)
	for _, allowed := range [][]int{{0}, {2}, {1, 3}, {0, 1, 2, 3}} {
		var ids []string
		for _, i := range allowed {
			ids = append(ids, fmt.Sprint("tenant ", i))
		}
		for _, mode := range []Mode{Naive, Local, Global, Hybrid, Mix} {
			for _, pick := range []PickMethod{PickVector, PickWeight} {
				r, err := db.Query(t.Context(), Query{
					Text: "shared thing", Mode: mode, LowLevel: []string{"shared thing own"}, HighLevel: []string{"bound key kept"},
					Documents: ids, CosineThreshold: -1, Pick: pick, NoCache: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				shown := fmt.Sprintf("%+v", *r)
				for i := range 4 {
					word := fmt.Sprint("secret", i)
					if want := slices.Contains(allowed, i); strings.Contains(shown, word) != want {
						t.Errorf("%s, documents %v: %q in the result is %v:\n%s", mode, allowed, word, !want, shown)
					}
				}
				for _, e := range r.Entities {
					if e.Name == "Shared" && len(allowed) == 1 && e.Type != []string{"place", "place", "idea", "idea"}[allowed[0]] {
						t.Errorf("documents %v: type %q", allowed, e.Type)
					}
					if e.Name == "Common" && e.Type != "UNKNOWN" {
						t.Errorf("documents %v: type %q of an implied entity", allowed, e.Type)
					}
				}
				for _, e := range r.Relations {
					if e.Src == "Common" && (int(e.Weight) != len(allowed) || len(e.Keywords) != len(allowed)) {
						t.Errorf("documents %v: %+v", allowed, e)
					}
				}
			}
		}
	}
	if _, err := db.Retrieve(t.Context(), Query{Text: "a", Documents: []string{"nobody"}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown document: %v", err)
	}
}

func TestFilterByType(t *testing.T) {
	db := tenants(t)
	q := Query{Text: "shared", Mode: Hybrid, LowLevel: []string{"shared own"}, HighLevel: []string{"bound key"}, CosineThreshold: -1}
	in := func(types ...string) *Result { q.EntityTypes = types; return retrieved(t, db, q) }
	for _, tt := range []struct {
		types     []string
		entities  int
		relations int
	}{
		{[]string{"thing"}, 4, 0},
		{[]string{"Thing", "PLACE"}, 5, 4},
		{[]string{"unknown"}, 1, 0},
		{[]string{"place", "UNKNOWN"}, 2, 1},
		{[]string{"nothing"}, 0, 0},
	} {
		r := in(tt.types...)
		if len(r.Entities) != tt.entities || len(r.Relations) != tt.relations {
			t.Errorf("%q: %v %v", tt.types, names(r), pairs(r))
		}
	}
	// The type is that of the allowed documents.
	q.Documents = []string{"tenant 2"}
	if r := in("idea"); !slices.Contains(names(r), "Shared") {
		t.Errorf("type under a filter: %v", names(r))
	}
	if r := in("place"); len(r.Entities) != 0 {
		t.Errorf("type of other documents: %v", names(r))
	}
}

func TestAPendingDocumentAllowsNothing(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db, doc("done", "@e|Alpha|t|One."))
	m.hook = answerTask(0, "") // unused
	ctx, cancel := contextThatEnds(t, m)
	defer cancel()
	if _, err := db.Insert(ctx, doc("waiting", "@e|Beta|t|Two.")); err == nil {
		t.Fatal("not interrupted")
	}
	r, err := db.Retrieve(t.Context(), Query{Text: "alpha", LowLevel: []string{"alpha"}, Documents: []string{"waiting"}, CosineThreshold: -1})
	if err != nil || r.Found {
		t.Errorf("%v %+v", err, r)
	}
}
