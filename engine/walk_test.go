package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// films need two passages each for the questions about them: the second shares no
// word with the question.
func films(t *testing.T, change func(*Options)) (*DB, *fakeModel) {
	t.Helper()
	m := &fakeModel{}
	o := testOptions(m)
	if change != nil {
		change(&o)
	}
	db := opened(t, "films", o)
	inserted(t, db,
		doc("river", "@e|Silent River|film|Silent River is a film of 1931.", "@r|Silent River|Otto Brandt|director|Silent River was directed by Otto Brandt."),
		doc("brandt", "@e|Otto Brandt|person|Brandt grew up in Graz.", "@r|Otto Brandt|Graz|youth|Brandt grew up in Graz."),
		doc("graz", "@e|Graz|place|Graz lies on the Mur.", "@r|Graz|Mur|water|Graz lies on the Mur."),
		doc("harbour", "@e|Harbour Lights|film|Harbour Lights is a film of 1950.", "@r|Harbour Lights|Ida Voss|director|Harbour Lights was directed by Ida Voss."),
		doc("voss", "@e|Ida Voss|person|Voss lived in Oslo.", "@r|Ida Voss|Oslo|home|Voss lived in Oslo."),
		doc("bread", "@e|Bread|food|Bread needs flour.", "@r|Bread|Flour|needs|Bread needs flour."),
	)
	return db, m
}

func docsOf(r *Result) (ids []string) {
	for _, c := range r.Chunks {
		ids = append(ids, c.Doc)
	}
	return ids
}

func TestWalkFindsWhatTheQuestionDoesNotName(t *testing.T) {
	db, m := films(t, nil)
	for _, match := range []Match{MatchFused, MatchVectors, MatchLexical} {
		q := Query{Text: "Who directed Silent River?", Mode: Walk, Match: match, Walk: WalkOptions{Relations: 1, Entities: 1, Passages: 1}}
		r := retrieved(t, db, q)
		if got := docsOf(r); len(got) < 3 || got[0] != "river" || got[1] != "brandt" || got[2] != "graz" {
			t.Errorf("%s: passages %v, want river, brandt, graz first", match, got)
		}
		if got := names(r); !slices.Contains(got[:2], "Silent River") || !slices.Contains(got[:2], "Otto Brandt") {
			t.Errorf("%s: entities %v", match, got)
		}
		if got := pairs(r); got[0] != "Otto Brandt-Silent River" || !slices.Contains(got, "Graz-Otto Brandt") {
			t.Errorf("%s: relations %v", match, got)
		}
		if len(r.HighLevel)+len(r.LowLevel) > 0 || r.Usage.Calls > 0 {
			t.Errorf("%s: keywords %q %q, %d calls", match, r.LowLevel, r.HighLevel, r.Usage.Calls)
		}
		if again := retrieved(t, db, q); again.Context != r.Context {
			t.Errorf("%s: another context the second time", match)
		}
	}
	if n := m.count(llm.TaskKeywords); n != 0 {
		t.Errorf("the model was asked for keywords %d times", n)
	}
}

func TestWalkFromGivenKeywords(t *testing.T) {
	db, m := films(t, nil)
	q := Query{Text: "Where?", Mode: Walk, Match: MatchLexical, LowLevel: []string{"Ida Voss"}, Walk: WalkOptions{Relations: -1}}
	r := retrieved(t, db, q)
	if got := docsOf(r); len(got) < 2 || !slices.Contains(got[:2], "voss") || !slices.Contains(got[:2], "harbour") {
		t.Errorf("passages %v", got)
	}
	q.LowLevel, q.HighLevel, q.Walk = nil, []string{"flour"}, WalkOptions{Entities: -1}
	if got := docsOf(retrieved(t, db, q)); len(got) == 0 || got[0] != "bread" {
		t.Errorf("of a theme alone: passages %v", got)
	}
	if n := m.count(llm.TaskKeywords); n != 0 {
		t.Errorf("the model was asked for keywords %d times", n)
	}
}

// Where there is no graph, or the walk ends early, what the question matches
// follows.
func TestWalkWithoutAGraph(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	var docs []Document
	for i := range 12 {
		docs = append(docs, Document{ID: fmt.Sprint("d", i), Text: fmt.Sprintf("The telescope of place %d. %s", i, strings.Repeat("More. ", i))})
	}
	inserted(t, db, docs...)
	for _, match := range []Match{MatchFused, MatchVectors, MatchLexical} {
		q := Query{Text: "telescope of place 3", Mode: Walk, Match: match, CosineThreshold: -1}
		walked := docsOf(retrieved(t, db, q))
		q.Mode = Naive
		plain := docsOf(retrieved(t, db, q))
		// A walk starts from both rankings by themselves, whatever their sum says.
		if match == MatchFused && !slices.Contains(plain[:2], walked[0]) || match != MatchFused && walked[0] != plain[0] {
			t.Errorf("%s: walk %v, naive %v", match, walked, plain)
		}
		if len(walked) != 12 || len(plain) != 12 {
			t.Errorf("%s: %d passages by walk, %d by naive", match, len(walked), len(plain))
		}
		if again := slices.Compact(slices.Sorted(slices.Values(walked))); len(again) != len(walked) {
			t.Errorf("%s: a passage twice: %v", match, walked)
		}
	}
	if r := retrieved(t, db, Query{Text: "zyx", Mode: Walk, Match: MatchLexical}); r.Found {
		t.Errorf("found %v", docsOf(r))
	}
}

// Under a filter by documents the walk is that of a store without the others.
func TestWalkUnderAFilter(t *testing.T) {
	db, _ := films(t, nil)
	q := Query{Text: "Who directed Silent River?", Mode: Walk, Documents: []string{"river", "graz", "bread"}}
	r := retrieved(t, db, q)
	for _, d := range docsOf(r) {
		if !slices.Contains(q.Documents, d) {
			t.Errorf("a passage of %q", d)
		}
	}
	if got := names(r); slices.Contains(got, "Ida Voss") || slices.Contains(got, "Oslo") {
		t.Errorf("entities of other documents: %v", got)
	}
	if got := pairs(r); slices.Contains(got, "Graz-Otto Brandt") {
		t.Errorf("a relation that only another document names: %v", got)
	}
	q.Documents, q.EntityTypes = nil, []string{"person"}
	r = retrieved(t, db, q)
	for _, e := range r.Entities {
		if e.Type != "person" {
			t.Errorf("entity %s of type %s", e.Name, e.Type)
		}
	}
	if got := docsOf(r); !slices.Contains(got, "brandt") {
		t.Errorf("passages %v", got)
	}
}

func TestWalkAfterADeletion(t *testing.T) {
	db, _ := films(t, nil)
	if _, err := db.DeleteDocuments(t.Context(), "brandt"); err != nil {
		t.Fatal(err)
	}
	r := retrieved(t, db, Query{Text: "Who directed Silent River?", Mode: Walk, Match: MatchLexical, Walk: WalkOptions{Relations: 1, Entities: 1, Passages: 1}})
	got := docsOf(r)
	if got[0] != "river" || slices.Contains(got, "brandt") || slices.Contains(got, "graz") {
		t.Errorf("passages %v", got)
	}
	if slices.Contains(pairs(r), "Graz-Otto Brandt") {
		t.Errorf("relations %v", pairs(r))
	}
}

func TestWalkKeepsToItsBudgets(t *testing.T) {
	db, _ := films(t, nil)
	q := Query{Text: "Who directed Silent River?", Mode: Walk, TopK: 2, ChunkTopK: 1}
	r := retrieved(t, db, q)
	if len(r.Entities) != 2 || len(r.Relations) != 2 || len(r.Chunks) != 1 || r.Chunks[0].Doc != "river" {
		t.Errorf("%d entities, %d relations, passages %v", len(r.Entities), len(r.Relations), docsOf(r))
	}
	if r.ChunksFound > walkedPassages {
		t.Errorf("%d passages handed on", r.ChunksFound)
	}
	q.TopK, q.ChunkTopK = -1, -1
	if r = retrieved(t, db, q); len(r.Entities)+len(r.Relations)+len(r.Chunks) > 0 || r.Found {
		t.Errorf("of none: %v %v %v", names(r), pairs(r), docsOf(r))
	}
	q.TopK, q.ChunkTopK = math.MaxInt, math.MaxInt
	if r = retrieved(t, db, q); len(r.Chunks) != 5 { // bread has nothing to do with it
		t.Errorf("of all: %v", docsOf(r))
	}
	q = Query{Text: "Who directed Silent River?", Mode: Walk, MaxTotalTokens: 1}
	if r = retrieved(t, db, q); len(r.Chunks) != 0 {
		t.Errorf("without room: %v", docsOf(r))
	}
}

func TestWalkExplained(t *testing.T) {
	db, _ := films(t, nil)
	r := retrieved(t, db, Query{Text: "Who directed Silent River?", Mode: Walk, Match: MatchLexical, Explain: true,
		Walk: WalkOptions{Relations: 1, Entities: 1, Passages: 1}})
	x := r.Explain
	if x.Keywords != KeywordsNone || x.Chunks.FromQuestion == 0 || x.Chunks.FromWalk < 3 || x.Entities.Matched != 1 || x.Relations.Matched != 1 {
		t.Errorf("keywords %s, %d passages by the question, %d by the walk, %d entities and %d relations matched",
			x.Keywords, x.Chunks.FromQuestion, x.Chunks.FromWalk, x.Entities.Matched, x.Relations.Matched)
	}
	origin := make(map[string]string)
	sum := 0.0
	for _, list := range [][]Candidate{x.Entities.Candidates, x.Relations.Candidates, x.Chunks.Candidates} {
		for _, c := range list {
			origin[c.Name] = c.Origin
			sum += c.Walk
		}
	}
	for name, want := range map[string]string{
		"Silent River": "keywords", "Graz": "walk", "river#0": "question", "brandt#0": "walk", "Graz - Otto Brandt": "walk", "Otto Brandt - Silent River": "keywords",
	} {
		if origin[name] != want {
			t.Errorf("%s came by %q, want %q", name, origin[name], want)
		}
	}
	if sum < 0.9 || sum > 1.0001 {
		t.Errorf("%.3f of the mass is explained", sum)
	}
}

func TestWalkOptionsAreChecked(t *testing.T) {
	db, _ := films(t, nil)
	for _, onward := range []float64{-0.1, 1, 0.99, nan()} {
		_, err := db.Retrieve(t.Context(), Query{Text: "x", Mode: Walk, Walk: WalkOptions{Onward: onward}})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "Walk.Onward") {
			t.Errorf("onward %v: %v", onward, err)
		}
	}
	if m, err := ParseMode("walk"); err != nil || m != Walk {
		t.Errorf("%v, %v", m, err)
	}
}

func nan() float64 { var zero float64; return zero / zero }

// Who wants nothing of a kind gets nothing of it, by name neither.
func TestNothingIsMatchedWhereNothingIsWanted(t *testing.T) {
	db, _ := films(t, nil)
	for _, q := range []Query{
		{Mode: Mix, TopK: -1}, {Mode: Local, TopK: -1}, {Mode: Walk, Walk: WalkOptions{Entities: -1, Relations: -1, Passages: -1}},
	} {
		q.Text, q.LowLevel, q.Match, q.ChunkTopK = "Where did Ida Voss live?", []string{"Ida Voss", "Graz"}, MatchLexical, -1
		if r := retrieved(t, db, q); r.Found {
			t.Errorf("%s: %v %v %v", q.Mode, names(r), pairs(r), docsOf(r))
		}
	}
}

// Of two matches, the entity that five passages mention gets at most half a fifth
// of what the one gets that stands in a single passage, or twice a fifth if it
// matches better.
func TestWalkStartsFromWhatIsSpecific(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	docs := []Document{doc("rare", "@e|Alpha Rare|thing|Something.")}
	for i := range 5 {
		docs = append(docs, doc(fmt.Sprint("common ", i), "@e|Alpha Common|thing|Something."))
	}
	inserted(t, db, docs...)
	r := retrieved(t, db, Query{Text: "alpha", Mode: Walk, Match: MatchLexical, Explain: true,
		Walk: WalkOptions{Relations: -1, Passages: -1, Onward: 1e-9}})
	mass := make(map[string]float64)
	for _, c := range r.Explain.Entities.Candidates {
		mass[c.Name] = c.Walk
	}
	if share := mass["Alpha Common"] / mass["Alpha Rare"]; len(mass) != 2 || !(share > 0.09 && share < 0.41) {
		t.Errorf("common has %v of what rare has: %v", share, mass)
	}
}

func TestPlacesAreShared(t *testing.T) {
	scores := []float64{5, 3, 3, 1}
	got := places(4, func(i int) uint32 { return uint32(10 + i) }, func(i, j int) bool { return scores[i] == scores[j] })
	if want := []place{{10, 1}, {11, 2}, {12, 2}, {13, 4}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
