package format

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// normalRows is n rows of unit length; half keeps only float16 precision.
func normalRows(n, dim int, half bool) []float32 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	out := make([]float32, n*dim)
	for r := range n {
		row, sum := out[r*dim:(r+1)*dim], 0.0
		for i := range row {
			row[i] = float32(rng.NormFloat64())
			sum += float64(row[i]) * float64(row[i])
		}
		for i := range row {
			row[i] /= float32(math.Sqrt(sum))
			if half {
				row[i] = math.Float32frombits(math.Float32bits(row[i]) &^ (1<<13 - 1))
			}
		}
	}
	return out
}

func sameBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

func TestPlanesShrink(t *testing.T) {
	for _, c := range []struct {
		half bool
		want float64
	}{{false, 1.17}, {true, 1.9}} {
		src := normalRows(85, 768, c.half)
		b := appendPlanes(nil, src, new(planeScratch))
		if ratio := float64(4*len(src)) / float64(len(b)); ratio < c.want {
			t.Errorf("half %v: ratio %.3f, want %.2f", c.half, ratio, c.want)
		} else {
			t.Logf("half %v: ratio %.3f", c.half, ratio)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	for _, c := range []Codec{CodecRaw, CodecPlanes} {
		for _, half := range []bool{false, true} {
			src := normalRows(85, 768, half)
			s := new(planeScratch)
			enc := c.appendFloats(nil, src, s)
			dst := make([]float32, len(src))
			name := fmt.Sprintf("codec=%s/half=%v", c, half)
			b.Run(name+"/encode", func(b *testing.B) {
				b.SetBytes(int64(4 * len(src)))
				b.ReportAllocs()
				for b.Loop() {
					enc = c.appendFloats(enc[:0], src, s)
				}
			})
			b.Run(name+"/decode", func(b *testing.B) {
				b.SetBytes(int64(4 * len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if bad := c.decodeFloats(dst, enc, s); bad != "" {
						b.Fatal(bad)
					}
				}
			})
		}
	}
	src := normalRows(85, 768, false)
	s := new(planeScratch)
	planes := s.grow(len(src))
	b.Run("join", func(b *testing.B) {
		b.SetBytes(int64(4 * len(src)))
		for b.Loop() {
			joinPlanes(src, planes)
		}
	})
}
