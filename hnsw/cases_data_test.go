package hnsw_test

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw"
)

// The tests in cases_*_test.go are reports of other indexes, turned into what must hold here (see
// cases_table_test.go). They know the public API only. An id, or a slot, is the index of a row; a row that was
// deleted is nil.

// walking makes every search walk the graph, whatever the size.
var walking = hnsw.Options{ExactBelow: -1, EfConstruction: 100}

// mixture returns n rows around n/50 random centres.
func mixture(seed uint64, n, dim int) [][]float32 {
	r := random(seed)
	centres := make([][]float32, max(1, n/50))
	for i := range centres {
		centres[i] = around(r, make([]float32, dim), 1)
	}
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = around(r, centres[r.IntN(len(centres))], 0.5)
	}
	return rows
}

// spread returns n rows and queries without any structure: the hardest there are to search, so that recall is below 1
// where an index is good, and much below where it is not.
func spread(seed uint64, n, queries, dim int) (rows, qs [][]float32) {
	r := random(seed)
	all := make([][]float32, n+queries)
	for i := range all {
		all[i] = around(r, make([]float32, dim), 1)
	}
	return all[:n:n], all[n:]
}

// around returns a normally distributed vector.
func around(r *rand.Rand, centre []float32, width float64) []float32 {
	v := make([]float32, len(centre))
	for i := range v {
		v[i] = centre[i] + float32(r.NormFloat64()*width)
	}
	return v
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// split returns n rows and, from the same mixture, queries.
func split(seed uint64, n, queries, dim int) (rows, qs [][]float32) {
	all := mixture(seed, n+queries, dim)
	return all[:n:n], all[n:]
}

func newIndex(t testing.TB, dim int, o hnsw.Options) *hnsw.Index {
	t.Helper()
	ix, err := hnsw.New(dim, o)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// indexOf adds rows in one batch, those that are there.
func indexOf(t testing.TB, rows [][]float32, o hnsw.Options) *hnsw.Index {
	t.Helper()
	ids, vecs := make([]uint64, 0, len(rows)), make([][]float32, 0, len(rows))
	for id, v := range rows {
		if v != nil {
			ids, vecs = append(ids, uint64(id)), append(vecs, v)
		}
	}
	ix := newIndex(t, len(vecs[0]), o)
	if err := ix.AddBatch(ids, vecs); err != nil {
		t.Fatal(err)
	}
	return ix
}

func add(t testing.TB, ix *hnsw.Index, id int, v []float32) {
	t.Helper()
	if err := ix.Add(uint64(id), v); err != nil {
		t.Fatal(err)
	}
}

// remove deletes an id that must be there, from rows too.
func remove(t testing.TB, ix *hnsw.Index, rows [][]float32, id int) {
	t.Helper()
	if !ix.Delete(uint64(id)) {
		t.Fatalf("id %d is not there to delete", id)
	}
	rows[id] = nil
}

func graphOf(t testing.TB, rows [][]float32, o hnsw.Options) *hnsw.Graph {
	t.Helper()
	g, err := hnsw.NewGraph(len(rows[0]), o)
	if err != nil {
		t.Fatal(err)
	}
	appendRows(t, g, rows)
	linkRows(t, g)
	return g
}

func appendRows(t testing.TB, g *hnsw.Graph, rows [][]float32) {
	t.Helper()
	for _, v := range rows {
		if _, err := g.Append(v); err != nil {
			t.Fatal(err)
		}
	}
}

func linkRows(t testing.TB, g *hnsw.Graph) {
	t.Helper()
	if _, err := g.Link(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
}

func saved(t testing.TB, ix *hnsw.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ix.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loaded(t testing.TB, p []byte) *hnsw.Index {
	t.Helper()
	ix, err := hnsw.Load(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// cosine is computed in float64, apart from everything the package computes.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// scoreError is how far a float32 score may be from the cosine.
const scoreError = 2e-6

// eligible says which rows a search may return.
func eligible(o hnsw.IndexSearchOptions, id int) bool {
	return (o.Allow == nil || o.Allow.Contains(uint64(id))) && (o.Accept == nil || o.Accept(uint64(id)))
}

// find searches, checks everything that must hold of any answer, and returns it with its recall: min(k, eligible)
// results, each an eligible row with its cosine as score, none twice, in order.
func find(t testing.TB, ix *hnsw.Index, rows [][]float32, q []float32, k int, o hnsw.IndexSearchOptions) ([]hnsw.Result, float64) {
	t.Helper()
	got, err := ix.Search(q, k, o)
	if err != nil {
		t.Fatal(err)
	}
	return got, checked(t, got, rows, q, k, func(id int) bool { return eligible(o, id) })
}

func checked(t testing.TB, got []hnsw.Result, rows [][]float32, q []float32, k int, ok func(int) bool) float64 {
	t.Helper()
	var truth []float64
	for id, v := range rows {
		if v != nil && ok(id) {
			truth = append(truth, cosine(q, v))
		}
	}
	slices.SortFunc(truth, func(a, b float64) int { return cmp.Compare(b, a) })
	truth = truth[:min(k, len(truth))]
	if len(got) != len(truth) {
		t.Fatalf("%d results, want %d", len(got), len(truth))
	}
	seen, right := make(map[uint64]bool, len(got)), 0
	for i, r := range got {
		switch {
		case r.ID >= uint64(len(rows)) || rows[r.ID] == nil:
			t.Fatalf("result %d: id %d is not in the index", i, r.ID)
		case !ok(int(r.ID)):
			t.Fatalf("result %d: id %d is not allowed", i, r.ID)
		case seen[r.ID]:
			t.Fatalf("result %d: id %d is there twice", i, r.ID)
		case i > 0 && got[i-1].Score < r.Score:
			t.Fatalf("result %d is better than the one before: %v", i, got)
		}
		seen[r.ID] = true
		want := cosine(q, rows[r.ID])
		if !(math.Abs(float64(r.Score)-want) <= scoreError) {
			t.Fatalf("id %d: score %v, cosine %v", r.ID, r.Score, want)
		}
		// A result as near as the last of the truth is right, so that equal rows count alike.
		if want >= truth[len(truth)-1]-scoreError {
			right++
		}
	}
	if len(truth) == 0 {
		return 1
	}
	return float64(right) / float64(len(truth))
}

// meanRecall is the recall@k over queries, every answer checked by find.
func meanRecall(t testing.TB, ix *hnsw.Index, rows, queries [][]float32, k int, o hnsw.IndexSearchOptions) float64 {
	t.Helper()
	sum := 0.0
	for _, q := range queries {
		_, r := find(t, ix, rows, q, k, o)
		sum += r
	}
	return sum / float64(len(queries))
}

// lost returns the rows that a search for them, with the given ef, does not return first, or after an equal row. With
// ef as large as the index, and that told to walk, these are the rows that nothing leads to.
func lost(t testing.TB, ix *hnsw.Index, rows [][]float32, ef int) (ids []int) {
	t.Helper()
	for id, v := range rows {
		if v == nil {
			continue
		}
		got, err := ix.Search(v, 1, hnsw.IndexSearchOptions{Ef: ef})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || cosine(v, rows[got[0].ID]) < 1-scoreError {
			ids = append(ids, id)
		}
	}
	return ids
}

// findIn is find for a graph.
func findIn(t testing.TB, g *hnsw.Graph, rows [][]float32, q []float32, k int, o hnsw.SearchOptions) ([]hnsw.Hit, float64) {
	t.Helper()
	hits, err := g.Search(q, k, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	results := make([]hnsw.Result, len(hits))
	for i, h := range hits {
		results[i] = hnsw.Result{ID: uint64(h.Slot), Score: h.Score}
		if i > 0 && hits[i-1].Score == h.Score && hits[i-1].Slot > h.Slot {
			t.Fatalf("equal scores, but slot %d comes before %d", hits[i-1].Slot, h.Slot)
		}
	}
	return hits, checked(t, results, rows, q, k, func(slot int) bool {
		return (o.Allow == nil || o.Allow.Contains(uint32(slot))) && (o.Accept == nil || o.Accept(uint32(slot)))
	})
}

// meanRecallIn is meanRecall for a graph.
func meanRecallIn(t testing.TB, g *hnsw.Graph, rows, queries [][]float32, k int, o hnsw.SearchOptions) float64 {
	t.Helper()
	sum := 0.0
	for _, q := range queries {
		_, r := findIn(t, g, rows, q, k, o)
		sum += r
	}
	return sum / float64(len(queries))
}
