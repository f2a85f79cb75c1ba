package simd

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// FuzzTiersAgree gives the same bytes to every tier and to plain Go: as codes, as small integers, whose products
// are exact in float32, and as the bits of float32 numbers.
func FuzzTiersAgree(f *testing.F) {
	f.Add([]byte("0123456789"), uint16(384), uint8(0), uint32(0))
	f.Add([]byte{0x80, 0x7F, 0xFF, 0}, uint16(65), uint8(7), uint32(0x7FFFFF))
	f.Add([]byte{0, 0, 0x80, 0x3F, 0, 0, 0, 0x80}, uint16(130), uint8(33), uint32(12345))
	f.Fuzz(func(t *testing.T, data []byte, wide uint16, count uint8, spread uint32) {
		if len(data) == 0 {
			return
		}
		dim, n := int(wide)%700+1, int(count)%70
		at := func(i int) byte { return data[i%len(data)] ^ byte(i/len(data)) }

		m := &Matrix{Dim: dim, Shift: 2, Chunks: [][]float32{make([]float32, 4*dim), make([]float32, 4*dim)}}
		m8 := &Matrix8{Dim: dim, Stride: stride8(dim), Data: make([]uint8, 8*stride8(dim))}
		for c := range 2 {
			for i := range m.Chunks[c] {
				m.Chunks[c][i] = float32(int8(at(c*i + i + c)))
			}
		}
		for i := range m8.Data {
			m8.Data[i] = at(i + 1)
		}
		q, bits, codes := make([]float32, dim), make([]float32, dim), make([]uint8, dim)
		for i := range dim {
			q[i], codes[i] = float32(int8(at(3*i))), at(5*i+1)
			raw := binary.LittleEndian.Uint32([]byte{at(4 * i), at(4*i + 1), at(4*i + 2), at(4*i + 3)})
			bits[i] = math.Float32frombits(raw &^ (1 << 30)) // finite, of at most 2
		}
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = uint32(mix(uint64(spread)+uint64(i)) & 7)
		}
		first := int(spread & 7)
		words := make([]uint64, 8*SignWords(dim))
		for i := range words {
			words[i] = mix(uint64(at(i)))
		}

		type result struct {
			dots, rotated, scaled []float32
			dots8, hamming        []int32
			large                 []uint32
			quantised             []uint8
			norm                  float64
		}
		run := func(to tier) (r result) {
			force(t, to)
			r.dots = make([]float32, n+8-first+1)
			DotMany(q, m, ids, r.dots)
			DotRange(q, m, uint32(first), r.dots[n:n+8-first])
			r.dots[n+8-first] = Dot(q, m.Row(uint32(first)))
			q8 := NewQuery8(dim)
			q8.Load(codes)
			r.dots8 = make([]int32, n+8-first+1)
			DotMany8(&q8, m8, ids, r.dots8)
			DotRange8(&q8, m8, uint32(first), r.dots8[n:n+8-first])
			r.large = make([]uint32, 8-first)
			r.large = r.large[:ScanRange8(&q8, m8, uint32(first), 8-first, int32(spread), r.large, make([]int32, 8))]
			r.dots8[n+8-first] = Dot8(&q8, m8.Row(uint32(first)))
			r.rotated, r.scaled, r.quantised = make([]float32, dim), make([]float32, dim), make([]uint8, dim)
			NewRotator(dim, uint64(spread)).Rotate(r.rotated, bits)
			r.norm = Norm(bits)
			Scale(r.scaled, bits, r.norm+0x1p-100)
			Quantise(r.quantised, r.rotated, UnitScale(dim))
			r.hamming = make([]int32, 8)
			HammingRange(words[:SignWords(dim)], words, r.hamming)
			return r
		}
		want := run(tierGo)
		for _, to := range supported()[1:] {
			got := run(to)
			if !slices.Equal(got.dots, want.dots) || !slices.Equal(got.dots8, want.dots8) ||
				!slices.Equal(got.large, want.large) {
				t.Errorf("%v: products differ", to)
			}
			if !slices.Equal(got.rotated, want.rotated) || !slices.Equal(got.quantised, want.quantised) {
				t.Errorf("%v: rotated or quantised vectors differ", to)
			}
			if got.norm != want.norm || !slices.Equal(got.scaled, want.scaled) {
				t.Errorf("%v: norms or scaled vectors differ", to)
			}
			if !slices.Equal(got.hamming, want.hamming) {
				t.Errorf("%v: distances differ", to)
			}
		}
	})
}
