package engine

import (
	"slices"
	"testing"
)

// TestAliasesFollowTheirChanges: they are held for a commit, not for longer.
func TestAliasesFollowTheirChanges(t *testing.T) {
	db, _ := planets(t, nil)
	roots := func() []string {
		t.Helper()
		view, err := db.store.View()
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		keys, err := db.aliasKeys(view)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := db.aliasKeys(view); err != nil || again != keys {
			t.Errorf("read twice: %v", err)
		}
		return keys.roots["phobos"]
	}
	if got := roots(); len(got) > 0 {
		t.Errorf("its name is an alias of %q", got)
	}
	renamed, err := db.RenameEntity(t.Context(), "Phobos", "Fear", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := roots(); !slices.Equal(got, []string{"Fear"}) {
		t.Errorf("renamed: %q", got)
	}
	merged, err := db.MergeEntities(t.Context(), []string{"Fear"}, "Halley", MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := roots(); !slices.Equal(got, []string{"Halley"}) {
		t.Errorf("merged: %q", got)
	}
	for _, change := range []uint32{merged.Change, renamed.Change} {
		if _, err := db.Undo(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if got := roots(); len(got) > 0 {
		t.Errorf("undone: %q", got)
	}
}
