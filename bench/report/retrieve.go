package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/lightctl/lightrag/bench/measure"
	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
)

// retrieve reports the cost of a retrieval in every mode, and of one mode by
// vectors and by words alone.
func (r *rows) retrieve(ctx context.Context, corpus *store.Corpus, db *engine.DB) error {
	if _, err := store.WaitLinked(ctx, db); err != nil {
		return err
	}
	at := sizeName(r.config.large)
	for _, mode := range []engine.Mode{engine.Hybrid, engine.Local, engine.Global, engine.Mix, engine.Naive, engine.Walk} {
		var s retrieval
		err := r.config.profiled("retrieve-"+string(mode), func() (err error) {
			s, err = r.ask(ctx, corpus, db, mode, engine.MatchFused)
			return err
		})
		if err != nil {
			return fmt.Errorf("retrieve %s: %w", mode, err)
		}
		name := fmt.Sprintf("retrieve %s at %s: ", mode, at)
		n := fmt.Sprintf("%d queries, top-k 40, keywords given", len(s.cpu))
		if mode != engine.Hybrid {
			r.cpu(name+"CPU p50", measure.Milliseconds(s.cpu.Median()), "ms", "", n)
			continue
		}
		r.cpu(name+"CPU p50", measure.Milliseconds(s.cpu.Percentile(50)), "ms", "< 5", "one core; "+n)
		r.cpu(name+"CPU p90", measure.Milliseconds(s.cpu.Percentile(90)), "ms", "", "")
		r.cpu(name+"CPU p99", measure.Milliseconds(s.cpu.Percentile(99)), "ms", "", "")
		r.cpu(name+"CPU mean", measure.Milliseconds(s.cpu.Mean()), "ms", "", "garbage collection included, as in the percentiles")
		r.add(name+"wall p50", measure.Milliseconds(s.wall.Percentile(50)), "ms", "", "one core, shared with whatever else the machine does")
		r.add(name+"context", s.context, "characters", "", "median")
	}
	for _, match := range []engine.Match{engine.MatchVectors, engine.MatchLexical} {
		s, err := r.ask(ctx, corpus, db, engine.Hybrid, match)
		if err != nil {
			return fmt.Errorf("retrieve by %s: %w", match, err)
		}
		r.cpu(fmt.Sprintf("retrieve hybrid by %s alone at %s: CPU p50", match, at), measure.Milliseconds(s.cpu.Median()), "ms", "", "")
	}
	return nil
}

type retrieval struct {
	cpu, wall measure.Sample
	context   float64 // characters, median
}

// ask puts all questions, one after the other, on one core.
func (r *rows) ask(ctx context.Context, corpus *store.Corpus, db *engine.DB, mode engine.Mode, match engine.Match) (retrieval, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer corpus.Embedder.Forget()
	var s retrieval
	var contexts []float64
	for round := range r.config.rounds {
		var queries []engine.Query
		for i := range corpus.Questions()[:r.config.questions] {
			q := store.Query(&corpus.Questions()[i], mode, round)
			q.Match = match
			corpus.KnowQuery(q)
			queries = append(queries, q)
		}
		runtime.GC()
		for _, q := range queries {
			stop := measure.Start()
			result, err := db.Retrieve(ctx, q)
			span := stop()
			if err != nil {
				return s, err
			}
			if !result.Found {
				return s, fmt.Errorf("nothing found for %q", q.Text)
			}
			if round == 0 {
				continue
			}
			s.cpu, s.wall = append(s.cpu, span.CPU), append(s.wall, span.Wall)
			contexts = append(contexts, float64(len(result.Context)))
		}
	}
	s.context = median(contexts)
	return s, nil
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
