package main

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestAMixtureIsTheSameOnAnyNumberOfCores(t *testing.T) {
	m := mixture{rows: 1500, dim: 64, queries: 20, seed: 7}
	a := m.make("a")
	before := runtime.GOMAXPROCS(1)
	b := m.make("b")
	runtime.GOMAXPROCS(before)
	if !slices.Equal(a.base, b.base) || !slices.Equal(a.query, b.query) {
		t.Error("two makings differ")
	}
	if a.rows() != 1500 || a.queries() != 20 {
		t.Errorf("%d rows and %d queries", a.rows(), a.queries())
	}
	for i := range a.rows() {
		var sum float64
		for _, x := range a.row(i) {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("row %d has norm %v", i, math.Sqrt(sum))
		}
	}
	m.seed = 8
	if c := m.make("c"); slices.Equal(a.base, c.base) {
		t.Error("another seed gives the same rows")
	}
}

// The mixture is part of every published figure. The sum is rounded: products may be fused on other machines.
func TestAMixtureDoesNotChange(t *testing.T) {
	d := mixture{rows: 100, dim: 32, queries: 1, seed: 42}.make("m")
	h := fnv.New64a()
	for _, x := range d.base {
		binary.Write(h, binary.LittleEndian, int32(math.Round(float64(x)*1e4)))
	}
	if got := h.Sum64(); got != mixtureSum && runtime.GOARCH == "amd64" {
		t.Errorf("sum %#x, want %#x", got, uint64(mixtureSum))
	}
}

const mixtureSum = 0x1868815b3059a4e6

func TestHalfNumbers(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x7bff: 65504, 0x0001: 1. / (1 << 24), 0x8001: -1. / (1 << 24), 0x0400: 1. / (1 << 14),
		0x7c00: float32(math.Inf(1)),
	} {
		if got := half(bits); got != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
	if got := half(0x7e00); got == got {
		t.Errorf("not a number is %v", got)
	}
}

func TestDataFileIsWhatDriversRead(t *testing.T) {
	d := &dataset{dim: 2, base: []float32{1, 2, 3, 4, 5, 6}, query: []float32{7, 8}}
	path := filepath.Join(t.TempDir(), "data")
	if err := d.write(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var words []uint32
	for ; len(b) >= 4; b = b[4:] {
		words = append(words, binary.LittleEndian.Uint32(b))
	}
	want := []uint32{dataMagic, 3, 2, 1}
	for i := range 8 {
		want = append(want, math.Float32bits(float32(i+1)))
	}
	if !slices.Equal(words, want) {
		t.Errorf("%x, want %x", words, want)
	}
}

func TestRealTextIsReadOrReportedMissing(t *testing.T) {
	for _, shared := range []string{"", t.TempDir()} {
		if _, err := loadText(shared); err != errNoText {
			t.Errorf("%q: %v, want %v", shared, err, errNoText)
		}
	}
	shared := os.Getenv("LIGHTRAG_SHARED")
	if shared == "" {
		t.Skip("LIGHTRAG_SHARED is not set")
	}
	d, err := loadText(shared)
	if err != nil {
		t.Fatal(err)
	}
	if d.rows() != 20_000 || d.queries() != 1000 || d.String() != "real text 20k x 384" {
		t.Fatalf("%s with %d queries", d, d.queries())
	}
	// The file has the true neighbours as well, found by other code.
	b, err := os.ReadFile(filepath.Join(shared, "data", "ann", "wordnet-lsa-384.gt100.i32"))
	if err != nil {
		t.Fatal(err)
	}
	d.query = d.query[:50*d.dim]
	got := exact(d, topK, nil)
	var ids []int32
	for q := range d.queries() {
		for i := range topK {
			ids = append(ids, int32(binary.LittleEndian.Uint32(b[4*(100*q+i):])))
		}
	}
	if r := got.recall(d, ids); r != 1 {
		t.Errorf("recall of the recorded neighbours is %v", r)
	}
}
