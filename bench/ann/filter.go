package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lightctl/lightrag/hnsw"
	"github.com/viterin/vek/vek32"
)

var selectivities = []float64{0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.002}

// filtered reports what a search costs that may return only some rows: chosen at random, and chosen so that
// none is near the query, beside what looking at each of them costs (brute), what it costs to prove the answer besides
// (exact), and what walking costs until enough of them are found (sweep).
func (r *runner) filtered() error {
	d := r.large()
	queries := 100
	d = &dataset{name: d.name, dim: d.dim, base: d.base, query: d.query[:queries*d.dim]}
	r.log("build of %s for filters", d)
	g, err := r.graphOf(d, hnsw.Options{Seed: 1})
	if err != nil {
		return err
	}
	sweep, err := unruled(g, d)
	if err != nil {
		return err
	}
	for _, kind := range []string{"random", "anti-correlated"} {
		allow := make([][]*roaring.Bitmap, len(selectivities)) // by selectivity and query
		if kind == "random" {
			order := shuffled(d.rows(), 5)
			for i, p := range selectivities {
				allow[i] = slices.Repeat([]*roaring.Bitmap{bitmap(order[:int(p*float64(d.rows()))])}, queries)
			}
		} else {
			allow = farFrom(d)
		}
		worst, proven, least := 0.0, 0.0, 1.0
		for i, p := range selectivities {
			name := fmt.Sprintf("filter, %s, %s of %s: ", kind, percent(p), d)
			options := func(scan, exact bool) func(int) hnsw.SearchOptions {
				return func(q int) hnsw.SearchOptions {
					return hnsw.SearchOptions{Allow: allow[i][q], Scan: scan, Exact: exact}
				}
			}
			ids, scanned, unused := make([]int32, topK*queries), make([]int32, topK*queries), make([]int32, topK*queries)
			took, err := r.costs(queries, asking(g, d, options(false, false), ids), asking(g, d, options(true, false), scanned),
				asking(sweep, d, options(false, false), unused), asking(g, d, options(false, true), unused))
			if err != nil {
				return err
			}
			truth := exact(d, topK, func(q, row int) bool { return allow[i][q].ContainsInt(row) })
			cheaper := min(took[1], took[2])
			r.add(name+"CPU / min(brute, sweep)", took[0].Seconds()/cheaper.Seconds(), "ratio", "<= 2.2",
				fmt.Sprintf("ef 64; %.0f us, brute %.0f us, sweep %.0f us", microseconds(took[0]), microseconds(took[1]), microseconds(took[2])))
			r.add(name+"recall", truth.recall(d, ids), "share", ">= 0.95", "")
			allowed := int(p * float64(d.rows()))
			r.add(name+"queries with fewer results than there are", float64(short(ids, min(topK, allowed))), "queries", "= 0", "")
			least = min(least, truth.recall(d, scanned))
			if allowed >= 1000 {
				worst = max(worst, float64(took[1].Nanoseconds())/float64(allowed))
				proven = max(proven, float64(took[3].Nanoseconds())/float64(allowed))
			}
		}
		r.add(fmt.Sprintf("filter, %s, %s: brute force per allowed row", kind, d), worst, "ns", "<= 40", "the worst of the selectivities that allow 1,000 rows or more")
		r.add(fmt.Sprintf("filter, %s, %s: recall of brute force", kind, d), least, "share", ">= 0.999", "the worst of the selectivities")
		r.add(fmt.Sprintf("filter, %s, %s: brute force that proves its answer, per allowed row", kind, d), proven, "ns", "", "SearchOptions.Exact")
	}
	return nil
}

// unruled returns a graph with the links of g that never prefers a scan.
func unruled(g *hnsw.Graph, d *dataset) (*hnsw.Graph, error) {
	o := g.Options()
	o.ExactBelow = -1
	var file bytes.Buffer
	if err := g.Save(&file, nil); err != nil {
		return nil, err
	}
	other, _, err := hnsw.LoadGraph(bytes.NewReader(file.Bytes()), int64(file.Len()), d.dim, o)
	if err != nil {
		return nil, err
	}
	for i := range d.rows() {
		if err := other.Place(uint32(i), d.row(i)); err != nil {
			return nil, err
		}
	}
	return other, nil
}

func bitmap(rows []int) *roaring.Bitmap {
	b := roaring.New()
	for _, row := range rows {
		b.AddInt(row)
	}
	b.RunOptimize()
	return b
}

// farFrom returns for each selectivity and query rows that are all among the 60 % that are least like the query.
func farFrom(d *dataset) [][]*roaring.Bitmap {
	allow := make([][]*roaring.Bitmap, len(selectivities))
	for i := range allow {
		allow[i] = make([]*roaring.Bitmap, d.queries())
	}
	parallelBlocks(d.queries(), 1, func(q, _ int) {
		scores := make([]float32, d.rows())
		for row := range scores {
			scores[row] = vek32.Dot(d.q(q), d.row(row))
		}
		limit := slices.Sorted(slices.Values(scores))[d.rows()*6/10]
		var far []int
		for _, row := range shuffled(d.rows(), uint64(q)) {
			if scores[row] < limit {
				far = append(far, row)
			}
		}
		for i, p := range selectivities {
			allow[i][q] = bitmap(far[:min(int(p*float64(d.rows())), len(far))])
		}
	})
	return allow
}

// short counts the queries with fewer results than want.
func short(ids []int32, want int) int {
	n := 0
	for at := 0; at < len(ids); at += topK {
		found := 0
		for _, id := range ids[at : at+topK] {
			if id >= 0 {
				found++
			}
		}
		if found < want {
			n++
		}
	}
	return n
}

// bounded reports a search in a view that is older than nine tenths of the index.
func (r *runner) bounded() error {
	whole := r.large()
	r.log("build of %s for a bound", whole)
	g, err := r.graphOf(whole, hnsw.Options{Seed: 1})
	if err != nil {
		return err
	}
	d := whole.part(whole.rows()/10, 200)
	bound := uint32(d.rows())
	ids, unused := make([]int32, topK*d.queries()), make([]int32, topK*d.queries())
	took, err := r.costs(d.queries(),
		asking(g, d, always(hnsw.SearchOptions{Bound: bound}), ids),
		asking(g, d, always(hnsw.SearchOptions{Bound: bound, Exact: true}), unused))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("bound at 10 %% of %s: ", whole)
	r.add(name+"recall", d.truth.recall(d, ids), "share", ">= 0.97", "ef 64")
	r.add(name+"CPU / scan of those rows", took[0].Seconds()/took[1].Seconds(), "ratio", "<= 2",
		fmt.Sprintf("%.0f and %.0f us", microseconds(took[0]), microseconds(took[1])))
	return nil
}
