package graphstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

func TestBadContributionsAreRefused(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	d := &testDoc{id: "d", chunks: []testChunk{{order: 3}}}
	doc := register(t, s, d)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := v.DocumentChunks(doc)
	v.Close()
	if err != nil {
		t.Fatal(err)
	}
	at := FragmentKey{Doc: doc, Order: 3}
	id := chunks[0].ID
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		edit func(*Contribution)
		want error
	}{
		"document":   {func(c *Contribution) { c.Doc = 99 }, ErrNotFound},
		"chunk":      {func(c *Contribution) { c.Chunks[0].ID = 99 }, ErrInvalid},
		"order":      {func(c *Contribution) { c.Chunks[0].Order = 4 }, ErrInvalid},
		"twice":      {func(c *Contribution) { c.Chunks = append(c.Chunks, c.Chunks[0]) }, ErrInvalid},
		"dimension":  {func(c *Contribution) { c.Chunks[0].Vector = []float32{1} }, ErrMismatch},
		"NaN":        {func(c *Contribution) { c.Chunks[0].Vector = []float32{1, nan, 0, 0} }, ErrInvalid},
		"infinity":   {func(c *Contribution) { c.Chunks[0].Vector = []float32{1, 0, 0, float32(math.Inf(1))} }, ErrInvalid},
		"zero":       {func(c *Contribution) { c.Chunks[0].Vector = make([]float32, testDim) }, ErrInvalid},
		"blank name": {func(c *Contribution) { c.Entities = []EntityFragment{{Name: " ", Chunk: id, Key: at}} }, ErrInvalid},
		"bad name":   {func(c *Contribution) { c.Entities = []EntityFragment{{Name: "\xff", Chunk: id, Key: at}} }, ErrInvalid},
		"key":        {func(c *Contribution) { c.Entities = []EntityFragment{{Name: "A", Chunk: id}} }, ErrInvalid},
		"no chunk":   {func(c *Contribution) { c.Entities = []EntityFragment{{Name: "A", Chunk: 99, Key: at}} }, ErrInvalid},
		"same key": {func(c *Contribution) {
			c.Entities = []EntityFragment{{Name: "A", Chunk: id, Key: at}, {Name: "A", Chunk: id, Key: at}}
		}, ErrInvalid},
		"self loop": {func(c *Contribution) { c.Relations = []RelationFragment{{Src: "A", Tgt: "A", Chunk: id, Key: at}} }, ErrInvalid},
		"weight": {func(c *Contribution) {
			c.Relations = []RelationFragment{{Src: "A", Tgt: "B", Chunk: id, Key: at, Weight: -1}}
		}, ErrInvalid},
	} {
		good := Contribution{Doc: doc, Chunks: []ChunkContribution{{ID: id, Order: 3}}}
		c.edit(&good)
		if _, err := s.Prepare(context.Background(), good); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := Contribution{Doc: doc} // names no chunk that could be named twice
	if _, err := s.Prepare(context.Background(), twice, twice); !errors.Is(err, ErrInvalid) {
		t.Errorf("a document twice: %v", err)
	}
	if s.Stats().Entities != 0 {
		t.Error("something was stored")
	}
}

// A document and the one that replaces it cannot come in one step: which of them
// is to stay?
func TestPrepareRefusesTwoDocumentsOfOneID(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	old := insert(t, s, oneChunk("a", "Alice"))
	d := oneChunk("a", "Alicia")
	d.replace = true
	next := register(t, s, d)
	if _, err := s.Prepare(context.Background(), Contribution{Doc: old}, Contribution{Doc: next}); !errors.Is(err, ErrInvalid) {
		t.Errorf("two documents of one id: %v", err)
	}
}

func TestBadRootVectorsAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	d := oneChunk("d", "Alice")
	p, err := prepared(s, d, register(t, s, d))
	if err != nil {
		t.Fatal(err)
	}
	p.Roots()[0].Vector = []float32{1, 2}
	_, err = s.Commit(context.Background(), p)
	var m *MismatchError
	if !errors.As(err, &m) || m.Have != "4" || m.Want != "2" {
		t.Errorf("%v", err)
	}
	p.Roots()[0].Vector = make([]float32, testDim)
	if _, err = s.Commit(context.Background(), p); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "Alice") {
		t.Errorf("%v", err)
	}
	p.Roots()[0].Vector = nil
	if info, err := s.Commit(context.Background(), p); err != nil || info.Stale != 1 {
		t.Errorf("%+v %v", info, err)
	}
	checked(t, s)
	list, err := s.Stale(0)
	if err != nil || len(list) != 1 || !list[0].NeedVector || list[0].Text != "Alice\nabout Alice" {
		t.Errorf("%+v %v", list, err)
	}
	refreshAll(t, s)
	if n := s.Stats().Stale; n != 0 {
		t.Errorf("%d stale", n)
	}
}

func TestVectorsThatWereOvertakenAreDropped(t *testing.T) {
	s, sink := opened(t, vfs.NewMem(), nil)
	a, b := oneChunk("a", "X"), oneChunk("b", "X")
	b.chunks[0].entities[0].Description = "another"
	docA, docB := register(t, s, a), register(t, s, b)
	pa, err := prepared(s, a, docA)
	if err != nil {
		t.Fatal(err)
	}
	pb, err := prepared(s, b, docB) // both take X for new
	if err != nil {
		t.Fatal(err)
	}
	if info, err := s.Commit(context.Background(), pa); err != nil || info.NewEntities != 1 || info.Stale != 0 {
		t.Fatalf("%+v %v", info, err)
	}
	if info, err := s.Commit(context.Background(), pb); err != nil || info.NewEntities != 0 || info.Stale != 1 {
		t.Fatalf("%+v %v", info, err)
	}
	checked(t, s)
	list, err := s.Stale(0)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	done := Refreshed{Kind: list[0].Kind, Owner: list[0].Owner, TextHash: list[0].TextHash + 1, Vector: embed("x")}
	if info, err := s.Refresh(context.Background(), []Refreshed{done, {Kind: format.KindEntity, Owner: 99, Vector: embed("y")}}); err != nil || info != (RefreshInfo{0, 2}) {
		t.Errorf("%+v %v", info, err)
	}
	refreshAll(t, s)
	vectorsMatch(t, s, sink)
	checked(t, s)
	if _, err := s.Commit(context.Background(), pb); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

// hub inserts n documents that all mention Hub.
func hub(t testing.TB, s *Store, n int) {
	for i := range n {
		insert(t, s, &testDoc{id: fmt.Sprint(i), chunks: []testChunk{{entities: []EntityFragment{e(0, "Hub", "t", fmt.Sprint("said ", i))}}}})
	}
}

func TestMentionsOfAHubBeyondTheCapRewriteNothingLong(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), func(o *Options) { o.MaxSources = 5 })
	hub(t, s, 5)
	refreshAll(t, s)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	id, _, _ := v.FindEntity("Hub")
	before := v.Sources(format.KindEntity, uint32(id))
	d := &testDoc{id: "late", chunks: []testChunk{{entities: []EntityFragment{e(0, "Hub", "t", "late")}}}}
	p, err := prepared(s, d, register(t, s, d))
	if err != nil {
		t.Fatal(err)
	}
	c := p.plan.changes[0]
	if c.next.sources != nil || len(p.Roots()) != 0 {
		t.Errorf("sources %v, roots %v", c.next.sources, p.Roots())
	}
	info, err := s.Commit(context.Background(), p)
	if err != nil || info.Stale != 0 {
		t.Fatalf("%+v %v", info, err)
	}
	checked(t, s)
	w, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	after := w.Sources(format.KindEntity, uint32(id))
	if &after[0] != &before[0] || len(after) != 5 {
		t.Error("the list of sources was written again")
	}
	if all, err := w.AllSources(format.KindEntity, uint32(id)); err != nil || len(all) != 6 {
		t.Errorf("%v %v", all, err)
	}
}

func TestChangedOptionsDeriveEverythingAnew(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, func(o *Options) { o.MaxSources = 5 })
	hub(t, s, 9)
	refreshAll(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, fs, func(o *Options) { o.MaxSources, o.ReadOnly = 7, true })
	checked(t, s) // as it was derived
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, fs, func(o *Options) { o.MaxSources = 7 })
	checked(t, s)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	id, _, _ := v.FindEntity("Hub")
	recs, err := v.EntityRecords([]EntityID{id}, nil)
	if err != nil || strings.Count(recs[0].Description, Separator) != 6 {
		t.Errorf("%+v %v", recs, err)
	}
}

// What a document contributes does not depend on those that are committed with it.
func TestContributionsOfOneStepAreWhatTheyAreAlone(t *testing.T) {
	docs := []*testDoc{
		{id: "a", chunks: []testChunk{{entities: []EntityFragment{e(0, "A", "t", "one")}, relations: []RelationFragment{r(1, "A", "B", "ab", 1)}}}},
		{id: "b", chunks: []testChunk{{entities: []EntityFragment{e(0, "B", "t", "two")}, relations: []RelationFragment{r(1, "A", "B", "ba", 1)}}}},
		{id: "c", chunks: []testChunk{{entities: []EntityFragment{e(0, "A", "t", "one"), e(1, "C", "t", "c")}}}},
	}
	for _, listed := range []bool{false, true} {
		var got [2]string
		for i := range got {
			s, _ := opened(t, vfs.NewMem(), nil)
			var list []Contribution
			for _, d := range docs {
				doc := register(t, s, d)
				v, err := s.View()
				if err != nil {
					t.Fatal(err)
				}
				chunks, err := v.DocumentChunks(doc)
				v.Close()
				if err != nil {
					t.Fatal(err)
				}
				c := d.contribution(doc, chunks)
				c.ListedSources = listed
				list = append(list, c)
			}
			steps := [][]Contribution{list}
			if i == 1 {
				steps = [][]Contribution{list[:1], list[1:2], list[2:]}
			}
			for _, step := range steps {
				p, err := s.Prepare(t.Context(), step...)
				if err != nil {
					t.Fatal(err)
				}
				info, err := s.Commit(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				got[i] += fmt.Sprint(info.Documents)
			}
			got[i] = strings.ReplaceAll(got[i], "][", " ")
			v, err := s.View()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list {
				if err := v.DocumentFragments(c.Doc, func(f *DocumentFragment) error {
					got[i] += fmt.Sprintf("\n%d %+v", c.Doc, *f)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			v.Close()
			checked(t, s)
			if _, err := s.Prepare(t.Context(), list[0], list[0]); !errors.Is(err, ErrInvalid) {
				t.Errorf("a document twice: %v", err)
			}
		}
		if got[0] != got[1] {
			t.Errorf("in one step:\n%s\nalone:\n%s", got[0], got[1])
		}
	}
}
