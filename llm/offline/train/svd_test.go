package main

import (
	"math"
	"runtime"
	"slices"
	"testing"
)

func TestLeftSingularVectorsOfAKnownMatrix(t *testing.T) {
	// Rows 2i and 2i+1 hold (3, 4) times the i-th value in column i: its norm is 5
	// times the value, and its left vector (0.6, 0.8).
	values := []float64{7, 1, 5, 3}
	m := &sparse{rows: 2 * len(values), cols: len(values), start: []int{0}}
	for i, v := range values {
		for _, x := range []float64{3 * v, 4 * v} {
			m.col, m.val, m.start = append(m.col, int32(i)), append(m.val, x), append(m.start, len(m.col)+1)
		}
	}
	e, err := leftSingular(m, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for c, i := range []int{0, 2, 3} { // the largest three
		for r := range m.rows {
			want := 0.0
			switch r {
			case 2 * i:
				want = 0.6
			case 2*i + 1:
				want = 0.8
			}
			if got := math.Abs(e.row(r)[c]); math.Abs(got-want) > 1e-9 {
				t.Errorf("row %d of vector %d: %g, want %g", r, c, got, want)
			}
		}
	}
	if _, err := leftSingular(m, 5, 3); err == nil {
		t.Error("five vectors of a matrix of four columns")
	}
}

func randomSparse(rows, cols, each int) *sparse {
	m := &sparse{rows: rows, cols: cols, start: []int{0}}
	seed := uint64(5)
	for range rows {
		var at []int32
		for range each {
			at = append(at, int32(splitmix(&seed)%uint64(cols)))
		}
		slices.Sort(at)
		for _, c := range slices.Compact(at) {
			m.col, m.val = append(m.col, c), append(m.val, float64(splitmix(&seed)>>40)/(1<<24)+0.1)
		}
		m.start = append(m.start, len(m.col))
	}
	return m
}

func TestLeftSingularVectorsOfARandomMatrix(t *testing.T) {
	m := randomSparse(30, 20, 6)
	u, err := leftSingular(m, 20, 6)
	if err != nil {
		t.Fatal(err)
	}
	if g := u.gram(); !near(g, 1e-10, func(i, k int) float64 { return float64(max(0, 1-max(i-k, k-i))) }) {
		t.Error("the vectors are not orthonormal")
	}
	// u'm has orthogonal rows, their lengths descend.
	b := m.transpose().times(u)
	g := b.gram()
	for i := range 20 {
		for k := range i {
			if math.Abs(g.row(i)[k]) > 1e-8*g.row(0)[0] {
				t.Errorf("rows %d and %d: product %g", i, k, g.row(i)[k])
			}
		}
		if i > 0 && g.row(i)[i] > g.row(i - 1)[i-1]*(1+1e-9) {
			t.Errorf("singular value %d is larger than the one before", i)
		}
	}
	// All of them together reconstruct m.
	full := m.transpose().times(newIdentity(30))
	back := b.times(transposed(u))
	if !near(back, 1e-9, func(i, k int) float64 { return full.row(i)[k] }) {
		t.Error("the vectors do not span the matrix")
	}
}

func near(d *dense, within float64, want func(i, k int) float64) bool {
	for i := range d.n {
		for k, x := range d.row(i) {
			if math.Abs(x-want(i, k)) > within {
				return false
			}
		}
	}
	return true
}

func newIdentity(n int) *dense {
	d := newDense(n, n)
	for i := range n {
		d.row(i)[i] = 1
	}
	return d
}

func transposed(d *dense) *dense {
	t := newDense(d.k, d.n)
	for i := range d.n {
		for k, x := range d.row(i) {
			t.row(k)[i] = x
		}
	}
	return t
}

func TestLeftSingularIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	m := randomSparse(500, 300, 20)
	var want *dense
	for _, n := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(n)
		got, err := leftSingular(m, 16, 3)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got.a, want.a) {
			t.Errorf("%d processors give other vectors than one", n)
		}
	}
}

func TestLogarithm(t *testing.T) {
	seed := uint64(3)
	for range 10_000 {
		x := math.Ldexp(float64(splitmix(&seed)>>12)+1, int(splitmix(&seed)%200)-150)
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-14*max(1, math.Abs(want)) {
			t.Fatalf("log %g = %g, want %g", x, got, want)
		}
	}
	if logarithm(1) != 0 {
		t.Errorf("log 1 = %g", logarithm(1))
	}
}
