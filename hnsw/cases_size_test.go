package hnsw_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/lightctl/lightrag/hnsw"
)

// unum-cloud/USearch#393: more results asked for than there are vectors gave keys that were never added.
// nmslib/hnswlib#321: fewer results than asked for was an error.
func TestMoreAskedForThanThereIsGivesAllThereIs(t *testing.T) {
	for _, o := range []hnsw.Options{{}, walking} {
		for _, n := range []int{1, 2, 7, 100} {
			rows := mixture(1, n, 6)
			ix := indexOf(t, rows, o)
			for _, k := range []int{0, 1, n, n + 1, 10 * n, math.MaxInt} {
				if _, recall := find(t, ix, rows, rows[0], k, hnsw.IndexSearchOptions{}); recall != 1 {
					t.Errorf("n %d, k %d: recall %v", n, k, recall)
				}
			}
			for id := 0; id < n-1; id += 2 {
				remove(t, ix, rows, id)
			}
			if _, recall := find(t, ix, rows, mixture(2, 1, 6)[0], n, hnsw.IndexSearchOptions{}); recall != 1 {
				t.Errorf("n %d, every other deleted: recall %v", n, recall)
			}
		}
	}
}

// facebookresearch/faiss#1571: missing results were padded with id -1.
func TestNothingIsPadded(t *testing.T) {
	ix := newIndex(t, 3, walking)
	q := []float32{1, 0, 0}
	if got, err := ix.Search(q, 5, hnsw.IndexSearchOptions{}); err != nil || len(got) != 0 {
		t.Errorf("an empty index: %v, %v", got, err)
	}
	add(t, ix, 7, q)
	none := func(uint64) bool { return false }
	for name, o := range map[string]hnsw.IndexSearchOptions{
		"nothing accepted":    {Accept: none},
		"nothing near enough": {MinScore: 1.5, HasMinScore: true},
	} {
		if got, err := ix.Search(q, 5, o); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := ix.Search(q, 5, hnsw.IndexSearchOptions{}); err != nil || !slices.Equal(got, []hnsw.Result{{ID: 7, Score: 1}}) {
		t.Errorf("one vector: %v, %v", got, err)
	}
}

// facebookresearch/faiss#1244: an ef below k lost recall. ruvnet/RuVector#430: k was silently capped at ef.
// Both ask for ef = max(ef, k). Recall@100 is 0.995 with ef 1 as with ef 100.
func TestEfBelowKIsAsGoodAsK(t *testing.T) {
	rows, queries := split(3, 3000, 20, 16)
	ix := indexOf(t, rows, walking)
	for _, k := range []int{65, 100, 500} {
		low := meanRecall(t, ix, rows, queries, k, hnsw.IndexSearchOptions{Ef: 1})
		full := meanRecall(t, ix, rows, queries, k, hnsw.IndexSearchOptions{Ef: k})
		t.Logf("k %d: recall %.4f with ef 1, %.4f with ef %d", k, low, full, k)
		if low < full || low < 0.98 {
			t.Errorf("k %d: recall %.4f with ef 1, %.4f with ef %d", k, low, full, k)
		}
	}
}

// nmslib/hnswlib#64, milvus-io/knowhere#405: ef was state that all searches shared, so that one changed the results
// of another beside it.
func TestEfOfOneSearchDoesNotTouchThoseBesideIt(t *testing.T) {
	rows, queries := split(4, 3000, 20, 24)
	o := walking
	o.M, o.EfConstruction, o.EfSearch = 4, 20, 10
	ix := indexOf(t, rows, o)
	efs := []int{0, 5, 40, 1500}
	alone := make([][][]hnsw.Result, len(efs))
	search := func(ef int, q []float32) []hnsw.Result {
		got, err := ix.Search(q, 5, hnsw.IndexSearchOptions{Ef: ef})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	differ := false
	for i, ef := range efs {
		for j, q := range queries {
			alone[i] = append(alone[i], search(ef, q))
			differ = differ || !slices.Equal(alone[i][j], alone[0][j])
		}
	}
	if !differ {
		t.Fatal("ef makes no difference on this index: the test shows nothing")
	}
	var group sync.WaitGroup
	for i, ef := range efs {
		group.Go(func() {
			for range 3 {
				for j, q := range queries {
					if got := search(ef, q); !slices.Equal(got, alone[i][j]) {
						t.Errorf("ef %d: %v beside others, %v alone", ef, got, alone[i][j])
						return
					}
				}
			}
		})
	}
	group.Wait()
}

// nmslib/hnswlib#423, #242: the best results changed for the worse when k or ef grew. Recall@10 must not fall
// by more than noise when either grows: measured it rises without exception from 0.49 (ef 10) to 1.00 (ef 320);
// the noise allowed is 0.01.
func TestMoreEfOrMoreKNeverMeansWorseResults(t *testing.T) {
	rows, queries := spread(5, 3000, 50, 24)
	o := walking
	o.M, o.EfConstruction = 6, 40
	ix := indexOf(t, rows, o)
	// top is the recall@10 of the first ten of k results.
	top := func(k, ef int) float64 {
		sum := 0.0
		for _, q := range queries {
			got, err := ix.Search(q, k, hnsw.IndexSearchOptions{Ef: ef})
			if err != nil || len(got) != k {
				t.Fatalf("%d results of %d, %v", len(got), k, err)
			}
			sum += checked(t, got[:10], rows, q, 10, func(int) bool { return true })
		}
		return sum / float64(len(queries))
	}
	last := 0.0
	for _, ef := range []int{10, 20, 40, 80, 160, 320, 640} {
		r := top(10, ef)
		t.Logf("k 10, ef %d: recall@10 %.4f", ef, r)
		if r < last-0.01 {
			t.Errorf("ef %d: recall fell from %.4f to %.4f", ef, last, r)
		}
		last = max(last, r)
	}
	if last < 0.99 {
		t.Errorf("recall with ef 640 is %.4f", last)
	}
	last = 0
	for _, k := range []int{10, 30, 100, 300} { // ef is raised to k
		r := top(k, 10)
		t.Logf("k %d, ef 10: recall@10 %.4f", k, r)
		if r < last-0.01 {
			t.Errorf("k %d: recall of the first ten fell from %.4f to %.4f", k, last, r)
		}
		last = max(last, r)
	}
}
