package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

func TestKeywordsAreFoundInTheStore(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db,
		doc("hubble", "@e|Edwin Hubble|person|An astronomer.", "@e|Hubble|telescope|A telescope in space.", "@e|Mount Wilson|place|A mountain with an observatory.",
			"@e|Hooker telescope|artifact|Paid for by John Hooker.", "@r|Edwin Hubble|Mount Wilson|work, astronomy|Edwin Hubble observed galaxies there.",
			"@r|Hooker telescope|Mount Wilson|funding, construction|The steel magnate paid for it."),
		doc("ko", "@e|이순신|person|조선의 장군.", "@e|노량해전|event|바다에서 벌어진 싸움.", "@r|이순신|노량해전|전사|이순신이 전사하였다."),
		doc("zh", "@e|爱因斯坦|person|物理学家。", "@e|乌尔姆|place|德国城市。", "@r|爱因斯坦|乌尔姆|出生|爱因斯坦出生在乌尔姆。"),
		doc("ja", "@e|東京タワー|artifact|電波塔。", "@e|AI|concept|人工知能。"),
	)
	for _, c := range []struct {
		question, low, high string
		sure                bool
	}{
		{"Where did edwin HUBBLE observe galaxies?", "Edwin Hubble", "galaxies", true},
		{"Who paid for the Hooker telescope on Mount Wilson?", "Hooker telescope, Mount Wilson", "paid", true},
		{"What is Hubble?", "Hubble", "Hubble", true},
		{"What's Hubble's telescope?", "Hubble", "telescope", true},
		{"Which astronomer had a mountain?", "astronomer, mountain", "astronomer, mountain", true}, // no name, but every word is known
		{"Which astronomer had a zebra?", "astronomer", "astronomer", false},
		{"Did the magnate finance construction?", "magnate, construction", "magnate, construction", false},
		{"이순신은 어디에서 전사하였나요?", "이순신", "이순신", true},
		{"노량해전에서 이순신이 전사", "노량해전, 이순신", "전사", true},
		{"爱因斯坦是在哪里出生的？", "爱因斯坦", "出生", true},
		{"出生在乌尔姆的物理学家是谁", "乌尔姆", "出生在乌", true},
		{"東京タワーはいつできましたか", "東京タワー", "東京タワー", true},
		{"AI는 무엇인가요?", "AI", "AI", true},
		{"zyx", "", "", false},
		{"what is it?", "", "", false},
	} {
		q := Query{Text: c.question}
		if err := q.normalise(); err != nil {
			t.Fatal(err)
		}
		f, err := db.findKeywords(&q)
		if low, high := strings.Join(f.low, ", "), strings.Join(f.high, ", "); err != nil || low != c.low || high != c.high || f.sure != c.sure {
			t.Errorf("%q: low %q, high %q, sure %v, %v; want %q, %q, %v", c.question, low, high, f.sure, err, c.low, c.high, c.sure)
		}
	}
	// A name that the filter keeps out is none.
	q := Query{Text: "Where did Edwin Hubble work?", Documents: []string{"zh"}}
	if err := q.normalise(); err != nil {
		t.Fatal(err)
	}
	if f, err := db.findKeywords(&q); err != nil || slices.Contains(f.low, "Edwin Hubble") {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestWhoFindsKeywords(t *testing.T) {
	db, m := planets(t, func(o *Options) { o.Keywords = KeywordsAuto })
	ask := func(q Query) *Result {
		t.Helper()
		q.Explain = true
		return retrieved(t, db, q)
	}
	if r := ask(Query{Text: "How hot is venus?"}); m.count(llm.TaskKeywords) != 0 || r.Explain.Keywords != KeywordsLexical || !slices.Equal(r.LowLevel, []string{"Venus"}) {
		t.Errorf("sure: %d calls, keywords by %s: %q", m.count(llm.TaskKeywords), r.Explain.Keywords, r.LowLevel)
	}
	if r := ask(Query{Text: "How big are zebras?"}); m.count(llm.TaskKeywords) != 1 || r.Explain.Keywords != KeywordsModel {
		t.Errorf("not sure: %d calls, keywords by %s", m.count(llm.TaskKeywords), r.Explain.Keywords)
	}
	if r := ask(Query{Text: "How big are zebras, really?", Keywords: KeywordsByWords}); m.count(llm.TaskKeywords) != 1 || r.Explain.Keywords != KeywordsQuestion || r.LowLevel[0] != r.Query {
		t.Errorf("nothing known: %d calls, keywords by %s: %q", m.count(llm.TaskKeywords), r.Explain.Keywords, r.LowLevel)
	}
	if r := ask(Query{Text: "How hot is venus?", Keywords: KeywordsByModel}); m.count(llm.TaskKeywords) != 2 || r.Explain.Keywords != KeywordsModel {
		t.Errorf("the model: %d calls, keywords by %s", m.count(llm.TaskKeywords), r.Explain.Keywords)
	}
	if r := ask(Query{Text: strings.Repeat("zebras ", 20), Keywords: KeywordsByWords, Mode: Local}); r.Found || r.Explain.Keywords != KeywordsNone {
		t.Errorf("a long question of which nothing is known: keywords by %s: %q", r.Explain.Keywords, r.LowLevel)
	}
	if _, err := db.Retrieve(t.Context(), Query{Text: "x", Keywords: "guess"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("keywords by guess: %v", err)
	}
	o := testOptions(m)
	o.Keywords = "guess"
	if _, err := Open("other", o); !errors.Is(err, ErrInvalid) {
		t.Errorf("Options.Keywords guess: %v", err)
	}
	// No model and no embedder: nothing leaves the process.
	before := len(m.calls)
	if r := ask(Query{Text: "How hot is venus?", Keywords: KeywordsByWords, Match: MatchLexical}); len(m.calls) != before || r.Entities[0].Name != "Venus" {
		t.Errorf("%d calls, %v", len(m.calls)-before, names(r))
	}
	// None of a kind wanted.
	if r := ask(Query{Text: "How hot is venus?", TopK: -1, ChunkTopK: -1}); r.Found {
		t.Errorf("%+v", r)
	}
}

// Whatever is asked, keywords are looked up without harm, and those that are
// found are of the question or of the store.
func FuzzFindKeywords(f *testing.F) {
	db := opened(f, "store", testOptions(&fakeModel{}))
	inserted(f, db,
		doc("a", "@e|Edwin Hubble|person|An astronomer.", "@e|AI|concept|인공지능.", "@e|爱因斯坦|person|物理学家。", "@e|C++|language|Compiled.", "@e|O’Neill|person|A man.",
			"@e|이순신|person|장군.", "@r|Edwin Hubble|AI|none|Nothing at all."))
	view := db.View()
	f.Cleanup(view.Close)
	for _, q := range []string{"Where did Edwin Hubble's AI work?", "爱因斯坦在AI", "이순신은 AI가", "C++'s", "O’Neill's ’s", "'s", "\u0301AI\u0301", "ＡＩ!", strings.Repeat("ai ", 300)} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := Query{Text: text}
		if q.normalise() != nil {
			return
		}
		found, err := db.findKeywords(&q)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range append(found.low, found.high...) {
			_, err := view.Entity(w)
			if w == "" || err != nil && (!errors.Is(err, ErrNotFound) || !strings.Contains(q.Text, w)) {
				t.Errorf("%q gives %q, %v", text, w, err)
			}
		}
		if _, err := db.Retrieve(t.Context(), Query{Text: text, Match: MatchLexical, Keywords: KeywordsByWords}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
