package main

import (
	"math"
	"slices"
)

// Settings of the vectors. How they were chosen is said in ../testdata/README.md.
type settings struct {
	least     int     // occurrences of a word that gets a row
	contexts  int     // most frequent words that count as neighbours
	window    int     // in words
	subsample float64 // share of the text above which a word is thinned out
	shift     float64 // of the pointwise mutual information, before its logarithm
	floor     float64 // weighted count below which a pair is noise
	rounds    int     // of the subspace iteration
	dims      int
}

var defaults = settings{least: 3, contexts: 20000, window: 5, subsample: 2e-4, shift: 1.5, floor: 0.4, rounds: 4, dims: 192}

// ppmi returns the shifted positive pointwise mutual information of the words of
// v with the most frequent of them as neighbours (Levy, Goldberg and Dagan,
// "Improving Distributional Similarity with Lessons Learned from Word
// Embeddings", 2015, sections 2 and 3.1): distance-weighted windows, frequent
// words thinned out, context counts to the power .75.
func ppmi(c *corpus, v *vocabulary, s settings) *sparse {
	rows := thinned(c, v, s.subsample)
	n, width := len(v.words), min(s.contexts, len(v.words))
	weight := make([]uint32, s.window+1)
	scale := leastMultiple(s.window)
	for d := 1; d <= s.window; d++ {
		weight[d] = uint32(scale / d) // whole numbers: sums do not depend on their order
	}
	counts := pairCounts(rows, n, width, weight)
	rowSum, colSum, all := make([]float64, n), make([]float64, width), 0.0
	for r := range n {
		for i := counts.start[r]; i < counts.start[r+1]; i++ {
			x := counts.val[i]
			rowSum[r] += x
			colSum[counts.col[i]] += x
			all += x
		}
	}
	smooth, total := make([]float64, width), 0.0
	for i, x := range colSum {
		root := math.Sqrt(x)
		smooth[i] = float64(root * math.Sqrt(root)) // not fused into the sum
		total += smooth[i]
	}
	out := &sparse{rows: n, cols: width, start: make([]int, n+1)}
	for r := range n {
		for i := counts.start[r]; i < counts.start[r+1]; i++ {
			x, k := counts.val[i], counts.col[i]
			if x < s.floor*float64(scale) {
				continue
			}
			if pmi := logarithm(x * total / (rowSum[r] * smooth[k] * s.shift)); pmi > 0 {
				out.col, out.val = append(out.col, k), append(out.val, pmi)
			}
		}
		out.start[r+1] = len(out.col)
	}
	return out
}

// thinned returns the rows of the words of the text, -1 where a paragraph ends
// and -2 for a word without a row. A word of frequency f above t stays with
// probability sqrt(t/f); those taken out leave no gap.
func thinned(c *corpus, v *vocabulary, t float64) []int32 {
	total := 0
	for _, n := range v.count {
		total += n
	}
	keep := make([]uint64, len(v.words))
	for r, n := range v.count {
		keep[r] = math.MaxUint32
		if p := math.Sqrt(t * float64(total) / float64(n)); p < 1 {
			keep[r] = uint64(p * math.MaxUint32)
		}
	}
	out := make([]int32, 0, len(c.text))
	seed := uint64(2)
	for _, form := range c.text {
		row := form
		if form >= 0 {
			if row = v.row[form]; row < 0 {
				row = -2
			} else if splitmix(&seed)>>32 > keep[row] {
				continue
			}
		}
		out = append(out, row)
	}
	return out
}

// pairCounts returns the weighted counts of the neighbours below width of each
// of n rows.
func pairCounts(text []int32, n, width int, weight []uint32) *sparse {
	window := len(weight) - 1
	at := make([][]int32, n) // places of each row
	for i, r := range text {
		if r >= 0 {
			at[r] = append(at[r], int32(i))
		}
	}
	type pairs struct {
		col []int32
		val []float64
	}
	lists := make([]pairs, n)
	parallel(n, func(r int) {
		sum := map[int32]uint32{}
		for _, place := range at[r] {
			for _, step := range [2]int{-1, 1} {
				for d := 1; d <= window; d++ {
					i := int(place) + step*d
					if i < 0 || i >= len(text) || text[i] == -1 {
						break
					}
					if k := text[i]; k >= 0 && int(k) < width {
						sum[k] += weight[d]
					}
				}
			}
		}
		list := pairs{col: make([]int32, 0, len(sum)), val: make([]float64, len(sum))}
		for k := range sum {
			list.col = append(list.col, k)
		}
		slices.Sort(list.col)
		for i, k := range list.col {
			list.val[i] = float64(sum[k])
		}
		lists[r] = list
	})
	out := &sparse{rows: n, cols: width, start: make([]int, n+1)}
	for r, list := range lists {
		out.col, out.val = append(out.col, list.col...), append(out.val, list.val...)
		out.start[r+1] = len(out.col)
	}
	return out
}

// leastMultiple returns the least common multiple of 1 to n.
func leastMultiple(n int) int {
	m := 1
	for k := 2; k <= n; k++ {
		a, b := m, k
		for b != 0 {
			a, b = b, a%b
		}
		m = m / a * k
	}
	return m
}
