package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
)

func chunkIDs(r []ranked[format.ChunkID]) (out []int) {
	for _, c := range r {
		out = append(out, int(c.id))
	}
	return out
}

func TestPickWeightFollowsTheLinearQuota(t *testing.T) {
	many := func(owners, each int) (own [][]format.ChunkID) {
		for i := range owners {
			var list []format.ChunkID
			for j := range each {
				list = append(list, format.ChunkID(100*i+j))
			}
			own = append(own, list)
		}
		return own
	}
	for _, tt := range []struct {
		name string
		own  [][]format.ChunkID
		want []int // chunks per owner
	}{
		{"no owner", nil, nil},
		{"one owner gets five", many(1, 9), []int{5}},
		{"two", many(2, 9), []int{5, 1}},
		{"three", many(3, 9), []int{5, 3, 1}},
		{"nine, halves to even", many(9, 9), []int{5, 4, 4, 4, 3, 2, 2, 2, 1}},
		{"what one cannot use goes to the first that can", [][]format.ChunkID{{1}, {101, 102, 103, 104, 105}, {201}}, []int{1, 5, 1}},
		{"too few for all", many(3, 1), []int{1, 1, 1}},
		{"an owner without chunks of its own", [][]format.ChunkID{{1, 2}, nil, {201, 202, 203, 204}}, []int{2, 0, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make([]int, len(tt.own))
			seen := map[int]bool{}
			for _, id := range chunkIDs(pickWeight(tt.own, 5)) {
				got[id/100]++
				if seen[id] {
					t.Errorf("chunk %d twice", id)
				}
				seen[id] = true
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if got := pickWeight(many(3, 9), 0); len(got) != 0 {
		t.Errorf("of no chunk each: %v", got)
	}
	// Left-over quota is spent after the regular one.
	if got := chunkIDs(pickWeight([][]format.ChunkID{{1, 2, 3, 4, 5, 6, 7}, {101}, {}}, 5)); !slices.Equal(got, []int{1, 2, 3, 4, 5, 101, 6, 7}) {
		t.Errorf("order %v", got)
	}
}

func TestRoundRobin(t *testing.T) {
	list := func(ids ...int) (out []ranked[format.ChunkID]) {
		for _, id := range ids {
			out = append(out, ranked[format.ChunkID]{id: format.ChunkID(id)})
		}
		return out
	}
	for _, tt := range []struct{ a, b, c, two, three []int }{
		{nil, nil, nil, nil, nil},
		{[]int{1, 2, 3}, []int{9}, nil, []int{1, 9, 2, 3}, []int{1, 9, 2, 3}},
		{[]int{1, 2}, []int{2, 1, 3}, []int{3, 4}, []int{1, 2, 3}, []int{1, 2, 3, 4}},
		{nil, []int{5, 6}, []int{7}, []int{5, 6}, []int{5, 7, 6}},
	} {
		if got := chunkIDs(roundRobin(list(tt.a...), list(tt.b...))); !slices.Equal(got, tt.two) {
			t.Errorf("%v and %v: %v, want %v", tt.a, tt.b, got, tt.two)
		}
		if got := chunkIDs(roundRobin3(list(tt.a...), list(tt.b...), list(tt.c...))); !slices.Equal(got, tt.three) {
			t.Errorf("%v, %v, %v: %v, want %v", tt.a, tt.b, tt.c, got, tt.three)
		}
	}
	a, b := list(1), list(1)
	b[0].score = 0.7
	if got := roundRobin(a, b); got[0].score != 0.7 {
		t.Errorf("the better score is lost: %+v", got)
	}
}

func TestReferencesAreNumberedByPassagesThenAppearance(t *testing.T) {
	chunks := []ChunkHit{{Path: "b"}, {Path: ""}, {Path: "a"}, {Path: "c"}, {Path: "c"}, {Path: "a"}}
	refs := refer(chunks)
	if want := []Reference{{"1", "a"}, {"2", "c"}, {"3", "b"}}; !slices.Equal(refs, want) {
		t.Errorf("%v, want %v", refs, want)
	}
	var ids []string
	for _, c := range chunks {
		ids = append(ids, c.ReferenceID)
	}
	if want := []string{"3", "", "1", "2", "2", "1"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
}

// planets is a small graph in which every mode finds something else.
func planets(t *testing.T, edit func(*Options)) (*DB, *fakeModel) {
	m := &fakeModel{}
	o := testOptions(m)
	if edit != nil {
		edit(&o)
	}
	db := opened(t, "store", o)
	inserted(t, db,
		doc("mars", "@e|Mars|planet|Mars is a red desert.", "@e|Phobos|moon|Phobos is a small rock.",
			"@r|Mars|Phobos|gravity, orbit|Phobos circles Mars quickly.", "@r|Mars|Sun|light|Sunlight warms Mars a little."),
		doc("venus", "@e|Venus|planet|Venus is a hot greenhouse.", "@r|Venus|Sun|light|Sunlight heats Venus a lot."),
		doc("comet", "@e|Halley|comet|Halley returns every lifetime.", "@e|Mars|god|Mars is also a god of war.",
			"@r|Halley|Sun|orbit, ellipse|Halley swings around the star."))
	return db, m
}

func names(r *Result) (out []string) {
	for _, e := range r.Entities {
		out = append(out, e.Name)
	}
	return out
}

func pairs(r *Result) (out []string) {
	for _, e := range r.Relations {
		out = append(out, e.Src+"-"+e.Tgt)
	}
	return out
}

func retrieved(t *testing.T, db *DB, q Query) *Result {
	t.Helper()
	r, err := db.Retrieve(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return r
}

func TestModes(t *testing.T) {
	db, m := planets(t, nil)
	q := Query{Text: "greenhouse", LowLevel: []string{"red desert"}, HighLevel: []string{"ellipse swings"}, TopK: 1, CosineThreshold: -1}
	in := func(mode Mode) *Result { q.Mode = mode; return retrieved(t, db, q) }

	r := in(Local)
	if got := names(r); !slices.Equal(got, []string{"Mars"}) {
		t.Errorf("local: entities %v", got)
	}
	if got := pairs(r); !slices.Equal(got, []string{"Mars-Sun", "Mars-Phobos"}) { // by degrees
		t.Errorf("local: relations %v", got)
	}
	r = in(Global)
	if got := pairs(r); !slices.Equal(got, []string{"Halley-Sun"}) {
		t.Errorf("global: relations %v", got)
	}
	if got := names(r); !slices.Equal(got, []string{"Halley", "Sun"}) {
		t.Errorf("global: entities %v", got)
	}
	r = in(Hybrid)
	if got := names(r); !slices.Equal(got, []string{"Mars", "Halley", "Sun"}) {
		t.Errorf("hybrid: entities %v", got)
	}
	if got := pairs(r); !slices.Equal(got, []string{"Mars-Sun", "Halley-Sun", "Mars-Phobos"}) {
		t.Errorf("hybrid: relations %v", got)
	}
	hybrid := r
	r = in(Mix)
	if !slices.Equal(names(r), names(hybrid)) || len(r.Chunks) != 3 || r.Chunks[0].Doc != "venus" {
		t.Errorf("mix: %v, chunks %+v", names(r), r.Chunks)
	}
	q.ChunkTopK = 1
	r = in(Naive)
	if len(r.Entities)+len(r.Relations) != 0 || len(r.Chunks) != 1 || r.Chunks[0].ID != "venus#0" || r.Chunks[0].Path != "venus.md" {
		t.Errorf("naive: %+v", r)
	}
	r = in(Bypass)
	if r.Found || r.Context != "" {
		t.Errorf("bypass: %+v", r)
	}
	if n := m.count(llm.TaskKeywords); n != 0 {
		t.Errorf("%d keyword calls although keywords were given", n)
	}
	for _, c := range hybrid.Chunks {
		if !strings.Contains(hybrid.Context, fmt.Sprintf(`{"reference_id": %q, "content": `, c.ReferenceID)) {
			t.Errorf("the context lacks passage %s", c.ID)
		}
	}
	for _, ref := range hybrid.References {
		if !strings.Contains(hybrid.Context, "["+ref.ID+"] "+ref.Path) {
			t.Errorf("the context lacks reference %v", ref)
		}
	}
	if _, err := db.Retrieve(t.Context(), Query{Text: "a", Mode: "deep"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown mode: %v", err)
	}
}

func TestKeywordRules(t *testing.T) {
	db, m := planets(t, nil)
	for _, tt := range []struct {
		name      string
		mode      Mode
		high, low []string
		bad       bool
	}{
		{"local with low", Local, nil, []string{"mars"}, false},
		{"local without low", Local, []string{"light"}, nil, true},
		{"local with blank low", Local, []string{"light"}, []string{" "}, true},
		{"global with high", Global, []string{"light"}, nil, false},
		{"global without high", Global, nil, []string{"mars"}, true},
		{"hybrid with either", Hybrid, []string{"light"}, nil, false},
		{"mix with either", Mix, nil, []string{"mars"}, false},
		{"all blank", Mix, []string{" "}, []string{""}, true},
		{"naive does not care", Naive, []string{" "}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := db.Retrieve(t.Context(), Query{Text: "mars", Mode: tt.mode, HighLevel: tt.high, LowLevel: tt.low})
			if errors.Is(err, ErrInvalid) != tt.bad || !tt.bad && err != nil {
				t.Errorf("%v", err)
			}
		})
	}
	if len(m.calls) != 6 { // extraction and gleaning of three documents
		t.Errorf("%d calls", len(m.calls))
	}
}

func TestKeywordsOfTheModel(t *testing.T) {
	long := "mars " + strings.Repeat("and so on ", 8)
	for _, tt := range []struct {
		name, answer, question string
		mode                   Mode
		found                  bool
		low                    []string
		cached                 bool
	}{
		{"both", `{"high_level_keywords":["orbit"],"low_level_keywords":["Mars"]}`, "q", Hybrid, true, []string{"Mars"}, true},
		{"none of the level, local", `{"high_level_keywords":["orbit"],"low_level_keywords":[]}`, "mars", Local, false, nil, true},
		{"none of the level, global", `{"high_level_keywords":[],"low_level_keywords":["Mars"]}`, "mars", Global, false, []string{"Mars"}, true},
		{"no JSON, short question", "import os", "mars", Local, true, []string{"mars"}, false},
		{"no JSON, long question", "import os", long, Hybrid, false, nil, false},
		{"no JSON, long question, mix", "import os", long, Mix, true, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, m := planets(t, nil)
			m.hook = answerTask(llm.TaskKeywords, tt.answer)
			for range 2 {
				r := retrieved(t, db, Query{Text: tt.question, Mode: tt.mode, CosineThreshold: 0.01})
				if r.Found != tt.found || !slices.Equal(r.LowLevel, tt.low) {
					t.Errorf("found %v, low-level %q", r.Found, r.LowLevel)
				}
			}
			if n := m.count(llm.TaskKeywords); n != 1 && tt.cached || n != 2 && !tt.cached {
				t.Errorf("%d keyword calls", n)
			}
		})
	}
}

// runes4 is the chars4 count of a text.
func runes4(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func TestBudgetsAreExactWithChars4(t *testing.T) {
	db, _ := planets(t, nil)
	q := Query{Text: "mars", Mode: Hybrid, LowLevel: []string{"mars venus halley phobos is a"}, HighLevel: []string{"sunlight orbit light"}, CosineThreshold: -1}
	all := retrieved(t, db, q)
	var entities, relations []string
	for _, e := range all.Entities {
		entities = append(entities, string(appendEntityLine(nil, e.Name, e.Type, e.Description)))
	}
	for _, e := range all.Relations {
		relations = append(relations, string(appendRelationLine(nil, e.Src, e.Tgt, e.Description)))
	}
	if len(entities) < 5 || len(relations) < 4 {
		t.Fatalf("%d entities, %d relations", len(entities), len(relations))
	}
	longest := func(lines []string, budget int) int {
		n := 0
		for n < len(lines) && runes4(strings.Join(lines[:n+1], "\n")) < budget {
			n++
		}
		return max(n, 1) // the first is cut instead
	}
	for budget := 1; budget < 130; budget++ {
		q.MaxEntityTokens, q.MaxRelationTokens = budget, budget
		r := retrieved(t, db, q)
		if len(r.Entities) != longest(entities, budget) || len(r.Relations) != longest(relations, budget) {
			t.Fatalf("budget %d: %d entities, %d relations, want %d and %d", budget,
				len(r.Entities), len(r.Relations), longest(entities, budget), longest(relations, budget))
		}
		if budget >= 30 { // room for the frame of the line
			e := r.Entities[0]
			if n := runes4(string(appendEntityLine(nil, e.Name, e.Type, e.Description))); n >= budget && len(r.Entities) == 1 {
				t.Errorf("budget %d: the first entity costs %d", budget, n)
			}
		}
	}
	q.MaxEntityTokens = -1
	if r := retrieved(t, db, q); len(r.Entities) != 0 {
		t.Errorf("no budget: %d entities", len(r.Entities))
	}
}

func TestTheFirstItemIsCutToItsBudget(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("a", "@e|Alpha|person|"+strings.Repeat("very long words ", 60)))
	r := retrieved(t, db, Query{Text: "alpha", Mode: Local, LowLevel: []string{"alpha very long words"}, MaxEntityTokens: 40, CosineThreshold: -1})
	if len(r.Entities) != 1 {
		t.Fatalf("%+v", r.Entities)
	}
	e := r.Entities[0]
	line := string(appendEntityLine(nil, e.Name, e.Type, e.Description))
	if n := runes4(line); n >= 40 || n < 36 || !strings.HasPrefix(strings.Repeat("very long words ", 60), e.Description) {
		t.Errorf("the line costs %d: %s", n, line)
	}
	if !r.Found || !strings.Contains(r.Context, line) {
		t.Errorf("context %q", r.Context)
	}
}

func TestChunkBudgetKeepsWholePassages(t *testing.T) {
	db, _ := planets(t, nil)
	q := Query{Text: "mars venus halley", Mode: Naive, CosineThreshold: -1}
	all := retrieved(t, db, q)
	if len(all.Chunks) != 3 {
		t.Fatalf("%d chunks", len(all.Chunks))
	}
	var lines []string
	for _, c := range all.Chunks {
		lines = append(lines, string(appendChunkLine(nil, "1", c.Content)))
	}
	for budget := 1; budget < 250; budget += 3 {
		want := 0
		for want < len(lines) && runes4(strings.Join(lines[:want+1], "\n")) < budget {
			want++
		}
		q.MaxChunkTokens = budget
		if r := retrieved(t, db, q); len(r.Chunks) != want {
			t.Fatalf("budget %d: %d chunks, want %d", budget, len(r.Chunks), want)
		}
	}
}

// With a real tokenizer the prices of lines are added up; the text of all of
// them is never longer and hardly shorter.
func TestPricesOfLinesBoundTheJoinedText(t *testing.T) {
	tok, err := llm.NewTokenizer(llm.TokenizerO200k)
	if err != nil {
		t.Fatal(err)
	}
	db, _ := planets(t, func(o *Options) { o.Tokenizer = llm.TokenizerO200k })
	r := retrieved(t, db, Query{Text: "mars", Mode: Hybrid, LowLevel: []string{"mars is a"}, HighLevel: []string{"light"}, CosineThreshold: -1})
	var lines []string
	sum := 0
	m := newMeasure(tok)
	for _, e := range r.Entities {
		lines = append(lines, string(appendEntityLine(nil, e.Name, e.Type, e.Description)))
		sum += m.EntityLine(e.Name, e.Type, e.Description)
	}
	for _, e := range r.Relations {
		lines = append(lines, string(appendRelationLine(nil, e.Src, e.Tgt, e.Description)))
		sum += m.RelationLine(e.Src, e.Tgt, e.Description)
	}
	priced, joined := m.cost(sum, len(lines)), tok.Count(strings.Join(lines, "\n"))
	if len(lines) < 8 || joined > priced || priced > joined+len(lines) {
		t.Errorf("%d lines: priced %d, joined %d", len(lines), priced, joined)
	}
}
