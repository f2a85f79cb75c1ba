package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

func resolving() Options {
	o := testOptions(&fakeModel{})
	o.ResolveEntities = true
	return o
}

// namesWithAliases lists the entities with their aliases.
func namesWithAliases(t *testing.T, db *DB) []string {
	t.Helper()
	v := db.View()
	defer v.Close()
	var out []string
	if err := v.Entities(func(e *Entity) error {
		s := e.Name
		if len(e.Aliases) > 0 {
			s += fmt.Sprint(" ", e.Aliases)
		}
		out = append(out, s)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantNames(t *testing.T, db *DB, want ...string) {
	t.Helper()
	if got := namesWithAliases(t, db); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

func TestInsertMergesWhatDiffersInSpellingOnly(t *testing.T) {
	db := opened(t, "store", resolving())
	rep := inserted(t, db,
		doc("a", "@e|Electrons|concept|Small."), doc("b", "@e|Electrons|concept|Light."),
		doc("c", "@e|electrons|concept|Negative.", "@r|ELECTRONS|Charge|have|They have it."))
	if rep.Merged != 2 {
		t.Errorf("merged %d", rep.Merged)
	}
	wantNames(t, db, "Charge", "Electrons [ELECTRONS electrons]")
	v := db.View()
	e, err := v.Entity("electrons")
	v.Close()
	if err != nil || e.Description != "Small.<SEP>Light.<SEP>Negative." || e.Degree != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	sound(t, db)
	// What comes later is compared with what is there, merged or not.
	if rep := inserted(t, db, doc("d", "@e|“electrons”.|concept|Four.", "@e|electrons|concept|Five.")); rep.Merged > 1 {
		t.Errorf("merged %d", rep.Merged)
	}
	if got := namesWithAliases(t, db); len(got) != 2 {
		t.Errorf("there are %q", got)
	}
}

func TestNothingUncertainIsMerged(t *testing.T) {
	db := opened(t, "store", resolving())
	rep := inserted(t, db, doc("a",
		"@e|WHO|organization|1.", "@e|Who|person|2.", "@e|Apple|organization|3.", "@e|apple|food|4.",
		"@e|Jon|person|5.", "@e|Jon Marquez|person|6.", "@e|C++|concept|7.", "@e|C|concept|8."))
	if rep.Merged != 0 || len(namesWithAliases(t, db)) != 8 {
		t.Errorf("merged %d: %q", rep.Merged, namesWithAliases(t, db))
	}
}

func TestWithoutTheOptionNothingIsMerged(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	if rep := inserted(t, db, doc("a", "@e|X y|t|1.", "@e|x Y|t|2.")); rep.Merged != 0 {
		t.Errorf("merged %d", rep.Merged)
	}
	wantNames(t, db, "X y", "x Y")
}

// A merge that was undone is a decision: it is not made again, not even after
// the store was opened anew.
func TestAnUndoneMergeStaysUndone(t *testing.T) {
	o := resolving()
	db := opened(t, "store", o)
	inserted(t, db, doc("a", "@e|Polish|language|1."), doc("b", "@e|polish|language|2."))
	wantNames(t, db, "Polish [polish]")
	changes, err := db.Changes()
	if err != nil || len(changes) != 1 {
		t.Fatalf("%+v, %v", changes, err)
	}
	must(t)(db.Undo(t.Context(), changes[0].ID))
	inserted(t, db, doc("c", "@e|polish|language|3.", "@e|Polish|language|4."))
	wantNames(t, db, "Polish", "polish")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = opened(t, "store", o)
	inserted(t, db, doc("d", "@e|polish|language|5.", "@e|POLISH|language|6."))
	for _, n := range namesWithAliases(t, db) {
		if n == "Polish [POLISH polish]" || n == "Polish [polish]" || n == "polish [Polish]" {
			t.Errorf("merged again: %q", namesWithAliases(t, db))
		}
	}
	sound(t, db)
}

// What earlier calls left, without the option or by a crash between a commit
// and its merges, is found by the next one.
func TestTheFirstRunLooksAtAllNames(t *testing.T) {
	o := testOptions(&fakeModel{})
	db := opened(t, "store", o)
	inserted(t, db, doc("a", "@e|Mount Wilson|place|1.", "@e|mount wilson|place|2."))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.ResolveEntities = true
	db = opened(t, "store", o)
	if rep := inserted(t, db, doc("b", "@e|Other|t|3.")); rep.Merged != 1 {
		t.Errorf("merged %d", rep.Merged)
	}
	wantNames(t, db, "Mount Wilson [mount wilson]", "Other")
}

// A run does not wait for the merges of another one, which ask an embedder, once
// its context is done; what it could not compare, the next one does.
func TestACancelledRunDoesNotWaitForMerges(t *testing.T) {
	db := opened(t, "store", resolving())
	inserted(t, db, doc("a", "@e|Mount Wilson|place|1."))
	db.resolver.busy <- struct{}{} // as if another call merged
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.resolve(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	db.forgetNames()
	<-db.resolver.busy
	db.opts.ResolveEntities = false
	inserted(t, db, doc("b", "@e|mount wilson|place|2."))
	db.opts.ResolveEntities = true
	if rep := inserted(t, db, doc("c", "@e|Other|t|3.")); rep.Merged != 1 {
		t.Errorf("merged %d", rep.Merged)
	}
}

// Being alike to an alias is not being alike to what it leads to: nothing is
// merged over two steps.
func TestGroupsAreLeftToPeople(t *testing.T) {
	db := opened(t, "store", resolving())
	inserted(t, db, doc("a", "@e|Jon|person|1.", "@e|Jon Marquez|person|2."))
	must(t)(db.MergeEntities(t.Context(), []string{"Jon"}, "Jon Marquez", MergeOptions{}))
	inserted(t, db, doc("b", "@e|JON MARQUEZ|person|3.", "@e|jon|person|4."))
	wantNames(t, db, "Jon Marquez [JON MARQUEZ Jon]", "jon")
	must(t)(db.Undo(t.Context(), 1))
	wantNames(t, db, "Jon", "Jon Marquez [JON MARQUEZ]", "jon")
	sound(t, db)
}
