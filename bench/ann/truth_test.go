package main

import (
	"slices"
	"testing"
)

// line has rows at growing angles from the query (1, 0); rows 3 and 4 are the same.
func line() *dataset {
	d := &dataset{name: "line", dim: 2, query: []float32{1, 0}}
	for _, y := range []float32{0.5, 0.1, 0.2, 0.3, 0.3, 0.4} {
		row := []float32{1, y}
		normalise(row)
		d.base = append(d.base, row...)
	}
	return d
}

func TestExactNeighboursAreInOrder(t *testing.T) {
	d := line()
	got := exact(d, 3, nil)
	if want := []int32{1, 2, 3}; !slices.Equal(got.best[0], want) {
		t.Errorf("best %v, want %v", got.best[0], want)
	}
	odd := exact(d, 3, func(_, row int) bool { return row%2 == 1 })
	if want := []int32{1, 3, 5}; !slices.Equal(odd.best[0], want) {
		t.Errorf("best of the odd rows %v, want %v", odd.best[0], want)
	}
	few := exact(d, 10, nil)
	if len(few.best[0]) != 6 || few.kth[0] != -1 {
		t.Errorf("%d neighbours of 6 rows, the tenth at %v", len(few.best[0]), few.kth[0])
	}
}

func TestExactAgreesWithAPlainScanAcrossBlocks(t *testing.T) {
	d := mixture{rows: 300, dim: 40, queries: 130, seed: 1}.make("m")
	got := exact(d, 5, nil)
	for q := range d.queries() {
		var f nearest
		for i := range d.rows() {
			var s float64
			for j, x := range d.q(q) {
				s += float64(x) * float64(d.row(i)[j])
			}
			f.offer(5, float32(s), int32(i))
		}
		if !slices.Equal(f.rows, got.best[q]) {
			t.Fatalf("query %d: %v, want %v", q, got.best[q], f.rows)
		}
	}
}

func TestRecallCountsTiesAndNoRowTwice(t *testing.T) {
	d := line()
	tr := exact(d, 3, nil)
	for _, test := range []struct {
		ids  []int32
		want float64
	}{
		{[]int32{1, 2, 3}, 1},
		{[]int32{3, 2, 1}, 1},
		{[]int32{1, 2, 4}, 1}, // as near as row 3
		{[]int32{1, 2, 5}, 2. / 3},
		{[]int32{1, 1, 1}, 1. / 3},
		{[]int32{3, 4, -1}, 2. / 3},
		{[]int32{-1, -1, 99}, 0},
	} {
		if got := tr.recall(d, test.ids); got != test.want {
			t.Errorf("recall of %v is %v, want %v", test.ids, got, test.want)
		}
	}
	few := exact(d, 10, nil)
	if got := few.recall(d, []int32{0, 1, 2, 3, 4, 5, -1, -1, -1, -1}); got != 1 {
		t.Errorf("recall of all six rows is %v", got)
	}
}
