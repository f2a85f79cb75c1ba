package graphstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// curate does one thing to the graph, with vectors for what changes.
func curate(t tb, s *Store, op Curation) CurationInfo {
	t.Helper()
	info, err := tryCurate(s, op)
	if err != nil {
		t.Fatalf("%+v: %v", op, err)
	}
	return info
}

func tryCurate(s *Store, op Curation) (CurationInfo, error) {
	p, err := s.PrepareCuration(context.Background(), op)
	if err != nil {
		return CurationInfo{}, err
	}
	for _, root := range p.Roots() {
		root.Vector = embed(root.Text)
	}
	return s.CommitCuration(context.Background(), p)
}

// picture is what a view shows, one line per owner.
func picture(t tb, s *Store) string {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var lines []string
	for name, o := range observe(t, v) {
		lines = append(lines, fmt.Sprintf("%s: %s %q kw %v w %d src %v nb %v cur %d", name, o.Type, o.Description, o.Keywords, o.Weight, o.All, o.Neighbors, o.Curated))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func wantPicture(t tb, s *Store, lines ...string) {
	t.Helper()
	checked(t, s)
	if have, want := picture(t, s), strings.Join(lines, "\n"); have != want {
		t.Fatalf("is\n%s\nwant\n%s", have, want)
	}
}

func chunkDoc(id string, entities []EntityFragment, relations ...RelationFragment) *testDoc {
	return &testDoc{id: id, chunks: []testChunk{{entities: entities, relations: relations}}}
}

// reopened closes a store and opens it again.
func reopened(t *testing.T, s *Store, fs vfs.FS) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, fs, nil)
	return s
}

func TestRenameGivesAnotherNameAndUndoTakesItBack(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, chunkDoc("one", []EntityFragment{e(0, "A", "person", "of one"), e(1, "C", "place", "c")}, r(2, "A", "C", "a-c", 1_000_000, "k")))
	before := picture(t, s)
	info := curate(t, s, Rename{From: "A", To: "B"})
	if info.Change != 1 || info.Entities != 1 || info.Relations != 1 || info.Stale != 0 {
		t.Fatalf("%+v", info)
	}
	renamed := []string{
		`B -- C:  "a-c" kw [k] w 1000000 src [1/0] nb [] cur 0`,
		`B: person "of one" kw [] w 0 src [1/0] nb [C] cur 0`,
		`C: place "c" kw [] w 0 src [1/0] nb [B] cur 0`,
	}
	wantPicture(t, s, renamed...)
	s = reopened(t, s, fs)
	wantPicture(t, s, renamed...)
	v, _ := s.View()
	defer v.Close()
	if id, ok, err := v.FindEntity("A"); err != nil || !ok || v.EntityName(id) != "B" {
		t.Fatalf("A leads to %q, %v, %v", v.EntityName(id), ok, err)
	}
	// New mentions of the old name arrive under the new one.
	insert(t, s, chunkDoc("two", []EntityFragment{e(0, "A", "person", "of two"), e(1, "D", "", "d")}, r(2, "D", "A", "a-d", 1_000_000)))
	wantPicture(t, s,
		`B -- C:  "a-c" kw [k] w 1000000 src [1/0] nb [] cur 0`,
		`B -- D:  "a-d" kw [] w 1000000 src [2/0] nb [] cur 0`,
		`B: person "of one<SEP>of two" kw [] w 0 src [1/0 2/0] nb [C D] cur 0`,
		`C: place "c" kw [] w 0 src [1/0] nb [B] cur 0`,
		`D: UNKNOWN "d" kw [] w 0 src [2/0] nb [B] cur 0`,
	)
	if _, err := s.Delete(context.Background(), []DocID{2}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantPicture(t, s, renamed...)
	curate(t, s, Undo{1})
	if checked(t, s); picture(t, s) != before {
		t.Fatalf("is\n%s\nwant\n%s", picture(t, s), before)
	}
}

func TestMergedNamesHaveTheirOwnMentionsAfterUndo(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, chunkDoc("one", []EntityFragment{e(0, "Jon", "person", "short form"), e(1, "Jon Marquez", "person", "long form"), e(2, "City", "place", "c")},
		r(3, "Jon", "City", "lives in", 1_000_000, "home"), r(4, "Jon Marquez", "City", "works in", 500_000, "work"), r(5, "Jon", "Jon Marquez", "same", 1_000_000)))
	info := curate(t, s, Merge{Sources: []string{"Jon"}, Target: "Jon Marquez"})
	wantPicture(t, s,
		`City -- Jon Marquez:  "lives in<SEP>works in" kw [home work] w 1500000 src [1/0] nb [] cur 0`,
		`City: place "c" kw [] w 0 src [1/0] nb [Jon Marquez] cur 0`,
		`Jon Marquez: person "short form<SEP>long form" kw [] w 0 src [1/0] nb [City] cur 0`,
	)
	s = reopened(t, s, fs)
	insert(t, s, chunkDoc("two", []EntityFragment{e(0, "Jon", "person", "new of Jon")}, r(3, "Jon", "Jon Marquez", "still the same", 1_000_000)))
	insert(t, s, chunkDoc("three", []EntityFragment{e(0, "Jon Marquez", "person", "new of Jon Marquez")}, r(3, "X", "Jon", "x knows", 1_000_000)))
	checked(t, s)
	curate(t, s, Undo{info.Change})
	wantPicture(t, s,
		`City -- Jon Marquez:  "works in" kw [work] w 500000 src [1/0] nb [] cur 0`,
		`City -- Jon:  "lives in" kw [home] w 1000000 src [1/0] nb [] cur 0`,
		`City: place "c" kw [] w 0 src [1/0] nb [Jon Jon Marquez] cur 0`,
		`Jon -- Jon Marquez:  "same<SEP>still the same" kw [] w 2000000 src [1/0 2/0] nb [] cur 0`,
		`Jon -- X:  "x knows" kw [] w 1000000 src [3/0] nb [] cur 0`,
		`Jon Marquez: person "long form<SEP>new of Jon Marquez" kw [] w 0 src [1/0 2/0 3/0] nb [City Jon] cur 0`,
		`Jon: person "short form<SEP>new of Jon" kw [] w 0 src [1/0 2/0 3/0] nb [City Jon Marquez X] cur 0`,
		`X: UNKNOWN "x knows" kw [] w 0 src [3/0] nb [Jon] cur 0`,
	)
	if _, err := tryCurate(s, Undo{info.Change}); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
}

func TestUndoNamesTheLaterChange(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	insert(t, s, chunkDoc("one", []EntityFragment{e(0, "A", "", "a"), e(1, "B", "", "b"), e(2, "C", "", "c"), e(3, "D", "", "d")}))
	one := curate(t, s, Merge{Sources: []string{"A"}, Target: "B"}).Change
	two := curate(t, s, Merge{Sources: []string{"D"}, Target: "B"}).Change
	three := curate(t, s, Merge{Sources: []string{"A"}, Target: "C"})
	if fmt.Sprint(three.Resolved) != "map[A:B]" {
		t.Fatalf("%+v", three)
	}
	wantPicture(t, s, `C: UNKNOWN "a<SEP>b<SEP>c<SEP>d" kw [] w 0 src [1/0] nb [] cur 0`)
	_, err := tryCurate(s, Undo{one})
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), fmt.Sprintf("later change %d", three.Change)) {
		t.Fatal(err)
	}
	curate(t, s, Undo{three.Change})
	wantPicture(t, s,
		`B: UNKNOWN "a<SEP>b<SEP>d" kw [] w 0 src [1/0] nb [] cur 0`,
		`C: UNKNOWN "c" kw [] w 0 src [1/0] nb [] cur 0`)
	curate(t, s, Undo{one}) // does not depend on two
	wantPicture(t, s,
		`A: UNKNOWN "a" kw [] w 0 src [1/0] nb [] cur 0`,
		`B: UNKNOWN "b<SEP>d" kw [] w 0 src [1/0] nb [] cur 0`,
		`C: UNKNOWN "c" kw [] w 0 src [1/0] nb [] cur 0`)
	curate(t, s, Undo{two})
	checked(t, s)
	for _, c := range []struct {
		op   Curation
		want error
	}{
		{Undo{99}, ErrNotFound}, {Undo{two}, ErrInvalid}, {Rename{From: "A", To: "B"}, ErrExists}, {Rename{From: "nobody", To: "E"}, ErrNotFound},
		{Rename{From: "A", To: " "}, ErrInvalid}, {Merge{Sources: []string{"A"}, Target: "A"}, ErrInvalid}, {Merge{Sources: []string{"A", "nobody"}, Target: "B"}, ErrNotFound},
		{CreateEntity{Name: "A"}, ErrExists}, {CreateRelation{Src: "A", Tgt: "nobody"}, ErrNotFound}, {CreateRelation{Src: "A", Tgt: "A"}, ErrInvalid},
		{EditEntity{Name: "nobody"}, ErrNotFound}, {EditRelation{Src: "A", Tgt: "B"}, ErrNotFound}, {DeleteEntities{[]string{"A", "nobody"}}, ErrNotFound},
		{DeleteEntities{}, ErrInvalid}, {DeleteRelations{[][2]string{{"A", "B"}}}, ErrNotFound}, {DeleteRelations{}, ErrInvalid},
		{CreateRelation{Src: "A", Tgt: "B", Weight: -1}, ErrInvalid},
	} {
		if _, err := tryCurate(s, c.op); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.op, err, c.want)
		}
	}
}

func TestCuratedValuesSurviveDocuments(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, chunkDoc("one", []EntityFragment{e(0, "A", "person", "a"), e(1, "B", "", "b")}, r(2, "A", "B", "ab", 1_000_000, "k")))
	text, weight, kw := "curated", int64(7_000_000), []string{"y", "x", " "}
	edit := curate(t, s, EditEntity{Name: "A", Description: &text}).Change
	curate(t, s, EditRelation{Src: "B", Tgt: "A", Weight: &weight, Keywords: &kw})
	insert(t, s, chunkDoc("two", []EntityFragment{e(0, "A", "place", "more")}, r(2, "A", "B", "more", 1_000_000, "z")))
	lines := []string{
		`A -- B:  "ab<SEP>more" kw [x y] w 7000000 src [1/0 2/0] nb [] cur 12`,
		`A: person "curated" kw [] w 0 src [1/0 2/0] nb [B] cur 2`,
		`B: UNKNOWN "b" kw [] w 0 src [1/0 2/0] nb [A] cur 0`,
	}
	wantPicture(t, s, lines...)
	s = reopened(t, s, fs)
	wantPicture(t, s, lines...)
	if info := curate(t, s, EditEntity{Name: "A", Description: &text}); info.Change != 0 {
		t.Fatalf("an edit that changes nothing is change %d", info.Change)
	}
	curate(t, s, Rename{From: "A", To: "Z"}) // the override goes along
	wantPicture(t, s,
		`B -- Z:  "ab<SEP>more" kw [x y] w 7000000 src [1/0 2/0] nb [] cur 12`,
		`B: UNKNOWN "b" kw [] w 0 src [1/0 2/0] nb [Z] cur 0`,
		`Z: person "curated" kw [] w 0 src [1/0 2/0] nb [B] cur 2`)
	if _, err := tryCurate(s, Undo{edit}); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
	curate(t, s, Undo{3})
	curate(t, s, Undo{edit})
	curate(t, s, EditRelation{Src: "A", Tgt: "B", Reset: format.FieldWeight})
	lines = []string{
		`A -- B:  "ab<SEP>more" kw [x y] w 2000000 src [1/0 2/0] nb [] cur 4`,
		`A: person "a<SEP>more" kw [] w 0 src [1/0 2/0] nb [B] cur 0`,
		`B: UNKNOWN "b" kw [] w 0 src [1/0 2/0] nb [A] cur 0`,
	}
	wantPicture(t, s, lines...)
	if _, err := s.Delete(context.Background(), []DocID{1, 2}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantPicture(t, s)
	// What is curated is kept by name: it holds again when the relation is back.
	insert(t, s, chunkDoc("three", nil, r(2, "A", "B", "again", 1_000_000, "z")))
	wantPicture(t, s,
		`A -- B:  "again" kw [x y] w 1000000 src [3/0] nb [] cur 4`,
		`A: UNKNOWN "again" kw [] w 0 src [3/0] nb [B] cur 0`,
		`B: UNKNOWN "again" kw [] w 0 src [3/0] nb [A] cur 0`)
}

func TestCreatedThingsNeedNoDocument(t *testing.T) {
	fs := vfs.NewMem()
	s, sink := opened(t, fs, nil)
	one := curate(t, s, CreateEntity{Name: "A", Type: "person", Description: "by hand"}).Change
	curate(t, s, CreateEntity{Name: "B"})
	curate(t, s, CreateRelation{Src: "B", Tgt: "A", Description: "knows", Keywords: []string{"k"}, Weight: 2_000_000})
	vectorsMatch(t, s, sink)
	lines := []string{
		`A -- B:  "knows" kw [k] w 2000000 src [] nb [] cur 0`,
		`A: person "by hand" kw [] w 0 src [] nb [B] cur 0`,
		`B: UNKNOWN "" kw [] w 0 src [] nb [A] cur 0`,
	}
	wantPicture(t, s, lines...)
	s = reopened(t, s, fs)
	wantPicture(t, s, lines...)
	insert(t, s, chunkDoc("one", []EntityFragment{e(0, "A", "person", "of one")}))
	wantPicture(t, s, lines[0], `A: person "by hand<SEP>of one" kw [] w 0 src [1/0] nb [B] cur 0`, lines[2])
	if _, err := tryCurate(s, Undo{one}); !errors.Is(err, ErrInvalid) { // the relation needs it
		t.Fatal(err)
	}
	curate(t, s, Undo{3})
	curate(t, s, Undo{one})
	wantPicture(t, s, `A: person "of one" kw [] w 0 src [1/0] nb [] cur 0`, `B: UNKNOWN "" kw [] w 0 src [] nb [] cur 0`)
}

func TestDeletingEntitiesAndRelations(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	one := chunkDoc("one", []EntityFragment{e(0, "A", "person", "a"), e(1, "B", "", "b")}, r(2, "A", "B", "ab", 1_000_000), r(3, "A", "C", "a-c", 1_000_000), r(4, "B", "C", "b-c", 1_000_000))
	insert(t, s, one)
	insert(t, s, chunkDoc("two", nil, r(0, "A", "D", "a-d", 1_000_000)))
	curate(t, s, Rename{From: "A", To: "A1"})
	text := "edited"
	edit := curate(t, s, EditEntity{Name: "A", Description: &text}).Change
	info := curate(t, s, DeleteEntities{[]string{"A"}})
	if info.Entities != 1 || info.Relations != 3 {
		t.Fatalf("%+v", info)
	}
	lines := []string{
		`B -- C:  "b-c" kw [] w 1000000 src [1/0] nb [] cur 0`,
		`B: UNKNOWN "b" kw [] w 0 src [1/0] nb [C] cur 0`,
		`C: UNKNOWN "b-c" kw [] w 0 src [1/0] nb [B] cur 0`, // implied by its next record
		`D: UNKNOWN "" kw [] w 0 src [2/0] nb [] cur 0`,     // stays, without a word of A
	}
	wantPicture(t, s, lines...)
	s = reopened(t, s, fs)
	wantPicture(t, s, lines...)
	for _, id := range []uint32{edit, info.Change} {
		if _, err := tryCurate(s, Undo{id}); !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
	}
	if curate(t, s, DeleteRelations{[][2]string{{"C", "B"}}}); picture(t, s) != strings.Join([]string{
		`B: UNKNOWN "b" kw [] w 0 src [1/0] nb [] cur 0`,
		`C: UNKNOWN "" kw [] w 0 src [1/0] nb [] cur 0`,
		lines[3],
	}, "\n") {
		t.Fatal(picture(t, s))
	}
	checked(t, s)
	// A is a name like any other again.
	insert(t, s, chunkDoc("three", []EntityFragment{e(0, "A", "person", "new")}))
	if _, err := s.Delete(context.Background(), []DocID{1, 2}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantPicture(t, s, `A: person "new" kw [] w 0 src [3/0] nb [] cur 0`)
}
