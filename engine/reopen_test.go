package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// linked waits until all vectors are in the graphs.
func linked(t *testing.T, db *DB) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now, slots := marks(db); now == slots {
			return
		}
	}
	t.Fatal("vectors are not linked")
}

// marks returns how much of each graph is linked, and how many slots it has.
func marks(db *DB) (linked, slots [indexKinds]uint32) {
	for i, k := range db.index.kinds {
		linked[i], slots[i] = k.graph.Mark(), k.graph.Bound()
	}
	return linked, slots
}

// answers is what a few searches return.
func answers(t *testing.T, db *DB) string {
	t.Helper()
	var b strings.Builder
	for i := range 6 {
		r := retrieved(t, db, Query{
			Text: fmt.Sprint("town road ", i), Mode: Mix, CosineThreshold: -1,
			LowLevel: []string{fmt.Sprint("town ", i)}, HighLevel: []string{fmt.Sprint("siege castle ", i)}, TopK: 8,
		})
		fmt.Fprintln(&b, names(r), pairs(r), r.Context)
	}
	return b.String()
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// indexed makes a store of some documents, one of them deleted, and closes it.
func indexed(t *testing.T) (o Options, want string) {
	t.Helper()
	o = testOptions(&fakeModel{})
	o.exactBelow = 1 // so few vectors would not be linked
	o.Storage.FS = vfs.NewCrashableMem()
	o.exactBelow = 1 // link even so few
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	docs := corpus(12)
	inserted(t, db, docs...)
	if _, err := db.DeleteDocuments(t.Context(), docs[3].ID); err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	// Only the first Open after a change may give slots a new order.
	if db, err = Open("store", o); err != nil {
		t.Fatal(err)
	}
	linked(t, db)
	want = answers(t, db)
	closed(t, db)
	return o, want
}

func TestReopeningUsesTheSavedLinks(t *testing.T) {
	o, want := indexed(t)
	var log logged
	o.Logger = slogOf(&log)
	db := opened(t, "store", o)
	now, slots := marks(db)
	if now != slots || slots[0] == 0 || slots[1] == 0 || slots[2] == 0 {
		t.Errorf("right after Open %v of %v slots are linked", now, slots)
	}
	if got := answers(t, db); got != want {
		t.Errorf("other results:\n%s\nwant\n%s", got, want)
	}
	if log.String() != "" {
		t.Errorf("log: %s", log.String())
	}
	inserted(t, db, doc("late", "@e|Newcomer|t|Zebra words."))
	linked(t, db)
	if r := retrieved(t, db, Query{Text: "x", Mode: Local, LowLevel: []string{"newcomer zebra words"}}); len(r.Entities) == 0 || r.Entities[0].Name != "Newcomer" {
		t.Errorf("a vector added after reopening is not found: %v", names(r))
	}
	sound(t, db)
}

func TestADamagedIndexFileIsRebuiltAndReported(t *testing.T) {
	edit := func(f func(b []byte) []byte) func(*testing.T, vfs.FS, string) {
		return func(t *testing.T, fs vfs.FS, path string) {
			b := readAll(t, fs, path)
			w, err := fs.Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Write(f(slices.Clone(b)))
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(at func(n int) int) func(b []byte) []byte {
		return func(b []byte) []byte { b[at(len(b))] ^= 0x10; return b }
	}
	for _, tt := range []struct {
		name     string
		damage   func(*testing.T, vfs.FS, string)
		reported bool
	}{
		{"missing", func(t *testing.T, fs vfs.FS, path string) {
			if err := fs.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"empty", edit(func([]byte) []byte { return nil }), true},
		{"cut in half", edit(func(b []byte) []byte { return b[:len(b)/2] }), true},
		{"longer", edit(func(b []byte) []byte { return append(b, 0) }), true},
		{"bit in the head", edit(flip(func(int) int { return 9 })), true},
		{"bit in the slots", edit(flip(func(int) int { return 40 })), true},
		{"bit in the links", edit(flip(func(n int) int { return n - n/4 })), true},
		{"zeros", edit(func(b []byte) []byte { clear(b); return b }), true},
		{"another kind's", func(t *testing.T, fs vfs.FS, path string) {
			b := readAll(t, fs, strings.Replace(path, "entity", "relation", 1))
			edit(func([]byte) []byte { return b })(t, fs, path)
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := indexed(t)
			path := o.Storage.FS.PathJoin("store", "idx", "entity.hnsw")
			tt.damage(t, o.Storage.FS, path)
			var log logged
			o.Logger = slogOf(&log)
			db := opened(t, "store", o)
			if got := strings.Contains(log.String(), "entity.hnsw"); got != tt.reported {
				t.Errorf("reported %v: %q", got, log.String())
			}
			if s, err := db.Stats(); err != nil || s.Index["entity"].Rebuilt != tt.reported || s.Index["chunk"].Rebuilt {
				t.Errorf("%+v, %v", s.Index, err)
			}
			if now, slots := marks(db); now[1] != slots[1] || now[2] != slots[2] {
				t.Errorf("the other graphs were linked anew: %v of %v", now, slots)
			}
			sameAsBruteForce(t, db) // while linking
			linked(t, db)
			sameAsBruteForce(t, db)
			sound(t, db)
			closed(t, db)
			again := opened(t, "store", o)
			if now, slots := marks(again); now != slots {
				t.Errorf("the rebuilt links were not saved: %v of %v", now, slots)
			}
		})
	}
}

// sameAsBruteForce compares entity searches with all cosines.
func sameAsBruteForce(t *testing.T, db *DB) {
	t.Helper()
	v := db.View()
	defer v.Close()
	for i := range 5 {
		text := fmt.Sprint("town castle ", i)
		var all []float64
		if err := v.Entities(func(e *Entity) error {
			all = append(all, cosine(wordVector(text, wordsDim), wordVector(e.Name+"\n"+e.Description, wordsDim)))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		slices.Reverse(all)
		r := retrieved(t, db, Query{Text: text, Mode: Local, LowLevel: []string{text}, TopK: 5, CosineThreshold: -1, Match: MatchVectors})
		if len(r.Entities) != 5 {
			t.Fatalf("%d entities", len(r.Entities))
		}
		for j, e := range r.Entities {
			if d := float64(e.Score) - all[j]; d > 1e-4 || d < -1e-4 {
				t.Errorf("%q, rank %d: %s with %v, brute force has %v", text, j, e.Name, e.Score, all[j])
			}
		}
	}
}

func readAll(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// A crash leaves the index files of the last Close, which know nothing of
// what was deleted and added since.
func TestIndexFilesOlderThanTheStore(t *testing.T) {
	o, _ := indexed(t)
	db := opened(t, "store", o)
	if _, err := db.DeleteDocuments(t.Context(), "text 05", "text 06"); err != nil {
		t.Fatal(err)
	}
	inserted(t, db, doc("late", "@e|Newcomer|t|Zebra words."))
	want := exported(t, db)
	o.Storage.FS = o.Storage.FS.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
	after := opened(t, "store", o)
	if exported(t, after) != want {
		t.Error("the graph differs after the crash")
	}
	sameAsBruteForce(t, after)
	linked(t, after)
	sameAsBruteForce(t, after)
	sound(t, after)
}

func TestAStoreOfANewerFormatIsRefused(t *testing.T) {
	o, _ := indexed(t)
	fs := o.Storage.FS
	if err := fs.Remove(fs.PathJoin("store", "SEAL")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	kv, err := pebble.Open(fs.PathJoin("store", "kv"), &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{},
		Merger: &pebble.Merger{Name: "lightrag.postings"}})
	if err != nil {
		t.Fatal(err)
	}
	row := append(append([]byte(format.Magic), 0, 0, 0, 99), 0, 0, 0, 99)
	if err := errors.Join(kv.Set(format.AppendMetaKey(nil, "format"), row, pebble.Sync), kv.Close()); err != nil {
		t.Fatal(err)
	}
	before := fileSums(t, fs, "store")
	_, err = Open("store", o)
	if !errors.Is(err, ErrTooNew) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "99") {
		t.Errorf("Open: %v", err)
	}
	after := fileSums(t, fs, "store")
	for path, sum := range before {
		if after[path] != sum && !strings.HasSuffix(path, "LOCK") {
			t.Errorf("%s was changed or removed", path)
		}
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
