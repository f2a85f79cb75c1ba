package hnsw

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func scratchFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func inFile(t *testing.T, g *Graph, f *os.File) {
	t.Helper()
	if !g.rowInFile(g.table.Load(), 0) {
		t.Skip("files are not mapped here")
	}
	info, err := f.Stat()
	if err != nil || info.Size() < int64(g.Bound())*4*int64(g.dim) {
		t.Fatalf("%d rows of %d elements, but the file has %d bytes (%v)", g.Bound(), g.dim, info.Size(), err)
	}
}

// Where rows are makes no difference to what is found, nor does loading.
func TestRowsInAFileAreThoseOfMemory(t *testing.T) {
	for _, dim := range []int{32, 96} {
		rows := clusters(5, 3000, dim)
		f := scratchFile(t)
		want, g := newTestGraph(t, dim, Options{ExactBelow: -1}), newTestGraph(t, dim, Options{ExactBelow: -1, RowFile: f})
		appendAll(t, want, rows)
		appendAll(t, g, rows[:1200])
		first := g.Row(1199)
		if _, err := g.AppendBatch(rows[1200:], 3); err != nil {
			t.Fatal(err)
		}
		inFile(t, g, f)
		if &first[0] != &g.Row(1199)[0] {
			t.Error("a row has moved")
		}
		linkAll(t, want)
		linkAll(t, g)
		same := func(g *Graph) {
			t.Helper()
			for _, q := range clusters(6, 40, dim) {
				a, err := want.Search(q, 10, SearchOptions{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				b, err := g.Search(q, 10, SearchOptions{}, nil)
				if err != nil || !slices.Equal(a, b) {
					t.Fatalf("dimension %d: %v, want %v (%v)", dim, b, a, err)
				}
			}
		}
		same(g)

		var file bytes.Buffer
		if err := g.Save(&file, nil); err != nil {
			t.Fatal(err)
		}
		other := scratchFile(t)
		loaded, _, err := LoadGraph(bytes.NewReader(file.Bytes()), int64(file.Len()), dim, Options{ExactBelow: -1, RowFile: other})
		if err != nil {
			t.Fatal(err)
		}
		for slot := len(rows) - 1; slot >= 0; slot-- {
			if err := loaded.PlaceRow(uint32(slot), g.Row(uint32(slot))); err != nil {
				t.Fatal(err)
			}
		}
		inFile(t, loaded, other)
		same(loaded)
	}
}

// A file that takes no more rows, as on a full disk, is an error, and nothing is appended.
func TestARowThatCannotBeWrittenIsNotAppended(t *testing.T) {
	rows := clusters(7, 100, 96)
	f := scratchFile(t)
	g := newTestGraph(t, 96, Options{RowFile: f})
	appendAll(t, g, rows[:50])
	inFile(t, g, f)
	f.Close()
	if slot, err := g.Append(rows[50]); err == nil {
		t.Errorf("appended as %d", slot)
	}
	if first, err := g.AppendBatch(rows[50:], 2); err == nil {
		t.Errorf("appended from %d on", first)
	}
	if err := g.Place(3, rows[3]); err == nil {
		t.Error("placed")
	}
	if g.Bound() != 50 {
		t.Errorf("%d slots", g.Bound())
	}
	for i, v := range rows[:50] {
		if hits, err := g.Search(v, 1, SearchOptions{}, nil); err != nil || hits[0].Slot != uint32(i) {
			t.Fatalf("%d: %v, %v", i, hits, err)
		}
	}
}

// From the first chunk on that the file has no room for rows are in memory, and stay there when there is room again.
func TestRowsThatTheFileHasNoRoomForAreInMemory(t *testing.T) {
	const dim = 96
	rows := clusters(9, 3500, dim)
	f := scratchFile(t)
	g := newTestGraph(t, dim, Options{ExactBelow: -1, RowFile: f})
	appendAll(t, g, rows[:1000])
	inFile(t, g, f)
	refuses, err := os.Open(f.Name()) // for reading
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { refuses.Close() })
	was := *f
	*f = *refuses // until it is f again, all is refused
	if _, err := g.Append(rows[1000]); err == nil {
		t.Error("a row of the file was written")
	}
	*f = was
	appendAll(t, g, rows[1000:1024])
	*f = *refuses
	if _, err := g.AppendBatch(rows[1024:2000], 2); err != nil {
		t.Fatal(err)
	}
	*f = was
	appendAll(t, g, rows[2000:])
	for slot, want := range map[uint32]bool{0: true, 1023: true, 1024: false, 2047: false, 2048: false, 3499: false} {
		if got := g.rowInFile(g.table.Load(), slot); got != want {
			t.Errorf("slot %d in the file: %v", slot, got)
		}
	}
	linkAll(t, g)
	for i, v := range rows {
		if hits, err := g.Search(v, 1, SearchOptions{}, nil); err != nil || hits[0].Slot != uint32(i) {
			t.Fatalf("%d: %v, %v", i, hits, err)
		}
	}
}

func TestAnIndexIgnoresRowFile(t *testing.T) {
	f := scratchFile(t)
	ix, err := New(96, Options{RowFile: f})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Add(1, clusters(8, 1, 96)[0]); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes (%v)", info.Size(), err)
	}
}
