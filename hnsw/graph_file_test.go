package hnsw

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"
)

func savedLinks(t testing.TB, g *Graph) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := g.Save(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// loadOver loads a graph saved from g, and gives it the rows of g.
func loadOver(g *Graph, p []byte) (*Graph, error) {
	h, _, err := LoadGraph(bytes.NewReader(p), int64(len(p)), g.dim, g.o)
	if err != nil {
		return nil, err
	}
	for slot := range h.Bound() {
		if err := h.PlaceRow(slot, g.Row(slot)); err != nil {
			return nil, err
		}
	}
	runtime.KeepAlive(g) // and with it the rows
	h.Repair()           // counts in-degrees
	return h, nil
}

// twinned returns rows of which some are equal.
func twinned(seed uint64, n, dim int) [][]float32 {
	rows := clusters(seed, n, dim)
	for i := n / 2; i < n; i += 3 {
		rows[i] = rows[i%7]
	}
	return rows
}

// weaviate#1868: an index that grew when it was read back.
func TestGraphRoundTripByteForByte(t *testing.T) {
	for _, dim := range []int{16, 64, 100} {
		rows := twinned(1, 2600, dim)
		g := built(t, rows[:2500], Options{ExactBelow: -1, M: 6, EfConstruction: 30, Seed: 3})
		for slot := range uint32(2500) {
			if slot%9 == 4 {
				g.Kill(slot)
			}
		}
		if _, err := g.Consolidate(context.Background()); err != nil {
			t.Fatal(err)
		}
		appendAll(t, g, rows[2500:]) // more rows than links
		g.Kill(70)
		g.Kill(2599)
		p := savedLinks(t, g)
		h, err := loadOver(g, p)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, h)
		if a, b := g.Stats(), h.Stats(); a.Dead != b.Dead || a.Free != b.Free || a.Free == 0 || a.Linked != b.Linked || a.Links != b.Links ||
			a.Twins != b.Twins || a.Twins == 0 || b.Unreachable != 0 || b.Slots != 2600 {
			t.Errorf("dim %d: %+v, loaded %+v", dim, a, b)
		}
		if !bytes.Equal(p, savedLinks(t, h)) {
			t.Errorf("dim %d: saving what was loaded gives other bytes", dim)
		}
		for _, q := range clusters(2, 20, dim) {
			for _, exact := range []bool{false, true} {
				want, err := g.Search(q, 10, SearchOptions{Exact: exact}, nil)
				got, err2 := h.Search(q, 10, SearchOptions{Exact: exact}, nil)
				if err != nil || err2 != nil || !slices.Equal(got, want) {
					t.Fatalf("dim %d: %v, want %v", dim, got, want)
				}
			}
		}
		// Both go on alike.
		for _, g := range []*Graph{g, h} {
			appendAll(t, g, rows[:100])
			linkAll(t, g)
		}
		checkShape(t, h)
		if !bytes.Equal(savedLinks(t, g), savedLinks(t, h)) {
			t.Errorf("dim %d: linking on after loading gives another graph", dim)
		}
	}
}

func TestAnEmptyGraphAndTheOwnersPart(t *testing.T) {
	g := newTestGraph(t, 4, Options{})
	for _, own := range []string{"", "whatever the caller likes"} {
		var b bytes.Buffer
		if err := g.Save(&b, func(uint32) []byte { return []byte(own) }); err != nil {
			t.Fatal(err)
		}
		h, back, err := LoadGraph(bytes.NewReader(b.Bytes()), int64(b.Len()), 4, Options{})
		if err != nil || h.Bound() != 0 || h.Mark() != 0 || string(back) != own {
			t.Fatalf("%q, %v", back, err)
		}
		appendAll(t, h, clusters(2, 3, 4))
		linkAll(t, h)
	}
}

// Slots whose rows are gone lead on where walks go by codes.
func TestSlotsWithoutRowsAreSteppingStones(t *testing.T) {
	rows := clusters(3, 2000, 64)
	g := built(t, rows, Options{ExactBelow: -1, M: 8, EfConstruction: 60})
	if !g.HasCodes() {
		t.Skip("no codes here")
	}
	p := savedLinks(t, g)
	h, _, err := LoadGraph(bytes.NewReader(p), int64(len(p)), 64, g.o)
	if err != nil {
		t.Fatal(err)
	}
	for slot := range h.Bound() {
		if slot%3 == 1 {
			h.Kill(slot)
		} else if err := h.Place(slot, rows[slot]); err != nil {
			t.Fatal(err)
		}
	}
	alive := func(slot uint32) bool { return slot%3 != 1 }
	if r := meanRecall(t, h, clusters(4, 50, 64), 10, SearchOptions{Ef: 100}, alive); r < 0.95 {
		t.Errorf("recall %v", r)
	}
	if _, err := h.Consolidate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); s.Free == 0 || s.Unreachable != 0 {
		t.Errorf("%+v", s)
	}
	if r := meanRecall(t, h, clusters(4, 50, 64), 10, SearchOptions{Ef: 100}, alive); r < 0.95 {
		t.Errorf("recall after consolidating %v", r)
	}
}

func own(slots uint32) []byte { return []byte("own") }

// fixable returns a small file, and the graph that it was saved from.
func fixable(t testing.TB, dim int) ([]byte, *Graph) {
	g := built(t, twinned(4, 70, dim)[:60], Options{M: 2, EfConstruction: 8, ExactBelow: -1, Seed: 1})
	for _, slot := range []uint32{3, 9, 20} {
		g.Kill(slot)
	}
	if _, err := g.Consolidate(context.Background()); err != nil {
		t.Fatal(err)
	}
	g.Kill(11)
	if s := g.Stats(); s.Twins == 0 || s.Layers < 2 || s.Free == 0 {
		t.Fatalf("%+v is too plain for this test", s)
	}
	var b bytes.Buffer
	if err := g.Save(&b, own); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), g
}

func TestEveryDamagedBitOfAGraphIsRefused(t *testing.T) {
	p, g := fixable(t, 3)
	for i := range p {
		for bit := range 8 {
			bad := slices.Clone(p)
			bad[i] ^= 1 << bit
			if _, err := loadOver(g, bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			}
		}
	}
	for n := range p {
		if _, err := loadOver(g, p[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		// The file is shorter than the caller believes.
		if _, _, err := LoadGraph(bytes.NewReader(p[:n]), int64(len(p)), 3, g.o); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes of %d: %v", n, len(p), err)
		}
	}
	if _, err := loadOver(g, append(slices.Clone(p), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
}

// reseal corrects the checksums of a file, so that what they protect can be tried.
func reseal(p []byte) {
	if len(p) < headerSize+footerSize {
		return
	}
	le.PutUint32(p[headerSize-crcSize:], crc32.Checksum(p[:headerSize-crcSize], castagnoli))
	var sums []byte
	for s := range sections {
		e := p[tableAt+entrySize*int(s):]
		at, n := le.Uint64(e[8:]), le.Uint64(e[16:])
		if at > uint64(len(p)) || n > uint64(len(p))-at {
			return
		}
		block := uint64(fileBlock) // a crafted M makes it too large for an int of 32 bits
		if s == secLinks {
			block = 32 * 8 * uint64(le.Uint32(p[20:]))
		}
		if block == 0 {
			return
		}
		for b := p[at:][:n]; len(b) > 0 && s != secRows; b = b[min(block, uint64(len(b))):] {
			sums = le.AppendUint32(sums, crc32.Checksum(b[:min(block, uint64(len(b)))], castagnoli))
		}
	}
	if at := len(p) - footerSize - len(sums); at >= headerSize {
		copy(p[at:], sums)
		copy(p[len(p)-footerSize:], footerOf(p, crc32.Checksum(sums, castagnoli), uint64(len(p))))
	}
}

// USearch#776, hnswlib#673: a crafted file, with right checksums and wrong contents.
func TestCraftedLinksAreRefused(t *testing.T) {
	for _, dim := range []int{3, 64} {
		p, g := fixable(t, dim)
		if again := slices.Clone(p); true {
			if reseal(again); !bytes.Equal(again, p) {
				t.Fatal("resealing an intact file has changed it")
			}
		}
		// Every word of the file, but for codes, becomes every one of these.
		tried, refused := 0, 0
		end := len(p) - footerSize
		if codes := int(le.Uint64(p[tableAt+entrySize*int(secCodes)+8:])); dim == 64 && g.HasCodes() {
			end = codes
		}
		for at := 12; at+4 <= end; at += 4 {
			for _, x := range []uint32{1, 4, 5, 59, 60, 1 << 31, 1<<31 | 1, 1<<31 - 1, math.MaxUint32} {
				bad := slices.Clone(p)
				le.PutUint32(bad[at:], x)
				reseal(bad)
				tried++
				h, err := loadOver(g, bad)
				if err != nil {
					if !errors.Is(err, ErrCorrupt) {
						t.Fatalf("word at %d set to %#x: %v", at, x, err)
					}
					refused++
					continue
				}
				// It may be a possible graph; then it has to work.
				works(t, h)
			}
		}
		if refused*2 < tried {
			t.Errorf("only %d of %d refused", refused, tried)
		}
	}
}

// works uses a graph in every way.
func works(t *testing.T, g *Graph) {
	t.Helper()
	checkLayers(t, g)
	for _, q := range clusters(5, 3, g.dim) {
		if hits, err := g.Search(q, 60, SearchOptions{}, nil); err != nil || len(hits) != g.Stats().Live {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
	}
	appendAll(t, g, clusters(6, 5, g.dim))
	linkAll(t, g)
	g.Kill(5)
	if _, err := g.Consolidate(context.Background()); err != nil {
		t.Fatal(err)
	}
	g.Repair()
	if n := g.Stats().Unreachable; n != 0 {
		t.Fatalf("%d unreachable after repair", n)
	}
	savedLinks(t, g)
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

func TestRingsOfTwinsAreRefused(t *testing.T) {
	p, g := fixable(t, 3)
	e := p[tableAt+entrySize*int(secTwins):]
	at, n := int(le.Uint64(e[8:])), int(le.Uint64(e[16:]))/8
	ringed := 0
	for i := range n {
		// The next of each becomes whoever precedes it, or itself.
		slot := le.Uint32(p[at+8*i:])
		for _, next := range []uint32{slot, le.Uint32(p[at:])} {
			bad := slices.Clone(p)
			le.PutUint32(bad[at+8*i+4:], next)
			if reseal(bad); bytes.Equal(bad, p) {
				continue
			}
			ringed++
			if _, err := loadOver(g, bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("slot %d has the twin %d: %v", slot, next, err)
			}
		}
	}
	if ringed == 0 {
		t.Error("nothing tried")
	}
}

func TestAGraphOfOtherOptionsIsAMismatch(t *testing.T) {
	p, g := fixable(t, 3)
	load := func(dim int, o Options) error {
		_, _, err := LoadGraph(bytes.NewReader(p), int64(len(p)), dim, o)
		return err
	}
	otherM, otherSeed, others := g.o, g.o, g.o
	otherM.M, otherSeed.Seed = 5, 2
	others.EfSearch, others.EfConstruction, others.ExactBelow = 11, 12, 13
	for name, err := range map[string]error{
		"another dimension": load(4, g.o), "another M": load(3, otherM), "another seed": load(3, otherSeed),
	} {
		if !errors.Is(err, ErrMismatch) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h, _, err := LoadGraph(bytes.NewReader(p), int64(len(p)), 3, others)
	if err != nil || h.Options().EfSearch != 11 || h.Options().EfConstruction != 12 || h.Options().ExactBelow != 13 {
		t.Errorf("%v", err)
	}
	if _, err := loadIndex(p); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a graph as an index: %v", err)
	}
	q := smallIndexFile(t)
	if _, _, err := LoadGraph(bytes.NewReader(q), int64(len(q)), 3, Options{M: 2, Seed: 7}); !errors.Is(err, ErrMismatch) {
		t.Errorf("an index as a graph: %v", err)
	}
}

func TestAFileOfALaterFormatIsTooNew(t *testing.T) {
	p, g := fixable(t, 3)
	le.PutUint16(p[10:], fileVersion+1)
	reseal(p)
	if _, err := loadOver(g, p); !errors.Is(err, ErrTooNew) || errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

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
	p, g := fixable(t, 3)
	if _, _, err := LoadGraph(faultyReader{}, int64(len(p)), 3, g.o); !errors.Is(err, errDisk) || errors.Is(err, ErrCorrupt) {
		t.Errorf("load: %v", err)
	}
	for left := range len(p) {
		if err := g.Save(&faultyWriter{left}, own); !errors.Is(err, errDisk) {
			t.Errorf("save with room for %d: %v", left, err)
		}
	}
	if err := g.Save(&faultyWriter{len(p)}, own); err != nil {
		t.Error(err)
	}
}

// hnswlib#370, SPTAG#40: sizes computed in 32 bits.
func TestSizesBeyondFourGigabytes(t *testing.T) {
	h := fileHeader{dim: maxDim, m: maxM, slots: MaxSlots, mark: MaxSlots, codes: codesOfUnit, index: true, twins: MaxSlots}
	l, err := h.place(MaxSlots * maxLevel * (1 + maxM))
	if math.MaxInt == math.MaxInt32 { // there, no such file fits into memory
		if !errors.Is(err, errTooLarge) {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	const slots = uint64(MaxSlots)
	for s, want := range map[section]uint64{
		secLinks: slots * 8 * maxM, secCodes: slots * maxDim, secRows: slots * 4 * maxDim, secIDs: slots * 8,
		secUpper: 4 * (1 + slots*maxLevel*(1+maxM)), secTwins: slots * 8,
	} {
		if got := l.spans[s].length; got != want {
			t.Errorf("%v: %d bytes, want %d", s, got, want)
		}
	}
	if want := l.spans[secRowSums].offset + slots*4; l.size < want || l.spans[secRows].offset < slots*maxDim {
		t.Errorf("%d bytes in all, want more than %d", l.size, want)
	}
	for _, own := range []uint64{math.MaxUint64, math.MaxInt64, math.MaxInt64 / 2} {
		h.own = own
		if l, err := h.place(1); err == nil && l.size < own {
			t.Errorf("%d bytes of its owner's make a file of %d", own, l.size)
		}
	}
}

func TestSaveBesideSearchesAndAppends(t *testing.T) {
	rows := clusters(8, 1500, 8)
	g := newTestGraph(t, 8, Options{ExactBelow: -1, M: 4, EfConstruction: 20})
	appendAll(t, g, rows[:500])
	linkAll(t, g)
	done := make(chan error, 1)
	go func() {
		for i, v := range rows[500:] {
			if _, err := g.Append(v); err != nil {
				done <- err
				return
			}
			g.Kill(uint32(i))
		}
		_, err := g.Link(context.Background(), 0)
		done <- err
	}()
	for range 10 {
		if _, err := loadOver(g, savedLinks(t, g)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestBelowLooksAtEveryWord(t *testing.T) {
	for _, m := range []int{2, 3, 5, 16} {
		list := make([]uint32, 2*m+2)[:2*m] // a multiple of 8 bytes in
		for _, limit := range []uint32{1, 2, 70, 1 << 20, 1<<31 - 1, 1 << 31, 1<<31 + 1, math.MaxUint32} {
			for i := range list {
				list[i] = limit - 1
			}
			list[0] = hasTwins | 1
			if !below(list, limit) {
				t.Fatalf("M %d: %d is below %d", m, limit-1, limit)
			}
			for i := 1; i < len(list); i++ {
				for _, x := range []uint32{limit, limit + 1, 1 << 31, 1<<31 | 7, math.MaxUint32} {
					if x < limit {
						continue
					}
					for _, others := range []uint32{0, limit - 1} {
						for j := 1; j < len(list); j++ {
							list[j] = others
						}
						if list[i] = x; below(list, limit) {
							t.Fatalf("M %d, word %d: %d is not below %d", m, i, x, limit)
						}
					}
				}
				list[i] = 0
			}
		}
	}
}
