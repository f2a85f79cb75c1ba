package engine

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// hubs returns names of entities, those with the most relations first.
func hubs(t *testing.T, db *DB) []string {
	t.Helper()
	v := db.View()
	defer v.Close()
	degree := make(map[string]int)
	var all []string
	v.EntityNames(func(name string, d int) bool {
		degree[name] = d
		all = append(all, name)
		return true
	})
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(degree[b]-degree[a], strings.Compare(a, b))
	})
	return all
}

// curateHubs lets somebody work on the best connected entities of a store:
// values set by hand, a merge and a rename that leave aliases, things made and
// removed, and changes that were taken back.
func curateHubs(t *testing.T, db *DB) (merge uint32) {
	t.Helper()
	names := hubs(t, db)
	do := func(rep *CurationReport, err error) uint32 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return rep.Change
	}
	ctx := t.Context()
	v := db.View()
	defer v.Close()
	var between *Relation
	if err := v.Relations(func(r *Relation) error {
		if between == nil && r.Src != names[0] && r.Tgt != names[0] && !slices.Contains(names[:8], r.Src) && !slices.Contains(names[:8], r.Tgt) {
			between = r
		}
		return nil
	}); err != nil || between == nil {
		t.Fatal(between, err)
	}
	do(db.EditEntity(ctx, names[0], EntityEdit{Type: ptr("role"), Description: ptr("What people say of it.")}))
	do(db.EditRelation(ctx, between.Src, between.Tgt, RelationEdit{Weight: ptr(2.5), Keywords: &[]string{"set by hand"}}))
	merge = do(db.MergeEntities(ctx, []string{names[1], names[2]}, "The Two", MergeOptions{}))
	do(db.RenameEntity(ctx, names[3], "Renamed by Hand", false))
	do(db.CreateEntity(ctx, NewEntity{Name: "Made by Hand", Type: "idea", Description: "Made."}))
	do(db.CreateRelation(ctx, NewRelation{Src: "Made by Hand", Tgt: names[0], Description: "By hand.", Keywords: []string{"k"}, Weight: 3}))
	do(db.DeleteEntities(ctx, names[4]))
	do(db.Undo(ctx, do(db.RenameEntity(ctx, names[5], "Taken Back", false))))
	do(db.Undo(ctx, do(db.MergeEntities(ctx, []string{names[6]}, names[7], MergeOptions{}))))
	return merge
}

// TestRecordedStoresGoRoundWithWhatPeopleDecided imports the recorded stores,
// works on them by hand, and makes stores of their full exports.
func TestRecordedStoresGoRoundWithWhatPeopleDecided(t *testing.T) {
	for _, c := range realStores {
		t.Run(c.name, func(t *testing.T) {
			dir := sharedData(t, "stores", c.name)
			m := &fakeModel{}
			o := importOptions(m, c.dim)
			o.Embedder = &words{name: "model-of-the-store", dim: c.dim, hook: untied}
			db := opened(t, "store", o)
			importRAG(t, db, dir, LightRAGImport{})
			plain := fullExportOf(t, db)
			merge := curateHubs(t, db)
			want := fullExportOf(t, db)
			for _, part := range []string{
				`{"kind":"alias"`, `{"kind":"override","of":"entity"`, `{"kind":"override","of":"relation"`, `{"kind":"curated","change"`, `"undone":`,
			} {
				if !strings.Contains(want, part) {
					t.Errorf("the export has no %s", part)
				}
			}
			for _, text := range []string{plain, want} {
				name := map[bool]string{true: "plain", false: "curated"}[text == plain]
				rep, err := ImportJSONL(t.Context(), name, strings.NewReader(text), o)
				if err != nil {
					t.Fatal(err)
				}
				if rep.Entities == 0 || len(rep.Differences) > 0 {
					t.Errorf("%s: %+v", name, rep)
				}
				again := opened(t, name, o)
				sameText(t, fullExportOf(t, again), text)
				sound(t, again)
				if text == plain {
					continue
				}
				for _, db := range []*DB{db, again} { // what was decided can be taken back in both
					if _, err := db.Undo(t.Context(), merge); err != nil {
						t.Fatal(err)
					}
					if err := db.Refresh(t.Context()); err != nil {
						t.Fatal(err)
					}
					sound(t, db)
				}
				sameText(t, exported(t, again), exported(t, db))
			}
			if len(m.calls) > 0 {
				t.Errorf("%d calls of a model", len(m.calls))
			}
			name := hubs(t, db)[0]
			if r := asked(t, db, Query{Text: "What is said of " + name + "?"}); !r.Found {
				t.Errorf("nothing is found of %s", name)
			}
			if m.count(llm.TaskKeywords) != 1 || m.count(llm.TaskAnswer) != 1 || len(m.calls) != 2 {
				t.Errorf("%d calls of a model for a question", len(m.calls))
			}
		})
	}
}
