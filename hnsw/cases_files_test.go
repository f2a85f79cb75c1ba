package hnsw_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lightctl/lightrag/hnsw"
)

// manyTimes is an index with replaced, deleted, equal and added vectors, and its rows.
func manyTimes(t testing.TB) (*hnsw.Index, [][]float32) {
	rows := mixture(1, 300, 8)
	ix := indexOf(t, rows, hnsw.Options{ExactBelow: -1, M: 4, EfConstruction: 20, Seed: 5})
	for id := 0; id < 300; id += 5 {
		remove(t, ix, rows, id)
	}
	for id := 1; id < 300; id += 5 {
		rows[id] = rows[2]
		add(t, ix, id, rows[id])
	}
	return ix, rows
}

// sparse is a file whose bytes beyond what there is are zeros: a real one would need the disk.
type sparse struct{ p []byte }

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off >= 0 && off < int64(len(s.p)) {
		copy(p, s.p[off:])
	}
	return len(p), nil
}

// refused says whether an error is that of a file that cannot be believed.
func refused(err error) bool {
	return errors.Is(err, hnsw.ErrCorrupt) || errors.Is(err, hnsw.ErrTooNew)
}

// nmslib/hnswlib#673, PR#677, PR#370, nmslib/nmslib#184, microsoft/SPTAG#40: sizes beyond 2 GiB wrapped around and
// agreed with what they should not. A file that is 2^31 or 2^32 bytes longer than it should be looks right to whoever
// counts in 32 bits. See also TestArenasBeyondFourGigabytes.
func TestAFileTooLongByAPowerOfTwoIsRefused(t *testing.T) {
	ix, _ := manyTimes(t)
	p := saved(t, ix)
	rows := mixture(2, 200, 8)
	g := graphOf(t, rows, walking)
	var links bytes.Buffer
	if err := g.Save(&links, nil); err != nil {
		t.Fatal(err)
	}
	for _, more := range []int64{1 << 31, 1 << 32, 1 << 33, 1 << 40, math.MaxInt64 - 1<<20} {
		if _, err := hnsw.Load(sparse{p}, int64(len(p))+more); !errors.Is(err, hnsw.ErrCorrupt) {
			t.Errorf("an index %d bytes too long: %v", more, err)
		}
		if _, _, err := hnsw.LoadGraph(sparse{links.Bytes()}, int64(links.Len())+more, 8, walking); !errors.Is(err, hnsw.ErrCorrupt) {
			t.Errorf("links %d bytes too long: %v", more, err)
		}
	}
	for _, size := range []int64{-1, math.MinInt64, 0, 1} {
		if _, err := hnsw.Load(sparse{p}, size); !errors.Is(err, hnsw.ErrCorrupt) {
			t.Errorf("an index of %d bytes: %v", size, err)
		}
	}
}

// unum-cloud/USearch#776: a crafted file made a reader read out of bounds. Bytes, words and runs of them are set to
// whatever they should not be, everywhere; those that pass the checksums are tried in TestCraftedLinksAreRefused
// and FuzzLoad.
func TestNoDamageToAFileIsBelieved(t *testing.T) {
	ix, _ := manyTimes(t)
	p := saved(t, ix)
	r := random(3)
	for trial := range 1000 {
		bad := slices.Clone(p)
		at := r.IntN(len(p))
		if trial < 128 {
			at = trial // every byte of the beginning, where the sizes are
		}
		for i := at; i < min(at+1+trial%4*3, len(p)); i++ {
			bad[i] ^= byte(1 + r.IntN(255))
		}
		if _, err := hnsw.Load(bytes.NewReader(bad), int64(len(bad))); !refused(err) {
			t.Fatalf("damage at byte %d of %d: %v", at, len(p), err)
		}
	}
}

// weaviate/weaviate#1698, #1637, #8908: a log cut off by a crash panicked on every start thereafter. A file that ends
// too soon is refused, and what is refused stays usable: links are built anew.
func TestAFileCutShortIsAnErrorAndNoCrash(t *testing.T) {
	ix, rows := manyTimes(t)
	p := saved(t, ix)
	for n := 0; n < len(p); n += 1 + len(p)/300 {
		if _, err := hnsw.Load(bytes.NewReader(p[:n]), int64(n)); !refused(err) {
			t.Fatalf("the first %d bytes of %d: %v", n, len(p), err)
		}
		// The same, where the size was read before the crash.
		if _, err := hnsw.Load(bytes.NewReader(p[:n]), int64(len(p))); !refused(err) {
			t.Fatalf("the first %d bytes, said to be %d: %v", n, len(p), err)
		}
	}
	for id, v := range rows {
		if v == nil {
			rows[id] = rows[2]
		}
	}
	g := graphOf(t, rows, walking)
	var links, again bytes.Buffer
	if err := g.Save(&links, nil); err != nil {
		t.Fatal(err)
	}
	h, err := hnsw.NewGraph(8, walking)
	if err != nil {
		t.Fatal(err)
	}
	appendRows(t, h, rows)
	for n := 0; n < links.Len(); n += 1 + links.Len()/100 {
		if _, _, err := hnsw.LoadGraph(bytes.NewReader(links.Bytes()[:n]), int64(n), 8, walking); !refused(err) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
	linkRows(t, h)
	if err := h.Save(&again, nil); err != nil || !bytes.Equal(links.Bytes(), again.Bytes()) {
		t.Errorf("linking after refused files gives another graph (%v)", err)
	}
}

// weaviate/weaviate#1868: an index became larger each time it was read back.
func TestAFileReadAndWrittenStaysTheSame(t *testing.T) {
	ix, rows := manyTimes(t)
	p := saved(t, ix)
	for round := range 3 {
		ix = loaded(t, p)
		if again := saved(t, ix); !bytes.Equal(p, again) {
			t.Fatalf("round %d: %d bytes, then %d", round, len(p), len(again))
		}
	}
	if _, recall := find(t, ix, rows, rows[3], 400, hnsw.IndexSearchOptions{}); recall != 1 {
		t.Errorf("recall %v", recall)
	}
}

// weaviate/weaviate#5019: after a restart there were tombstones of vectors that had never been deleted, or had been
// added again.
func TestARestartNeitherRevivesNorKills(t *testing.T) {
	ix, rows := manyTimes(t)
	for round := range 4 {
		dead := ix.Stats().Dead
		ix = loaded(t, saved(t, ix))
		if got := ix.Stats().Dead; got != dead {
			t.Fatalf("round %d: %d dead, %d before", round, got, dead)
		}
		for id, v := range rows {
			if ix.Has(uint64(id)) != (v != nil) {
				t.Fatalf("round %d: has %d: %v", round, id, v == nil)
			}
		}
		if _, recall := find(t, ix, rows, rows[2], 400, hnsw.IndexSearchOptions{}); recall != 1 {
			t.Fatalf("round %d: recall %v", round, recall)
		}
		// The deleted come back, others go.
		for id := range rows {
			switch {
			case rows[id] == nil:
				rows[id] = rows[(id+4)%300]
				if rows[id] == nil {
					rows[id] = rows[2]
				}
				add(t, ix, id, rows[id])
			case id%7 == 3+round:
				remove(t, ix, rows, id)
			}
		}
	}
}

// counting counts the reads of a file.
type counting struct {
	io.ReaderAt
	reads atomic.Int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	return c.ReaderAt.ReadAt(p, off)
}

// unum-cloud/USearch#637: a search in a mapped file took 150 seconds where memory was short, for it waited for the
// disk. What Load has returned does not need its file any more.
func TestNothingReadsTheFileAfterLoad(t *testing.T) {
	ix, rows := manyTimes(t)
	p := saved(t, ix)
	file := &counting{ReaderAt: bytes.NewReader(p)}
	ix, err := hnsw.Load(file, int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	before := file.reads.Load()
	clear(p)
	if _, recall := find(t, ix, rows, rows[2], 400, hnsw.IndexSearchOptions{}); recall != 1 {
		t.Errorf("recall %v", recall)
	}
	find(t, ix, rows, rows[3], 10, hnsw.IndexSearchOptions{Exact: true})
	add(t, ix, 0, rows[1])
	saved(t, ix)
	if n := file.reads.Load() - before; n != 0 {
		t.Errorf("%d reads after Load", n)
	}
}

// bobmatnyc/trusty-tools#5171, #5179: a random seed per start made other vectors unfindable after each. Two builds
// give the same file, a file gives the same answers, and a small index has no misses at all.
func TestMissesDoNotChangeWithARestart(t *testing.T) {
	rows, queries := split(4, 1500, 40, 32)
	o := hnsw.Options{ExactBelow: -1, M: 4, EfConstruction: 10} // so bad that there are misses
	a, b := indexOf(t, rows, o), indexOf(t, rows, o)
	p := saved(t, a)
	if !bytes.Equal(p, saved(t, b)) {
		t.Error("two builds of the same rows differ")
	}
	c := loaded(t, p)
	misses := 0
	so := hnsw.IndexSearchOptions{Ef: 10}
	for _, q := range queries {
		want, recall := find(t, a, rows, q, 10, so)
		if recall < 1 {
			misses++
		}
		for name, ix := range map[string]*hnsw.Index{"built again": b, "loaded": c} {
			if got, _ := find(t, ix, rows, q, 10, so); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	}
	if misses == 0 {
		t.Error("no misses: the test shows nothing")
	}
	if r := meanRecall(t, indexOf(t, rows, hnsw.Options{M: 4, EfConstruction: 10}), rows, queries, 10, so); r != 1 {
		t.Errorf("recall of a small index is %v", r)
	}
}
