package offline

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lightctl/lightrag/llm/offline/perlfaq"
)

// Sets of pairs: a text, and the one text of all right sides that belongs to it.

// pairLines parses lines of "left ||| right".
func pairLines(text string) (pairs [][2]string) {
	for line := range strings.Lines(text) {
		if a, b, ok := strings.Cut(strings.TrimSpace(line), " ||| "); ok && !strings.HasPrefix(line, "#") {
			pairs = append(pairs, [2]string{a, b})
		}
	}
	return pairs
}

// ownPairs are those that settings were chosen on.
func ownPairs(t testing.TB) [][2]string {
	text, err := os.ReadFile("testdata/paraphrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	return pairLines(string(text))
}

// recordedPairs are the lists of the shared prototype: pairs, ko and zh.
func recordedPairs(t testing.TB, name string) [][2]string {
	shared := os.Getenv("LIGHTRAG_SHARED")
	if shared == "" {
		t.Skip("LIGHTRAG_SHARED is not set")
	}
	text, err := os.ReadFile(filepath.Join(shared, "prototypes/offline-embedder/mkeval.py.txt"))
	if err != nil {
		t.Skip(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n"+name+"=[l.split(' ||| ') for l in '''"))
	text, _, ok := bytes.Cut(text, []byte("'''"))
	if !ok {
		t.Fatalf("no list %s in mkeval.py.txt", name)
	}
	return pairLines(string(text))
}

// faqPairs are the questions of perlfaq with their answers.
func faqPairs(t testing.TB) (pairs [][2]string) {
	all, err := perlfaq.Pairs()
	if err != nil {
		t.Skip(err)
	}
	for _, p := range all {
		pairs = append(pairs, [2]string{p.Question, p.Answer})
	}
	return pairs
}

// scores returns the similarity of each left side with each right side.
func scores(t testing.TB, pairs [][2]string) [][]float64 {
	var left, right []string
	for _, p := range pairs {
		left, right = append(left, p[0]), append(right, p[1])
	}
	vl, vr := embedAll(t, left), embedAll(t, right)
	s := make([][]float64, len(pairs))
	for i := range s {
		for k := range vr {
			s[i] = append(s[i], dot(vl[i], vr[k]))
		}
	}
	return s
}

// reciprocalRank is the mean over the left sides; a tie costs half a rank.
func reciprocalRank(s [][]float64) float64 {
	sum := 0.0
	for i := range s {
		sum += 1 / rankOf(s[i], i)
	}
	return sum / float64(len(s))
}

func rankOf(s []float64, own int) float64 {
	rank := 1.0
	for k := range s {
		if d := s[k] - s[own]; k != own && d > 1e-7 {
			rank++
		} else if k != own && d > -1e-7 {
			rank += 0.5
		}
	}
	return rank
}

// fused adds the reciprocal ranks of two lists of scores (Cormack, Clarke and
// Buettcher, "Reciprocal Rank Fusion outperforms Condorcet", 2009), k = 60.
func fused(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(a[i]))
		for k := range out[i] {
			out[i][k] = 1/(60+rankOf(a[i], k)) + 1/(60+rankOf(b[i], k))
		}
	}
	return out
}

// summed adds cosines and BM25 scores, the best of which counts 1 (Bruch, Gai and
// Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2023, section 4).
func summed(cosine, words [][]float64) [][]float64 {
	out := make([][]float64, len(cosine))
	for i := range cosine {
		best := max(slices.Max(words[i]), 1e-9)
		for k, x := range cosine[i] {
			out[i] = append(out[i], x+words[i][k]/best)
		}
	}
	return out
}

// questionWords say nothing about what is asked for.
var questionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the of to in on at for from by with and or but not no is are was were be been am do does did done
		have has had i you he she it we they me him her us them my your his its our their this that these those there here what which who
		whom whose when where why how can could may might must shall should will would if then else than so as because while about into
		over under after before between during through up down out off again more most other some such only own same too very just also
		any each few all both`) {
		m[w] = true
	}
	return m
}()

// bm25 scores right sides by the words of left sides, k1 = 1.2, b = 0.75.
func bm25(pairs [][2]string) [][]float64 {
	cut := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	}
	n, mean := float64(len(pairs)), 0.0
	docs, seen := make([]map[string]float64, len(pairs)), map[string]float64{}
	size := make([]float64, len(pairs))
	for i, p := range pairs {
		docs[i] = map[string]float64{}
		for _, w := range cut(p[1]) {
			if docs[i][w]++; docs[i][w] == 1 {
				seen[w]++
			}
			size[i]++
		}
		mean += size[i] / n
	}
	out := make([][]float64, len(pairs))
	for i, p := range pairs {
		out[i] = make([]float64, len(pairs))
		words := slices.DeleteFunc(cut(p[0]), func(w string) bool { return questionWords[w] })
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			idf := math.Log(1 + (n-seen[w]+0.5)/(seen[w]+0.5))
			for k := range docs {
				tf := docs[k][w]
				out[i][k] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*size[k]/mean))
			}
		}
	}
	return out
}

func TestEmbedderParaphrases(t *testing.T) {
	for _, set := range []struct {
		name  string
		pairs func(testing.TB) [][2]string
		count int
		floor float64
	}{
		{"own", ownPairs, 50, 0.85},
		{"pairs", func(t testing.TB) [][2]string { return recordedPairs(t, "pairs") }, 40, 0.84},
		{"ko", func(t testing.TB) [][2]string { return recordedPairs(t, "ko") }, 12, 0.89},
		{"zh", func(t testing.TB) [][2]string { return recordedPairs(t, "zh") }, 12, 0.85},
		{"faq", faqPairs, 289, 0.52},
	} {
		t.Run(set.name, func(t *testing.T) {
			pairs := set.pairs(t)
			if len(pairs) != set.count {
				t.Errorf("%d pairs, want %d", len(pairs), set.count)
			}
			got := reciprocalRank(scores(t, pairs))
			t.Logf("mean reciprocal rank %.3f over %d pairs", got, len(pairs))
			if got < set.floor {
				t.Errorf("mean reciprocal rank %.3f, want at least %.2f", got, set.floor)
			}
		})
	}
}

func TestEmbedderBesideWords(t *testing.T) {
	pairs := faqPairs(t)
	s, b := scores(t, pairs), bm25(pairs)
	sum, ranks := reciprocalRank(summed(s, b)), reciprocalRank(fused(s, b))
	t.Logf("mean reciprocal rank: vectors %.3f, BM25 %.3f, sum of scores %.3f, reciprocal ranks %.3f", reciprocalRank(s), reciprocalRank(b), sum, ranks)
	if sum < 0.62 {
		t.Errorf("vectors and BM25 together: mean reciprocal rank %.3f, want at least 0.62", sum)
	}
	if ranks < 0.58 {
		t.Errorf("vectors and BM25 by their ranks: mean reciprocal rank %.3f, want at least 0.58", ranks)
	}
}
