package hnsw

import (
	"testing"
	"time"
)

func TestRecallOnClusters(t *testing.T) {
	rows := clusters(1, 5200, 64)
	rows, queries := rows[:5000], rows[5000:]
	g := built(t, rows, Options{ExactBelow: -1})
	if got := meanRecall(t, g, queries, 10, SearchOptions{Ef: 64}, nil); got < 0.95 {
		t.Errorf("recall@10 at ef 64 is %.4f, want at least 0.95", got)
	}
	if got := meanRecall(t, g, queries, 10, SearchOptions{Exact: true}, nil); got != 1 {
		t.Errorf("recall of an exact search is %v", got)
	}
}

func TestRecallOnRecordedText(t *testing.T) {
	if testing.Short() {
		t.Skip("builds 20,000 rows")
	}
	base, queries, truth := recorded(t)
	g := newTestGraph(t, len(base[0]), Options{})
	appendAll(t, g, base)
	begin := time.Now()
	linkAll(t, g)
	t.Logf("linked %d rows in %v", len(base), time.Since(begin))
	dst := make([]Hit, 0, 10)
	for _, ef := range []int{16, 32, 64, 128, 256} {
		begin, found := time.Now(), 0
		for i, q := range queries {
			hits, err := g.Search(q, 10, SearchOptions{Ef: ef}, dst)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				for _, id := range truth[i][:10] {
					if id == h.Slot {
						found++
					}
				}
			}
		}
		got := float64(found) / float64(10*len(queries))
		t.Logf("ef %d: recall@10 %.4f, %v per query", ef, got, time.Since(begin)/time.Duration(len(queries)))
		if ef == 64 && got < 0.94 {
			t.Errorf("recall@10 at ef 64 is %.4f, want at least 0.94", got)
		}
	}
}
