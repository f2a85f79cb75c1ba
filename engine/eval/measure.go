package eval

import (
	"context"
	"fmt"
	"math"

	"github.com/lightctl/lightrag/engine"
)

// Searcher ranks documents for a question: the ids of up to k of them, best
// first, none twice.
type Searcher func(ctx context.Context, question string, k int) ([]string, error)

// Outcome is what a retriever made of one question.
type Outcome struct {
	Ranks []int // of the gold documents that it found, from 1, ascending
	Gold  int   // how many there are
}

// Outcomes are those of all questions, in their order.
type Outcomes []Outcome

// Measure puts the questions to search, one after the other, and looks at the
// first depth documents of each answer. It ends with the first error.
func Measure(ctx context.Context, questions []Question, depth int, search Searcher) (Outcomes, error) {
	out := make(Outcomes, len(questions))
	for i := range questions {
		q := &questions[i]
		ids, err := search(ctx, q.Text, depth)
		if err != nil {
			return nil, fmt.Errorf("question %d, %q: %w", i+1, q.Text, err)
		}
		out[i] = judge(ids[:min(depth, len(ids))], q.Gold)
	}
	return out, nil
}

func judge(ids, gold []string) Outcome {
	wanted := make(map[string]bool, len(gold))
	for _, id := range gold {
		wanted[id] = true
	}
	o := Outcome{Gold: len(gold)}
	for i, id := range ids {
		if wanted[id] {
			o.Ranks = append(o.Ranks, i+1)
			delete(wanted, id) // whatever a retriever does, nothing counts twice
		}
	}
	return o
}

// within counts the gold documents among the first k.
func (o *Outcome) within(k int) (n int) {
	for _, r := range o.Ranks {
		if r <= k {
			n++
		}
	}
	return n
}

// each makes one value per question.
func (o Outcomes) each(f func(*Outcome) float64) Values {
	v := make(Values, len(o))
	for i := range o {
		v[i] = f(&o[i])
	}
	return v
}

// Recall is, per question, the share of its gold documents among the first k.
func (o Outcomes) Recall(k int) Values {
	return o.each(func(o *Outcome) float64 { return float64(o.within(k)) / float64(o.Gold) })
}

// AllGold is, per question, 1 if all its gold documents are among the first k,
// else 0.
func (o Outcomes) AllGold(k int) Values {
	return o.each(func(o *Outcome) float64 {
		if o.within(k) == o.Gold {
			return 1
		}
		return 0
	})
}

// ReciprocalRank is, per question, 1/r for the first gold document at rank r, 0
// if none was found. Its mean is the mean reciprocal rank.
func (o Outcomes) ReciprocalRank() Values {
	return o.each(func(o *Outcome) float64 {
		if len(o.Ranks) == 0 {
			return 0
		}
		return 1 / float64(o.Ranks[0])
	})
}

// perDocument is how many passages are asked for to find one more document,
// where documents have several.
const perDocument = 5

// Retriever ranks the documents of a store by their first passage in what
// Retrieve finds for q, whose Text and ChunkTopK are set for each question. The
// token budgets of entities and relations are those of q, as for a user; that of
// everything is lifted, so that as many passages are ranked as are asked for.
func Retriever(db *engine.DB, q engine.Query) Searcher {
	q.MaxTotalTokens, q.ContextOnly = math.MaxInt32, true
	return func(ctx context.Context, question string, k int) ([]string, error) {
		q := q
		q.Text, q.ChunkTopK = question, perDocument*k
		r, err := db.Retrieve(ctx, q)
		if err != nil {
			return nil, err
		}
		var ids []string
		seen := make(map[string]bool, k)
		for i := range r.Chunks {
			if id := r.Chunks[i].Doc; !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		return ids[:min(k, len(ids))], nil
	}
}
