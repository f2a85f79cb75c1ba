package hnsw

import (
	"bytes"
	"errors"
	"math"
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
	for _, h := range []fileHeader{
		{dim: maxDim, m: maxM, efConstruction: 10, efSearch: 10, exactBelow: 1, slots: MaxSlots, mark: MaxSlots, live: 1, index: true},
		{dim: maxDim, m: maxM, efConstruction: 10, efSearch: 10, exactBelow: 1, slots: 1, mark: 1, live: 1, index: true},
		{dim: 1, m: 16, efConstruction: maxEf, efSearch: maxEf, exactBelow: 1, slots: 1000, mark: 1000, live: 1, index: true},
		{dim: 1, m: 16, efConstruction: 10, efSearch: 10, exactBelow: 1, slots: MaxSlots, index: false, own: math.MaxUint64},
		{dim: 1, m: 16, efConstruction: 10, efSearch: 10, exactBelow: 1, slots: MaxSlots, index: false},
	} {
		l, err := h.place(0)
		if err != nil {
			l = &layout{}
		}
		p := append(h.encode(l), make([]byte, 100)...)
		reseal(p)
		before := testing.AllocsPerRun(1, func() {
			if _, err := loadIndex(p); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%+v: %v", h, err)
			}
		})
		if before > 100 {
			t.Errorf("%+v: %v allocations", h, before)
		}
	}
	h := fileHeader{dim: 3, m: 1, efConstruction: 10, efSearch: 10, exactBelow: 1, index: true}
	l, _ := h.place(0)
	p := append(h.encode(l), make([]byte, l.size-headerSize)...)
	reseal(p)
	if _, err := loadIndex(p); !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrInvalid) {
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

func FuzzLoadGraph(f *testing.F) {
	p, g := fixable(f, 3)
	f.Add(p)
	f.Add(p[:len(p)-4])
	f.Add(savedLinks(f, newTestGraph(f, 3, Options{M: 2, Seed: 1})))
	f.Fuzz(func(t *testing.T, p []byte) {
		p = slices.Clone(p)
		reseal(p)
		h, _, err := LoadGraph(bytes.NewReader(p), int64(len(p)), g.dim, g.o)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooNew) {
				t.Fatal(err)
			}
			return
		}
		for slot := range h.Bound() {
			if err := h.PlaceRow(slot, g.Row(slot%60)); err != nil {
				t.Fatal(err)
			}
		}
		works(t, h)
	})
}
