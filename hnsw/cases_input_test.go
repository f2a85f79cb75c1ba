package hnsw_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw"
)

var (
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	tiny = float32(math.SmallestNonzeroFloat32)
)

// badVectors are all that has no direction in three dimensions.
var badVectors = []struct {
	vec  []float32
	want error
}{
	{nil, hnsw.ErrDimension}, {[]float32{}, hnsw.ErrDimension}, {[]float32{1, 2}, hnsw.ErrDimension}, {[]float32{1, 2, 3, 4}, hnsw.ErrDimension},
	{[]float32{nan, 1, 1}, hnsw.ErrNotFinite}, {[]float32{1, 1, nan}, hnsw.ErrNotFinite}, {[]float32{inf, inf, inf}, hnsw.ErrNotFinite},
	{[]float32{1, -inf, 0}, hnsw.ErrNotFinite}, {[]float32{0, 0, 0}, hnsw.ErrZeroVector}, {[]float32{0, float32(math.Copysign(0, -1)), 0}, hnsw.ErrZeroVector},
	{[]float32{tiny, 0, 0}, hnsw.ErrZeroVector}, {[]float32{0x1p-127, 0, 0}, hnsw.ErrZeroVector},
}

// matrixorigin/matrixone#29082, vlasky/sqlite-vec#8, scylladb/scylladb PR#28609: vectors of zero or next to no length
// got scores of -Inf and NaN, and poisoned those of others.
func TestVectorsWithoutADirectionAreRefusedEverywhere(t *testing.T) {
	rows := [][]float32{{1, 2, 3}, {-1, 0.5, 2}}
	ix := indexOf(t, rows, walking)
	g := graphOf(t, rows, walking)
	before := saved(t, ix)
	for _, c := range badVectors {
		_, appendErr := g.Append(c.vec)
		_, searchErr := g.Search(c.vec, 1, hnsw.SearchOptions{}, nil)
		_, findErr := ix.Search(c.vec, 1, hnsw.IndexSearchOptions{})
		for call, err := range map[string]error{
			"Graph.Append": appendErr, "Graph.Search": searchErr, "Index.Search": findErr, "Index.Add": ix.Add(9, c.vec),
			"replacing": ix.Add(1, c.vec), "Index.AddBatch": ix.AddBatch([]uint64{8, 9}, [][]float32{{1, 1, 1}, c.vec}),
			"Graph.Place": g.Place(0, c.vec), "Normalize": hnsw.Normalize(make([]float32, 3), c.vec),
		} {
			var rich *hnsw.VectorError
			if !errors.Is(err, c.want) || !errors.As(err, &rich) {
				t.Errorf("%s of %v: %v, want %v", call, c.vec, err, c.want)
			}
		}
	}
	if !bytes.Equal(before, saved(t, ix)) || g.Bound() != 2 || ix.Len() != 2 {
		t.Error("what was refused has changed something")
	}
}

// The same reports: what is short or long, but has a direction, is a vector like any other.
func TestVectorsOfAnyLengthHaveFiniteScores(t *testing.T) {
	rows := [][]float32{
		{0x1p-126, 0, 0}, {1e-30, 1e-30, 0}, {math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}, {1, tiny, 0},
		{-math.MaxFloat32, tiny, 0}, {0, 0, -1e20},
	}
	for _, o := range []hnsw.Options{walking, {}} {
		ix := indexOf(t, rows, o)
		for _, q := range rows {
			got, recall := find(t, ix, rows, q, 10, hnsw.IndexSearchOptions{}) // compares scores with cosines
			if recall != 1 || got[0].Score < 1-scoreError {
				t.Errorf("query %v: %v", q, got)
			}
			for _, r := range got {
				if !(r.Score >= -1 && r.Score <= 1) {
					t.Errorf("query %v: score %v", q, r.Score)
				}
			}
		}
	}
}

// pgvector/pgvector#923, milvus-io/milvus#51821, nmslib/hnswlib#74: under a raw inner product long vectors were
// everybody's neighbours, and 611 of 8,326 could be reached. Only directions count here: rows of lengths between
// 2^-20 and 2^20 give the answers of rows of length one, bit by bit, for a power of two costs no precision.
func TestLengthsOfVectorsChangeNothing(t *testing.T) {
	rows, queries := split(1, 2000, 40, 24)
	r := random(2)
	scaled := make([][]float32, len(rows))
	for i, v := range rows {
		scaled[i] = slices.Clone(v)
		f := float32(math.Ldexp(1, r.IntN(41)-20))
		for j := range v {
			scaled[i][j] *= f
		}
	}
	plain, other := indexOf(t, rows, walking), indexOf(t, scaled, walking)
	if !bytes.Equal(saved(t, plain), saved(t, other)) {
		t.Error("the indexes differ")
	}
	if away := lost(t, other, scaled, 64); len(away) > 0 {
		t.Errorf("not found: %v", away)
	}
	for _, q := range queries {
		want, _ := find(t, plain, rows, q, 10, hnsw.IndexSearchOptions{})
		long := slices.Clone(q)
		for i := range long {
			long[i] *= 1 << 30
		}
		if got, _ := find(t, other, scaled, long, 10, hnsw.IndexSearchOptions{}); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
