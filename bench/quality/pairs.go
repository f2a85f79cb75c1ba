package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/engine/eval"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline/perlfaq"
)

// pair is a text and the one text of all others that means the same or answers
// it.
type pair struct{ question, answer string }

// paraphrases are 40 hand-written pairs that share hardly a word, read from the
// script that evaluated a prototype.
func paraphrases(shared string) ([]pair, error) {
	name := filepath.Join(shared, "prototypes", "offline-embedder", "mkeval.py.txt")
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	_, rest, ok := strings.Cut(string(b), "\npairs=")
	_, rest, ok2 := strings.Cut(rest, "'''")
	list, _, ok3 := strings.Cut(rest, "'''")
	if !ok || !ok2 || !ok3 {
		return nil, fmt.Errorf("%s holds no list of pairs", name)
	}
	var pairs []pair
	for line := range strings.Lines(strings.TrimSpace(list)) {
		q, a, ok := strings.Cut(strings.TrimSpace(line), " ||| ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no pair", name, line)
		}
		pairs = append(pairs, pair{q, a})
	}
	return pairs, nil
}

// faq pairs the questions of perl's FAQ with the beginnings of their answers.
func faq() ([]pair, error) {
	all, err := perlfaq.Pairs()
	pairs := make([]pair, len(all))
	for i, p := range all {
		pairs[i] = pair{p.Question, p.Answer}
	}
	return pairs, err
}

// scores are those of every answer for every question.
type scores [][]float64

func embedScores(ctx context.Context, e llm.Embedder, pairs []pair) (scores, error) {
	var questions, answers []string
	for _, p := range pairs {
		questions, answers = append(questions, p.question), append(answers, p.answer)
	}
	qs, err := e.Embed(ctx, questions, llm.PurposeQuery)
	if err != nil {
		return nil, err
	}
	as, err := e.Embed(ctx, answers, llm.PurposeDocument)
	if err != nil {
		return nil, err
	}
	s := make(scores, len(qs))
	for i, q := range qs {
		s[i] = make([]float64, len(as))
		for j, a := range as {
			for c := range q {
				s[i][j] += float64(float64(q[c]) * float64(a[c]))
			}
		}
	}
	return s, nil
}

func lexicalScores(pairs []pair) scores {
	var corpus []eval.Passage
	for i, p := range pairs {
		corpus = append(corpus, eval.Passage{ID: strconv.Itoa(i), Text: p.answer})
	}
	b := eval.NewBM25(corpus)
	s := make(scores, len(pairs))
	for i, p := range pairs {
		s[i] = b.Scores(p.question)
	}
	return s
}

// reciprocalRanks returns 1/rank of the right answer of each question. Among
// answers that score alike it stands in the middle.
func (s scores) reciprocalRanks() eval.Values {
	v := make(eval.Values, len(s))
	for i := range s {
		rank := 1.0
		for j, x := range s[i] {
			switch d := x - s[i][i]; {
			case j == i:
			case d > 1e-7:
				rank++
			case d > -1e-7:
				rank += 0.5
			}
		}
		v[i] = 1 / rank
	}
	return v
}
