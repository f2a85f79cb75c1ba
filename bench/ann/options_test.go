package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	o, err := parse(nil, io.Discard)
	if err != nil || o.seeds != 3 || o.rows != 0 || o.repeats != 3 || o.atLeast != 250*time.Millisecond || o.label != "" {
		t.Errorf("defaults: %+v, %v", o, err)
	}
	if !o.wants("text") || !o.wants("mixture384") {
		t.Error("not all sections are wanted")
	}
	o, err = parse([]string{"--quick", "--only", "text", "--peers", "hnswlib", "--seeds", "2"}, io.Discard)
	if err != nil || o.seeds != 2 || o.rows != quickRows || o.label != "quick" || o.atLeast != 50*time.Millisecond {
		t.Errorf("quick: %+v, %v", o, err)
	}
	if o.wants("mixture384") || !o.wants("text") {
		t.Error("--only text selects something else")
	}
	if got := wanted(recipes(), o.peers); len(got) != 1 || got[0].peer != "hnswlib" {
		t.Errorf("peers %v", got)
	}
	if o, err = parse([]string{"--peers", "none"}, io.Discard); err != nil || len(wanted(recipes(), o.peers)) != 0 {
		t.Errorf("--peers none: %+v, %v", o, err)
	}
	for _, bad := range []string{"--only txt", "--peers hnsw", "--seeds -1", "--repeats -1", "more", "--no-such"} {
		if _, err := parse(strings.Fields(bad), io.Discard); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestSectionNamesAreDistinct(t *testing.T) {
	names := sectionNames()
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%v", names)
	}
}
