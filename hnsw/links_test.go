package hnsw

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func savedLinks(t testing.TB, g *Graph) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := g.SaveLinks(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadLinks(g *Graph, p []byte) error { return g.LoadLinks(bytes.NewReader(p), int64(len(p))) }

// twinned returns rows of which some are equal.
func twinned(seed uint64, n, dim int) [][]float32 {
	rows := clusters(seed, n, dim)
	for i := n / 2; i < n; i += 3 {
		rows[i] = rows[i%7]
	}
	return rows
}

// weaviate#1868: an index that grew when it was read back.
func TestLinksRoundTripByteForByte(t *testing.T) {
	rows := twinned(1, 2600, 16)
	o := Options{ExactBelow: -1, M: 6, EfConstruction: 30, Seed: 3}
	g := built(t, rows[:2500], o)
	p := savedLinks(t, g)
	if want := g.linksSize(2500); int64(len(p)) != want {
		t.Errorf("%d bytes, said to be %d", len(p), want)
	}
	h := newTestGraph(t, 16, o)
	appendAll(t, h, rows) // more rows than links
	if err := loadLinks(h, p); err != nil {
		t.Fatal(err)
	}
	checkShape(t, h)
	if h.Mark() != 2500 || unreachable(h) != 0 {
		t.Errorf("mark %d, %d unreachable", h.Mark(), unreachable(h))
	}
	if !bytes.Equal(p, savedLinks(t, h)) {
		t.Error("saving what was loaded gives other bytes")
	}
	// Both go on alike.
	appendAll(t, g, rows[2500:])
	linkAll(t, g)
	linkAll(t, h)
	checkShape(t, h)
	if !bytes.Equal(savedLinks(t, g), savedLinks(t, h)) {
		t.Error("linking on after loading gives another graph")
	}
	if err := loadLinks(h, p); !errors.Is(err, ErrInvalid) {
		t.Errorf("loading over links: %v", err)
	}
}

func TestLinksOfAnEmptyGraph(t *testing.T) {
	g := newTestGraph(t, 4, Options{})
	p := savedLinks(t, g)
	appendAll(t, g, clusters(2, 3, 4))
	if err := loadLinks(g, p); err != nil || g.Mark() != 0 {
		t.Errorf("%v, mark %d", err, g.Mark())
	}
}

// fixable returns a small file of links, and a fresh graph with its rows.
func fixable(t testing.TB) ([]byte, func(testing.TB) *Graph) {
	rows := twinned(4, 60, 3)
	o := Options{M: 2, EfConstruction: 8, ExactBelow: -1, Seed: 1}
	fresh := func(t testing.TB) *Graph {
		g := newTestGraph(t, 3, o)
		appendAll(t, g, rows)
		return g
	}
	g := fresh(t)
	linkAll(t, g)
	if s := g.Stats(); s.Twins == 0 || s.Layers < 2 {
		t.Fatalf("%+v is too plain for this test", s)
	}
	return savedLinks(t, g), fresh
}

func TestEveryDamagedBitOfLinksIsRefused(t *testing.T) {
	p, fresh := fixable(t)
	g := fresh(t)
	for i := range p {
		for bit := range 8 {
			bad := slices.Clone(p)
			bad[i] ^= 1 << bit
			if err := loadLinks(g, bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			}
		}
	}
	for n := range p {
		if err := loadLinks(g, p[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		// The file is shorter than the caller believes.
		if err := g.LoadLinks(bytes.NewReader(p[:n]), int64(len(p))); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes of %d: %v", n, len(p), err)
		}
	}
	if err := loadLinks(g, append(slices.Clone(p), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
	if g.Mark() != 0 {
		t.Fatalf("mark %d after refusals", g.Mark())
	}
	if err := loadLinks(g, p); err != nil {
		t.Errorf("the undamaged file, after all those: %v", err)
	}
	checkShape(t, g)
}

// USearch#776, hnswlib#673: a crafted file, with right checksums and wrong contents.
func TestCraftedLinksAreRefused(t *testing.T) {
	p, fresh := fixable(t)
	g := fresh(t)
	seal := func(p []byte) {
		h := putHeader(linksMagic, p[16:60])
		copy(p[60:], h[60:])
		le.PutUint32(p[len(p)-4:], blockSum(le.Uint32(p[60:]), 0, p[headerSize:len(p)-4]))
	}
	// Every word of the file becomes every one of these.
	tried, refused := 0, 0
	for at := 16; at+4 <= len(p)-4; at += 4 {
		if at == 60 {
			continue
		}
		for _, x := range []uint32{1, 4, 5, 59, 60, 1 << 31, 1<<31 | 1, 1<<31 - 1, math.MaxUint32} {
			bad := slices.Clone(p)
			le.PutUint32(bad[at:], x)
			seal(bad)
			tried++
			if err := loadLinks(g, bad); err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("word at %d set to %#x: %v", at, x, err)
				}
				refused++
				continue
			}
			// It may be a possible graph; then it has to work.
			checkLayers(t, g)
			for _, q := range clusters(5, 3, 3) {
				if hits, err := g.Search(q, 60, SearchOptions{}, nil); err != nil || len(hits) != 60 {
					t.Fatalf("word at %d set to %#x: %d hits, %v", at, x, len(hits), err)
				}
			}
			g.Repair()
			if n := unreachable(g); n != 0 {
				t.Fatalf("word at %d set to %#x: %d unreachable after repair", at, x, n)
			}
			g = fresh(t)
		}
	}
	if refused*2 < tried {
		t.Errorf("only %d of %d refused", refused, tried)
	}
}

// checkLayers verifies that no list names a slot that does not reach its layer.
func checkLayers(t *testing.T, g *Graph) {
	t.Helper()
	for slot := range g.Mark() {
		for layer := range levelOf(g.o.Seed, slot, g.o.M) + 1 {
			ids, _ := neighbours(g.list(g.table.Load(), slot, layer), MaxSlots, nil)
			for _, id := range ids {
				if levelOf(g.o.Seed, id, g.o.M) < layer {
					t.Fatalf("slot %d, layer %d: neighbour %d does not reach it", slot, layer, id)
				}
			}
		}
	}
}

func TestTwinsOutOfOrderAreRefused(t *testing.T) {
	p, fresh := fixable(t)
	// A chain a -> b becomes a -> b -> b, and a -> a.
	words := headerSize + 4 + 60*4*2*2
	for slot := range uint32(60) {
		next := le.Uint32(p[words+4*int(slot):])
		if next == 0 {
			continue
		}
		for _, at := range []uint32{slot, next} {
			bad := slices.Clone(p)
			le.PutUint32(bad[words+4*int(at):], at)
			le.PutUint32(bad[len(bad)-4:], blockSum(le.Uint32(bad[60:]), 0, bad[headerSize:len(bad)-4]))
			if err := loadLinks(fresh(t), bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("slot %d is its own twin: %v", at, err)
			}
		}
	}
}

func TestAFailedLoadLeavesNothingBehind(t *testing.T) {
	p, fresh := fixable(t)
	bad := slices.Clone(p)
	le.PutUint32(bad[len(bad)-8:], 60) // the very last neighbour: everything else is read before
	le.PutUint32(bad[len(bad)-4:], blockSum(le.Uint32(bad[60:]), 0, bad[headerSize:len(bad)-4]))
	g := fresh(t)
	if err := loadLinks(g, bad); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
	linkAll(t, g)
	checkShape(t, g)
	if !bytes.Equal(savedLinks(t, g), p) {
		t.Error("linking after a failed load gives another graph")
	}
}

func TestLinksOfOtherRowsAndOptionsAreMismatches(t *testing.T) {
	rows := clusters(6, 1100, 8)
	o := Options{M: 4, EfConstruction: 20, Seed: 1}
	p := savedLinks(t, built(t, rows, o))
	with := func(rows [][]float32, o Options) error {
		g := newTestGraph(t, len(rows[0]), o)
		appendAll(t, g, rows)
		return loadLinks(g, p)
	}
	other := slices.Clone(rows)
	other[1099] = slices.Clone(rows[1099])
	other[1099][3] += 0.01
	swapped := slices.Clone(rows)
	swapped[10], swapped[11] = rows[11], rows[10]
	otherM, otherSeed := o, o
	otherM.M, otherSeed.Seed = 5, 2
	for name, err := range map[string]error{
		"another last row": with(other, o), "two rows swapped": with(swapped, o), "fewer rows": with(rows[:1099], o),
		"another dimension": with(clusters(6, 1100, 9), o), "another M": with(rows, otherM), "another seed": with(rows, otherSeed),
	} {
		if !errors.Is(err, ErrMismatch) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := with(rows, o); err != nil {
		t.Errorf("the same: %v", err)
	}
}

func TestLinksOfALaterFormatAreTooNew(t *testing.T) {
	p, fresh := fixable(t)
	le.PutUint16(p[10:], formatVersion+1)
	le.PutUint32(p[60:], headerSum(p))
	if err := loadLinks(fresh(t), p); !errors.Is(err, ErrTooNew) || errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

func headerSum(p []byte) uint32 { return crc32.Checksum(p[:60], castagnoli) }

// faultyReader fails as a disk does, faultyWriter too.
type faultyReader struct{ io.ReaderAt }

var errDisk = errors.New("disk on fire")

func (faultyReader) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

type faultyWriter struct{ left int }

func (w *faultyWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestErrorsOfTheDiskComeThrough(t *testing.T) {
	p, fresh := fixable(t)
	g := fresh(t)
	if err := g.LoadLinks(faultyReader{}, int64(len(p))); !errors.Is(err, errDisk) || errors.Is(err, ErrCorrupt) {
		t.Errorf("load: %v", err)
	}
	linkAll(t, g)
	for _, left := range []int{0, headerSize, len(p) - 1} {
		if err := g.SaveLinks(&faultyWriter{left}); !errors.Is(err, errDisk) {
			t.Errorf("save with room for %d: %v", left, err)
		}
	}
	if err := g.SaveLinks(&faultyWriter{len(p)}); err != nil {
		t.Error(err)
	}
}

// hnswlib#370, SPTAG#40: sizes computed in 32 bits.
func TestSizesBeyondFourGigabytes(t *testing.T) {
	g := newTestGraph(t, 4096, Options{M: 2})
	h := indexHeader{dim: maxDim, bound: MaxSlots}
	if got := int64(h.bound) * h.rowSize(); got < 1<<49 || got < 0 {
		t.Errorf("size of a full index: %d", got)
	}
	if got := g.linksBlockSize(0, 1<<20); got < 1<<24 {
		t.Errorf("size of a large block: %d", got)
	}
	// Upper lists end before their offsets wrap.
	g.upperFree = 1<<32 - 1
	var err error
	for range 64 { // one in two has upper lists
		if _, err = g.Append(gaussian(rand.New(rand.NewPCG(1, 1)), 4096, nil, 1)); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Errorf("upper lists beyond 2^32 words: %v", err)
	}
}

func TestSaveBesideSearchesAndAppends(t *testing.T) {
	rows := clusters(8, 1500, 8)
	g := newTestGraph(t, 8, Options{ExactBelow: -1, M: 4, EfConstruction: 20})
	appendAll(t, g, rows[:500])
	linkAll(t, g)
	done := make(chan error, 1)
	go func() {
		for _, v := range rows[500:] {
			if _, err := g.Append(v); err != nil {
				done <- err
				return
			}
		}
		_, err := g.Link(context.Background(), 0)
		done <- err
	}()
	for range 10 {
		p := savedLinks(t, g)
		h := newTestGraph(t, 8, g.Options())
		appendAll(t, h, rows)
		if err := loadLinks(h, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
