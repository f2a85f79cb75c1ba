package engine

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestRebuildIndexReadsNoIndexFile(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(&fakeModel{})
	o.Storage.FS, o.exactBelow = fs, 4
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(12)...)
	want := nearest(t, db, "hub town")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	name := "store/idx/" + indexName(0)
	f, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("damage"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	o.Logger = slogOf(log)
	last, total := -1, -1
	stats, err := RebuildIndex(t.Context(), "store", o, func(linked, vectors int) { last, total = linked, vectors })
	if err != nil || log.String() != "" {
		t.Fatal(err, log)
	}
	if last != total || stats["chunk"].Vectors != 12 || stats["chunk"].Linked != 12 {
		t.Errorf("%d of %d linked, %+v", last, total, stats)
	}
	db = opened(t, "store", o)
	sound(t, db)
	if got := nearest(t, db, "hub town"); got != want || log.String() != "" {
		t.Errorf("found\n%swant\n%s%s", got, want, log)
	}
	for kind, s := range db.index.stats() {
		if s.Rebuilt || s.Linked != s.Vectors {
			t.Errorf("%s: %+v", kind, s)
		}
	}
	if _, err := RebuildIndex(t.Context(), "nowhere", o, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("no store: %v", err)
	}
}
