package main

import (
	"slices"

	"github.com/viterin/vek/vek32"
)

// rounding is how far two ways to add up the same inner product may be apart.
const rounding = 1e-6

// truth says how near the k-th nearest row of each query is, found by looking at every row.
type truth struct {
	k    int
	kth  []float32 // score of the k-th nearest row, per query; -1 when there are fewer than k rows
	best [][]int32 // the k nearest rows, nearest first
}

// exact scans all rows that allow accepts (nil: all) for every query. The products are those of a library that
// no index here uses.
func exact(d *dataset, k int, allow func(query, row int) bool) truth {
	t := truth{k: k, kth: make([]float32, d.queries()), best: make([][]int32, d.queries())}
	const block = 64  // queries that share a scan
	const stripe = 32 // rows that stay in cache for them
	parallelBlocks(d.queries(), block, func(first, last int) {
		found := make([]nearest, last-first)
		for at := 0; at < d.rows(); at += stripe {
			end := min(at+stripe, d.rows())
			for q := first; q < last; q++ {
				query, f := d.q(q), &found[q-first]
				for row := at; row < end; row++ {
					if allow == nil || allow(q, row) {
						f.offer(k, vek32.Dot(query, d.row(row)), int32(row))
					}
				}
			}
		}
		for i := range found {
			t.kth[first+i], t.best[first+i] = found[i].kth(k), found[i].rows
		}
	})
	return t
}

// nearest keeps the best rows of one query, best first. Of equal scores the earlier row is first.
type nearest struct {
	scores []float32
	rows   []int32
}

func (n *nearest) offer(k int, score float32, row int32) {
	if len(n.scores) == k && score <= n.scores[k-1] {
		return
	}
	at, _ := slices.BinarySearchFunc(n.scores, score, func(have, want float32) int {
		if have >= want {
			return -1
		}
		return 1
	})
	n.scores, n.rows = slices.Insert(n.scores, at, score), slices.Insert(n.rows, at, row)
	if len(n.scores) > k {
		n.scores, n.rows = n.scores[:k], n.rows[:k]
	}
}

func (n *nearest) kth(k int) float32 {
	if len(n.scores) < k {
		return -1
	}
	return n.scores[k-1]
}

// recall returns which share of the k nearest rows of the first queries an index returned: k row numbers per
// query, -1 where it had none. A row as near as the k-th, but for rounding, stands in for it; a row counts
// once.
func (t *truth) recall(d *dataset, ids []int32) float64 {
	found, want := 0, 0
	for q := 0; q*t.k < len(ids); q++ {
		hits, eligible := 0, len(t.best[q])
		answer := ids[q*t.k : (q+1)*t.k]
		for i, id := range answer {
			if id < 0 || int(id) >= d.rows() || slices.Contains(answer[:i], id) {
				continue
			}
			if slices.Contains(t.best[q], id) || vek32.Dot(d.q(q), d.row(int(id))) >= t.kth[q]-rounding {
				hits++
			}
		}
		found, want = found+min(hits, eligible), want+eligible
	}
	if want == 0 {
		return 1
	}
	return float64(found) / float64(want)
}
