package hnsw

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// same verifies that what is in a file, opened in both ways, is the index.
func same(t testing.TB, ix *Index, path string) {
	t.Helper()
	want := savedIndex(t, ix)
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loadIndex(p)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(savedIndex(t, loaded), want) {
		t.Fatal("what is loaded is not what was saved")
	}
	opened := mustOpen(t, path, OpenOptions{})
	for _, q := range clusters(31, 5, ix.Dim()) {
		a, err := ix.Search(q, 10, IndexSearchOptions{})
		b, err2 := opened.Search(q, 10, IndexSearchOptions{})
		c, err3 := opened.Search(q, 10, IndexSearchOptions{Exact: true})
		d, err4 := ix.Search(q, 10, IndexSearchOptions{Exact: true})
		if err := errors.Join(err, err2, err3, err4); err != nil || !slices.Equal(a, b) || !slices.Equal(c, d) {
			t.Fatalf("%v, want %v (%v)", b, a, err)
		}
	}
	if err := opened.Verify(); err != nil {
		t.Fatal(err)
	}
	if opened.Torn() != nil || !bytes.Equal(savedIndex(t, opened), want) {
		t.Fatal("what is opened is not what was saved")
	}
}

func sizeOf(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// vary adds, replaces and deletes some.
func vary(t testing.TB, ix *Index, round, n int) {
	t.Helper()
	rows := clusters(uint64(40+round), n, ix.Dim())
	ids := idsOf(ix)
	for i, v := range rows {
		id := ids[(i*13+round)%len(ids)]
		switch i % 3 {
		case 0:
			id = uint64(9_000_000 + 1000*round + i)
		case 1:
			ix.Delete(id)
			continue
		}
		if err := ix.Add(id, v); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangesAreSavedBehindTheFile(t *testing.T) {
	saved, path, _ := mappable(t)
	base := sizeOf(t, path)
	for _, ix := range []*Index{saved, nil} { // saved to the file, and then opened from it
		if ix == nil {
			ix = mustOpen(t, path, OpenOptions{})
			if err := ix.SaveChanges(); err != nil || sizeOf(t, path) < base {
				t.Fatalf("nothing has changed: %v, %d bytes", err, sizeOf(t, path))
			}
		}
		for round := range 3 {
			before := sizeOf(t, path)
			vary(t, ix, round, 12)
			if err := ix.SaveChanges(); err != nil {
				t.Fatal(err)
			}
			if more := sizeOf(t, path) - before; more <= 0 || more > base/4 {
				t.Errorf("round %d: %d bytes more, of %d", round, more, base)
			}
			same(t, ix, path)
		}
		if err := ix.SaveFile(path); err != nil {
			t.Fatal(err)
		}
		if now := sizeOf(t, path); now > base+base/5 {
			t.Errorf("%d bytes when written anew, %d before", now, base)
		}
		same(t, ix, path)
	}
}

// Many new vectors make sections longer, and the file is written anew when changes are as much as half of it.
func TestTheFileIsWrittenAnewWhenChangesAreMany(t *testing.T) {
	ix, path, _ := mappable(t)
	anew := false
	for round := range 6 {
		before := sizeOf(t, path)
		vary(t, ix, round, 900)
		if err := ix.SaveChanges(); err != nil {
			t.Fatal(err)
		}
		same(t, ix, path)
		anew = anew || sizeOf(t, path) < before
	}
	if !anew {
		t.Error("never written anew")
	}
	if err := ix.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := ix.SaveChanges(); err != nil {
		t.Fatal(err)
	}
	same(t, ix, path)
}

func TestChangesNeedAFileOfTheirOwn(t *testing.T) {
	ix, path, _ := mappable(t)
	if err := newTestIndex(t, 3, Options{}).SaveChanges(); !errors.Is(err, ErrInvalid) {
		t.Errorf("an index without a file: %v", err)
	}
	vary(t, ix, 1, 10)
	other := filled(t, clusters(50, 900, 64), Options{})
	if err := other.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	if err := ix.SaveChanges(); !errors.Is(err, ErrMismatch) {
		t.Errorf("another index in the place of the file: %v", err)
	}
	same(t, other, path)
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	same(t, ix, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	vary(t, ix, 2, 10)
	if err := ix.SaveChanges(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is gone: %v", err)
	}
	ix.Close()
	if err := ix.SaveChanges(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A file from a machine without codes gets them when it is changed on one with them.
func TestChangingAFileThatHasNoCodes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.hnsw")
	ix := newTestIndex(t, 64, Options{M: 4})
	plain := *ix.cur.g.table.Load()
	if plain.turn == nil {
		t.Skip("no codes here")
	}
	plain.turn, plain.walks = nil, false
	ix.cur.g.table.Store(&plain)
	for id, v := range clusters(43, 200, 64) {
		if err := ix.Add(uint64(id), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	ix = mustOpen(t, path, OpenOptions{})
	for round := range 2 {
		vary(t, ix, round, 5)
		if err := ix.SaveChanges(); err != nil {
			t.Fatal(err)
		}
		same(t, ix, path)
	}
}

// leavesAlone checks that an index writes neither changes to its file nor the file anew, for it is not as it was.
func leavesAlone(t *testing.T, name string, ix *Index) {
	t.Helper()
	if err := ix.SaveChanges(); !errors.Is(err, ErrMismatch) {
		t.Errorf("%s: %v", name, err)
	}
	if err := ix.Compact(t.Context()); err != nil || !ix.moved {
		t.Fatal(err)
	}
	if err := ix.SaveChanges(); !errors.Is(err, ErrMismatch) {
		t.Errorf("%s, to be written anew: %v", name, err)
	}
}

// What a second index of a file has saved is not cut off, whether changes are appended or the file is written anew.
func TestChangesAreNotSavedOverThoseOfAnotherIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.hnsw")
	ix := filled(t, clusters(41, 100, 16), Options{})
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, path, OpenOptions{})
	late := mustOpen(t, path, OpenOptions{})
	for round := range 2 {
		vary(t, other, round, 3)
		if err := other.SaveChanges(); err != nil {
			t.Fatal(err)
		}
	}
	for name, ix := range map[string]*Index{"saved": ix, "opened": late} {
		vary(t, ix, 3, 3)
		leavesAlone(t, name, ix)
		same(t, other, path)
	}
}

// A change that is whole in the file, but could not be synced, is written again.
func TestAChangeThatCouldNotBeSyncedIsSavedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.hnsw")
	ix := filled(t, clusters(41, 100, 16), Options{})
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	vary(t, ix, 1, 3)
	before := *ix.home
	if err := ix.SaveChanges(); err != nil {
		t.Fatal(err)
	}
	before.tried = ix.home.tried
	*ix.home = before // as if it had ended with an error
	vary(t, ix, 2, 3)
	if err := ix.SaveChanges(); err != nil || ix.home.number != 1 {
		t.Fatalf("%d changes, %v", ix.home.number, err)
	}
	same(t, ix, path)
}

// Other vectors under the same ids make a file with the same header: changes behind it would be lost.
func TestChangesAreNotSavedBehindAnotherFileOfTheSameHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.hnsw")
	ix := filled(t, clusters(41, 100, 16), Options{})
	other := filled(t, clusters(42, 100, 16), Options{})
	if err := ix.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	opened := mustOpen(t, path, OpenOptions{})
	if err := other.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	for name, ix := range map[string]*Index{"saved": ix, "opened": opened} {
		header := ix.home.header
		if !bytes.Equal(header, other.home.header) {
			t.Fatal("headers differ")
		}
		vary(t, ix, 1, 3)
		leavesAlone(t, name, ix)
	}
	same(t, other, path)
}

// weaviate#1635, #1637, #8908: a log whose end a crash had torn. What was saved before is there, and what is saved next.
func TestATornChangeIsCutOff(t *testing.T) {
	ix, path, _ := mappable(t)
	vary(t, ix, 1, 10)
	if err := ix.SaveChanges(); err != nil {
		t.Fatal(err)
	}
	whole, kept := savedIndex(t, ix), sizeOf(t, path)
	vary(t, ix, 2, 10)
	if err := ix.SaveChanges(); err != nil {
		t.Fatal(err)
	}
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(p)) - kept
	torn := filepath.Join(t.TempDir(), "torn")
	for _, cut := range []int64{1, 63, 64, 65, 575, 576, 577, n / 2, n - 64, n - 1} {
		zeros := slices.Clone(p)
		clear(zeros[kept+cut:])
		garbage := slices.Clone(p[:kept+cut])
		for range 300 {
			garbage = append(garbage, 0xa5)
		}
		flipped := slices.Clone(p)
		flipped[kept+cut-1] ^= 1
		for name, b := range map[string][]byte{"cut off": p[:kept+cut], "zeros": zeros, "garbage": garbage, "a bit": flipped} {
			if bytes.Equal(b, p) {
				continue // it ends with zeros
			}
			if err := os.WriteFile(torn, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got := mustOpen(t, torn, OpenOptions{})
			e := got.Torn()
			if e == nil || e.Offset != kept || e.Path != torn || !errors.Is(e, ErrCorrupt) {
				t.Fatalf("%s at %d: %v", name, cut, e)
			}
			if !bytes.Equal(savedIndex(t, got), whole) {
				t.Fatalf("%s at %d: not what was saved before", name, cut)
			}
			if _, err := loadIndex(b); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s at %d: Load: %v", name, cut, err)
			}
			vary(t, got, 3, 5)
			if err := got.SaveChanges(); err != nil || got.Torn() != nil {
				t.Fatalf("%s at %d: %v", name, cut, err)
			}
			same(t, got, torn)
		}
	}
}

// A damaged change that others follow was not torn by a crash.
func TestADamagedChangeInTheMiddleIsRefused(t *testing.T) {
	ix, path, _ := mappable(t)
	var ends []int64
	for round := range 3 {
		ends = append(ends, sizeOf(t, path))
		vary(t, ix, round, 10)
		if err := ix.SaveChanges(); err != nil {
			t.Fatal(err)
		}
	}
	for i, at := range ends {
		for _, off := range []int64{0, 9, 17, 40, 63, 64, 100, 700, 2000} {
			_, err := Open(damaged(t, path, uint64(at+off)), OpenOptions{})
			if last := i == 2; last != (err == nil) || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("change %d, byte %d: %v", i, off, err)
			}
		}
	}
}

// Changes with right checksums and wrong contents.
func FuzzChanges(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "small")
	if err := os.WriteFile(path, smallIndexFile(f), 0o600); err != nil {
		f.Fatal(err)
	}
	ix := mustOpen(f, path, OpenOptions{})
	base := sizeOf(f, path)
	for i := range 3 {
		if err := ix.Add(uint64(i), []float32{1, float32(i), 2}); err != nil {
			f.Fatal(err)
		}
	}
	if err := ix.SaveChanges(); err != nil {
		f.Fatal(err)
	}
	p, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p[base:])
	f.Add(p[base : len(p)-64])
	f.Fuzz(func(t *testing.T, change []byte) {
		b := append(slices.Clone(p[:base]), change...)
		resealChange(b, int(base))
		path := filepath.Join(t.TempDir(), "changed")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		ix, err := Open(path, OpenOptions{})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
				t.Fatal(err)
			}
			return
		}
		defer ix.Close()
		q := []float32{1, 2, 3}
		if ix.ensureNames(); ix.Dim() != 3 {
			t.Fatalf("dimension %d", ix.Dim())
		}
		if got, err := ix.Search(q, ix.Len()+1, IndexSearchOptions{}); err != nil || len(got) != ix.Len() {
			t.Fatalf("%d results of %d, %v", len(got), ix.Len(), err)
		}
		if err := ix.Add(1, q); err != nil {
			t.Fatal(err)
		}
		if err := ix.SaveChanges(); err != nil {
			t.Fatal(err)
		}
	})
}

// resealChange corrects the checksums of a change that begins at a byte.
func resealChange(p []byte, at int) {
	if len(p) < at+deltaHead+headerSize {
		return
	}
	head, body := p[at:at+deltaHead], p[at+deltaHead:]
	le.PutUint32(head[32:], le.Uint32(p[at-crcSize:]))
	le.PutUint64(head[16:], uint64(deltaHead+len(body)))
	le.PutUint32(body[headerSize-crcSize:], crc32.Checksum(body[:headerSize-crcSize], castagnoli))
	le.PutUint32(head[36:], crc32.Checksum(body, castagnoli))
	le.PutUint32(head[deltaHead-crcSize:], crc32.Checksum(head[:deltaHead-crcSize], castagnoli))
}
