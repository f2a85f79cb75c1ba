package graphstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// words is the analyzer of the tests: letters and digits in lower case; that
// of another name turns them round.
type words struct{ name string }

func (w words) Name() string { return w.name }

func (w words) Terms(text string, yield func(term []byte)) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		term := []byte(word)
		if w.name != "words-1" {
			slices.Reverse(term)
		}
		yield(term)
		clear(term) // it was only lent
	}
}

// viewTexts returns the texts to embed of everything in a view.
func viewTexts(t tb, v *View) map[Kind]map[uint32]string {
	t.Helper()
	out := map[Kind]map[uint32]string{format.KindEntity: {}, format.KindRelation: {}, format.KindChunk: {}}
	for id := range v.Entities() {
		rec, err := v.EntityRecords([]EntityID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[format.KindEntity][uint32(id)] = EntityText(v.EntityName(id), rec[0].Description)
	}
	for id := range v.Relations() {
		rec, err := v.RelationRecords([]RelationID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, b := v.Ends(id)
		out[format.KindRelation][uint32(id)] = RelationText(rec[0].Keywords, v.EntityName(a), v.EntityName(b), rec[0].Description)
	}
	for id := range v.ChunkIDs() {
		c, err := v.Chunks([]ChunkID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[format.KindChunk][uint32(id)] = c[0].Text
	}
	return out
}

// postingsMatch compares everything that a view says of terms with its texts.
func postingsMatch(t tb, s *Store, a Analyzer) {
	t.Helper()
	withView(t, s, func(v *View) { viewPostingsMatch(t, v, a) })
}

func viewPostingsMatch(t tb, v *View, a Analyzer) {
	t.Helper()
	var lists []PostingList
	for kind, texts := range viewTexts(t, v) {
		want := make(map[string]map[uint32]int)
		tokens := uint64(0)
		for owner, text := range texts {
			tokens += uint64(v.LineTokens(kind, owner))
			a.Terms(text, func(term []byte) {
				if want[string(term)] == nil {
					want[string(term)] = make(map[uint32]int)
				}
				want[string(term)][owner] = min(want[string(term)][owner]+1, 255)
			})
		}
		if n, sum := v.LexicalStats(kind); n != uint64(len(texts)) || sum != tokens {
			t.Fatalf("%s: %d texts of %d tokens, want %d of %d", kind, n, sum, len(texts), tokens)
		}
		terms := append(slices.Sorted(maps.Keys(want)), "nowhere", "")
		if lists, err := v.Postings(kind, terms, lists); err != nil {
			t.Fatal(err)
		} else {
			for i, term := range terms {
				if got := postingMap(lists[i]); !maps.Equal(got, want[term]) || !slices.IsSorted(lists[i].Owners) {
					t.Fatalf("%s %q: %v, want %v", kind, term, got, want[term])
				}
			}
		}
		// Nothing else is there.
		r := newRows(v.st.snap)
		if err := r.scan([]byte{byte(format.TablePostings)}, func(key, value []byte) (bool, error) {
			of, term, shard, err := format.DecodePostingsKey(key)
			if err != nil {
				return false, err
			}
			owners, _, err := format.DecodePostings(nil, nil, shard, value)
			if of == kind && want[string(term)] == nil && len(owners) > 0 {
				t.Fatalf("%s: a row of %q, which occurs nowhere", kind, term)
			}
			return true, err
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func postingMap(l PostingList) map[uint32]int {
	out := make(map[uint32]int)
	for i, owner := range l.Owners {
		out[owner] = int(l.Counts[i])
	}
	return out
}

// found names the entities in whose texts each term occurs, and how often.
func found(t tb, v *View, terms ...string) []string {
	t.Helper()
	lists, err := v.Postings(format.KindEntity, terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(lists))
	for i, l := range lists {
		var parts []string
		for j, owner := range l.Owners {
			parts = append(parts, fmt.Sprintf("%s %d", v.EntityName(EntityID(owner)), l.Counts[j]))
		}
		slices.Sort(parts)
		out[i] = strings.Join(parts, ", ")
	}
	return out
}

func TestPostingsFollowTheTexts(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	doc := insert(t, s, &testDoc{id: "a", chunks: []testChunk{{
		entities:  []EntityFragment{e(0, "Ada", "person", "wrote the first program"), e(1, "Engine", "thing", "the analytical engine, an Engine")},
		relations: []RelationFragment{r(2, "Ada", "Engine", "wrote for it", 1, "program", "work")},
	}}})
	before, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	check := func(v *View, want ...string) {
		t.Helper()
		if got := found(t, v, "ada", "engine", "program", "nowhere", "", "a\x00b", "the", strings.Repeat("x", 300)); !slices.Equal(got, append(want, "")) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check(before, "Ada 1", "Engine 3", "Ada 1", "", "", "", "Ada 1, Engine 1")
	insert(t, s, &testDoc{id: "b", chunks: []testChunk{{
		entities: []EntityFragment{e(0, "Ada", "person", "had no engine, "+strings.Repeat("the ", 400))},
	}}})
	checked(t, s)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	check(v, "Ada 1", "Ada 1, Engine 3", "Ada 1", "", "", "", "Ada 255, Engine 1")
	if _, err := s.Delete(context.Background(), []DocID{doc}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	after, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	check(after, "Ada 1", "Ada 1", "", "", "", "", "Ada 255")
	checked(t, s)
	// What was shown once stays as it was.
	check(before, "Ada 1", "Engine 3", "Ada 1", "", "", "", "Ada 1, Engine 1")
	viewPostingsMatch(t, before, words{"words-1"})
	if st := s.Stats(); st.PostingsWritten == 0 {
		t.Error("no postings written")
	}
	before.Close()
	if _, err := before.Postings(format.KindEntity, []string{"ada"}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed view: %v", err)
	}
}

func TestPostingsReuseTheirLists(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	insert(t, s, oneChunk("a", "Q"))
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	lists, err := v.Postings(format.KindEntity, []string{"q", "nowhere", "q"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(lists) != 3 || !slices.Equal(lists[0].Owners, lists[2].Owners) || len(lists[0].Owners) != 1 || len(lists[1].Owners) != 0 {
		t.Fatalf("%+v", lists)
	}
	again, err := v.Postings(format.KindEntity, []string{"nowhere", "q"}, lists)
	if err != nil || len(again) != 2 || len(again[0].Owners) != 0 || len(again[1].Owners) != 1 || &again[0] != &lists[0] {
		t.Fatalf("%+v, %v", again, err)
	}
	again, err = v.Postings(format.KindEntity, []string{"q", "q", "q", "q"}, again[:1])
	if err != nil || len(again) != 4 || len(again[3].Owners) != 1 {
		t.Fatalf("%+v, %v", again, err)
	}
}

// withView calls fn with a view of the newest state.
func withView(t tb, s *Store, fn func(v *View)) {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	fn(v)
}

func TestPostingsAreSortedInTheBatch(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	var keys [][]byte
	if _, err := s.write(func(tx *txn) error {
		for _, owner := range []uint32{5, 1, 4096, 5} {
			tx.index(format.KindEntity, owner, []termEdit{{"bb", 0, 1}, {"b", 1, 2}, {"bb-and-more-than-eight", 0, 3}})
			tx.index(format.KindChunk, owner, []termEdit{{"a", 7, uint8(owner)}})
		}
		if err := tx.writePostings(); err != nil {
			return err
		}
		for r := tx.batch.Reader(); ; {
			kind, key, value, ok, err := r.Next()
			if err != nil || !ok {
				return err
			}
			if kind != pebble.InternalKeyKindMerge {
				t.Errorf("%x is written by %v", key, kind)
			}
			keys = append(keys, bytes.Clone(key))
			if len(value) > 1+2*3 {
				t.Errorf("%x: %d bytes", key, len(value))
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 8 || !slices.IsSortedFunc(keys, bytes.Compare) || len(slices.CompactFunc(slices.Clone(keys), bytes.Equal)) != 8 {
		t.Errorf("%q", keys)
	}
}
