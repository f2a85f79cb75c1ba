package llm

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNormalizeName(t *testing.T) {
	for in, want := range map[string]string{
		`“南开大学”`:                  "南开大学",
		`《论语》`:                    "论语",
		`"Foo"`:                   "Foo",
		`'Foo'`:                   "Foo",
		`Foo "Bar"`:               `Foo "Bar"`,
		`"A" and "B"`:             `"A" and "B"`,
		`ＡＢＣ１２３`:                  "ABC123",
		`计算机 学院`:                  "计算机学院",
		`中国 AI`:                   "中国AI",
		`AI （中国）`:                 "AI (中国)",
		`<p>x</p>`:                "x",
		`a<br/>b`:                 "ab",
		`a < b > c`:               "a < b > c",
		`12`:                      "",
		`123`:                     "123",
		`1.2.3`:                   "",
		`12.345`:                  "12.345",
		`3D`:                      "3D",
		`   `:                     "",
		`  a  `:                   "a",
		`R&amp;D`:                 "R&D",
		`R&amp;amp;D`:             "R&D",
		`AT&T`:                    "AT&T",
		"a\x00b\x7fc":             "abc",
		"a\xed\xb2\x9ab":          "ab",
		"Cafe\u0301":              "Café",
		"well—known":              "well-known",
		`Electrons`:               "Electrons",
		`electrons`:               "electrons",
		"a\u00a0b":                "a b",
		`"'nested'"`:              "nested",
		`"`:                       `"`,
		`"half`:                   `"half`,
		`Scrooge's House`:         "Scrooge's House",
		`Danh mục "bài toán lớn"`: `Danh mục "bài toán lớn"`,
	} {
		if got := NormalizeName(in); got != want {
			t.Errorf("NormalizeName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNormalizeNameCutsOnARune(t *testing.T) {
	for _, c := range []struct {
		in    string
		runes int
	}{
		{strings.Repeat("学", 300), 170},
		{strings.Repeat("x", 300), 256},
		{strings.Repeat("é", 300), 256},
		{strings.Repeat("😀", 300), 128},
		{strings.Repeat("a", 255) + " b", 255},
	} {
		got := NormalizeName(c.in)
		if n := utf8.RuneCountInString(got); n != c.runes || len(got) > MaxNameBytes || !utf8.ValidString(got) {
			t.Errorf("%.8s...: %d runes, %d bytes, want %d runes", c.in, n, len(got), c.runes)
		}
	}
}

func TestNormalizeNameGivesUpOnEndlessNesting(t *testing.T) {
	if got := NormalizeName("&" + strings.Repeat("amp;", 1000)); got != "" {
		t.Errorf("have %q", got)
	}
}

func TestNormalizeType(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{"Person", "person", true},
		{"Natural Object", "naturalobject", true},
		{"organization, company", "organization", true},
		{" , company", "company", true},
		{"组织，公司", "组织", true},
		{`"Geo"`, "geo", true},
		{"UNKNOWN", "UNKNOWN", true},
		{"", "", false},
		{" ", "", false},
		{",", "", false},
		{"a/b", "", false},
		{`("geo"`, "", false},
		{"a|b", "", false},
		{"it's", "", false},
		{"<type>", "", false},
		{`a\b`, "", false},
	} {
		if got, ok := NormalizeType(c.in); got != c.want || ok != c.ok {
			t.Errorf("NormalizeType(%q) = %q %v, want %q %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestNormalizeDescription(t *testing.T) {
	for in, want := range map[string]string{
		"42":                     "42",
		" a\nb ":                 "a\nb",
		`"quoted"`:               "quoted",
		`"a" and "b"`:            `"a" and "b"`,
		"it’s “so”":              "it’s “so”",
		"x &lt; y":               "x < y",
		"\x01a":                  "a",
		"Jacob — a ghost":        "Jacob - a ghost",
		strings.Repeat("x", 900): strings.Repeat("x", 900),
	} {
		if got := NormalizeDescription(in); got != want {
			t.Errorf("NormalizeDescription(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSplitKeywords(t *testing.T) {
	for in, want := range map[string][]string{
		"b, a,b ,, a":         {"a", "b"},
		"权力，影响":               {"影响", "权力"},
		`"x", "y"`:            {"x", "y"},
		"":                    nil,
		" , ，":                nil,
		"9":                   nil,
		"2012, 9":             {"2012", "9"},
		"Zeta, alpha, éclair": {"Zeta", "alpha", "éclair"},
	} {
		if got := SplitKeywords(in); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
			t.Errorf("SplitKeywords(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSanitizeText(t *testing.T) {
	for _, c := range []struct {
		in, want string
		removed  int
	}{
		{"plain é 学\r\n\t ", "plain é 学\r\n\t ", 0},
		{"\ufeff keeps \x01 \u200b \ufffd", "\ufeff keeps \x01 \u200b \ufffd", 0},
		{"a\x00b\x00\x00c", "abc", 3},
		{"a\xed\xb2\x9ab", "ab", 1},
		{"\xff\xfe x \xc3", " x ", 2},
		{"", "", 0},
	} {
		if got, n := SanitizeText(c.in); got != c.want || n != c.removed {
			t.Errorf("SanitizeText(%q) = %q %d, want %q %d", c.in, got, n, c.want, c.removed)
		}
	}
}
