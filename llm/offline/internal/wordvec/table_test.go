package wordvec

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func small() Content {
	return Content{
		Dims:   3,
		Form:   []string{"cat", "cats", "dog", "猫"},
		Row:    []int{0, 0, 1, 0},
		Count:  []uint32{30, 10},
		Scale:  []float32{0.5, 2},
		Vector: []int8{1, -2, 127, -127, 0, 4},
	}
}

func encode(t testing.TB, c Content) string {
	t.Helper()
	b, err := Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTableGivesBackWhatWasEncoded(t *testing.T) {
	table, err := Decode(encode(t, small()))
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
	for form, want := range map[string][]float32{"cat": {1.5, 0, 64.5}, "cats": {1.5, 0, 64.5}, "猫": {1.5, 0, 64.5}, "dog": {-253, 1, 9}} {
		row, ok := table.Row(form)
		got := []float32{1, 1, 1}
		if table.Add(got, row, 1); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, want %v", form, got, ok, want)
		}
	}
	for _, form := range []string{"", "ca", "catsdog", "Cat", "\xff"} {
		if row, ok := table.Row(form); ok {
			t.Errorf("%q has row %d", form, row)
		}
	}
	if a, b := table.Share(0), table.Share(1); a != 0.75 || b != 0.25 || table.Dims() != 3 {
		t.Errorf("shares %g and %g, %d components", a, b, table.Dims())
	}
	v := []float32{0, 0, 0}
	table.Add(v, 1, 0.25)
	if !slices.Equal(v, []float32{-63.5, 0, 2}) {
		t.Errorf("a quarter of dog is %v", v)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, change := range map[string]func(*Content){
		"a form twice":       func(c *Content) { c.Form[1] = "dog" },
		"a row out of range": func(c *Content) { c.Row[2] = 2 },
		"a negative row":     func(c *Content) { c.Row[2] = -1 },
		"a missing row":      func(c *Content) { c.Row = c.Row[1:] },
		"a missing vector":   func(c *Content) { c.Vector = c.Vector[1:] },
		"a scale of 0":       func(c *Content) { c.Scale[0] = 0 },
		"a scale of NaN":     func(c *Content) { c.Scale[0] = float32(math.NaN()) },
		"a count of 0":       func(c *Content) { c.Count[0] = 0 },
		"an overflow":        func(c *Content) { c.Count[0] = math.MaxUint32 },
	} {
		c := small()
		change(&c)
		if b, err := Encode(c); err == nil {
			t.Errorf("%s: a table of %d bytes", name, len(b))
		}
	}
	if table, err := Decode(encode(t, Content{Dims: 2})); err != nil {
		t.Errorf("no words: %v", err)
	} else if _, ok := table.Row("cat"); ok {
		t.Error("a table of no words has a cat")
	}
}

func TestVerifyFindsEveryChangedByte(t *testing.T) {
	whole := encode(t, small())
	for i := len(magic); i < len(whole); i++ {
		b := []byte(whole)
		b[i] ^= 0x10
		if table, err := Decode(string(b)); err == nil && table.Verify() == nil {
			t.Errorf("byte %d changed, and nothing is wrong", i)
		}
	}
	for n := range len(whole) {
		if _, err := Decode(whole[:n]); err == nil {
			t.Errorf("the first %d bytes are a table", n)
		}
	}
}

func TestDefaultTable(t *testing.T) {
	table := Default()
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
	if n := len(embedded); n > 10<<20 {
		t.Errorf("%d bytes", n)
	}
	cosine := func(a, b string) float64 {
		vectors := [2][]float32{make([]float32, table.Dims()), make([]float32, table.Dims())}
		for i, form := range []string{a, b} {
			row, ok := table.Row(form)
			if !ok {
				t.Errorf("no %q", form)
			}
			table.Add(vectors[i], row, 1)
		}
		var ab, aa, bb float64
		for i, x := range vectors[0] {
			y := vectors[1][i]
			ab, aa, bb = ab+float64(x*y), aa+float64(x*x), bb+float64(y*y)
		}
		return ab / math.Sqrt(aa*bb)
	}
	for _, w := range []string{"doctor physician banana", "car automobile parliament", "king monarch keyboard", "delete erase violin", "went go purple", "mice mouse treaty"} {
		f := strings.Fields(w)
		if near, far := cosine(f[0], f[1]), cosine(f[0], f[2]); near < far+0.2 {
			t.Errorf("%s is near %s by %.2f, and near %s by %.2f", f[0], f[1], near, f[2], far)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(embedded); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRowAndAdd(b *testing.B) {
	table := Default()
	v := make([]float32, table.Dims())
	b.ReportAllocs()
	for b.Loop() {
		row, _ := table.Row("automobile")
		table.Add(v, row, 1)
	}
}

func FuzzDecode(f *testing.F) {
	whole := encode(f, small())
	f.Add(whole, "cat")
	f.Add(encode(f, Content{Dims: 1}), "")
	f.Add(whole[:len(whole)-1], "dog")
	f.Fuzz(func(t *testing.T, data, form string) {
		table, err := Decode(data)
		if err != nil {
			return
		}
		_ = table.Verify()
		for _, s := range []string{form, "cat", "dog"} {
			if row, ok := table.Row(s); ok {
				table.Add(make([]float32, table.Dims()), row, 1)
				if p := table.Share(row); !(p > 0 && p <= 1) {
					t.Errorf("share %g", p)
				}
			}
		}
	})
}
