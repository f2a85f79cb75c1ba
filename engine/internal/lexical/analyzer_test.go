package lexical

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func terms(text string) (out []string) {
	Analyzer{}.Terms(text, func(t []byte) { out = append(out, string(t)) })
	return out
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" .,;!\n", ""},
		{"The Observatory opened in 1917.", "the observatory opened in 1917"},
		{"two cities, their galaxies' stars; the bus passes by us", "two city their galaxy star the bus passe by us"},
		{"Hubble's law, students' work", "hubble law student work"},
		{"Hubble’s law", "hubble law"},
		{"O'Neill and l'homme", "oneill neill and lhomme homme"},
		{"don't", "dont don"},
		{"Café CAFÉ Cafe\u0301 cafe", "cafe cafe cafe cafe"},
		{"Łódź Straße Ærø œuvre İstanbul ığdır", "lodz strasse aero oeuvre istanbul igdir"},
		{"Ｆｕｌｌ ｗｉｄｔｈ ①②", "full width 12"},
		{"Ёлка Σίσυφος", "елка σισυφοσ"},
		{"snake_case CamelCase camelCase HTTPServer LLMs iPhone", "snakecase snake case camelcase camel case camelcase camel case httpserver http server llm iphone phone"},
		{"GPT-4 GPT4 graph-RAG", "gpt4 gpt 4 gpt4 graphrag graph rag"},
		{"llm/offline/script.go", "llmofflinescriptgo llm offline scriptgo script go"},
		{"api.example.com:8080", "apiexamplecom8080 apiexamplecom api example com 8080"},
		{"v1.5.2 3.14 2020-01-15 12,000 1,2", "v1.5.2 v1 5 2 3.14 3 14 2020-01-15 2020 01 15 12000 1 2"},
		{"C++ and C# or c++, not a+b or C+++", "c++ and c# or c++ not a b or c"},
		{"AT&T U.S. e.g.", "at&t at t us u s eg e g"},
		{"well-known", "wellknown well known"},
		{"天文台", "天文 文台"},
		{"水。AI模型", "水 ai 模型"},
		{"東京タワー", "東京 京タ タワ ワー"},
		{"ﾀﾜｰ", "タワ ワー"},
		{"이순신은 조선의 장군이다", "이순신 이순 순신 조선 장군이다 장군 군이 이다"},
		{"서울에서", "서울"},
		{"2024년에", "2024 년에"},
		{"\u1109\u1165\u110b\u116e\u11af", "서울"}, // decomposed
		{"ภาษา", "ภา าษ ษา"},
		{"שָׁלוֹם مُحَمَّد", "שלום محمد"},
		{"हिन्दी", "हिन्दी"},
		{"a\x00b\xffc", "a b c"},
		{"soft\u00adhyphen", "softhyphen"},
		{"½ ℃", "1 2 c"},
	} {
		if got := strings.Join(terms(c.text), " "); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestTermsAreBounded(t *testing.T) {
	long := strings.Repeat("a", 100)
	for _, c := range []struct {
		text string
		want []string
	}{
		{long, []string{long[:MaxTerm]}},
		{long + "B" + long, []string{long[:MaxTerm]}},
		{strings.Repeat("ж", 50), []string{strings.Repeat("ж", 32)}},
		{"x" + strings.Repeat("ж", 50), []string{"x" + strings.Repeat("ж", 31)}},
		{long + "/b", []string{long[:MaxTerm], "b"}},
	} {
		if got := terms(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}

// How a name is written must not decide whether it is found.
func TestSpellingsShareTerms(t *testing.T) {
	for _, c := range [][]string{
		{"snake_case", "SnakeCase", "snakeCase", "snake-case", "snake case"},
		{"GPT-4", "GPT 4", "gpt-4"},
		{"e-mail", "E-Mail", "email"},
		{"Wi-Fi", "WiFi", "wi-fi"},
		{"Müller-Lüdenscheidt", "Muller Ludenscheidt"},
		{"12,000", "12000"},
		{"이순신은", "이순신이", "이순신"},
	} {
		first := terms(c[0])
		for _, other := range c[1:] {
			shared := slices.ContainsFunc(terms(other), func(s string) bool { return slices.Contains(first, s) })
			if !shared {
				t.Errorf("%q %q and %q %q share no term", c[0], first, other, terms(other))
			}
		}
	}
}

// Stores keep the name of the analyzer and not its terms: whoever changes these
// must change that.
func TestTermsBelongToTheName(t *testing.T) {
	h := sha256.New()
	n := 0
	for _, text := range sample {
		for _, term := range terms(text) {
			fmt.Fprintf(h, "%s\n", term)
			n++
		}
	}
	got := fmt.Sprintf("%s %d %s", Analyzer{}.Name(), n, hex.EncodeToString(h.Sum(nil)[:8]))
	if want := "lexical-1 210 7aa54b359aa98263"; got != want {
		t.Errorf("the sample gives %s, not %s", got, want)
	}
}

var sample = []string{
	"The observatory's 100-inch telescope, paid for by John D. Hooker, saw first light in November 1917; galaxies, nebulae and buses.",
	"Die Universität Göttingen verlieh Lise Meitner die Ehrendoktorwürde. Straßenbahnen fahren bis 23:30 Uhr.",
	"L'École polytechnique d'Île-de-France n'est pas à côté. El Niño y la sequía.",
	"pkg.Open(dir, engine.Options{MaxSources: -1}) returns *DB; see https://example.com/a_b/c-d.html#x, C++17, F# and HTTPServer2.",
	"이순신은 조선 시대의 장군으로 1598년 노량해전에서 전사하였다. 서울특별시에는 국립중앙박물관이 있다. 고양이가 놀이를 한다.",
	"爱因斯坦于1879年出生在德国乌尔姆，1921年获得诺贝尔物理学奖。ＡＩ模型（大语言模型）。",
	"東京タワーは1958年に完成した。データベースのﾃｰﾌﾞﾙを々参照。",
	"Привет, Ёжик! Ελληνικά γράμματα με τόνους ς. שָׁלוֹם עֲלֵיכֶם. السَّلامُ عليكم. ภาษาไทยไม่มีช่องว่าง. हिन्दी में लिखा.",
}

func TestTermsAllocateNothing(t *testing.T) {
	yield := func([]byte) {}
	for _, text := range sample {
		Analyzer{}.Terms(text, yield)
		if n := testing.AllocsPerRun(100, func() { Analyzer{}.Terms(text, yield) }); n > 0 {
			t.Errorf("%.1f allocations for %q", n, text)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, text := range sample {
		f.Add(text)
	}
	for _, text := range []string{"\u0300a", "a'\u0301b", "C++", "가-", "1,000,000", "ﷺ", "\xf0\x9f", "a\u200db", "C\n++ 1,\n000 a-\nb 서\n울", strings.Repeat("ﷺ", 9)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := terms(text)
		for _, term := range got {
			switch {
			case term == "", len(term) > MaxTerm, !utf8.ValidString(term), strings.ContainsAny(term, "\x00 \n\t"):
				t.Errorf("%q gives the term %q", text, term)
			}
		}
		if again := terms(text); !slices.Equal(got, again) {
			t.Errorf("%q gives %q, then %q", text, got, again)
		}
		var byRun []string
		eachRun(text, func(start, end int) bool {
			byRun = append(byRun, terms(text[start:end])...)
			return true
		})
		if !slices.Equal(got, byRun) {
			t.Errorf("%q gives %q, its runs %q", text, got, byRun)
		}
		var byLine []string
		for line := range strings.SplitSeq(text, "\n") {
			byLine = append(byLine, terms(line)...)
		}
		if !slices.Equal(got, byLine) {
			t.Errorf("%q gives %q, its lines %q", text, got, byLine)
		}
		query := QueryTerms(nil, text)
		if len(text) <= maxQuery && len(got) > 0 && len(query) == 0 {
			t.Errorf("%q gives %q, but nothing to ask for", text, got)
		}
		for w := range Words(text) {
			for _, p := range Pieces(nil, text[w.Start:w.End], func(t []byte) float64 { return float64(len(t) % 5) }) {
				if p.Text == "" || !(p.Weight > 0) || !strings.Contains(text[w.Start:w.End], p.Text) {
					t.Errorf("%q has the piece %+v", text[w.Start:w.End], p)
				}
			}
		}
		for _, q := range query {
			if len(text) <= maxQuery && !slices.Contains(got, q) {
				t.Errorf("%q asks for %q, which is none of its terms %q", text, q, got)
			}
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	for _, c := range []struct {
		name string
		text string
	}{
		{"english", sample[0]}, {"german", sample[1]}, {"code", sample[3]}, {"korean", sample[4]}, {"chinese", sample[5]},
	} {
		text := strings.Repeat(c.text+" ", 100)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				Analyzer{}.Terms(text, func(term []byte) { n += len(term) })
			}
		})
	}
}
