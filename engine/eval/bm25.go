package eval

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
)

// BM25 is the plain lexical ranking that others are compared with (Robertson and
// Zaragoza, The Probabilistic Relevance Framework, 2009, with k1 = 1.5 and
// b = 0.75): words are runs of letters, digits and underscores in lower case,
// not stemmed; nothing is left out, and a word counts once, however often the
// question has it. It shares no code with the engine.
type BM25 struct {
	ids      []string
	postings map[string][]posting
	lengths  []int
	average  float64
}

type posting struct{ doc, count int }

const (
	bm25K1 = 1.5
	bm25B  = 0.75
)

// NewBM25 indexes a corpus.
func NewBM25(corpus []Passage) *BM25 {
	b := &BM25{postings: make(map[string][]posting), lengths: make([]int, len(corpus))}
	total := 0
	for i := range corpus {
		b.ids = append(b.ids, corpus[i].ID)
		for _, w := range words(corpus[i].Content()) {
			b.lengths[i]++
			list := b.postings[w]
			if n := len(list); n > 0 && list[n-1].doc == i {
				list[n-1].count++
				continue
			}
			b.postings[w] = append(list, posting{i, 1})
		}
		total += b.lengths[i]
	}
	b.average = float64(total) / float64(max(1, len(corpus)))
	return b
}

// words cuts text into words in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.Mn, r) && r != '_'
	})
}

// Scores returns the score of every document, in the order of the corpus.
func (b *BM25) Scores(question string) []float64 {
	scores := make([]float64, len(b.ids))
	terms := words(question)
	slices.Sort(terms)
	for _, w := range slices.Compact(terms) {
		list := b.postings[w]
		n := float64(len(list))
		idf := math.Log(1 + (float64(len(b.ids))-n+0.5)/(n+0.5))
		for _, p := range list {
			f := float64(p.count)
			norm := float64(bm25B * float64(float64(b.lengths[p.doc])/b.average))
			scores[p.doc] += float64(idf * f * (bm25K1 + 1) / (f + float64(bm25K1*(1-bm25B+norm))))
		}
	}
	return scores
}

// Search is a Searcher. Equal scores rank in the order of the corpus.
func (b *BM25) Search(_ context.Context, question string, k int) ([]string, error) {
	scores := b.Scores(question)
	var order []int
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	ids := make([]string, min(k, len(order)))
	for i := range ids {
		ids[i] = b.ids[order[i]]
	}
	return ids, nil
}
