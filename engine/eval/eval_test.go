package eval

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/engine"
)

// fixed answers every question with the same ids.
func fixed(ids ...string) Searcher {
	return func(context.Context, string, int) ([]string, error) { return ids, nil }
}

func TestMeasuresCountGoldAmongTheFirst(t *testing.T) {
	questions := []Question{
		{Text: "one", Gold: []string{"a"}},
		{Text: "two", Gold: []string{"b", "d"}},
		{Text: "three", Gold: []string{"c", "x", "y"}},
		{Text: "none", Gold: []string{"z"}},
	}
	o, err := Measure(t.Context(), questions, 4, fixed("a", "b", "c", "d", "z"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		got  Values
		want Values
	}{
		{"recall@1", o.Recall(1), Values{1, 0, 0, 0}},
		{"recall@2", o.Recall(2), Values{1, 0.5, 0, 0}},
		{"recall@4", o.Recall(4), Values{1, 1, 1.0 / 3, 0}},
		{"recall@9", o.Recall(9), Values{1, 1, 1.0 / 3, 0}}, // z is beyond the depth
		{"all gold@2", o.AllGold(2), Values{1, 0, 0, 0}},
		{"all gold@4", o.AllGold(4), Values{1, 1, 0, 0}},
		{"reciprocal rank", o.ReciprocalRank(), Values{1, 0.5, 1.0 / 3, 0}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s is %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestADocumentThatIsFoundTwiceCountsOnce(t *testing.T) {
	o, err := Measure(t.Context(), []Question{{Text: "q", Gold: []string{"a", "b"}}}, 10, fixed("a", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if got := o[0].Ranks; !slices.Equal(got, []int{1, 3}) {
		t.Errorf("ranks %v, want 1 and 3", got)
	}
}

func TestMeasureNamesTheQuestionThatFailed(t *testing.T) {
	broken := errors.New("no route")
	_, err := Measure(t.Context(), []Question{{Text: "who?", Gold: []string{"a"}}}, 1,
		func(context.Context, string, int) ([]string, error) { return nil, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `question 1, "who?"`) {
		t.Errorf("error %v", err)
	}
}

// The interval of a share is close to the one of the binomial distribution:
// 40 of 100, standard error .049.
func TestIntervalOfAShare(t *testing.T) {
	v := make(Values, 100)
	for i := range 40 {
		v[i] = 1
	}
	got := v.Interval()
	if got.Mean != 0.4 || math.Abs(got.Low-0.304) > 0.015 || math.Abs(got.High-0.496) > 0.015 {
		t.Errorf("%v, want about 0.400 [0.304, 0.496]", got)
	}
	if again := v.Interval(); again != got {
		t.Errorf("another time it is %v, before %v", again, got)
	}
}

// Of pairs that differ alike the difference is certain, however the values
// themselves scatter.
func TestPairedDifferencesAreNarrow(t *testing.T) {
	a, b := make(Values, 100), make(Values, 100)
	for i := range a {
		b[i] = float64(i % 2)
		a[i] = b[i] + 0.0625
	}
	if d := a.Minus(b).Interval(); d != (Interval{0.0625, 0.0625, 0.0625}) {
		t.Errorf("difference %v, want 0.0625 exactly", d)
	}
	if a.Interval().Above(b.Interval().High) {
		t.Error("the two intervals do not overlap: the test shows nothing")
	}
}

func TestIntervalOfNothing(t *testing.T) {
	if got := (Values{}).Interval(); got != (Interval{}) {
		t.Errorf("%v", got)
	}
}

func TestReadTakesBothKindsOfLines(t *testing.T) {
	const text = "\xEF\xBB\xBF" + `{"id":"a","title":"Mount Wilson","text":"A hill.","tags":[1]}

{"id":"b","title":null,"text":"Another."}
{"id":"q1","question":"Which hill?","gold":["a"]}`
	var s Set
	if err := s.Read("set.jsonl", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := s.Read("more.jsonl", strings.NewReader(`{"question":"And?","gold":["b","a"]}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(nil); err != nil {
		t.Fatal(err)
	}
	if len(s.Corpus) != 2 || s.Corpus[0].Content() != "Mount Wilson\nA hill." || s.Corpus[1].Content() != "Another." {
		t.Errorf("corpus %+v", s.Corpus)
	}
	if len(s.Questions) != 2 || s.Questions[0].Text != "Which hill?" || !slices.Equal(s.Questions[1].Gold, []string{"b", "a"}) {
		t.Errorf("questions %+v", s.Questions)
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	const ok = `{"id":"a","text":"A."}` + "\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", ok + `{"id":`, `x.jsonl:2: `},
		{"an array", ok + `[1]`, "x.jsonl:2: "},
		{"gold is a string", `{"question":"q","gold":"a"}`, `"gold" is not an array of strings`},
		{"gold holds a number", `{"question":"q","gold":[1]}`, `"gold" is not an array of strings`},
		{"text is a number", `{"id":"a","text":1}`, `"text" is not a string`},
		{"no gold", ok + "\n" + `{"question":"q"}`, `x.jsonl:3: invalid argument: the question has no "gold"`},
		{"empty gold", `{"question":"q","gold":[]}`, `has no "gold"`},
		{"blank gold", `{"question":"q","gold":[" "]}`, "is blank"},
		{"gold twice", `{"question":"q","gold":["a","a"]}`, `"a" twice`},
		{"blank question", `{"question":" ","gold":["a"]}`, "question is blank"},
		{"both", `{"question":"q","text":"t","gold":["a"]}`, "both"},
		{"neither", `{"id":"a"}`, `neither "question" nor "text"`},
		{"gold alone", `{"id":"a","gold":["a"]}`, `"gold" without "question"`},
		{"no id", `{"text":"t"}`, `no "id"`},
		{"blank text", `{"id":"a","text":" \n"}`, `document "a" is blank`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := new(Set).Read("x.jsonl", strings.NewReader(tt.text))
			if err == nil || !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "x.jsonl:") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCheckFindsWhatCannotBeMeasured(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no question", `{"id":"a","text":"A."}`, "no question"},
		{"a document twice", `{"id":"a","text":"A."}` + "\n" + `{"id":"a","text":"B."}` + "\n" + `{"question":"q","gold":["a"]}`,
			`x.jsonl:2: invalid argument: document "a" is in x.jsonl:1 already`},
		{"a text twice", `{"id":"a","text":"A."}` + "\n" + `{"id":"b","text":"A."}` + "\n" + `{"question":"q","gold":["a"]}`,
			`x.jsonl:2: invalid argument: document "b" has the text of the one in x.jsonl:1`},
		{"unknown gold", `{"id":"a","text":"A."}` + "\n" + `{"question":"q","gold":["a","b"]}`, `x.jsonl:2: invalid argument: there is no document "b"`},
		{"unknown to the store", `{"question":"q","gold":["s","t"]}`, `no document "t"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Set
			if err := s.Read("x.jsonl", strings.NewReader(tt.text)); err != nil {
				t.Fatal(err)
			}
			err := s.Check(func(id string) bool { return id == "s" })
			if err == nil || !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"id":"a","text":"A."}` + "\n" + `{"question":"q","gold":["a"]}`)
	f.Add(`{"question":"q","gold":["a","a"]}`)
	f.Add("\xEF\xBB\xBF{}\n[]\nnull\n\"\"")
	f.Fuzz(func(t *testing.T, text string) {
		var s Set
		if s.Read("x", strings.NewReader(text)) != nil {
			return
		}
		for _, q := range s.Questions {
			if strings.TrimSpace(q.Text) == "" || len(q.Gold) == 0 {
				t.Errorf("question %+v", q)
			}
		}
		for _, p := range s.Corpus {
			if p.ID == "" || strings.TrimSpace(p.Text) == "" {
				t.Errorf("document %+v", p)
			}
		}
	})
}

// Worked by hand: three documents of 2, 2 and 4 words.
func TestBM25(t *testing.T) {
	b := NewBM25([]Passage{
		{ID: "a", Text: "red hill"},
		{ID: "b", Title: "Hill", Text: "blue"},
		{ID: "c", Text: "green valley, green_sea: Red!"},
	})
	idf := func(n float64) float64 { return math.Log(1 + (3-n+0.5)/(n+0.5)) }
	tf := func(f, length float64) float64 {
		return f * 2.5 / (f + 1.5*(0.25+0.75*length/(8.0/3)))
	}
	got := b.Scores("RED hill, red?")
	want := []float64{idf(2)*tf(1, 2) + idf(2)*tf(1, 2), idf(2) * tf(1, 2), idf(2) * tf(1, 4)}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("document %d scores %v, want %v", i, got[i], want[i])
		}
	}
	ids, _ := b.Search(t.Context(), "red hill", 10)
	if !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Errorf("ranking %v", ids)
	}
	if ids, _ := b.Search(t.Context(), "valley", 10); !slices.Equal(ids, []string{"c"}) {
		t.Errorf("documents without a word of the question are ranked: %v", ids)
	}
	if ids, _ := b.Search(t.Context(), "hill", 1); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("equal scores rank %v first, want the first of the corpus", ids)
	}
}

func TestRetrieverRanksDocumentsByTheirFirstPassage(t *testing.T) {
	db, err := engine.Open(t.TempDir(), engine.Options{Tokenizer: "chars4"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	chunks := func(texts ...string) (list []engine.Chunk) {
		for i, s := range texts {
			list = append(list, engine.Chunk{Order: i, Content: s})
		}
		return list
	}
	_, err = db.Insert(t.Context(),
		engine.Document{ID: "a", Chunks: chunks("Bread is baked from flour.", "The telescope stands on Mount Wilson.")},
		engine.Document{ID: "b", Chunks: chunks("A telescope gathers light.", "The telescope was paid for by John Hooker.")},
		engine.Document{ID: "c", Chunks: chunks("Ships sail at noon.")})
	if err != nil {
		t.Fatal(err)
	}
	search := Retriever(db, engine.Query{Mode: engine.Naive, CosineThreshold: -1})
	ids, err := search(t.Context(), "Who paid for the telescope?", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) != 3 || ids[0] != "b" || ids[1] != "a" {
		t.Errorf("documents %q, want b, then a, then c, each once", ids)
	}
	if ids, _ = search(t.Context(), "Who paid for the telescope?", 1); !slices.Equal(ids, []string{"b"}) {
		t.Errorf("of one it finds %q", ids)
	}
}
