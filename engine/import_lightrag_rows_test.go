package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/format"
)

// TestNamesThatHoldTheSeparator are found in the lists of sources.
func TestNamesThatHoldTheSeparator(t *testing.T) {
	s := &ragStore{}
	c := func(i int) ragChunk {
		return ragChunk{id: fmt.Sprintf("doc-1-chunk-%03d", i), order: i, text: fmt.Sprintf("The text of passage %d, which is long enough.", i)}
	}
	s.docs = []ragDoc{{id: "doc-1", path: "a.txt", text: "all", chunks: []ragChunk{c(0), c(1), c(2)}}}
	all := []string{s.docs[0].chunks[0].id, s.docs[0].chunks[1].id, s.docs[0].chunks[2].id}
	s.nodes = []ragNode{{"A<SEP>B", "thing", []string{"one"}, all[:1]}, {"C<SEP>", "thing", []string{"two"}, all[:1]}, {"A", "thing", []string{"three"}, all[:1]}}
	s.edges = []ragEdge{{"A<SEP>B", "C<SEP>", 3, []string{"k"}, []string{"both"}, all}, {"A", "C<SEP>", 1, []string{"k"}, []string{"another"}, all[:1]}}
	dir := s.write(t, form15)
	editFile(t, dir, graphFile, strings.Join([]string{all[0], all[1], all[2]}, "&lt;SEP&gt;"), all[0]) // the list has all three
	db := opened(t, "store", importOptions(&fakeModel{}, 8))
	importRAG(t, db, dir, LightRAGImport{})
	v := db.View()
	defer v.Close()
	r, err := v.Relation("A<SEP>B", "C<SEP>")
	if err != nil || len(r.Sources) != 3 || r.Weight != 3 {
		t.Errorf("%+v %v", r, err)
	}
	if e, err := v.Entity("A<SEP>B"); err != nil || e.Type != "thing" || len(e.Sources) != 3 {
		t.Errorf("%+v %v", e, err)
	}
}

func TestWeightsAreSplitExactly(t *testing.T) {
	s := someStore(1, 3, 4, 22)
	ids := []string{s.docs[0].chunks[0].id, s.docs[0].chunks[1].id, s.docs[0].chunks[2].id}
	s.nodes = []ragNode{{"X", "thing", []string{"x"}, ids}, {"Y", "thing", []string{"y"}, ids}}
	s.edges = []ragEdge{{"X", "Y", 1, []string{"k"}, []string{"one", "two", "three", "four"}, ids}}
	db := opened(t, "store", importOptions(&fakeModel{}, s.dim))
	importRAG(t, db, s.write(t, form13, answersFile), LightRAGImport{})
	v := db.View()
	defer v.Close()
	id, ok, err := v.v.FindRelation("X", "Y")
	if err != nil || !ok {
		t.Fatal(err)
	}
	if w := v.v.Weight(id); w != format.WeightScale {
		t.Errorf("weight %d", w)
	}
	var parts []int64
	var texts []string
	err = v.v.Fragments(format.KindRelation, uint32(id), func(_ format.FragmentKey, f *format.Fragment) error {
		parts, texts = append(parts, f.Weight), append(texts, f.Description)
		return nil
	})
	if err != nil || !slices.Equal(parts, []int64{333334, 333333, 333333, 0}) || !slices.Equal(texts, []string{"one", "two", "three", "four"}) {
		t.Errorf("%v %q %v", parts, texts, err)
	}
}

func TestKeptQuotes(t *testing.T) {
	s := someStore(3, 5, 25, 23)
	dir := s.write(t, formNano)
	db := opened(t, "store", importOptions(&fakeModel{}, s.dim))
	rep := importRAG(t, db, dir, LightRAGImport{KeepQuotes: true})
	if rep.Unquoted || rep.Replayed != 15 || rep.FromRows != 0 || rep.Vectors != len(s.nodes)+len(s.edges)+15 {
		t.Errorf("%+v", rep)
	}
	v := db.View()
	defer v.Close()
	if e, err := v.Entity(`"` + s.nodes[0].name + `"`); err != nil || e.Name != `"`+s.nodes[0].name+`"` {
		t.Errorf("%+v %v", e, err)
	}
}

// TestImportedSummariesAreKept imports an entity whose eight descriptions were
// summarised; where they are one leaf here, the summary is taken over.
func TestImportedSummariesAreKept(t *testing.T) {
	kept := 0
	for seed := range uint64(12) {
		s := &ragStore{dim: 8}
		doc := ragDoc{id: "doc-1", path: "a.txt", text: "all of it"}
		for i := range 8 {
			doc.chunks = append(doc.chunks, ragChunk{
				id: fmt.Sprintf("doc-1-chunk-%03d", i), order: i, text: fmt.Sprintf("Passage %d of a document with eight of them.", i),
				first: fmt.Sprintf("entity<|#|>Hub<|#|>Person<|#|>Description %d/%d.\n<|COMPLETE|>", i, seed), glean: "<|COMPLETE|>",
			})
		}
		s.docs = []ragDoc{doc}
		s.graphOf()
		s.nodes[0].texts = []string{"The summary that was paid for."}
		m := &fakeModel{}
		o := importOptions(m, s.dim)
		o.SummaryFragments = 8
		db := opened(t, "store", o)
		rep := importRAG(t, db, s.write(t, form15), LightRAGImport{})
		v := db.View()
		e, err := v.Entity("Hub")
		v.Close()
		if err != nil || len(e.Fragments) != 8 {
			t.Fatalf("%+v %v", e, err)
		}
		if rep.Issue("description summarised") != 1 || len(m.calls) > 0 {
			t.Errorf("%v, %d calls", rep.kinds(), len(m.calls))
		}
		kept += rep.Summaries
		if got := e.Description == s.nodes[0].texts[0]; got != (rep.Summaries == 1) || got == e.Pending {
			t.Errorf("%d summaries, but the description is %q", rep.Summaries, e.Description)
		}
		if _, err := db.DeleteDocuments(t.Context(), "doc-1"); err != nil {
			t.Fatal(err)
		}
		sound(t, db)
	}
	if kept == 0 || kept == 12 {
		t.Errorf("%d of 12 summaries were kept: some are one leaf, some are not", kept)
	}
}

// heapSampler notes how much memory is held whenever a reader asks whether it
// is to go on.
type heapSampler struct {
	context.Context
	most uint64
	n    int
}

func (s *heapSampler) Err() error {
	s.n++
	s.most = max(s.most, heapNow())
	return s.Context.Err()
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestImportMemoryDoesNotGrowWithTheFiles imports directories with as many
// rows, whose texts, answers and vectors are long and longer.
func TestImportMemoryDoesNotGrowWithTheFiles(t *testing.T) {
	peak := func(words, dim int) (most uint64, size int64) {
		s := someStore(6, 4, 40, 24)
		s.dim = dim
		s.embed = func(text string) []float32 {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32((len(text)*31+i*17)%101) - 50
			}
			return v
		}
		for d := range s.docs {
			for i := range s.docs[d].chunks {
				c := &s.docs[d].chunks[i]
				c.first += "\n" + strings.Repeat("chatter that no parser minds ", words)
			}
			s.docs[d].text = strings.Repeat("a long document ", 20*words)
		}
		dir := s.write(t, form13)
		for _, name := range lightragFiles {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
				size += info.Size()
			}
		}
		o := importOptions(&fakeModel{}, 8) // another dimension: vectors are read and not stored
		db := opened(t, "store", o)
		sampler := &heapSampler{Context: t.Context()}
		im := &lightragImport{
			db: db, ctx: sampler, dir: dir, issues: make(issues), rep: &ImportReport{},
			docAt: make(map[string]int32), chunkAt: make(map[string]int32), nodeAt: make(map[string]int32), edgeAt: make(map[[2]int32]int32),
		}
		var err error
		if im.spill, err = newSpill(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		defer im.spill.close()
		before := heapNow()
		for _, step := range []func() error{im.readDocuments, im.readChunks, im.readGraph, im.readAnswers, im.matchAnswers, im.replayAnswers, im.spreadRows} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := im.openVectors(entityVectorsFile, func(int32, *vectorRow) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if sampler.n < 10 {
			t.Errorf("%d samples", sampler.n)
		}
		most = sampler.most - min(sampler.most, before)
		runtime.KeepAlive(im)
		return most, size
	}
	small, smallSize := peak(10, 16)
	large, largeSize := peak(2000, 2048)
	t.Logf("%d bytes held for files of %d, %d for files of %d", small, smallSize, large, largeSize)
	if grown := int64(large) - int64(small); grown > (largeSize-smallSize)/10 {
		t.Errorf("the files are %d bytes longer, and memory grew by %d", largeSize-smallSize, grown)
	}
}
