package hnsw

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// many returns what takes some seconds to link, normalised, or skips the test.
func many(t *testing.T, seed uint64, dim int) [][]float32 {
	t.Helper()
	if testing.Short() || raceEnabled {
		t.Skip("it takes some seconds, or a minute with the race detector")
	}
	rows := clusters(seed, 20000, dim)
	for i := range rows {
		rows[i] = unit(rows[i])
	}
	return rows
}

// USearch#399, hnswlib PR#487, at the size at which BenchmarkChurn measures it: 50 of 20,000, 200 times each.
func TestTenThousandUpsertsOfFiftyVectors(t *testing.T) {
	const dim = 64
	rows := many(t, 71, dim)
	o := Options{ExactBelow: -1, Workers: 2, EfConstruction: 64}
	ix := filled(t, rows, o)
	r := rand.New(rand.NewPCG(72, 72))
	hot := anywhere(r, rows)
	base := slices.Clone(rows)
	var finished, stopped atomic.Bool
	var searches atomic.Int64
	most := 0
	writer := func() error {
		defer finished.Store(true)
		for range churnTimes {
			for _, i := range hot {
				rows[i] = variation(r, base[i], nil)
				if err := ix.Add(uint64(i)+1<<40, rows[i]); err != nil {
					return err
				}
			}
			most = max(most, int(ix.cur.g.Bound()))
			// A search that the system lets wait keeps slots from being used again: let some end.
			for n := searches.Load() + 2; searches.Load() < n && !stopped.Load(); {
				runtime.Gosched()
			}
		}
		return nil
	}
	searcher := func() error {
		defer stopped.Store(true)
		for i := 0; !finished.Load(); i++ {
			at := hot[i%len(hot)]
			got, err := ix.Search(base[at], 10, IndexSearchOptions{})
			if err != nil {
				return err
			}
			seen := map[uint64]bool{}
			for _, r := range got {
				seen[r.ID] = true
			}
			if len(got) != 10 || len(seen) != 10 {
				return fmt.Errorf("%d results, %d ids", len(got), len(seen))
			}
			searches.Add(1)
		}
		return nil
	}
	race(t, writer, searcher)
	if most > len(rows)+len(rows)/10 {
		t.Errorf("%d slots for %d vectors", most, len(rows))
	}
	consolidate(t, ix.cur.g)
	checkShape(t, ix.cur.g)
	var near [][]float32
	for _, i := range hot {
		for range 6 {
			near = append(near, moved(r, rows[i], 0.9))
		}
	}
	fresh := filled(t, rows, o)
	for name, queries := range map[string][][]float32{"near": near, "anywhere": clusters(73, 300, dim)} {
		got, want := indexRecall(t, ix, queries, 64), indexRecall(t, fresh, queries, 64)
		t.Logf("%s: recall %.4f, built anew %.4f, %d slots at most", name, got, want, most)
		if got < want-0.01 { // two builds differ by half of that
			t.Errorf("%s: recall %.4f, built anew %.4f", name, got, want)
		}
	}
}

// Where an id that varies around a base is replaced, nothing dead is left to walk over.
func TestReplacedVectorsLeaveAtOnce(t *testing.T) {
	const n, dim, hot = 3000, 64, 10
	rows := clusters(74, n, dim)
	for i := range rows {
		rows[i] = unit(rows[i])
	}
	ix := filled(t, rows, Options{ExactBelow: -1, EfConstruction: 64})
	r := rand.New(rand.NewPCG(75, 75))
	for range 100 {
		for i := range hot {
			if err := ix.Add(uint64(i)+1<<40, variation(r, rows[i], nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := ix.Stats()
	if named := s.Dead - s.Free; s.Live != n || named > 3*hot {
		t.Errorf("%d dead in the graph after %d replacements of each of %d: %+v", named, 100, hot, s)
	}
	checkShape(t, ix.cur.g)
	for i := range hot {
		got, err := ix.Search(rows[i], 1, IndexSearchOptions{Ef: 32})
		if err != nil || got[0].ID != uint64(i)+1<<40 {
			t.Errorf("id %d: %v, %v", i, got, err)
		}
	}
}

// nmslib/hnswlib#341 at full size.
func TestThousandsOfCopiesDoNotCostRecall(t *testing.T) {
	const dim, copies = 64, 2000
	rows := many(t, 76, dim)
	queries := clusters(77, 300, dim)
	o := Options{ExactBelow: -1, Workers: 2, EfConstruction: 64}
	clean := indexRecall(t, filled(t, rows, o), queries, 64)
	for i := range 3 * copies {
		rows = append(rows, rows[i%3])
	}
	r := rand.New(rand.NewPCG(78, 78))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	got := indexRecall(t, filled(t, rows, o), queries, 64)
	t.Logf("recall %.4f, %.4f without copies", got, clean)
	if got < clean-0.01 {
		t.Errorf("recall %.4f, %.4f without copies", got, clean)
	}
}

// The ids of equal vectors come and go one by one, whichever of them is the node.
func TestDeletingIdsOfEqualVectors(t *testing.T) {
	const n, equal = 300, 5
	for name, gone := range map[string][]uint64{
		"none": {}, "first": {0}, "middle": {2}, "last": {4}, "first and last": {4, 0}, "ascending": {0, 1, 2, 3},
		"all": {2, 0, 4, 1, 3},
	} {
		rows := clusters(79, n, 16)
		for i := range equal {
			rows[i] = rows[0]
		}
		ix := filled(t, rows, Options{ExactBelow: -1, M: 6, EfConstruction: 40})
		var left []uint64
		check := func(when string) {
			t.Helper()
			got, err := ix.Search(rows[0], equal+1, IndexSearchOptions{})
			if err != nil || len(got) != equal+1 {
				t.Fatalf("%s, %s: %v, %v", name, when, got, err)
			}
			for i, hit := range got {
				if same := hit.Score > 1-1e-6; same != (i < len(left)) || same && hit.ID != left[i] {
					t.Fatalf("%s, %s: %v, want ids %v first", name, when, got, left)
				}
			}
		}
		for i := range uint64(equal) {
			left = append(left, i+1<<40)
		}
		for _, id := range gone {
			if !ix.Delete(id + 1<<40) {
				t.Fatalf("%s: id %d is not there", name, id)
			}
			left = slices.DeleteFunc(left, func(x uint64) bool { return x == id+1<<40 })
			check("deleted")
		}
		consolidate(t, ix.cur.g)
		check("consolidated")
		if s := ix.Stats(); s.Live != n-len(gone) || s.Free != len(gone) || s.Twins != max(0, equal-len(gone)-1) {
			t.Errorf("%s: %+v", name, s)
		}
		for _, id := range gone {
			if err := ix.Add(id+1<<40, rows[0]); err != nil {
				t.Fatal(err)
			}
			left = append(left, id+1<<40)
		}
		slices.Sort(left)
		check("added again")
		checkShape(t, ix.cur.g)
	}
}
