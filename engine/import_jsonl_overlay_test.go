package engine

import (
	"strings"
	"testing"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// curated lets somebody work on the store of rich.
func curated(t *testing.T, db *DB) (merge uint32) {
	t.Helper()
	do := func(rep *CurationReport, err error) uint32 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return rep.Change
	}
	typ, text, weight := "capital", "What people say it is.", 2.5
	do(db.EditEntity(t.Context(), "Town 1", EntityEdit{Type: &typ, Description: &text}))
	do(db.EditRelation(t.Context(), "Hub", "Town 2", RelationEdit{Weight: &weight, Keywords: &[]string{"set", "by hand"}}))
	merge = do(db.MergeEntities(t.Context(), []string{"Town 3", "Town 4"}, "Twin Towns", MergeOptions{}))
	do(db.RenameEntity(t.Context(), "Castle 0", "The Castle", false))
	do(db.CreateEntity(t.Context(), NewEntity{Name: "Invented", Type: "idea", Description: "Made up."}))
	do(db.CreateRelation(t.Context(), NewRelation{Src: "Invented", Tgt: "Hub", Description: "By hand.", Keywords: []string{"k"}, Weight: 3}))
	do(db.DeleteEntities(t.Context(), "Castle 1"))
	do(db.DeleteRelations(t.Context(), [2]string{"Hub", "Town 5"}))
	do(db.Undo(t.Context(), do(db.RenameEntity(t.Context(), "Town 0", "Renamed", false))))
	return merge
}

func TestFullExportHoldsWhatPeopleDecided(t *testing.T) {
	o := richOptions(refusing())
	db := opened(t, "store", o)
	rich(t, db)
	merge := curated(t, db)
	want := fullExportOf(t, db)
	for _, part := range []string{
		`{"kind":"alias"`, `{"kind":"override","of":"entity"`, `{"kind":"override","of":"relation"`, `{"kind":"curated","change"`,
		`"verb":"merge"`, `"undone":`, `"mention":true`,
	} {
		if !strings.Contains(want, part) {
			t.Errorf("the export has no %s", part)
		}
	}
	rep, err := ImportJSONL(t.Context(), "copy", strings.NewReader(want), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Differences) > 0 {
		t.Errorf("differences: %q", rep.Differences)
	}
	again := opened(t, "copy", o)
	sameText(t, fullExportOf(t, again), want)
	sound(t, again)
	for _, db := range []*DB{db, again} { // the past can be undone in both
		if _, err := db.Undo(t.Context(), merge); err != nil {
			t.Fatal(err)
		}
		if err := db.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		sound(t, db)
	}
	if exported(t, db) == "" || exported(t, again) != exported(t, db) {
		t.Error("the stores differ after the same undo")
	}
	if !strings.Contains(exported(t, again), `"name":"Town 3"`) {
		t.Error("the merge was not undone")
	}
}

func TestFullExportKnowsEveryFieldOfOverlays(t *testing.T) {
	for _, c := range []struct {
		row   any
		known string
	}{
		{graphstore.Overlays{}, "Aliases Overrides Curated Changes Next"},
		{graphstore.Alias{}, "Name Root"},
		{graphstore.Curated{}, "Change Of Name Src Tgt Type Text Keyword Weight"},
		{format.Override{}, "Mask Copied Type Description Keywords Weight"},
		{format.Change{}, "Kind Of Names Created Undone Aliases Overrides Made Reads Writes"},
		{format.AliasEdit{}, "Name Before After"},
		{format.OverrideEdit{}, "Kind Owner Before After"},
	} {
		knowsFields(t, c.row, c.known)
	}
}
