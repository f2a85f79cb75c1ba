package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// Of what both rankings have, the words' share counts, once.
func TestStandings(t *testing.T) {
	near := []hit{{7, 0.9}, {3, 0.5}, {9, 0.4}}
	found := []lexical.Hit{{Owner: 9, Score: 6}, {Owner: 4, Score: 3}, {Owner: 3, Score: 2}}
	got := standings(near, found, 8)
	if want := []standing{{3, 0.25}, {4, 0.375}, {7, 0}, {9, 0.75}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := standings(nil, nil, 0); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// A cosine outweighs a quarter of itself in the words' share, and no more.
func TestFusedWeighsWordsAndVectors(t *testing.T) {
	db, _ := planets(t, nil)
	q := Query{Text: "x"}
	if err := q.normalise(); err != nil {
		t.Fatal(err)
	}
	s, err := db.newSearch(&q, new(Result))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	vecs, err := db.embed(t.Context(), []string{"Mars is a red desert."}, llm.PurposeQuery)
	if err != nil {
		t.Fatal(err)
	}
	vec := unit(vecs[0])
	near, err := db.index.search(s.view, format.KindEntity, vec, 2, -2, nil)
	if err != nil || len(near) != 2 {
		t.Fatalf("%v, %v", near, err)
	}
	first, second := near[0].id, near[1].id
	ahead := float64(near[0].score - near[1].score)
	if ahead < 0.01 {
		t.Fatalf("cosines %v are too near each other", near)
	}
	for _, c := range []struct {
		share float64 // by which the second is ahead in words
		want  []uint32
	}{{0.9 * ahead / 4, []uint32{first, second}}, {1.1 * ahead / 4, []uint32{second, first}}} {
		r := rankings{near: near, most: 10, found: []lexical.Hit{{Owner: second, Score: 10 * (0.1 + c.share)}, {Owner: first, Score: 1}}}
		var got []uint32
		for _, h := range s.fused(format.KindEntity, vec, &r, 2) {
			got = append(got, h.id)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("second ahead by %.4f in words, first by %.4f in cosine: %v, want %v", c.share, ahead, got, c.want)
		}
		r.named = []uint32{second}
		if hits := s.fused(format.KindEntity, vec, &r, 1); len(hits) != 1 || hits[0].id != second {
			t.Errorf("named: %v", hits)
		}
	}
}

func TestParseMatch(t *testing.T) {
	for _, m := range []Match{MatchFused, MatchVectors, MatchLexical} {
		if got, err := ParseMatch(m.String()); err != nil || got != m {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if m, err := ParseMatch(""); err != nil || m != MatchFused {
		t.Errorf("empty: %v, %v", m, err)
	}
	if _, err := ParseMatch("bm25"); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown: %v", err)
	}
	db, _ := planets(t, nil)
	if _, err := db.Retrieve(t.Context(), Query{Text: "x", Match: 9}); !errors.Is(err, ErrInvalid) {
		t.Errorf("Match 9: %v", err)
	}
}

// opaque is an embedder that tells all texts apart and finds none like another.
type opaque struct{ texts atomic.Int64 }

func (o *opaque) Info() llm.EmbedderInfo { return llm.EmbedderInfo{Name: "opaque", Dim: 64} }

func (o *opaque) Embed(_ context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	o.texts.Add(int64(len(texts)))
	out := make([][]float32, len(texts))
	for i, t := range texts {
		r := rand.New(rand.NewPCG(uint64(len(t)), uint64(len(t))*7919+uint64(t[0])))
		for range 64 {
			out[i] = append(out[i], float32(r.NormFloat64()))
		}
	}
	return out, nil
}

func TestWordsFindWhatVectorsDoNot(t *testing.T) {
	e := &opaque{}
	db, _ := planets(t, func(o *Options) { o.Embedder = e })
	before := e.texts.Load()
	for _, mode := range []Mode{Naive, Local, Global, Hybrid, Mix} {
		q := Query{Text: "What is the hot greenhouse?", Mode: mode, LowLevel: []string{"red desert"}, HighLevel: []string{"ellipse"}, Match: MatchLexical}
		r := retrieved(t, db, q)
		if n := e.texts.Load() - before; n != 0 {
			t.Fatalf("%s: %d texts embedded", mode, n)
		}
		if uses := mode == Local || mode == Hybrid || mode == Mix; uses && (len(r.Entities) == 0 || r.Entities[0].Name != "Mars") {
			t.Errorf("%s: entities %v", mode, names(r))
		}
		if uses := mode == Global || mode == Hybrid || mode == Mix; uses && !slices.Contains(pairs(r), "Halley-Sun") {
			t.Errorf("%s: relations %v", mode, pairs(r))
		}
		if uses := mode == Naive || mode == Mix; uses && (len(r.Chunks) == 0 || r.Chunks[0].Doc != "venus") {
			t.Errorf("%s: chunks %+v", mode, r.Chunks)
		}
		for _, h := range r.Entities {
			if h.Score != 0 {
				t.Errorf("%s: a cosine without vectors: %+v", mode, h)
			}
		}
		q.Match = MatchVectors
		if r := retrieved(t, db, q); e.texts.Load() == before || mode != Global && r.Found && len(r.Entities) > 0 && r.Entities[0].Name == "Mars" {
			t.Errorf("%s: vectors find %v", mode, names(r))
		}
		q.Match = MatchFused
		if r := retrieved(t, db, q); mode == Local && (names(r)[0] != "Mars" || r.Entities[0].Score == 0) {
			t.Errorf("%s: fused finds %+v", mode, r.Entities)
		}
		before = e.texts.Load()
	}
	// Of words that no text holds, and of words without meaning, nothing is found.
	for _, text := range []string{"zyx", "what is the of"} {
		if r := retrieved(t, db, Query{Text: text, Mode: Naive, Match: MatchLexical}); r.Found && text == "zyx" {
			t.Errorf("%q finds %+v", text, r.Chunks)
		}
	}
}

func TestWhatAKeywordNamesComesFirst(t *testing.T) {
	m := &fakeModel{}
	db := opened(t, "store", testOptions(m))
	inserted(t, db,
		doc("a", "@e|Sun|star|Sun.", "@e|SUN|company|SUN made Java, as SUN said: SUN SUN.", "@e|Solar Flare|event|Sun sun sun sun sun sun.",
			"@e|Sun-day|day|A day.", "@r|SUN|Java|made|SUN made Java.", "@e|Ｏ’Neill|person|A man of the sun."))
	find := func(match Match, words ...string) []string {
		t.Helper()
		return names(retrieved(t, db, Query{Text: "q", Mode: Local, LowLevel: words, Match: match, CosineThreshold: -1}))
	}
	for _, match := range []Match{MatchFused, MatchLexical} {
		for _, c := range []struct{ word, want string }{
			{"Sun", "Sun SUN"}, {"SUN", "SUN Sun"}, {"sun", "SUN Sun"}, // by relations where none is written so
			{"solar  flare", "Solar Flare"}, {"SOLAR-FLARE", "Solar Flare"}, {"oneill", "ONeill"}, {"O'NEILL", "ONeill"},
		} {
			got := strings.Join(find(match, c.word), " ")
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %q finds %q first, want %q", match, c.word, got, c.want)
			}
		}
		if got := find(match, "Java", "Solar Flare"); !slices.Equal(got[:2], []string{"Java", "Solar Flare"}) {
			t.Errorf("%s: two names find %q", match, got)
		}
	}
	// An alias names its entity.
	if _, err := db.RenameEntity(t.Context(), "Solar Flare", "Eruption", false); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Solar Flare", "solar flare", "SOLAR FLARE", "sOLAR-flare", "ＳＯＬＡＲ  ｆｌａｒｅ", "eruption"} {
		if got := find(MatchFused, word); got[0] != "Eruption" {
			t.Errorf("%q finds %q", word, got)
		}
	}
	// A filter holds for names too.
	r := retrieved(t, db, Query{Text: "q", Mode: Local, LowLevel: []string{"Sun"}, EntityTypes: []string{"company"}, CosineThreshold: -1})
	if got := names(r); !slices.Equal(got, []string{"SUN"}) {
		t.Errorf("with a filter: %q", got)
	}
	// Vectors alone know of no names.
	if got := find(MatchVectors, "sun"); slices.Equal(got[:2], find(MatchFused, "sun")[:2]) && got[0] == "SUN" {
		t.Logf("vectors agree: %q", got)
	}
}

func TestAFailingEmbedderLeavesWords(t *testing.T) {
	w := &words{}
	log := &logged{}
	db, _ := planets(t, func(o *Options) { o.Embedder, o.Logger = w, slogOf(log) })
	w.hook = func([]string, [][]float32) ([][]float32, error) {
		return nil, fmt.Errorf("%w: nobody there", llm.ErrUnavailable)
	}
	q := Query{Text: "hot greenhouse", Mode: Mix, LowLevel: []string{"red desert"}, HighLevel: []string{"ellipse"}, Explain: true}
	r, err := db.Query(t.Context(), q)
	if err != nil || !r.Found || r.Answer == "" || r.Entities[0].Name != "Mars" {
		t.Fatalf("%v, %+v", err, r)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "nobody there") || !strings.Contains(log.String(), "nobody there") {
		t.Errorf("warnings %q, log %s", r.Warnings, log)
	}
	q.Match = MatchVectors
	if _, err := db.Retrieve(t.Context(), q); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("by vectors alone: %v", err)
	}
	q.Match = MatchLexical
	if r := retrieved(t, db, q); len(r.Warnings) != 0 {
		t.Errorf("nothing was to be embedded: %q", r.Warnings)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.hook = func([]string, [][]float32) ([][]float32, error) { cancel(); return nil, ctx.Err() }
	q.Match = MatchFused
	if _, err := db.Retrieve(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestWordsOfOtherScriptsAreFound(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	texts := map[string]string{
		"zh": "爱因斯坦于1879年出生在德国乌尔姆。", "ja": "東京タワーは1958年に完成した電波塔である。", "ko": "이순신은 조선의 장군으로 노량해전에서 전사하였다.",
		"ru": "Королёв спроектировал ракету.", "th": "กรุงเทพเป็นเมืองหลวงของประเทศไทย", "fr": "L'Élysée est à Paris.", "code": "call db.RebuildIndex() in engine/rebuild.go",
	}
	for id, text := range texts {
		inserted(t, db, Document{ID: id, Text: text})
	}
	for q, want := range map[string]string{
		"爱因斯坦是在哪里出生的？": "zh", "東京タワーの完成はいつですか？": "ja", "이순신이 전사한 해전은?": "ko", "노량해전": "ko", "Королев": "ru",
		"กรุงเทพ": "th", "elysee": "fr", "rebuild_index": "code", "RebuildIndex": "code", "rebuild.go": "code", "ＰＡＲＩＳ": "fr",
	} {
		r := retrieved(t, db, Query{Text: q, Mode: Naive, Match: MatchLexical})
		if len(r.Chunks) == 0 || r.Chunks[0].Doc != want {
			t.Errorf("%q finds %+v, want %s", q, r.Chunks, want)
		}
	}
}

// byWords ranks by a look at every text that the view shows.
func byWords(t *testing.T, s *search, kind format.Kind, terms []string, k int, allow func(owner uint32) bool) []lexical.Hit {
	t.Helper()
	texts := make(map[uint32]string)
	switch kind {
	case format.KindEntity:
		for id := range s.view.Entities() {
			rec, err := s.view.EntityRecords([]format.EntityID{id}, nil)
			if err != nil {
				t.Fatal(err)
			}
			texts[uint32(id)] = graphstore.EntityText(s.view.EntityName(id), rec[0].Description)
		}
	case format.KindRelation:
		for id := range s.view.Relations() {
			rec, err := s.view.RelationRecords([]format.RelationID{id}, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, b := s.view.Ends(id)
			texts[uint32(id)] = graphstore.RelationText(rec[0].Keywords, s.view.EntityName(a), s.view.EntityName(b), rec[0].Description)
		}
	case format.KindChunk:
		for id := range s.view.ChunkIDs() {
			rows, err := s.view.Chunks([]format.ChunkID{id}, nil)
			if err != nil {
				t.Fatal(err)
			}
			texts[uint32(id)] = rows[0].Text
		}
	}
	counts := make(map[uint32]map[string]int)
	have := make(map[string]int)
	sum := 0
	for o, text := range texts {
		n := make(map[string]int)
		lexical.Analyzer{}.Terms(text, func(term []byte) { n[string(term)]++ })
		for term := range n {
			have[term]++
		}
		counts[o] = n
		sum += s.view.LineTokens(kind, o)
	}
	var hits []lexical.Hit
	for o, n := range counts {
		score := 0.0
		for _, term := range terms {
			if n[term] > 0 {
				norm := lexical.K1 * (1 - lexical.B + lexical.B*float64(s.view.LineTokens(kind, o))/(float64(sum)/float64(len(texts))))
				score += lexical.IDF(uint64(len(texts)), have[term]) * (lexical.K1 + 1) * float64(n[term]) / (float64(n[term]) + norm)
			}
		}
		if score > 0 && (allow == nil || allow(o)) {
			hits = append(hits, lexical.Hit{Owner: o, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b lexical.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Owner, b.Owner))
	})
	return hits[:min(k, len(hits))]
}

// TestLexicalIsThatOfAScan changes a store at random and looks into new and old
// views of it, with and without filters.
func TestLexicalIsThatOfAScan(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	rnd := rand.New(rand.NewPCG(3, 4))
	vocabulary := strings.Fields("sun moon star planet comet orbit light dust ring gas ice rock wind storm night day year sky dawn tide")
	text := func(n int) string {
		var out []string
		for range n {
			i := rnd.IntN(len(vocabulary))
			out = append(out, vocabulary[rnd.IntN(i+1)])
		}
		return strings.Join(out, " ")
	}
	document := func(i int) Document {
		lines := []string{text(30)}
		for range 4 {
			a, b := rnd.IntN(25), rnd.IntN(25)
			lines = append(lines, fmt.Sprintf("@e|Thing %d|t|%s", a, text(1+rnd.IntN(8))))
			if a != b {
				lines = append(lines, fmt.Sprintf("@r|Thing %d|Thing %d|%s|%s", a, b, text(1), text(1+rnd.IntN(8))))
			}
		}
		d := doc(fmt.Sprint("doc ", i), lines...)
		d.Replace = true
		return d
	}
	type old struct {
		s    *search
		want [3][]lexical.Hit
	}
	terms := []string{"sun", "orbit", "tide", "star", "thing", "none"}
	kinds := []format.Kind{format.KindEntity, format.KindRelation, format.KindChunk}
	same := func(got, want []lexical.Hit) bool {
		return slices.EqualFunc(got, want, func(a, b lexical.Hit) bool {
			return a.Owner == b.Owner && max(a.Score-b.Score, b.Score-a.Score) < 1e-9
		})
	}
	open := func(q Query) *search {
		t.Helper()
		r := &Result{}
		if err := q.normalise(); err != nil {
			t.Fatal(err)
		}
		s, err := db.newSearch(&q, r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var olds []old
	compared := 0
	for round := range 30 {
		id := rnd.IntN(12)
		if round > 12 && rnd.IntN(4) == 0 {
			if _, err := db.DeleteDocuments(t.Context(), fmt.Sprint("doc ", id)); err != nil {
				t.Fatal(err)
			}
		} else {
			inserted(t, db, document(id))
		}
		o := old{s: open(Query{Text: "q"})}
		for i, kind := range kinds {
			o.want[i] = byWords(t, o.s, kind, terms, 7, nil)
		}
		olds = append(olds, o)
		if f, _, err := db.Document(fmt.Sprint("doc ", id)); err == nil && f.Status == StatusProcessed {
			s := open(Query{Text: "q", Documents: []string{f.ID}})
			for _, kind := range kinds {
				got, err := s.lexical(kind, terms, 7)
				allow := s.filter.lets(kind)
				if err != nil || !same(got, byWords(t, s, kind, terms, 7, allow)) {
					t.Errorf("round %d, filter, %s: %v, %v", round, kind, got, err)
				}
				compared += len(got)
			}
			s.close()
		}
	}
	for round, o := range olds {
		for i, kind := range kinds {
			got, err := o.s.lexical(kind, terms, 7)
			if err != nil || !same(got, o.want[i]) {
				t.Errorf("round %d, %s:\n got %v %v\nwant %v", round, kind, got, err, o.want[i])
			}
			compared += len(got)
		}
		o.s.close()
	}
	if compared < 500 {
		t.Errorf("only %d hits were compared", compared)
	}
}
