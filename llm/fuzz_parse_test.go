package llm

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkExtraction holds for the answer of any model.
func checkExtraction(t *testing.T, e Extraction) {
	t.Helper()
	last := -1
	index := func(i int) {
		if i < 0 || i >= maxRecords || i <= last {
			t.Fatalf("index %d after %d", i, last)
		}
		last = i
	}
	for _, r := range e.Entities {
		index(r.Index)
		if r.Name == "" || r.Type == "" || r.Description == "" || NormalizeName(r.Name) != r.Name || !utf8.ValidString(r.Description) {
			t.Fatalf("entity %+v", r)
		}
	}
	last = -1
	for _, r := range e.Relations {
		index(r.Index)
		if r.Source == "" || r.Target == "" || r.Source == r.Target || r.Description == "" || r.Weight < 0 {
			t.Fatalf("relation %+v", r)
		}
		checkKeywords(t, r.Keywords)
	}
	checkKeywords(t, e.Keywords)
	if e.Malformed < 0 || len(e.Dropped) > maxDropped {
		t.Fatalf("%d malformed, %d dropped", e.Malformed, len(e.Dropped))
	}
}

func checkKeywords(t *testing.T, k []string) {
	t.Helper()
	if !slices.IsSorted(k) || len(slices.Compact(slices.Clone(k))) != len(k) || slices.Contains(k, "") {
		t.Fatalf("keywords %q", k)
	}
}

var answerSeeds = []string{
	"", "¶", "entity·A·geo·d\nrelation·A·B·k·d\n¶", "entity<|#||>A<#>geo<|x|>d", "relation<|>A<|>B<|>k<|>d",
	`("entity"<|>"A"<|>"geo"<|>"d")##("relationship"<|>"A"<|>"B"<|>"d"<|>"k"<|>9)##("content_keywords"<|>"x")¶`,
	"(\"entity\"<|>\"A\"<|>\"geo\"<|>\"d\"\n(\"relationship\"<|>\"A\"<|>\"B\"<|>\"d\"<\n|>\"k\"", `("relationship"<|>"A"<|>"B"<|>"d"</|>7)`,
	`{"entities":[{"name":"A","type":"geo","description":"\frac\u00e9\ud83d"}],"relationships":[{"source":"A","target":"B","keywords":["k"]`,
	"<think>x</think>entity·“学 校”·geo·&amp;lt;p&gt;", "{note} [{\"entities\":1}]", "entity·\xed\xb2\x9a\x00·a/b·\u202e",
}

func FuzzParseExtraction(f *testing.F) {
	for _, s := range answerSeeds {
		f.Add(marks.Replace(s))
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := ParseExtraction(s)
		checkExtraction(t, e)
		if again := ParseExtraction(s); !reflect.DeepEqual(e, again) {
			t.Fatal("not deterministic")
		}
	})
}

func FuzzParseKeywords(f *testing.F) {
	f.Add(`{"high_level_keywords":["A","B"],"low_level_keywords":"c; d"}`)
	f.Add("```json\n{\"low_level_keywords\":[\"\\u00e9")
	f.Add(`</think>[{}]`)
	f.Add(strings.Repeat(`{"a":[`, 40))
	f.Fuzz(func(t *testing.T, s string) {
		high, low, ok := ParseKeywords(s)
		if !ok && len(high)+len(low) > 0 {
			t.Fatal("keywords without an object")
		}
		for _, k := range [][]string{high, low} {
			if slices.Contains(k, "") {
				t.Fatalf("%q", k)
			}
			checkKeywords(t, slices.Sorted(slices.Values(k)))
		}
	})
}

func FuzzNormalizeName(f *testing.F) {
	for _, s := range []string{"A", `"'x'"`, "“南开 大学”", "&amp;lt;br/&gt;", "1.2.3", "ＡＢ\u3000Ｃ", "Cafe\u0301", "\xff\x00 ", "a\u202fb", "学'\"' x", strings.Repeat("é", 300), "&A& gt;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := NormalizeName(s)
		if again := NormalizeName(n); again != n {
			t.Fatalf("%q -> %q -> %q", s, n, again)
		}
		if len(n) > MaxNameBytes || utf8.RuneCountInString(n) > MaxNameRunes || !utf8.ValidString(n) || strings.TrimSpace(n) != n || strings.ContainsRune(n, 0) {
			t.Fatalf("%q -> %q", s, n)
		}
		if kind, ok := NormalizeType(s); ok {
			if again, ok := NormalizeType(kind); !ok || again != kind {
				t.Fatalf("type %q -> %q -> %q", s, kind, again)
			}
		}
	})
}

func FuzzMergeGleaning(f *testing.F) {
	for i, s := range answerSeeds {
		f.Add(marks.Replace(s), marks.Replace(answerSeeds[(i+2)%len(answerSeeds)]))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, glean := ParseExtraction(a), ParseExtraction(b)
		m := MergeGleaning(first, glean)
		winner := map[string]uint8{}
		for _, e := range m.Entities {
			if p, seen := winner[e.Name]; seen && p != e.Pass {
				t.Fatalf("%q from both answers", e.Name)
			}
			winner[e.Name] = e.Pass
		}
		for _, x := range []Extraction{first, glean} {
			for _, e := range x.Entities {
				if _, kept := winner[e.Name]; !kept {
					t.Fatalf("%q lost", e.Name)
				}
			}
		}
		if len(m.Entities) > len(first.Entities)+len(glean.Entities) || m.Malformed != first.Malformed+glean.Malformed {
			t.Fatal("counts")
		}
		checkKeywords(t, m.Keywords)
	})
}

// benchAnswer is a synthetic answer of about 64 KiB.
func benchAnswer(old, unicode bool) string {
	word := "Harbour"
	if unicode {
		word = "Hafenmühle’s"
	}
	var b strings.Builder
	for i := 0; b.Len() < 64<<10; i++ {
		n := word + " " + strings.Repeat("x", i%7+1)
		text := strings.Repeat(word+" stores grain and connects the northern quarter with the river. ", 2)
		if old {
			b.WriteString("(\"entity\"<|>\"" + n + "\"<|>\"geo\"<|>\"" + text + "\")##\n(\"relationship\"<|>\"" + n + "\"<|>\"River\"<|>\"" + text + "\"<|>\"trade, flow\"<|>8)##\n")
		} else {
			b.WriteString(marks.Replace("entity·" + n + "·Location·" + text + "\nrelation·" + n + "·River·trade, flow·" + text + "\n"))
		}
	}
	return b.String() + completeUpper
}

func BenchmarkParseExtraction(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"current/ascii", benchAnswer(false, false)}, {"current/unicode", benchAnswer(false, true)},
		{"old/ascii", benchAnswer(true, false)}, {"old/unicode", benchAnswer(true, true)},
		{"json", `{"entities":[` + strings.TrimSuffix(strings.Repeat(`{"name":"Harbour","type":"Location","description":"The harbour stores grain and connects the northern quarter with the river."},`, 500), ",") + `]}`},
		{"damaged", strings.ReplaceAll(benchAnswer(false, false), delimiter, "<|#||>")},
		{"hostile/pipes", strings.Repeat("<|", 32<<10)},
		{"hostile/bars", strings.Repeat("|", 64<<10)},
		{"hostile/cores", "<" + strings.Repeat("|#", 32<<10)},
		{"hostile/quotes", `("relationship"<|>"A"<|>"B"<|>` + strings.Repeat(`"`, 64<<10)},
		{"hostile/spaces", "entity" + strings.Repeat(delimiter+strings.Repeat(" ", 500)+"\"", 130)},
		{"hostile/heads", strings.Repeat(`("entity"<|>`, 6<<10)},
		{"hostile/think", strings.Repeat("</think>", 8<<10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				ParseExtraction(c.text)
			}
		})
	}
}
