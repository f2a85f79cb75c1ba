package engine

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/graphstore"
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

// reversed is an analyzer that gives itself out as the right one.
type reversed struct{ lexical.Analyzer }

func (r reversed) Terms(text string, yield func(term []byte)) {
	r.Analyzer.Terms(text, func(term []byte) {
		for i, j := 0, len(term)-1; i < j; i, j = i+1, j-1 {
			term[i], term[j] = term[j], term[i]
		}
		yield(term)
	})
}

func TestRebuildIndexMakesThePostingsAnew(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(&fakeModel{})
	o.Storage.FS = fs
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(3)...)
	found := func(db *DB) int {
		t.Helper()
		res, err := db.Retrieve(t.Context(), Query{Text: "hub town", Mode: Naive, Match: MatchLexical})
		if err != nil {
			t.Fatal(err)
		}
		return len(res.Chunks)
	}
	want := found(db)
	if err := db.Close(); err != nil || want == 0 {
		t.Fatalf("%d found, %v", want, err)
	}
	wrong, err := graphstore.Open("store", graphstore.Options{
		FS: fs, Terms: reversed{}, RebuildTerms: true,
		Keep: graphstore.Kept{MaxSources: true, SummaryFragments: true, SummaryTokens: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := wrong.Close(); err != nil {
		t.Fatal(err)
	}
	db = opened(t, "store", o)
	if f, err := db.Check(t.Context(), true); err != nil || len(f) == 0 || found(db) != 0 {
		t.Fatalf("%d findings, %v; %d found by postings that are wrong", len(f), err, found(db))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := RebuildIndex(t.Context(), "store", o, nil); err != nil {
		t.Fatal(err)
	}
	db = opened(t, "store", o)
	sound(t, db)
	if got := found(db); got != want {
		t.Errorf("%d found, want %d", got, want)
	}
}
