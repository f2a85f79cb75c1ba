package main

import (
	"runtime"
	"sync"
)

// A sparse matrix holds its rows one after another: those of row i are
// [start[i], start[i+1]) of col and val, columns ascending.
type sparse struct {
	rows, cols int
	start      []int
	col        []int32
	val        []float64
}

// transpose returns a new matrix.
func (m *sparse) transpose() *sparse {
	t := &sparse{rows: m.cols, cols: m.rows, start: make([]int, m.cols+1), col: make([]int32, len(m.col)), val: make([]float64, len(m.val))}
	for _, c := range m.col {
		t.start[c+1]++
	}
	for c := range m.cols {
		t.start[c+1] += t.start[c]
	}
	next := append([]int(nil), t.start...)
	for r := range m.rows {
		for i := m.start[r]; i < m.start[r+1]; i++ {
			at := next[m.col[i]]
			next[m.col[i]]++
			t.col[at], t.val[at] = int32(r), m.val[i]
		}
	}
	return t
}

// times returns m*x, of m.rows x x.k. Every row is summed by one goroutine in
// column order, so that the result does not depend on their number.
func (m *sparse) times(x *dense) *dense {
	y := newDense(m.rows, x.k)
	parallel(m.rows, func(r int) {
		to := y.row(r)
		for i := m.start[r]; i < m.start[r+1]; i++ {
			addScaled(to, m.val[i], x.row(int(m.col[i])))
		}
	})
	return y
}

// A dense matrix of n rows and k columns, row by row.
type dense struct {
	n, k int
	a    []float64
}

func newDense(n, k int) *dense { return &dense{n: n, k: k, a: make([]float64, n*k)} }

func (d *dense) row(i int) []float64 { return d.a[i*d.k : (i+1)*d.k : (i+1)*d.k] }

// times returns d*x, of d.n x x.k.
func (d *dense) times(x *dense) *dense {
	y := newDense(d.n, x.k)
	parallel(d.n, func(r int) {
		to := y.row(r)
		for i, v := range d.row(r) {
			addScaled(to, v, x.row(i))
		}
	})
	return y
}

// gram returns the k x k products of the columns of d.
func (d *dense) gram() *dense {
	g := newDense(d.k, d.k)
	parallel(d.k, func(a int) {
		to := g.row(a)
		for i := range d.n {
			from := d.row(i)
			addScaled(to[a:], from[a], from[a:])
		}
	})
	for a := range d.k {
		for b := range a {
			g.row(a)[b] = g.row(b)[a]
		}
	}
	return g
}

// addScaled adds v*x to y. The conversion forbids a fused multiply-add, which
// rounds otherwise and which only some platforms have.
func addScaled(y []float64, v float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float64(v * x[i])
	}
}

// parallel calls f with 0 to n-1, in any order, and returns when all are done.
func parallel(n int, f func(int)) {
	const step = 16
	var next int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				mu.Lock()
				from := next
				next += step
				mu.Unlock()
				if from >= n {
					return
				}
				for i := from; i < min(from+step, n); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}
