package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/engine/eval"
)

func shared(t *testing.T) string {
	dir := os.Getenv("LIGHTRAG_SHARED")
	if dir == "" {
		t.Skip("LIGHTRAG_SHARED is not set")
	}
	return dir
}

// The set is read as it is known to be, and the plain BM25 gives what another
// program gave.
func TestRecordedSetAndReference(t *testing.T) {
	m, err := loadMusique(shared(t))
	if err != nil {
		t.Fatal(err)
	}
	gold := 0
	for _, q := range m.Questions {
		gold += len(q.Gold)
	}
	if len(m.Questions) != 100 || len(m.Corpus) != 1890 || gold != 237 {
		t.Errorf("%d questions, %d passages, %d gold", len(m.Questions), len(m.Corpus), gold)
	}
	o, err := eval.Measure(t.Context(), m.Questions, depth, eval.NewBM25(m.Corpus).Search)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range reference {
		if got := o.Recall(k).Mean(); math.Abs(got-want) > 0.001 {
			t.Errorf("recall@%d of BM25 is %.4f, want %.3f", k, got, want)
		}
	}
	for k, want := range map[int]float64{2: 0.05, 5: 0.16, 10: 0.22, 20: 0.39} {
		if got := o.AllGold(k).Mean(); math.Abs(got-want) > 1e-9 {
			t.Errorf("all-gold@%d of BM25 is %.4f, want %.2f", k, got, want)
		}
	}
}

func TestParaphrasesAreRead(t *testing.T) {
	pairs, err := paraphrases(shared(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 40 || !strings.HasPrefix(pairs[0].question, "The company reported") || pairs[39].answer != "The infant wept since it wanted food." {
		t.Errorf("%d pairs, the first %+v, the last %+v", len(pairs), pairs[0], pairs[len(pairs)-1])
	}
}

func TestReciprocalRanksShareTies(t *testing.T) {
	s := scores{
		{3, 1, 2}, // first
		{3, 1, 1}, // one better, one equal
		{0, 0, 0}, // all equal
	}
	want := []float64{1, 1 / 2.5, 1.0 / 2}
	for i, got := range s.reciprocalRanks() {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("question %d: %v, want %v", i, got, want[i])
		}
	}
}

func TestRecordedAnswersFollowTheFormat(t *testing.T) {
	d := recordedDoc{
		Passage:  "Hill\nA hill.",
		Entities: []string{"Hill", "a <|#|> b"},
		Triples:  [][]string{{"Hill", "is, in short,", "high"}, {"broken"}},
	}
	const want = "relation<|#|>Hill<|#|>high<|#|>is in short<|#|>Hill is, in short, high\n" +
		"entity<|#|>Hill<|#|>other<|#|>Hill is, in short, high\n" +
		"entity<|#|>a < |#| > b<|#|>other<|#|>a < |#| > b, Hill\n<|COMPLETE|>"
	if got := d.answer(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
