package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/lightctl/lightrag/bench/store"
	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/hnsw"
)

// BenchmarkOneHop lists the neighbours of the entity whose degree is next to
// the named one.
func BenchmarkOneHop(b *testing.B) {
	sharedStore(b)
	view := shared.db.View()
	defer view.Close()
	for _, degree := range []int{1, 10, 50, 200} {
		name, distance := "", 1<<30
		view.EntityNames(func(n string, d int) bool {
			if away := max(d-degree, degree-d); away < distance {
				name, distance = n, away
			}
			return true
		})
		b.Run(fmt.Sprintf("deg=%d", degree), func(b *testing.B) {
			b.ReportAllocs()
			var t times
			n := 0
			for b.Loop() {
				t.begin()
				found, err := view.Neighbors(name, 1, 0)
				t.end()
				if err != nil {
					b.Fatal(err)
				}
				n = len(found)
			}
			b.ReportMetric(float64(n), "neighbours")
			t.report(b)
		})
	}
}

// BenchmarkRetrieve retrieves with given keywords, a different question every
// time; after 1,800 of them they come again. Every mode matches by vectors and
// words, mix also by one of them.
func BenchmarkRetrieve(b *testing.B) {
	sharedStore(b)
	for _, c := range []struct {
		mode  engine.Mode
		match engine.Match
		name  string
	}{
		{mode: engine.Naive}, {mode: engine.Local}, {mode: engine.Global}, {mode: engine.Hybrid}, {mode: engine.Mix}, {mode: engine.Walk},
		{engine.Mix, engine.MatchVectors, "/match=vectors"}, {engine.Mix, engine.MatchLexical, "/match=lexical"},
	} {
		b.Run("mode="+string(c.mode)+c.name, func(b *testing.B) {
			var queries []engine.Query
			for round := range 9 {
				for i := range shared.corpus.Questions() {
					q := store.Query(&shared.corpus.Questions()[i], c.mode, round)
					q.Match = c.match
					shared.corpus.KnowQuery(q)
					queries = append(queries, q)
				}
			}
			defer shared.corpus.Embedder.Forget()
			b.ReportAllocs()
			var t times
			i := 0
			for b.Loop() {
				t.begin()
				r, err := shared.db.Retrieve(context.Background(), queries[i%len(queries)])
				t.end()
				if err != nil || !r.Found {
					b.Fatal(err)
				}
				i++
			}
			t.report(b)
		})
	}
}

// searched is an index of the entities of the shared store, and the vectors of
// the questions' entities with the exact answer to each.
var searched struct {
	once    sync.Once
	err     error
	index   *hnsw.Index
	queries [][]float32
	exact   [][]uint64
}

const searchK = 40

func searchedIndex(b *testing.B) {
	b.Helper()
	sharedStore(b)
	searched.once.Do(func() { searched.err = buildSearched() })
	if searched.err != nil {
		b.Fatal(searched.err)
	}
}

func buildSearched() (err error) {
	s, corpus := &searched, shared.corpus
	if s.index, err = hnsw.New(store.Dim, hnsw.Options{Workers: 2}); err != nil {
		return err
	}
	view := shared.db.View()
	defer view.Close()
	var ids []uint64
	var vectors [][]float32
	err = view.Entities(func(e *engine.Entity) error {
		ids = append(ids, uint64(len(ids)))
		vectors = append(vectors, corpus.Embedder.Vector(graphstore.EntityText(e.Name, e.Description)))
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.index.AddBatch(ids, vectors); err != nil {
		return err
	}
	for i := range corpus.Questions() {
		q := &corpus.Questions()[i]
		v := corpus.Embedder.Vector(q.Low[0] + ", " + q.Low[1] + ", " + q.Low[2])
		hits, err := s.index.Search(v, searchK, hnsw.IndexSearchOptions{Exact: true})
		if err != nil {
			return err
		}
		var near []uint64
		for _, h := range hits {
			near = append(near, h.ID)
		}
		s.queries, s.exact = append(s.queries, v), append(s.exact, near)
	}
	return nil
}

// BenchmarkSearch finds the 40 entities nearest to a question's, by beams of
// several widths and by looking at every vector, and says which share of the
// exact ones it finds.
func BenchmarkSearch(b *testing.B) {
	searchedIndex(b)
	run := func(name string, o hnsw.IndexSearchOptions) {
		b.Run(name, func(b *testing.B) {
			found := 0
			for i, q := range searched.queries {
				hits, err := searched.index.Search(q, searchK, o)
				if err != nil {
					b.Fatal(err)
				}
				for _, h := range hits {
					if slices.Contains(searched.exact[i], h.ID) {
						found++
					}
				}
			}
			b.ReportAllocs()
			var t times
			i := 0
			for b.Loop() {
				t.begin()
				_, err := searched.index.Search(searched.queries[i%len(searched.queries)], searchK, o)
				t.end()
				if err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(found)/float64(searchK*len(searched.queries)), "recall@40")
			t.report(b)
		})
	}
	for _, ef := range []int{64, 128, 256, 512, 1024} {
		run(fmt.Sprintf("ef=%d", ef), hnsw.IndexSearchOptions{Ef: ef})
	}
	run("exact", hnsw.IndexSearchOptions{Exact: true})
}
