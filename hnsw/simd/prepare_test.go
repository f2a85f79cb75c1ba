package simd

import (
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"testing"
)

func TestRotateKeepsInnerProducts(t *testing.T) {
	r := newRand(t)
	for _, dim := range lengths()[1:] {
		rot := NewRotator(dim, 42)
		a, b := make([]float32, dim), make([]float32, dim)
		fillNormal(r, a)
		fillNormal(r, b)
		before, _ := reference(a, b)
		scale := Norm(a) * Norm(b)
		rot.Rotate(a, a)
		rot.Rotate(b, b)
		if after, _ := reference(a, b); math.Abs(after-before) > 4e-6*scale {
			t.Errorf("dim %d: inner product %v became %v", dim, before, after)
		}
	}
}

// The least even vectors there are have all their length in one element. Rotated, their elements may not stray
// further than normal ones would in some 10,000 draws, nor leave parts of the vector empty.
func TestRotateSpreadsUnitVectors(t *testing.T) {
	for _, dim := range []int{128, 384, 385, 511, 512, 768, 1000, 1536} {
		rot := NewRotator(dim, 7)
		v := make([]float32, dim)
		for i := range dim {
			clear(v)
			v[i] = 1
			rot.Rotate(v, v)
			var most float64
			for _, x := range v {
				most = max(most, math.Abs(float64(x)))
			}
			if deviations := most * math.Sqrt(float64(dim)); deviations > 7 {
				t.Fatalf("dim %d: element %d became one of %.1f deviations", dim, i, deviations)
			}
			for quarter := range 4 {
				if dim%128 != 0 {
					break // an element in a tiny block of its own reaches only one block of the second round
				}
				if share := Norm(v[quarter*dim/4 : (quarter+1)*dim/4]); share*share < 1.0/16 {
					t.Fatalf("dim %d: of element %d, quarter %d got %.3f", dim, i, quarter, share*share)
				}
			}
		}
	}
}

func TestRotateWritesTheSameNumbersInEveryTier(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		sum := fnv.New64a()
		for _, dim := range lengths() {
			rot := NewRotator(dim, 1234567)
			v, dst := guarded[float32](t, dim, true), guarded[float32](t, dim, true)
			for i := range v {
				v[i] = float32(int32(mix(uint64(i)))) * 0x1p-31
			}
			rot.Rotate(dst, v)
			for _, x := range dst {
				b := math.Float32bits(x)
				sum.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
			}
		}
		// Stored vectors were rotated like this; it must never change.
		if got := sum.Sum64(); got != goldenRotation {
			t.Errorf("rotations hash to %#x, want %#x", got, uint64(goldenRotation))
		}
	})
}

func TestQuantiseRoundsAndClampsAlikeInEveryTier(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		edges := []float32{0, float32(math.Copysign(0, -1)), 0.5, 1.5, -0.5, -1.5, 2.5, 126.5, 127, 127.5, 128, -126.5, -127,
			-127.5, -128, 1e30, -1e30, float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-149}
		for _, n := range lengths() {
			v, dst := guarded[float32](t, n, true), guarded[uint8](t, n+1, true)
			for i := range v {
				v[i] = float32(r.NormFloat64() * 50)
				if r.IntN(2) == 0 {
					v[i] = edges[r.IntN(len(edges))]
				}
			}
			for _, scale := range []float32{1, 0.3, 2} {
				dst[n] = 99
				Quantise(dst, v, scale)
				for i, x := range v {
					want := uint8(max(-127, min(127, math.RoundToEven(float64(x*scale)))) + 128)
					if dst[i] != want {
						t.Fatalf("%d elements, %v*%v: code %d, want %d", n, x, scale, dst[i], want)
					}
				}
				if dst[n] != 99 {
					t.Fatalf("%d elements: wrote beyond them", n)
				}
			}
		}
		mustPanic(t, "short dst", func() { Quantise(make([]uint8, 31), make([]float32, 32), 1) })
	})
}

// What all this is for: cosines of codes are near those of vectors, even where one element has almost all.
func TestCodesOfRotatedVectorsEstimateCosines(t *testing.T) {
	r := newRand(t)
	for _, dim := range []int{384, 768, 1000} {
		rot, scale := NewRotator(dim, 99), UnitScale(dim)
		codes := [2][]uint8{make([]uint8, stride8(dim)), make([]uint8, stride8(dim))}
		q, v := NewQuery8(dim), [2][]float32{make([]float32, dim), make([]float32, dim)}
		// Rounding errs by a deviation of 1/sqrt(12) of a step in each element of either vector: that makes
		// sqrt(2/12) of a step in the product.
		deviation := math.Sqrt(2.0/12) / float64(scale)
		clamped := 0
		for range 400 {
			fillNormal(r, v[0])
			v[0][r.IntN(dim)] = 20 * r.Float32()
			fillNormal(r, v[1])
			near := r.Float32()
			for i := range v[1] {
				v[1][i] += near * v[0][i]
			}
			for i := range v {
				Scale(v[i], v[i], Norm(v[i]))
			}
			want, _ := reference(v[0], v[1])
			for i := range v {
				rot.Rotate(v[i], v[i])
				Quantise(codes[i], v[i], scale)
			}
			if slices.Contains(codes[0][:dim], 1) || slices.Contains(codes[0][:dim], 255) ||
				slices.Contains(codes[1][:dim], 1) || slices.Contains(codes[1][:dim], 255) {
				clamped++
				continue
			}
			q.Load(codes[0])
			got := float64(Dot8(&q, codes[1])) / float64(scale) / float64(scale)
			if math.Abs(got-want) > 5*deviation {
				t.Errorf("dim %d: %v, want %v: %.1f deviations", dim, got, want, math.Abs(got-want)/deviation)
			}
		}
		if clamped > 40 {
			t.Errorf("dim %d: elements of %d in 400 pairs were clamped", dim, clamped)
		}
		t.Logf("dim %d: clamped %d of 400 pairs", dim, clamped)
	}
}

func TestNormAndScaleAreTheSameInEveryTier(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, n := range lengths() {
			v, dst := guarded[float32](t, n, true), guarded[float32](t, n, true)
			fillNormal(r, v)
			var sums [8]float64
			squaresGo(&sums, v)
			want := math.Sqrt(((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])))
			norm := Norm(v)
			if norm != want {
				t.Errorf("norm of %d elements is %v, want %v", n, norm, want)
			}
			var exact float64
			for _, x := range v {
				exact += float64(x) * float64(x)
			}
			if math.Abs(norm-math.Sqrt(exact)) > 1e-13*norm {
				t.Errorf("norm of %d elements is %v, want about %v", n, norm, math.Sqrt(exact))
			}
			Scale(dst, v, norm)
			for i, x := range v {
				if want := float32(float64(x) / norm); dst[i] != want {
					t.Fatalf("%d elements: %v/%v = %v, want %v", n, x, norm, dst[i], want)
				}
			}
			Scale(v, v, norm)
			if !slices.Equal(v, dst) {
				t.Errorf("%d elements: in place differs", n)
			}
		}
	})
}

func TestNormAndScaleAtTheEdges(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 8, 19} {
			v := make([]float32, n)
			for i := range v {
				v[i] = math.MaxFloat32
			}
			Scale(v, v, Norm(v))
			if d := math.Abs(Norm(v) - 1); d > 1e-6 {
				t.Errorf("norm of %d scaled maxima is off by %v", n, d)
			}
			for i, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
				v[n-1] = bad
				if got := Norm(v); i == 0 && !math.IsNaN(got) || i == 1 && !math.IsInf(got, 1) {
					t.Errorf("norm of %d elements with %v is %v", n, bad, got)
				}
			}
			clear(v)
			v[0] = math.SmallestNonzeroFloat32
			if got := Norm(v); got <= 0 {
				t.Errorf("norm of the smallest float32 is %v", got)
			}
		}
	})
}

func TestHammingCountsDifferentSigns(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		for _, dim := range lengths()[1:] {
			words := SignWords(dim)
			q, rows := guarded[uint64](t, words, true), guarded[uint64](t, 21*words, true)
			v := make([]float32, dim)
			fillNormal(r, v)
			Signs(q, v)
			var want, got [22]int32
			for i := range 21 {
				w := make([]float32, dim)
				fillNormal(r, w)
				w[r.IntN(dim)] = float32(math.Copysign(0, -1)) // its sign counts
				Signs(rows[i*words:], w)
				for j := range v {
					if math.Signbit(float64(v[j])) != math.Signbit(float64(w[j])) {
						want[i]++
					}
				}
				if n := Hamming(q, rows[i*words:(i+1)*words]); n != int(want[i]) {
					t.Fatalf("dim %d: %d, want %d", dim, n, want[i])
				}
			}
			HammingRange(q, rows, got[:21])
			if got != want {
				t.Fatalf("dim %d: %v, want %v", dim, got, want)
			}
		}
		HammingRange(nil, nil, nil)
		mustPanic(t, "rows", func() { HammingRange(make([]uint64, 2), make([]uint64, 3), make([]int32, 2)) })
	})
}

func TestHammingRangeIsSplit(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := newRand(t)
		rows := make([]uint64, 3*(1<<14))
		for i := range rows {
			rows[i] = r.Uint64()
		}
		q, out := []uint64{1, 2, 3}, make([]int32, 1<<14)
		HammingRange(q, rows, out)
		for i, got := range out {
			want := bits.OnesCount64(1^rows[3*i]) + bits.OnesCount64(2^rows[3*i+1]) + bits.OnesCount64(3^rows[3*i+2])
			if int(got) != want {
				t.Fatalf("row %d: %d, want %d", i, got, want)
			}
		}
	})
}
