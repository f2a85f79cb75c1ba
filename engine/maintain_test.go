package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestCompactChangesNothingThatIsLeft(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(&fakeModel{})
	o.Storage.FS, o.Storage.SealBytes, o.exactBelow = fs, 1, 4
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	docs := corpus(12)
	inserted(t, db, docs...)
	if _, err := db.DeleteDocuments(t.Context(), docs[3].ID, docs[7].ID); err != nil {
		t.Fatal(err)
	}
	want, near := exported(t, db), nearest(t, db, "hub town")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := Compact(t.Context(), "store", o, CompactOptions{})
	if err != nil || rep.Terms == 0 || rep.Vectors == 0 || rep.Answers != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if rep, err = Compact(t.Context(), "store", o, CompactOptions{Answers: true}); err != nil || rep.Terms != 0 || rep.Vectors != 0 || rep.Answers == 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	db = opened(t, "store", o)
	sound(t, db)
	if got := exported(t, db); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := nearest(t, db, "hub town"); got != near {
		t.Errorf("found\n%swant\n%s", got, near)
	}
	for kind, s := range db.index.stats() {
		if s.Rebuilt {
			t.Errorf("the index of %s was made again", kind)
		}
	}
	if _, err := Compact(t.Context(), "nowhere", o, CompactOptions{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("no store: %v", err)
	}
}

func TestBackupIsAStore(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(&fakeModel{})
	o.Storage.FS = fs
	db := opened(t, "store", o)
	inserted(t, db, corpus(3)...)
	want := exported(t, db)
	if err := db.Backup(t.Context(), "copy"); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), "copy"); !errors.Is(err, ErrExists) {
		t.Errorf("over another: %v", err)
	}
	inserted(t, db, corpus(5)[3:]...)
	copied := opened(t, "copy", o)
	sound(t, copied)
	if got := exported(t, copied); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// An error goes through several layers, and says once whose it is.
func TestErrorsNameTheLibraryOnce(t *testing.T) {
	o := testOptions(&fakeModel{})
	db := opened(t, "store", o)
	inserted(t, db, corpus(1)...)
	if err := db.Backup(t.Context(), "copy"); err != nil {
		t.Fatal(err)
	}
	failed := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		"lightrag: back up to copy: ":            db.Backup(t.Context(), "copy"),
		"lightrag: open store nowhere: ":         failed(Open("nowhere", Options{MustExist: true, Storage: o.Storage})),
		"lightrag: compact nowhere: open store ": failed(Compact(t.Context(), "nowhere", o, CompactOptions{})),
	} {
		if text := fmt.Sprint(err); !strings.HasPrefix(text, want) || strings.Count(text, "lightrag: ") != 1 {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if err := db.Backup(t.Context(), "copy"); !errors.Is(err, ErrExists) {
		t.Errorf("%v does not match ErrExists", err)
	}
}
