package graphstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"pgregory.net/rapid"

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

func TestAnotherAnalyzerMakesThePostingsAnew(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, oneChunk("a", "Alpha"))
	insert(t, s, oneChunk("b", "Beta"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reopen := func(edit func(*Options)) *Store {
		t.Helper()
		s, _ := opened(t, fs, edit)
		return s
	}
	look := func(s *Store, want string) {
		t.Helper()
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if got := fmt.Sprintf("%q", found(t, v, "alpha", "ahpla")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		checked(t, s)
		v.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const forwards, backwards, none = `["Alpha 2" ""]`, `["" "Alpha 2"]`, `["" ""]`
	other := func(o *Options) { o.Terms = words{"words-2"} }
	look(reopen(nil), forwards)
	s = reopen(func(o *Options) { other(o); o.ReadOnly = true })
	withView(t, s, func(v *View) {
		if n, tokens := v.LexicalStats(format.KindEntity); n != 0 || tokens != 0 {
			t.Errorf("a read-only store with another analyzer says %d, %d", n, tokens)
		}
	})
	s.opts.Terms = nil // it has none to compare
	look(s, none)
	s = reopen(other)
	insert(t, s, oneChunk("c", "Delta"))
	look(s, backwards)
	look(reopen(other), backwards)
	s = reopen(func(o *Options) { o.Terms = nil })
	insert(t, s, oneChunk("d", "Epsilon"))
	look(s, none)
	s = reopen(func(o *Options) { o.MaxSources = 1 }) // both at once
	look(s, forwards)
	if _, err := Open("store", func() Options { o, _ := testOptions(fs); o.Terms = words{}; return o }()); !errors.Is(err, ErrInvalid) {
		t.Errorf("an analyzer without a name: %v", err)
	}
	look(reopen(nil), forwards)
}

func TestDamagedPostingsAreMadeAnew(t *testing.T) {
	fs := vfs.NewMem()
	s, _ := opened(t, fs, nil)
	insert(t, s, oneChunk("a", "Alpha"))
	if _, err := s.write(func(tx *txn) error {
		tx.dirty = true
		return tx.batch.Merge(format.AppendPostingsKey(nil, format.KindEntity, "alpha", 0), []byte("damage"), nil)
	}); err != nil {
		t.Fatal(err)
	}
	damaged := func(want bool) {
		t.Helper()
		withView(t, s, func(v *View) {
			if _, err := v.Postings(format.KindEntity, []string{"alpha"}, nil); errors.Is(err, ErrCorrupt) != want || (err != nil) != want {
				t.Errorf("%v, damaged: %v", err, want)
			}
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	damaged(true)
	s, _ = opened(t, fs, nil)
	damaged(true)
	s, _ = opened(t, fs, func(o *Options) { o.RebuildTerms, o.ReadOnly = true, true })
	damaged(true)
	s, _ = opened(t, fs, func(o *Options) { o.RebuildTerms = true })
	checked(t, s)
	damaged(false)
	s, _ = opened(t, fs, nil)
	checked(t, s)
	damaged(false)
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

// TestPowerCutWhilePostingsAreMade cuts the power before every operation of an
// opening that makes all postings anew, and opens with either analyzer.
func TestPowerCutWhilePostingsAreMade(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s, _ := opened(t, mem, nil)
	for i := range 5 {
		insert(t, s, oneChunk(fmt.Sprint("doc ", i), fmt.Sprint("Name ", i%3)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var points []*vfs.MemFS
	var mu sync.Mutex // the log is synced on a goroutine of its own
	o, _ := testOptions(errorfs.Wrap(mem, syncTap{func() {
		mu.Lock()
		defer mu.Unlock()
		points = append(points, mem.CrashClone(vfs.CrashCloneCfg{}))
	}}))
	o.Terms = words{"words-2"}
	s, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(points) < 10 {
		t.Fatalf("only %d power cuts", len(points))
	}
	for i, fs := range points {
		for _, name := range []string{"words-1", "words-2"} {
			o, _ := testOptions(fs.CrashClone(vfs.CrashCloneCfg{}))
			o.Terms = words{name}
			s, err := Open("store", o)
			if err != nil {
				t.Fatalf("cut %d, %s: %v", i, name, err)
			}
			checked(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCheckFindsWrongPostings(t *testing.T) {
	ctx := context.Background()
	for name, edit := range map[string]struct {
		term  string
		value []byte
		want  string
	}{
		"too many":    {"beta", edit(t, 1, 3), "entity 1 has it 3 times, its text 0 times"},
		"another":     {"alpha", edit(t, 1, 9), "entity 1 has it 9 times, its text 2 times"},
		"missing":     {"alpha", edit(t, 1, 0), "entity 1 has it 0 times, its text 2 times"},
		"no owner":    {"alpha", edit(t, 77, 1), "entity 77 has it 1 times, its text 0 times"},
		"other shard": {"alpha", edit(t, 4097, 1), "entity 4097 has it 1 times"},
		"damaged":     {"alpha", []byte{1, 1}, "corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t, vfs.NewMem(), nil)
			insert(t, s, oneChunk("a", "Alpha"))
			checked(t, s)
			shard := uint32(0)
			if name == "other shard" {
				shard = 1
			}
			if _, err := s.write(func(tx *txn) error {
				tx.dirty = true
				return tx.batch.Merge(format.AppendPostingsKey(nil, format.KindEntity, edit.term, shard), edit.value, nil)
			}); err != nil {
				t.Fatal(err)
			}
			found, err := s.Check(ctx, true)
			if err != nil || len(found) == 0 || !strings.Contains(fmt.Sprint(found), edit.want) {
				t.Errorf("%v, %v; want %q", found, err, edit.want)
			}
			if found, err := s.Check(ctx, false); err != nil || len(found) > 0 {
				t.Errorf("not deep: %v, %v", found, err)
			}
			v, err := s.View()
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			_, err = v.Postings(format.KindEntity, []string{edit.term}, nil)
			if damaged := name == "damaged"; errors.Is(err, ErrCorrupt) != damaged || (err != nil) != damaged {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

func edit(t testing.TB, owner uint32, count uint8) []byte {
	b, err := format.AppendPostings(nil, []format.Posting{{Owner: owner, Count: count}})
	if err != nil {
		t.Fatal(err)
	}
	return b
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

// TestPurgedTermsLeaveTheDisk looks for the words of a deleted document in the
// tables.
func TestPurgedTermsLeaveTheDisk(t *testing.T) {
	mem := vfs.NewMem()
	s, _ := opened(t, mem, nil)
	insert(t, s, oneChunk("kept", "Keptname"))
	doc := insert(t, s, oneChunk("gone", "Secretname"))
	ctx := context.Background()
	if n, err := s.PurgePostings(ctx); err != nil || n != 0 {
		t.Fatalf("nothing to purge: %d, %v", n, err)
	}
	if _, err := s.Delete(ctx, []DocID{doc}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	n, err := s.PurgePostings(ctx)
	if err != nil || n == 0 {
		t.Fatalf("%d, %v", n, err)
	}
	checked(t, s)
	if n, err := s.PurgePostings(ctx); err != nil || n != 0 {
		t.Fatalf("again: %d, %v", n, err)
	}
	withView(t, s, func(v *View) {
		if got := found(t, v, "keptname", "secretname"); !slices.Equal(got, []string{"Keptname 2", ""}) {
			t.Errorf("%q", got)
		}
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	inTables := func(word string) bool {
		names, err := mem.List("store/kv")
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(names, func(name string) bool {
			return strings.HasSuffix(name, ".sst") && bytes.Contains(fileBytes(t, mem, mem.PathJoin("store/kv", name)), []byte(word))
		})
	}
	if !inTables("keptname") || inTables("secretname") {
		t.Errorf("in the tables: keptname %v, secretname %v", inTables("keptname"), inTables("secretname"))
	}
	s, _ = opened(t, mem, func(o *Options) { o.ReadOnly = true })
	if _, err := s.PurgePostings(ctx); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

func fileBytes(t testing.TB, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCommonTermsAreWrittenAsAWhole makes many small commits of one term: a
// reader must not meet them all, nor miss one.
func TestCommonTermsAreWrittenAsAWhole(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	want := make(map[uint32]int)
	sets := 0
	for i := range 5 * hotEdits {
		owner := uint32(i*37) % 300
		count := uint8((i + i/300) % 3) // not that of the last time
		if want[owner] = int(count); count == 0 {
			delete(want, owner)
		}
		if _, err := s.write(func(tx *txn) error {
			tx.index(format.KindChunk, owner, []termEdit{{"common", 1, count}})
			if err := tx.writePostings(); err != nil {
				return err
			}
			for r := tx.batch.Reader(); ; {
				kind, _, _, ok, err := r.Next()
				if err != nil || !ok {
					return err
				}
				if kind == pebble.InternalKeyKindSet {
					sets++
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 || i > 4*hotEdits {
			withView(t, s, func(v *View) {
				lists, err := v.Postings(format.KindChunk, []string{"common"}, nil)
				if err != nil || !maps.Equal(postingMap(lists[0]), want) {
					t.Fatalf("after %d commits: %v, want %v, %v", i+1, lists[0], want, err)
				}
			})
		}
	}
	if sets != 5 {
		t.Errorf("written as a whole %d times", sets)
	}
}

func TestTermEditsAreTheDifference(t *testing.T) {
	x := newLexer(words{"words-1"})
	rapid.Check(t, func(t *rapid.T) {
		var texts [2]string
		var counts [2]map[string]int
		for i := range texts {
			counts[i] = make(map[string]int)
			var b strings.Builder
			for range rapid.SampledFrom([]int{0, 3, 700, 5000}).Draw(t, "words") {
				word := fmt.Sprint("w", rapid.IntRange(0, 1500).Draw(t, "word"))
				b.WriteString(word + " ")
				counts[i][word]++
			}
			many := rapid.IntRange(0, 600).Draw(t, "many")
			b.WriteString(strings.Repeat("many ", many))
			counts[i]["many"] = many
			texts[i] = b.String()
		}
		got := make(map[string]int)
		for _, e := range x.edits(texts[0], texts[1]) {
			if _, twice := got[e.term]; twice {
				t.Fatalf("%q twice", e.term)
			}
			got[e.term] = int(e.count)
		}
		want := make(map[string]int)
		for _, m := range counts {
			for term := range m {
				if was, is := min(counts[0][term], 255), min(counts[1][term], 255); was != is {
					want[term] = is
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
