package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func randomRow(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func TestDotMatchesFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for dim := 1; dim <= 130; dim++ {
		a, b := randomRow(r, dim), randomRow(r, dim)
		var want, scale float64
		for i := range a {
			p := float64(a[i]) * float64(b[i])
			want += p
			scale += math.Abs(p)
		}
		for name, got := range map[string]float32{"Dot": Dot(a, b), "dotGo": dotGo(a, b)} {
			if math.Abs(float64(got)-want) > 1e-5*scale {
				t.Errorf("%s of %d elements = %v, want %v", name, dim, got, want)
			}
		}
	}
}

func TestDotManyIsDotOfEachRow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const dim = 19
	m := NewMatrix(dim)
	for range 2 {
		m = m.Grow()
		copy(m.Chunks[len(m.Chunks)-1], randomRow(r, 1024*dim))
	}
	if !m.Holds(2047) || m.Holds(2048) {
		t.Error("two chunks do not hold 2,048 rows")
	}
	q := randomRow(r, dim)
	ids := []uint32{0, 2047, 1023, 1024, 5, 5}
	out := make([]float32, len(ids)+1)
	out[len(ids)] = 42
	DotMany(q, &m, ids, out)
	for i, id := range ids {
		if want := Dot(q, m.Row(id)); out[i] != want {
			t.Errorf("row %d: %v, want %v", id, out[i], want)
		}
	}
	if out[len(ids)] != 42 {
		t.Error("wrote beyond the ids")
	}
}

func TestNormAndScaleAtTheEdges(t *testing.T) {
	big := []float32{math.MaxFloat32, math.MaxFloat32}
	Scale(big, big, Norm(big))
	if d := math.Abs(Norm(big) - 1); d > 1e-6 {
		t.Errorf("norm of scaled maximum is off by %v", d)
	}
	if n := Norm([]float32{math.SmallestNonzeroFloat32}); n <= 0 {
		t.Errorf("norm of the smallest float32 is %v", n)
	}
	if n := Norm([]float32{1, float32(math.NaN())}); !math.IsNaN(n) {
		t.Errorf("norm with a NaN is %v", n)
	}
	if n := Norm([]float32{float32(math.Inf(-1))}); !math.IsInf(n, 1) {
		t.Errorf("norm with an infinity is %v", n)
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dim := range []int{384, 768, 1536} {
		x, y := randomRow(r, dim), randomRow(r, dim)
		b.Run(fmt.Sprintf("dim=%d", dim), func(b *testing.B) {
			b.SetBytes(int64(4 * dim))
			for b.Loop() {
				Dot(x, y)
			}
		})
	}
}

func TestMatrixChunksAreBounded(t *testing.T) {
	for _, dim := range []int{1, 3, 384, 1024, 1025, 1536, 65536} {
		m := NewMatrix(dim)
		m = m.Grow()
		if n := 4 * len(m.Chunks[0]); n > 4<<20 {
			t.Errorf("dim %d: chunk of %d bytes", dim, n)
		}
		last := uint32(1)<<m.Shift - 1
		if row := m.Row(last); len(row) != dim || cap(row) != dim {
			t.Errorf("dim %d: last row has length %d, capacity %d", dim, len(row), cap(row))
		}
	}
}
