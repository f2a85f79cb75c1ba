package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/graphstore"
)

const recallK = 40

// recall reports which share of the exact nearest owners a retrieval finds.
// The exact ones come from the texts that the view shows, embedded anew.
func (r *rows) recall(ctx context.Context, corpus *store.Corpus, db *engine.DB) error {
	entities, relations, err := embedAll(corpus, db)
	if err != nil {
		return err
	}
	var entityRecall, relationRecall float64
	n := 0
	for i := range corpus.Questions()[:r.config.questions] {
		q := store.Query(&corpus.Questions()[i], engine.Hybrid, 0)
		q.Match = engine.MatchVectors
		q.TopK = recallK
		q.MaxEntityTokens, q.MaxRelationTokens, q.MaxTotalTokens = 1<<24, 1<<24, 1<<26 // nothing is cut
		q.CosineThreshold = -1
		result, err := db.Retrieve(ctx, q)
		if err != nil {
			return err
		}
		var near, nearRelations []string
		for _, e := range result.Entities {
			if e.Score != 0 {
				near = append(near, e.Name)
			}
		}
		for _, e := range result.Relations {
			if e.Score != 0 {
				nearRelations = append(nearRelations, pairName(e.Src, e.Tgt))
			}
		}
		entityRecall += entities.recall(corpus.Embedder.Vector(strings.Join(q.LowLevel, ", ")), near)
		relationRecall += relations.recall(corpus.Embedder.Vector(strings.Join(q.HighLevel, ", ")), nearRelations)
		n++
	}
	note := fmt.Sprintf("mean of %d hybrid queries, against a scan of all %%d vectors, by name", n)
	at := sizeName(r.config.large)
	r.add(fmt.Sprintf("recall@%d of entities at %s", recallK, at), entityRecall/float64(n), "share", ">= 0.95", fmt.Sprintf(note, len(entities.names)))
	r.add(fmt.Sprintf("recall@%d of relations at %s", recallK, at), relationRecall/float64(n), "share", ">= 0.95", fmt.Sprintf(note, len(relations.names)))
	return nil
}

func pairName(src, tgt string) string { return src + "\t" + tgt }

// exact answers by looking at every vector.
type exact struct {
	names   []string
	vectors [][]float32
	scores  []float64
}

func embedAll(corpus *store.Corpus, db *engine.DB) (entities, relations *exact, err error) {
	view := db.View()
	defer view.Close()
	entities, relations = &exact{}, &exact{}
	err = view.Entities(func(e *engine.Entity) error {
		entities.add(e.Name, corpus.Embedder.Vector(graphstore.EntityText(e.Name, e.Description)))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = view.Relations(func(e *engine.Relation) error {
		text := graphstore.RelationText(e.Keywords, e.Src, e.Tgt, e.Description)
		relations.add(pairName(e.Src, e.Tgt), corpus.Embedder.Vector(text))
		return nil
	})
	return entities, relations, err
}

func (x *exact) add(name string, v []float32) {
	x.names, x.vectors = append(x.names, name), append(x.vectors, v)
}

// recall returns the share of the k nearest that found names. What is as near
// as the last of them, but for rounding, stands in for it.
func (x *exact) recall(q []float32, found []string) float64 {
	const rounding = 1e-6
	k := min(recallK, len(x.names))
	x.scores = x.scores[:0]
	for _, v := range x.vectors {
		x.scores = append(x.scores, dot(q, v))
	}
	sorted := slices.Sorted(slices.Values(x.scores))
	limit := sorted[len(sorted)-k] - rounding
	near := make(map[string]bool, k)
	for i, s := range x.scores {
		if s >= limit {
			near[x.names[i]] = true
		}
	}
	hits := 0
	for _, name := range found {
		if near[name] {
			hits++
			delete(near, name)
		}
	}
	return float64(min(hits, k)) / float64(k)
}

func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}
