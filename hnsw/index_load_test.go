package hnsw

import (
	"errors"
	"slices"
	"testing"
)

func smallIndexFile(t testing.TB) []byte {
	ix := filled(t, twinned(1, 40, 3), Options{M: 2, EfConstruction: 8, ExactBelow: -1, Seed: 7})
	ix.Delete(1<<40 + 3)
	if err := ix.Add(1<<40+5, []float32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	return savedIndex(t, ix)
}

func TestEveryDamagedByteOfAnIndexIsRefused(t *testing.T) {
	p := smallIndexFile(t)
	for i := range p {
		for _, flip := range []byte{1 << (i % 8), 0xff}[:1+i%2] {
			bad := slices.Clone(p)
			bad[i] ^= flip
			if _, err := loadIndex(bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d ^ %#x: %v", i, flip, err)
			}
		}
		if _, err := loadIndex(p[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes: %v", i, err)
		}
	}
	if _, err := loadIndex(append(slices.Clone(p), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := Load(faultyReader{}, int64(len(p))); !errors.Is(err, errDisk) || errors.Is(err, ErrCorrupt) {
		t.Errorf("a failing disk: %v", err)
	}
}

// A header may promise anything; only the size of the file counts.
func TestPromisesOfAHeaderAreNotAllocated(t *testing.T) {
	for _, h := range []indexHeader{
		{dim: maxDim, m: maxM, efConstruction: 10, efSearch: 10, exactBelow: 1, bound: MaxSlots},
		{dim: maxDim, m: maxM, efConstruction: 10, efSearch: 10, exactBelow: 1, bound: 1},
		{dim: 1, m: 16, efConstruction: maxEf, efSearch: maxEf, exactBelow: 1, bound: 1000},
	} {
		p := append(putHeader(indexMagic, h.encode()), make([]byte, 100)...)
		before := testing.AllocsPerRun(1, func() {
			if _, err := loadIndex(p); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%+v: %v", h, err)
			}
		})
		if before > 100 {
			t.Errorf("%+v: %v allocations", h, before)
		}
	}
	h := indexHeader{dim: 3, m: 1, efConstruction: 10, efSearch: 10, exactBelow: 1}
	if _, err := loadIndex(putHeader(indexMagic, h.encode())); !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrInvalid) {
		t.Errorf("M 1: %v", err)
	}
}

// weaviate#5019: what was deleted came back, or stayed half dead, after a restart.
func TestReplacedAndDeletedStaySoAfterLoading(t *testing.T) {
	ix, err := loadIndex(smallIndexFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if ix.Has(1<<40+3) || ix.Len() != 39 || ix.Stats().Dead != 2 {
		t.Errorf("length %d, %+v", ix.Len(), ix.Stats())
	}
	got, err := ix.Search([]float32{1, 2, 3}, 100, IndexSearchOptions{})
	if err != nil || len(got) != 39 || got[0].ID != 1<<40+5 {
		t.Errorf("%v, %v", got, err)
	}
	if !ix.Delete(1<<40+5) || ix.Delete(1<<40+5) {
		t.Error("deleting what was loaded")
	}
}

func TestEmptyIndexRoundTrip(t *testing.T) {
	ix, err := loadIndex(savedIndex(t, newTestIndex(t, 5, Options{ExactBelow: -1, Seed: 9, EfSearch: 33})))
	if err != nil {
		t.Fatal(err)
	}
	if o := ix.o; o.EfSearch != 33 || o.ExactBelow != -1 || o.Seed != 9 || ix.Dim() != 5 || ix.Len() != 0 {
		t.Errorf("%+v", o)
	}
	if got, err := ix.Search([]float32{1, 0, 0, 0, 0}, 3, IndexSearchOptions{}); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if err := ix.Add(1, []float32{1, 0, 0, 0, 0}); err != nil {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	p := smallIndexFile(f)
	f.Add(p)
	f.Add(p[:len(p)/2])
	f.Add(savedIndex(f, newTestIndex(f, 2, Options{})))
	f.Fuzz(func(t *testing.T, p []byte) {
		p = slices.Clone(p)
		reseal(p)
		ix, err := loadIndex(p)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
				t.Fatal(err)
			}
			return
		}
		q := make([]float32, ix.Dim())
		q[0] = 1
		got, err := ix.Search(q, ix.Len()+1, IndexSearchOptions{})
		if err != nil || len(got) != ix.Len() {
			t.Fatalf("%d results of %d, %v", len(got), ix.Len(), err)
		}
		if err := ix.Add(1, q); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzLoadLinks(f *testing.F) {
	p, fresh := fixable(f)
	f.Add(p)
	f.Add(p[:len(p)-4])
	f.Add(savedLinks(f, newTestGraph(f, 3, Options{M: 2, Seed: 1})))
	f.Fuzz(func(t *testing.T, p []byte) {
		p = slices.Clone(p)
		reseal(p)
		g := fresh(t)
		err := loadLinks(g, p)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
			t.Fatal(err)
		}
		linkAll(t, g)
		g.Repair()
		if n := unreachable(g); n != 0 {
			t.Fatalf("%d unreachable", n)
		}
		if hits, err := g.Search([]float32{1, 2, 3}, 100, SearchOptions{}, nil); err != nil || len(hits) != 60 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
	})
}

// reseal corrects the checksums of files with one block, so that fuzzing gets past them.
func reseal(p []byte) {
	if len(p) < headerSize {
		return
	}
	le.PutUint32(p[60:], headerSum(p))
	switch string(p[:8]) {
	case linksMagic:
		if len(p) >= headerSize+8 {
			le.PutUint32(p[len(p)-4:], blockSum(le.Uint32(p[60:]), 0, p[headerSize:len(p)-4]))
		}
	case indexMagic:
		var h indexHeader
		h.decode(p[16:])
		end := headerSize + int64(h.bound)*h.rowSize()
		if h.bound > chunkSlots || end < headerSize || end+4 > int64(len(p)) {
			return
		}
		if h.bound > 0 {
			le.PutUint32(p[end:], blockSum(le.Uint32(p[60:]), 0, p[headerSize:end]))
			end += 4
		}
		reseal(p[end:])
	}
}
