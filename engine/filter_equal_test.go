package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// randomDocuments share few names, so that most owners have many documents,
// types tie, descriptions repeat, and ends of relations are often not
// extracted.
func randomDocuments(seed uint64, n int) []Document {
	rng := rand.New(rand.NewPCG(seed, 7))
	pick := func(prefix string, n int) string { return fmt.Sprint(prefix, rng.IntN(n)) }
	var docs []Document
	for i := range n {
		d := Document{ID: fmt.Sprint("doc ", i)}
		for c := range 1 + rng.IntN(3) {
			text := fmt.Sprintf("Passage %d of %s.\n", c, d.ID)
			for range 3 + rng.IntN(5) {
				saying := strings.Repeat("word ", rng.IntN(6)) + pick("saying", 4)
				if rng.IntN(2) == 0 {
					saying += fmt.Sprint(" only in ", i)
				}
				if rng.IntN(2) == 0 {
					text += fmt.Sprintf("@e|%s|%s|%s\n", pick("Name", 14), pick("type", 3), saying)
				} else {
					a := rng.IntN(14)
					text += fmt.Sprintf("@r|Name%d|Name%d|%s, %s|%s\n", a, (a+1+rng.IntN(4))%14, pick("key", 5), pick("key", 5), saying)
				}
			}
			d.Chunks = append(d.Chunks, Chunk{Order: c * 2, Content: text})
		}
		docs = append(docs, d)
	}
	return docs
}

// everything is a query that every owner and passage answers, by text order.
func everything(mode Mode, docs []string) Query {
	return Query{
		Text: "everything", Mode: mode, LowLevel: []string{"everything"}, HighLevel: []string{"everything"},
		TopK: 100000, ChunkTopK: 100000, CosineThreshold: -1, Documents: docs,
		MaxEntityTokens: 1 << 30, MaxRelationTokens: 1 << 30, MaxTotalTokens: 1 << 30,
	}
}

func said(t *testing.T, db *DB, q Query, cut int) (map[string]string, map[string]string, []string) {
	t.Helper()
	r := retrieved(t, db, q)
	text := func(d string) string {
		parts := strings.Split(d, graphstore.Separator)
		return strings.Join(parts[:min(len(parts), cut)], graphstore.Separator)
	}
	entities, relations := make(map[string]string), make(map[string]string)
	for _, e := range r.Entities {
		entities[e.Name] = e.Type + "|" + text(e.Description)
	}
	for _, e := range r.Relations {
		relations[e.Src+"|"+e.Tgt] = fmt.Sprint(e.Weight, e.Keywords, text(e.Description))
	}
	var chunks []string
	for _, c := range r.Chunks {
		chunks = append(chunks, c.ID)
	}
	slices.Sort(chunks)
	return entities, relations, chunks
}

// sameUnderFilter compares a filtered query of full with an unfiltered one of
// a store that holds only the allowed documents and makes no summaries.
func sameUnderFilter(t *testing.T, full, only *DB, allowed []string) (compared int) {
	t.Helper()
	for _, mode := range []Mode{Local, Global, Hybrid, Mix, Naive} {
		e, r, c := said(t, full, everything(mode, allowed), filterFragments+1)
		we, wr, wc := said(t, only, everything(mode, nil), filterFragments)
		for name, want := range we {
			if e[name] != want {
				t.Errorf("%s, %d documents: %s\n got %s\nwant %s", mode, len(allowed), name, e[name], want)
			}
		}
		for name, want := range wr {
			if r[name] != want {
				t.Errorf("%s, %d documents: %s\n got %s\nwant %s", mode, len(allowed), name, r[name], want)
			}
		}
		if len(e) != len(we) || len(r) != len(wr) {
			t.Errorf("%s, %d documents: %d entities, %d relations, want %d, %d", mode, len(allowed), len(e), len(r), len(we), len(wr))
		}
		if !slices.Equal(c, wc) {
			t.Errorf("%s, %d documents: passages %q, want %q", mode, len(allowed), c, wc)
		}
		compared += len(we) + len(wr) + len(wc)
	}
	return compared
}

func TestAFilteredStoreIsOneOfTheAllowedDocuments(t *testing.T) {
	for seed := range uint64(4) {
		docs := randomDocuments(seed, 90)
		o := testOptions(&fakeModel{})
		o.SummaryFragments = 3 // so that there are summaries to keep out
		o.MaxSources = []int{0, 4}[seed%2]
		full := opened(t, "full", o)
		inserted(t, full, docs...)
		for _, n := range []int{1, 7, 70, 90} { // more than rowsPerScope are worked out in another way
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			allowed := slices.Clone(docs)
			rng.Shuffle(len(allowed), func(i, j int) { allowed[i], allowed[j] = allowed[j], allowed[i] })
			allowed = allowed[:n]
			slices.SortFunc(allowed, func(a, b Document) int { // as they were inserted: canonical order
				return slices.IndexFunc(docs, func(d Document) bool { return d.ID == a.ID }) -
					slices.IndexFunc(docs, func(d Document) bool { return d.ID == b.ID })
			})
			p := testOptions(&fakeModel{})
			p.MaxSources = o.MaxSources
			only := opened(t, "only", p)
			inserted(t, only, allowed...)
			var ids []string
			for _, d := range allowed {
				ids = append(ids, d.ID)
			}
			rng.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			if sameUnderFilter(t, full, only, append(ids, ids[0])) == 0 {
				t.Error("nothing was compared")
			}
		}
	}
}

func TestRecordedStoresUnderAFilter(t *testing.T) {
	for _, store := range goldenStores {
		t.Run(store, func(t *testing.T) {
			lines := readReplay(t, sharedData(t, "golden", store, "replay.jsonl"))
			docs := documentsOf(lines)
			if len(docs) < 2 {
				t.Skip("one document")
			}
			o := goldenOptions(newReplayer(lines))
			open := func() *DB {
				o.Storage.FS = vfs.NewMem()
				return opened(t, "store", o)
			}
			full := open()
			inserted(t, full, docs...)
			for i := range min(len(docs), 4) {
				only := open()
				inserted(t, only, docs[i])
				if n := sameUnderFilter(t, full, only, []string{docs[i].ID}); n == 0 {
					t.Errorf("%s: nothing was compared", docs[i].ID)
				} else {
					t.Logf("%s: %d rows compared", docs[i].ID, n)
				}
			}
		})
	}
}

// Passages of an owner whose first sources are all of other documents.
func TestPassagesOfAHubComeFromItsAllowedSources(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.MaxSources = 5
	db := opened(t, "store", o)
	var docs []Document
	for i := range 30 {
		docs = append(docs, doc(fmt.Sprint("d", i), fmt.Sprintf("@e|Hub|t|Said in %d.", i), fmt.Sprintf("@r|Hub|Spoke|k|Bound in %d.", i)))
	}
	inserted(t, db, docs...)
	for _, mode := range []Mode{Local, Global} {
		q := everything(mode, []string{"d20", "d29"})
		r := retrieved(t, db, q)
		var got []string
		for _, c := range r.Chunks {
			got = append(got, c.Doc)
		}
		if slices.Sort(got); !slices.Equal(got, []string{"d20", "d29"}) {
			t.Errorf("%s: passages of %v", mode, got)
		}
	}
}

func TestBothWaysToPrepareAScopeAgree(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.MaxSources = 3
	db := opened(t, "store", o)
	inserted(t, db, randomDocuments(9, 60)...)
	view, err := db.store.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	n := 0
	for doc := range format.DocID(60) {
		var a, b scope
		a.docs = []format.DocID{doc + 1}
		if doc%3 == 0 {
			a.docs = []format.DocID{doc + 1, 60}
		}
		b.docs = a.docs
		if err := a.fromDocuments(view); err != nil {
			t.Fatal(err)
		}
		if err := b.fromOwners(view); err != nil {
			t.Fatal(err)
		}
		for i := range a.owners {
			n += a.owners[i].count()
			if !slices.Equal(a.owners[i].all(), b.owners[i].all()) {
				t.Errorf("documents %v: %v and %v", a.docs, a.owners[i].all(), b.owners[i].all())
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d owners in all", n)
	}
}

func (b bitset) all() (out []uint32) {
	b.each(func(i uint32) { out = append(out, i) })
	return out
}

func TestScopesAreKeptForOneCommit(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, randomDocuments(1, 12)...)
	get := func(docs, types []string) *scope {
		view, err := db.store.View()
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		s, err := db.scopes.get(view, docs, types)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := get([]string{"doc 1"}, nil)
	if get([]string{"doc 1"}, nil) != a {
		t.Error("prepared twice")
	}
	for _, other := range []*scope{
		get([]string{"doc 1"}, []string{"type1"}), get(nil, []string{"doc 1"}), get([]string{"doc 1", "doc 2"}, nil), get([]string{"doc 11"}, nil),
	} {
		if other == a {
			t.Error("two filters share a scope")
		}
	}
	for i := range scopesKept {
		get([]string{fmt.Sprint("doc ", i+2)}, nil)
	}
	if get([]string{"doc 1"}, nil) == a {
		t.Error("kept beyond the bound")
	}
	a = get([]string{"doc 1"}, nil)
	inserted(t, db, doc("new", "@e|Name1|t|x"))
	if get([]string{"doc 1"}, nil) == a {
		t.Error("kept beyond its commit")
	}
	if n := len(db.scopes.list); n != 1 {
		t.Errorf("%d scopes are kept of an older commit", n-1)
	}
}

// The types of a filter are those of the commit that is searched.
func TestATypeThatChangesIsFilteredAsItIs(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("a", "@e|Thing|one|x"))
	in := func(typ string) int {
		q := everything(Local, nil)
		q.EntityTypes = []string{typ}
		return len(retrieved(t, db, q).Entities)
	}
	if in("one") != 1 || in("two") != 0 || in("UNKNOWN") != 0 {
		t.Error("before")
	}
	inserted(t, db, doc("b", "@e|Thing|two|y"), doc("c", "@e|Thing|two|z"), doc("d", "@r|Thing|Other|k|w"))
	if in("one") != 0 || in("Two") != 1 || in("unknown") != 1 {
		t.Error("after")
	}
	if _, err := db.DeleteDocuments(t.Context(), "b", "c"); err != nil {
		t.Fatal(err)
	}
	if in("one") != 1 || in("two") != 0 {
		t.Error("after the delete")
	}
	sound(t, db)
}

// Documents outside the filter hold a word of their own, which may not stand
// anywhere in a filtered result, nor in what the model is sent.
func TestNothingOfAForbiddenDocumentIsShownOrSent(t *testing.T) {
	docs := randomDocuments(5, 40)
	for i := range docs {
		for j := range docs[i].Chunks {
			c := &docs[i].Chunks[j]
			c.Path = fmt.Sprintf("path-marker%02d", i)
			c.Content = strings.ReplaceAll(c.Content, "saying", fmt.Sprintf("marker%02d ", i))
			c.Content = strings.ReplaceAll(c.Content, "|type", fmt.Sprintf("|marker%02d", i))
			c.Content = strings.ReplaceAll(c.Content, "key", fmt.Sprintf("marker%02d", i))
			c.Content += fmt.Sprintf("@e|Own marker%02d|t|x\n@r|Own marker%02d|Name1|k|x\n", i, i)
		}
	}
	m := &fakeModel{}
	o := testOptions(m)
	o.SummaryFragments, o.SummaryTokens = 2, 20
	db := opened(t, "store", o)
	inserted(t, db, docs...)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		allowed := make(map[int]bool)
		var ids []string
		for range 1 + rng.IntN(4) {
			i := rng.IntN(len(docs))
			allowed[i] = true
			ids = append(ids, docs[i].ID)
		}
		for _, mode := range []Mode{Naive, Local, Global, Hybrid, Mix} {
			for _, budget := range []int{1 << 30, 60} {
				q := everything(mode, ids)
				q.MaxEntityTokens, q.MaxRelationTokens, q.NoCache = budget, budget, true
				q.Pick = PickMethod(rng.IntN(2))
				var streamed strings.Builder
				q.Stream = func(e Event) error { fmt.Fprintf(&streamed, "%+v", e); return nil }
				m.mu.Lock()
				m.calls = nil
				m.mu.Unlock()
				r := asked(t, db, q)
				if !r.Found {
					t.Fatalf("%s, %v: nothing found", mode, ids)
				}
				shown := fmt.Sprintf("%+v", *r) + streamed.String()
				for _, c := range m.calls {
					shown += fmt.Sprintf("%+v%+v", c.Messages, c.Input)
				}
				q.PromptOnly = true
				shown += asked(t, db, q).Prompt
				for i := range docs {
					if word := fmt.Sprintf("marker%02d", i); !allowed[i] && strings.Contains(shown, word) {
						t.Errorf("%s, documents %v, budget %d: %s is shown", mode, ids, budget, word)
					}
				}
				if some := slices.Collect(maps.Keys(allowed))[0]; mode == Naive && !strings.Contains(shown, fmt.Sprintf("marker%02d", some)) {
					t.Errorf("%v: marker%02d is not shown", ids, some)
				}
			}
		}
	}
	if m.count(llm.TaskAnswer) == 0 {
		t.Error("the model was not asked")
	}
}
