package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// spare columns make the subspace iteration converge; they are dropped at its end.
const spareColumns = 32

// leftSingular returns the first k left singular vectors of m as columns, that of
// the largest singular value first: randomised subspace iteration (Halko, Martinsson and Tropp, "Finding structure with randomness",
// 2011, algorithms 4.4 and 5.1) from a fixed seed.
func leftSingular(m *sparse, k, rounds int) (*dense, error) {
	t := m.transpose()
	wide := min(k+spareColumns, m.cols, m.rows)
	if k > wide {
		return nil, fmt.Errorf("%d singular vectors of a matrix of %d x %d", k, m.rows, m.cols)
	}
	x := newDense(m.cols, wide)
	seed := uint64(1)
	for i := range x.a {
		x.a[i] = 1
		if splitmix(&seed)>>63 == 0 {
			x.a[i] = -1
		}
	}
	q := m.times(x)
	for range rounds {
		if err := q.orthonormalize(); err != nil {
			return nil, err
		}
		x = t.times(q)
		if err := x.orthonormalize(); err != nil {
			return nil, err
		}
		q = m.times(x)
	}
	if err := q.orthonormalize(); err != nil {
		return nil, err
	}
	turned := eigen(t.times(q).gram())
	keep := newDense(wide, k)
	for r := range wide {
		copy(keep.row(r), turned.row(r))
	}
	return q.times(keep), nil
}

// orthonormalize makes the columns of d an orthonormal basis of their span, by a
// Cholesky factor of their products. Twice, since one pass loses digits where
// columns are nearly parallel.
func (d *dense) orthonormalize() error {
	for range 2 {
		l, err := cholesky(d.gram())
		if err != nil {
			return err
		}
		parallel(d.n, func(r int) {
			x := d.row(r)
			for i := range x {
				from := l.row(i)
				s := x[i]
				for j := range i {
					s -= float64(from[j] * x[j])
				}
				x[i] = s / from[i]
			}
		})
	}
	return nil
}

// cholesky returns the lower triangle l with l*l' = g.
func cholesky(g *dense) (*dense, error) {
	l := newDense(g.n, g.n)
	for i := range g.n {
		for j := range i + 1 {
			s := g.row(i)[j]
			for k := range j {
				s -= float64(l.row(i)[k] * l.row(j)[k])
			}
			if i != j {
				l.row(i)[j] = s / l.row(j)[j]
			} else if l.row(i)[i] = math.Sqrt(s); !(s > 0) {
				return nil, fmt.Errorf("the matrix has rank %d, less than the %d vectors asked for", i, g.n)
			}
		}
	}
	return l, nil
}

// eigen returns the eigenvectors of the symmetric matrix g as columns, that of the
// largest eigenvalue first, by cyclic Jacobi rotations (Golub and Van Loan,
// "Matrix Computations", section 8.5). It leaves the eigenvalues on the diagonal
// of g, in another order.
func eigen(g *dense) *dense {
	n := g.n
	v := newDense(n, n) // transposed while it is made
	for i := range n {
		v.row(i)[i] = 1
	}
	for range 60 {
		off, diagonal := 0.0, 0.0
		for i := range n {
			diagonal += float64(g.row(i)[i] * g.row(i)[i])
			for _, x := range g.row(i)[i+1:] {
				off += float64(x * x)
			}
		}
		if off <= 1e-26*diagonal {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(g, v, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.row(b)[b], g.row(a)[a]) })
	vectors := newDense(n, n)
	for c, from := range order {
		for r := range n {
			vectors.row(r)[c] = v.row(from)[r]
		}
	}
	return vectors
}

// rotate makes the element (p, q) of g zero, and turns the rows p and q of v alike.
func rotate(g, v *dense, p, q int) {
	gp, gq := g.row(p), g.row(q)
	if gp[q] == 0 {
		return
	}
	theta := (gq[q] - gp[p]) / (2 * gp[q])
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := float64(t * c)
	for k := range g.n {
		row := g.row(k)
		row[p], row[q] = turn(c, s, row[p], row[q])
	}
	for k := range g.n {
		gp[k], gq[k] = turn(c, s, gp[k], gq[k])
	}
	gp[q], gq[p] = 0, 0
	vp, vq := v.row(p), v.row(q)
	for k := range vp {
		vp[k], vq[k] = turn(c, s, vp[k], vq[k])
	}
}

func turn(c, s, x, y float64) (float64, float64) {
	return float64(c*x) - float64(s*y), float64(s*x) + float64(c*y)
}

// splitmix returns the next number of the generator of that name.
func splitmix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// logarithm is the natural logarithm of a positive number, equal to the bit on
// every platform, which math.Log is not.
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	// log m = 2 artanh z, and |z| < 0.172.
	z := (m - 1) / (m + 1)
	z2 := float64(z * z)
	sum := 0.0
	for k := 23; k >= 1; k -= 2 {
		sum = float64(sum*z2) + 1/float64(k)
	}
	return float64(float64(e)*math.Ln2) + float64(2*z*sum)
}
