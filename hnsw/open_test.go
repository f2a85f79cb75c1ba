package hnsw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// mappable returns an index large enough for its sections to be mapped, with replaced, deleted and equal vectors and
// free slots, the file it was saved to, and queries.
func mappable(t testing.TB) (ix *Index, path string, queries [][]float32) {
	t.Helper()
	const dim = 64
	rows := twinned(11, 3000, dim)
	ix = filled(t, rows, Options{M: 6, EfConstruction: 30, ExactBelow: -1, Seed: 5})
	ids := idsOf(ix)
	for i := 0; i < 600; i++ {
		ix.Delete(ids[i*3])
	}
	for i := range 200 {
		if err := ix.Add(ids[i*7], rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "index.hnsw")
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	if s := ix.Stats(); s.Free == 0 || s.Twins == 0 || s.Dead == 0 {
		t.Fatalf("%+v is too plain", s)
	}
	return ix, path, clusters(12, 30, dim)
}

func idsOf(ix *Index) (ids []uint64) {
	ix.ensureNames()
	for id := range ix.slots {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func mustOpen(t testing.TB, path string, o OpenOptions) *Index {
	t.Helper()
	ix, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

// isMapped says whether files are mapped on this platform.
func isMapped(ix *Index) bool { return ix.cur.g.table.Load().lazy != nil }

func TestAnOpenedIndexIsTheSavedOne(t *testing.T) {
	ix, path, queries := mappable(t)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, verify := range []bool{false, true} {
		got := mustOpen(t, path, OpenOptions{Verify: verify})
		if verify && isMapped(got) {
			t.Error("something is left to verify")
		}
		if got.Len() != ix.Len() || got.Dim() != ix.Dim() {
			t.Fatalf("length %d, want %d", got.Len(), ix.Len())
		}
		for _, o := range []IndexSearchOptions{{}, {Ef: 200}, {Exact: true}, {Accept: func(id uint64) bool { return id%2 == 0 }}} {
			for _, q := range queries {
				a, err := ix.Search(q, 10, o)
				b, err2 := got.Search(q, 10, o)
				if err != nil || err2 != nil || !slices.Equal(a, b) {
					t.Fatalf("%v, want %v (%v, %v)", b, a, err2, err)
				}
			}
		}
		if got.slots != nil {
			t.Error("searches have made the map of ids")
		}
		if !bytes.Equal(savedIndex(t, got), file) {
			t.Error("saving what was opened gives other bytes")
		}
		if !slices.Equal(idsOf(got), idsOf(ix)) || got.Len() != ix.Len() {
			t.Error("other ids")
		}
		if a, b := got.Stats(), ix.Stats(); a.Live != b.Live || a.Free != b.Free || a.Links != b.Links || a.Slots != b.Slots || a.Unreachable != 0 {
			t.Errorf("%+v, want %+v", a, b)
		}
		if err := got.Verify(); err != nil {
			t.Error(err)
		}
	}
}

// What is written to an opened index is in it, and not in the file.
func TestAnOpenedIndexIsWritten(t *testing.T) {
	_, path, queries := mappable(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := mustOpen(t, path, OpenOptions{}), mustOpen(t, path, OpenOptions{Verify: true})
	loaded, err := loadIndex(before)
	if err != nil {
		t.Fatal(err)
	}
	more := clusters(13, 900, 64) // some take free slots, the others new ones
	for _, ix := range []*Index{a, b, loaded} {
		for i, v := range more {
			if err := ix.Add(uint64(5_000_000+i), v); err != nil {
				t.Fatal(err)
			}
		}
		for i, id := range idsOf(ix) {
			if i%4 == 1 {
				ix.Delete(id)
			}
		}
		checkShape(t, ix.cur.g)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		t.Fatalf("the file has changed, %v", err)
	}
	p := savedIndex(t, loaded)
	if !bytes.Equal(savedIndex(t, a), p) || !bytes.Equal(savedIndex(t, b), p) {
		t.Error("an opened index goes on otherwise than a loaded one")
	}
	// Over the very file it is mapped from.
	if err := a.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, path, OpenOptions{})
	for _, q := range queries {
		x, err := a.Search(q, 10, IndexSearchOptions{})
		y, err2 := again.Search(q, 10, IndexSearchOptions{})
		if err != nil || err2 != nil || !slices.Equal(x, y) {
			t.Fatalf("%v, want %v", y, x)
		}
	}
	if err := a.Compact(context.Background()); err != nil || a.Stats().Dead != 0 {
		t.Errorf("%v, %+v", err, a.Stats())
	}
}

// damaged copies a file with a flipped bit in a section.
func damaged(t testing.TB, path string, at uint64) string {
	t.Helper()
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p[at] ^= 4
	bad := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(bad, p, 0o600); err != nil {
		t.Fatal(err)
	}
	return bad
}

func spanOf(t testing.TB, path string, s section) (at, n uint64) {
	t.Helper()
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e := p[tableAt+entrySize*int(s):]
	return le.Uint64(e[8:]), le.Uint64(e[16:])
}

// In every section, damage is an error of Open or of the search that would have been answered with it, and names the
// file and the place.
func TestDamageIsFoundBeforeItIsUsed(t *testing.T) {
	ix, path, queries := mappable(t)
	for s := range sections {
		at, n := spanOf(t, path, s)
		if n == 0 {
			continue
		}
		for _, off := range []uint64{0, n / 2, n - 1} {
			bad := damaged(t, path, at+off)
			for _, o := range []OpenOptions{{}, {Verify: true}} {
				got, err := Open(bad, o)
				late := err == nil
				if late {
					if err = got.Verify(); s.isLate() {
						served(t, ix, got, queries, s)
					}
					got.Close()
				}
				var e *CorruptionError
				if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) || e.Path != bad || e.Part != s.String() ||
					uint64(e.Offset) > at+off || uint64(e.Offset) < at || !strings.Contains(err.Error(), bad) {
					t.Fatalf("%v, byte %d of %d (from %d): %v", s, off, n, at, err)
				}
				if late && s == secRows && uint64(e.Offset)+4*64 <= at+off {
					t.Errorf("row %d is reported, %d damaged", (uint64(e.Offset)-at)/256, off/256)
				}
				if late && (o.Verify || !s.isLate()) {
					t.Errorf("%v: damage is found late", s)
				}
			}
		}
	}
}

// isLate says that a section is verified when it is used.
func (s section) isLate() bool { return s.isOfRows() || s == secCodes || s == secLinks }

// isOfRows says that who meets damage of a section blames a row.
func (s section) isOfRows() bool { return s == secRows || s == secRowSums }

// served searches a damaged index: answers are those of the intact one, or errors.
func served(t *testing.T, ix, got *Index, queries [][]float32, s section) {
	t.Helper()
	failed := 0
	for range 2 {
		for _, q := range queries {
			for _, o := range []IndexSearchOptions{{}, {Exact: true}, {Accept: func(id uint64) bool { return id%3 != 0 }}} {
				want, _ := ix.Search(q, 10, o)
				have, err := got.Search(q, 10, o)
				if err != nil && !errors.Is(err, ErrCorrupt) || err == nil && s != secCodes && !slices.Equal(have, want) {
					t.Fatalf("damaged %v: %v, %v, want %v", s, have, err, want)
				}
				if err != nil {
					failed++
				}
				for _, r := range have {
					if i := slices.IndexFunc(want, func(w Result) bool { return w.ID == r.ID }); i >= 0 && want[i].Score != r.Score {
						t.Fatalf("score %v, want %v", r.Score, want[i].Score)
					}
				}
			}
		}
	}
	if !s.isOfRows() && failed == 0 {
		t.Errorf("no search has met the damaged %v", s)
	}
	if err := got.Add(1, queries[0]); !s.isOfRows() && !errors.Is(err, ErrCorrupt) {
		t.Errorf("linking by damaged %v: %v", s, err)
	}
	// Deleting needs neither; nor does it touch what is damaged.
	if before := got.Stats(); !s.isOfRows() {
		id := idsOf(ix)[7]
		if !got.Delete(id) || got.Has(id) || got.Len() != ix.Len()-1 || got.Stats().Links != before.Links {
			t.Errorf("deleting beside damaged %v: %+v, %+v before", s, got.Stats(), before)
		}
	}
	// Damage is not saved with a new checksum.
	if err := got.Save(&bytes.Buffer{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("saving: %v", err)
	}
}

// A row that was damaged and replaced is sound.
func TestReplacingADamagedRowMendsIt(t *testing.T) {
	if codesFromDim > 64 {
		t.Skip("without codes, Open reads all rows")
	}
	ix, path, _ := mappable(t)
	at, _ := spanOf(t, path, secRows)
	id := idsOf(ix)[50]
	got := mustOpen(t, damaged(t, path, at+uint64(ix.slots[id])*256+9), OpenOptions{})
	if !isMapped(got) {
		t.Skip("files are not mapped here")
	}
	v := clusters(14, 1, 64)[0]
	if err := got.Add(id, v); err != nil {
		t.Fatal(err)
	}
	if r, err := got.Search(v, 1, IndexSearchOptions{Ef: 100}); err != nil || len(r) != 1 || r[0].ID != id || r[0].Score < 0.9999 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none"), OpenOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Open(dir, OpenOptions{}); err == nil {
		t.Error("a folder")
	}
	_, path, _ := mappable(t)
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(p); n += 1 + len(p)/97 {
		short := filepath.Join(dir, "short")
		if err := os.WriteFile(short, p[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(short, OpenOptions{}); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
	if _, err := Open(path, OpenOptions{Workers: 5000}); !errors.Is(err, ErrInvalid) {
		t.Errorf("workers: %v", err)
	}
	if ix := mustOpen(t, path, OpenOptions{Workers: 2}); ix.o.Workers != 2 {
		t.Errorf("%d workers", ix.o.Workers)
	}
}

func TestSaveFileReplacesAtOnceOrNotAtAll(t *testing.T) {
	ix, path, _ := mappable(t)
	dir := filepath.Dir(path)
	if err := ix.SaveFile(filepath.Join(dir, "no", "such", "folder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if runtime.GOOS != "windows" {
		if err := errors.Join(os.Chmod(path, 0o640), ix.SaveFile(path)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	at, _ := spanOf(t, path, secRows)
	bad := damaged(t, path, at+5)
	if codesFromDim > 64 { // without codes, Open reads all rows, and there is nothing to save
		if _, err := Open(bad, OpenOptions{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v", err)
		}
	} else if got := mustOpen(t, bad, OpenOptions{}); isMapped(got) {
		before, _ := os.ReadFile(path)
		if err := got.SaveFile(path); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v", err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, before) {
			t.Error("the file was touched")
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v left behind, %v", names, err)
	}
}

func TestSaveFileReplacesWhatALinkNames(t *testing.T) {
	ix, path, _ := mappable(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if !ix.Delete(idsOf(ix)[1]) {
		t.Fatal("nothing to delete")
	}
	if err := ix.SaveFile(link); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link names %q, %v", to, err)
	}
	if n := mustOpen(t, path, OpenOptions{}).Len(); n != ix.Len() {
		t.Errorf("%d vectors in the file, want %d", n, ix.Len())
	}
	if names, err := os.ReadDir(filepath.Dir(link)); err != nil || len(names) != 1 {
		t.Errorf("%v beside the link, %v", names, err)
	}
	if err := errors.Join(ix.Add(0, ix.cur.g.Row(1)), ix.SaveChanges()); err != nil {
		t.Fatal(err)
	}
	if n := mustOpen(t, link, OpenOptions{}).Len(); n != ix.Len() {
		t.Errorf("%d vectors after changes, want %d", n, ix.Len())
	}
}

func TestAClosedIndex(t *testing.T) {
	_, path, queries := mappable(t)
	ix := mustOpen(t, path, OpenOptions{})
	var searches sync.WaitGroup
	var answered, refused atomic.Int32
	for range 4 {
		searches.Go(func() {
			for i := 0; ; i++ {
				r, err := ix.Search(queries[i%len(queries)], 5, IndexSearchOptions{})
				ix.Stats()
				if errors.Is(err, ErrClosed) {
					refused.Add(1)
					return
				}
				if err != nil || len(r) != 5 {
					t.Errorf("%v, %v", r, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	for answered.Load() < 20 {
		runtime.Gosched()
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	searches.Wait()
	if refused.Load() != 4 {
		t.Errorf("%d searches were told", refused.Load())
	}
	for name, err := range map[string]error{
		"add": ix.Add(1, queries[0]), "save": ix.Save(&bytes.Buffer{}), "save to a file": ix.SaveFile(path + "2"),
		"compact": ix.Compact(context.Background()), "verify": ix.Verify(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ix.Len() != 0 || ix.Has(1) || ix.Delete(1) || ix.Close() != nil {
		t.Error("something is left in it")
	}
}

// An id in two slots, which only a crafted file has, is that of the first.
func TestAnIDInTwoSlots(t *testing.T) {
	ix, path, _ := mappable(t)
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := spanOf(t, path, secIDs)
	ids := idsOf(ix)
	one, two := ids[20], ids[21]
	le.PutUint64(p[int(at)+8*int(ix.slots[two]):], one)
	reseal(p)
	if _, err := loadIndex(p); !errors.Is(err, ErrCorrupt) {
		t.Errorf("loading: %v", err)
	}
	if err := os.WriteFile(path, p, 0o600); err != nil {
		t.Fatal(err)
	}
	got := mustOpen(t, path, OpenOptions{})
	if !got.Has(one) || got.Has(two) || got.Len() != ix.Len()-1 {
		t.Errorf("has %v and %v, length %d", got.Has(one), got.Has(two), got.Len())
	}
}

// What is verified by the first searches and what a writer changes do not meet: no search fails, and none sees less than
// there is.
func TestFirstSearchesOfAnOpenedIndexBesideAWriter(t *testing.T) {
	ix, path, queries := mappable(t)
	ids := idsOf(ix)
	for round := range 3 {
		got := mustOpen(t, path, OpenOptions{})
		var done atomic.Bool
		writer := func() error {
			defer done.Store(true)
			for i := range 12 {
				if id := ids[i+20*round]; i%3 == 0 && !got.Delete(id) {
					return fmt.Errorf("id %d is not there", id)
				}
				if err := got.Add(ids[i+20*round], queries[i]); err != nil {
					return err
				}
			}
			return nil
		}
		searcher := func() error {
			for i := 0; i < len(queries) || !done.Load(); i++ {
				r, err := got.Search(queries[i%len(queries)], 5, IndexSearchOptions{Ef: 20, Exact: i%7 == 6})
				if err != nil || len(r) != 5 {
					return fmt.Errorf("query %d: %v, %v", i, r, err)
				}
			}
			return nil
		}
		race(t, writer, searcher, searcher)
		if err := got.Verify(); err != nil {
			t.Fatal(err)
		}
	}
}
