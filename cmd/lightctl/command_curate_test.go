package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/engine"
)

func TestCurateForPeople(t *testing.T) {
	b, _, _ := asked(t)
	golden(t, "entity_rename.txt", b.ok("entity", "rename", "Analytical Engine", "The Engine").out)
	golden(t, "entity_merge.txt", b.ok("entity", "merge", "Charles Babbage", "Ada Lovelace", "--description", "Two people.").out)
	b.ok("entity", "edit", "Analytical Engine", "--type", "machine")
	b.ok("entity", "undo", "2") // does not build upon the first
	golden(t, "entity_changes.txt", b.ok("entity", "changes").out)
	r := b.exits(exitUsage, "entity", "undo", "1")
	if !strings.Contains(r.err, "the later change 3") {
		t.Error(r.err)
	}
	golden(t, "entity_undo.txt", b.ok("entity", "undo", "3").out+b.ok("entity", "undo", "1").out)
	golden(t, "relation_edit.txt", b.ok("relation", "edit", "London", "Charles Babbage", "--weight", "2.5", "--keywords", "work, town").out)
	golden(t, "relation_delete.txt", b.ok("relation", "delete", "London", "Charles Babbage").out+b.ok("entity", "delete", "Ada Lovelace", "London").out+b.ok("entity", "list").out)
	b.ok("check", "--deep")
}

// The mark between descriptions is for programs; people see lines, or a slash.
func TestDescriptionsForPeople(t *testing.T) {
	b, _, _ := asked(t)
	const two = "A mechanical computer.<SEP>Designed in London."
	if e := decode[entityJSON](t, b.ok("entity", "show", "Analytical Engine", "--json")); e.Description != two {
		t.Fatalf("%+v", e)
	}
	b.ok("entity", "edit", "London", "--description", "A town.<SEP>A port.")
	for want, args := range map[string][]string{
		"A mechanical computer. / Designed in London.\n":            {"entity", "list"},
		"A town. / A port.\n":                                       {"entity", "list"},
		"\n\n  - A mechanical computer.\n  - Designed in London.\n": {"entity", "show", "Analytical Engine"},
		"\n\n  - A town.\n  - A port.\n":                            {"entity", "show", "London"},
	} {
		if r := b.ok(args...); !strings.Contains(r.out, want) || strings.Contains(r.out, "SEP") {
			t.Errorf("%q:\n%s", args, r.out)
		}
	}
	b.ok("entity", "edit", "Analytical Engine", "--description", "A machine.<SEP>A plan.")
	want := "\n  - A machine.\n  - A plan.\n\nmade from\n  - A mechanical computer.\n  - Designed in London.\n"
	if r := b.ok("entity", "show", "Analytical Engine"); !strings.HasSuffix(r.out, want) {
		t.Error(r.out)
	}
}

func TestCurateJSON(t *testing.T) {
	b, _, _ := asked(t)
	e := decode[changedEntity](t, b.ok("entity", "create", "Editor", "--type", "person", "--description", "By hand.", "--json"))
	if e.Name != "Editor" || e.Type != "person" || e.Change != 1 || e.Sources == nil || e.Stale != 0 {
		t.Errorf("%+v", e)
	}
	golden(t, "relation_create.json", b.ok("relation", "create", "Editor", "Ada Lovelace", "--keywords", "b,a", "--description", "Edits.", "--json").out)
	golden(t, "entity_edit.json", b.ok("entity", "edit", "Ada Lovelace", "--type", "Author", "--json").out)
	if e = decode[changedEntity](t, b.ok("entity", "edit", "Ada Lovelace", "--type", "Author", "--json")); e.Change != 0 || fmt.Sprint(e.Curated) != "[type]" {
		t.Errorf("an edit that changes nothing: %+v", e)
	}
	if e = decode[changedEntity](t, b.ok("entity", "edit", "Ada Lovelace", "--reset", "type", "--json")); e.Type != "person" || len(e.Curated) != 0 {
		t.Errorf("%+v", e)
	}
	b.ok("entity", "rename", "Ada Lovelace", "Ada", "--json")
	e = decode[changedEntity](t, b.ok("entity", "merge", "Ada Lovelace", "--into", "Editor", "--type-by", "keep_first", "--json"))
	if e.Name != "Editor" || fmt.Sprint(e.Aliases) != "[Ada Ada Lovelace]" || fmt.Sprint(e.Resolved) != "map[Ada Lovelace:Ada]" {
		t.Errorf("%+v", e)
	}
	if e := decode[entityJSON](t, b.ok("entity", "show", "Ada", "--json")); e.Name != "Editor" {
		t.Errorf("%+v", e)
	}
	if c := decode[rows[engine.Change]](t, b.ok("entity", "changes", "--json")); len(c.Rows) != 6 || c.Rows[5].Kind != "merge" || !c.Rows[5].CanUndo {
		t.Errorf("%+v", c)
	}
	r := decode[removed](t, b.ok("entity", "undo", "6", "--json"))
	if r.Change != 6 || fmt.Sprint(r.Rows) != "[{6 undone}]" {
		t.Errorf("%+v", r)
	}
	r = decode[removed](t, b.ok("entity", "delete", "Editor", "--json"))
	if r.Change != 7 || fmt.Sprint(r.Rows) != "[{Editor deleted}]" {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		code int
		word string
		args []string
	}{
		{exitNotFound, "not_found", []string{"entity", "delete", "Ada", "nobody"}},
		{exitNotFound, "not_found", []string{"entity", "edit", "nobody", "--type", "x"}},
		{exitNotFound, "not_found", []string{"entity", "rename", "nobody", "x"}},
		{exitNotFound, "not_found", []string{"entity", "undo", "99"}},
		{exitNotFound, "not_found", []string{"relation", "delete", "Ada", "London"}},
		{exitNotFound, "not_found", []string{"relation", "edit", "Ada", "London", "--weight", "1"}},
		{exitFailure, "exists", []string{"entity", "create", "Ada"}},
		{exitFailure, "exists", []string{"entity", "rename", "Ada", "London"}},
		{exitFailure, "exists", []string{"relation", "create", "London", "Charles Babbage"}},
		{exitUsage, "invalid", []string{"entity", "undo", "7"}},
		{exitUsage, "invalid", []string{"entity", "edit", "Ada"}},
		{exitUsage, "invalid", []string{"relation", "create", "Ada", "Ada"}},
		{exitUsage, "usage", []string{"entity", "undo", "first"}},
		{exitUsage, "usage", []string{"entity", "merge", "Ada"}},
	} {
		f := decode[failureDoc](t, b.exits(c.code, append(c.args, "--json")...))
		if f.Error.Code != c.word {
			t.Errorf("%q: %+v, want %s", c.args, f, c.word)
		}
	}
	b.ok("check", "--deep")
}

func TestDuplicates(t *testing.T) {
	b, _, _ := asked(t)
	b.ok("entity", "create", "ada lovelace", "--type", "person")
	b.ok("entity", "create", "Ada Lovelaces", "--type", "person")
	golden(t, "entity_duplicates.txt", b.ok("entity", "duplicates").out)
	d := b.ok("entity", "duplicates", "--json")
	list := decode[rows[engine.DuplicateCluster]](t, d)
	if len(list.Rows) != 1 || list.Rows[0].Target != "Ada Lovelace" || len(list.Rows[0].Members) != 2 || !list.Rows[0].Members[0].Certain {
		t.Fatalf("%+v", list)
	}
	golden(t, "entity_merge_from.txt", b.ok("entity", "merge", "--from", b.file("reviewed.json", d.out)).out)
	e := decode[entityJSON](t, b.ok("entity", "show", "ada lovelace", "--json"))
	if e.Name != "Ada Lovelace" || fmt.Sprint(e.Aliases) != "[Ada Lovelaces ada lovelace]" {
		t.Errorf("%+v", e)
	}
	if out := b.ok("entity", "duplicates").out; !strings.Contains(out, "nothing that looks like") {
		t.Error(out)
	}
	// What cannot be merged is reported, and the rest is.
	file := b.file("other.json", `[{"target":"London","members":[{"name":"nobody"},{"name":"Charles Babbage"}]}]`)
	got := decode[rows[mergedRow]](t, b.exits(exitNotFound, "entity", "merge", "--from", file, "--json"))
	if len(got.Rows) != 2 || got.Rows[0].Error == "" || got.Rows[0].Change != 0 || got.Rows[1].Error != "" || got.Rows[1].Change == 0 {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "{}", "[]", `{"rows":[{"target":"","members":[{"name":"x"}]}]}`, `[{"target":"x"}]`, `[{"target":"x","members":[{"name":" "}]}]`, "no json"} {
		b.exits(exitUsage, "entity", "merge", "--from", b.file("bad.json", text))
	}
	b.exits(exitNotFound, "entity", "merge", "--from", "missing.json")
	b.exits(exitUsage, "entity", "merge", "--from", file, "Ada")
	b.exits(exitUsage, "entity", "merge")
	b.exits(exitUsage, "entity", "duplicates", "--min-score", "2")
}
