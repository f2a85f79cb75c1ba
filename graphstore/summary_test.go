package graphstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/lightctl/lightrag/format"
)

// grown builds the whole tree of items with the summariser of the tests.
func grown(t tb, p SummaryPolicy, items []item, store map[string]string) (text string, made int) {
	t.Helper()
	for round := 0; ; round++ {
		s, err := p.tree(items, tokensOf(items), runeMeasurer{}, func(k summaryKey, input [32]byte) (string, bool, error) {
			text, ok := store[fmt.Sprint(k, input)]
			return text, ok, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !s.pending {
			return s.text, made
		}
		if len(s.jobs) == 0 || round > 20 {
			t.Fatalf("pending with %d jobs in round %d", len(s.jobs), round)
		}
		for i := range s.jobs {
			j := &s.jobs[i]
			if len(j.Texts) < groupMin || len(j.Texts) > groupMax || slices.Contains(j.Texts, "") {
				t.Fatalf("job of %d texts %q", len(j.Texts), j.Texts)
			}
			store[fmt.Sprint(summaryKey{j.Level, j.First}, j.Input)] = summarised(j)
			made++
		}
	}
}

func tokensOf(items []item) (n int) {
	for i := range items {
		n += runeMeasurer{}.Tokens(items[i].text)
	}
	return n
}

func numbered(n int) []item {
	items := make([]item, n)
	for i := range items {
		items[i] = item{FragmentKey{Doc: DocID(i + 1)}, fmt.Sprintf("description number %d of something", i)}
	}
	return items
}

func TestOneMoreDescriptionRemakesOneRunOfEachLevel(t *testing.T) {
	p := SummaryPolicy{Fragments: 8, Tokens: 1200, Join: 1200, Model: "m"}
	items := numbered(200)
	store := make(map[string]string)
	_, all := grown(t, p, items, store)
	if all < 20 {
		t.Fatalf("only %d summaries of 200 descriptions", all)
	}
	for _, at := range []int{0, 57, 120, 199} {
		fewer := slices.Delete(slices.Clone(items), at, at+1)
		if _, made := grown(t, p, fewer, store); made > 8 {
			t.Errorf("without description %d: %d summaries made anew", at, made)
		}
	}
}

func TestShapeOfTheTreeDoesNotDependOnWhatModelsWrite(t *testing.T) {
	p := SummaryPolicy{Fragments: 8, Tokens: 1200, Join: 1200}
	shape := func(answer string) map[summaryKey]covered {
		s, err := p.tree(numbered(120), tokensOf(numbered(120)), runeMeasurer{}, func(summaryKey, [32]byte) (string, bool, error) { return answer, true, nil })
		if err != nil || s.pending {
			t.Fatal(s.pending, err)
		}
		return s.wanted
	}
	if a, b := shape("x"), shape(strings.Repeat("much longer ", 1000)); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("shapes differ")
	}
}

func TestPolicyDecidesWhenToSummarise(t *testing.T) {
	long := strings.Repeat("word ", 800) // 1,000 tokens
	for _, c := range []struct {
		name    string
		policy  SummaryPolicy
		texts   []string
		pending bool
		want    string // "" = the texts joined
	}{
		{"never", SummaryPolicy{}, []string{long, long + "2"}, false, ""},
		{"one is as it is", SummaryPolicy{Fragments: 2}, []string{long + long}, false, ""},
		{"few and short", SummaryPolicy{Fragments: 3}, []string{"a", "b"}, false, ""},
		{"enough", SummaryPolicy{Fragments: 3}, []string{"a", "b", "c"}, true, ""},
		{"too long", SummaryPolicy{Fragments: 8}, []string{long, long + "2"}, true, long},
		{"none", SummaryPolicy{Fragments: 2}, nil, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var items []item
			for i, text := range c.texts {
				items = append(items, item{FragmentKey{Index: uint16(i)}, text})
			}
			o := Options{Summary: c.policy}.withDefaults()
			s, err := o.Summary.tree(items, tokensOf(items), runeMeasurer{}, func(summaryKey, [32]byte) (string, bool, error) { return "", false, nil })
			want := c.want
			if want == "" {
				want = strings.Join(c.texts, Separator)
			}
			if err != nil || s.pending != c.pending || s.text != want {
				t.Errorf("pending %v, text %.40q, %v", s.pending, s.text, err)
			}
		})
	}
}

// TestSummariesDoNotDependOnHistory compares a store that has been through a
// random history with one that has only ever seen the survivors.
func TestSummariesDoNotDependOnHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		policy := func(o *Options) {
			o.Summary = SummaryPolicy{Fragments: 3, Tokens: 40, Join: 6, Model: "m"}
			o.MaxSources = 12
		}
		open := func(fs vfs.FS) *Store {
			o, _ := testOptions(fs)
			policy(&o)
			s, err := Open("store", o)
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		fs := vfs.NewMem()
		s := open(fs)
		defer func() { s.Close() }()
		live := make(map[DocID]*testDoc)
		var order []DocID
		for i := range rapid.IntRange(3, 16).Draw(rt, "documents") {
			d := &testDoc{id: fmt.Sprint("doc ", i), chunks: []testChunk{{}}}
			for j := range rapid.IntRange(1, 3).Draw(rt, "fragments") {
				f := e(uint16(j), rapid.SampledFrom([]string{"Hub", "Other"}).Draw(rt, "name"), "t",
					fmt.Sprintf("d%d", rapid.IntRange(0, 30).Draw(rt, "description")))
				d.chunks[0].entities = append(d.chunks[0].entities, f)
			}
			d.chunks[0].relations = []RelationFragment{r(20, "Hub", "Other", fmt.Sprint("relation ", i%9), 1)}
			doc := register(rt, s, d)
			live[doc] = d
			order = append(order, doc)
		}
		for _, doc := range rapid.Permutation(order).Draw(rt, "commit order") {
			commit(rt, s, live[doc], doc)
			if rapid.Bool().Draw(rt, "refresh") {
				refreshAll(rt, s)
			}
			if rapid.IntRange(0, 5).Draw(rt, "reopen") == 0 {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = open(fs)
			}
		}
		var survivors []DocID
		for _, doc := range order {
			if rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
				if _, err := s.Delete(context.Background(), []DocID{doc}, DeleteOptions{}); err != nil {
					rt.Fatal(err)
				}
				checked(rt, s)
				servesOnlyFragments(rt, s)
			} else {
				survivors = append(survivors, doc)
			}
		}
		refreshAll(rt, s)
		checked(rt, s)

		twin := open(vfs.NewMem())
		defer twin.Close()
		for _, doc := range survivors {
			insert(rt, twin, live[doc])
		}
		refreshAll(rt, twin)
		if a, b := served(rt, s), served(rt, twin); a != b {
			rt.Fatalf("history\n%s\nnever seen\n%s", a, b)
		}
	})
}

// servesOnlyFragments fails if a pending record still holds a description that
// only deleted documents had.
func servesOnlyFragments(t tb, s *Store) {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for id := range v.Entities() {
		recs, err := v.EntityRecords([]EntityID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !recs[0].Pending {
			continue
		}
		have := make(map[string]bool)
		if err := v.Fragments(format.KindEntity, uint32(id), func(_ FragmentKey, f *format.Fragment) error {
			have[f.Description] = true
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(recs[0].Description, Separator) {
			if !have[text] {
				t.Fatalf("pending record of %q serves %q, which no fragment says", v.EntityName(id), text)
			}
		}
	}
}

// served lists what is served of every owner, by name.
func served(t tb, s *Store) string {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var lines []string
	for id := range v.Entities() {
		recs, err := v.EntityRecords([]EntityID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %q %s", v.EntityName(id), recs[0].Description, recs[0].Type))
	}
	for id := range v.Relations() {
		recs, err := v.RelationRecords([]RelationID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, b := v.Ends(id)
		lines = append(lines, fmt.Sprintf("%s %q %d", pairName(v.EntityName(a), v.EntityName(b)), recs[0].Description, recs[0].Weight))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
