package llm

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// tokenizers are shared by the tests: a vocabulary takes a while to load.
func tokenizers(t testing.TB) map[string]Tokenizer {
	t.Helper()
	out := map[string]Tokenizer{}
	for _, name := range []string{TokenizerO200k, TokenizerCl100k, TokenizerChars4} {
		tok, err := NewTokenizer(name)
		if err != nil || tok.Name() != name {
			t.Fatal(name, err)
		}
		out[name] = tok
	}
	return out
}

var tokenTexts = []string{
	"", "a", "hello world", "Hello, world! It's 2026.\n\nNew  paragraph\t\tand   spaces   ",
	"세계의 모든 지식 그래프는 한국어로도 쓰인다. 뷁뜛쀍", "知識圖譜與向量檢索，𠮷野家。", "🌍👩‍👩‍👧‍👦🏳️‍🌈 emoji e\u0301 \u202eRTL עברית",
	"bad \xff\xfe\x80 bytes \xed\xb2\x9a end\xe2\x82", "\x00\x01 control", "<|endoftext|> is text", strings.Repeat("가", 300), strings.Repeat("🧬", 100),
}

func TestNewTokenizerKnowsItsNames(t *testing.T) {
	if _, err := NewTokenizer("gpt2"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "chars4") {
		t.Errorf("error %v", err)
	}
}

func TestTokenCounts(t *testing.T) {
	toks := tokenizers(t)
	for _, tc := range []struct {
		text                  string
		o200k, cl100k, chars4 int
	}{
		{"", 0, 0, 0}, {"hello world", 2, 2, 3}, {"abcd", 1, 1, 1}, {"abcde", 2, 2, 2},
		{"tiktoken is great!", 6, 6, 5}, {"antidisestablishmentarianism", 6, 6, 7}, {"2 + 2 = 4", 7, 7, 3},
		{"お誕生日おめでとう", 8, 9, 3},
	} {
		for name, want := range map[string]int{TokenizerO200k: tc.o200k, TokenizerCl100k: tc.cl100k, TokenizerChars4: tc.chars4} {
			if got := toks[name].Count(tc.text); got != want {
				t.Errorf("%s %q: %d tokens, want %d", name, tc.text, got, want)
			}
		}
	}
}

func TestCut(t *testing.T) {
	for name, tok := range tokenizers(t) {
		for _, s := range tokenTexts {
			n := tok.Count(s)
			for _, m := range []int{-1, 0, 1, 2, 3, 5, 8, n - 1, n, n + 1, int(^uint(0) >> 1)} {
				got := tok.Cut(s, m)
				if !strings.HasPrefix(s, got) || tok.Count(got) > max(m, 0) {
					t.Fatalf("%s: Cut(%q, %d) = %q of %d tokens", name, s, m, got, tok.Count(got))
				}
				if m >= n && got != s {
					t.Fatalf("%s: Cut(%q, %d) lost %q", name, s, m, s[len(got):])
				}
				if utf8.ValidString(s) && !utf8.ValidString(got) {
					t.Fatalf("%s: Cut(%q, %d) ends inside a character", name, s, m)
				}
				if m >= 4 && m < n && got == "" {
					t.Fatalf("%s: Cut(%q, %d) is empty", name, s, m)
				}
			}
		}
	}
	if got := (chars4{}).Cut("가나다라마바사아자", 2); got != "가나다라마바사아" {
		t.Errorf("chars4 cut to %q", got)
	}
}

// checkWindows holds every window to the contract. That a window is a slice of
// the text tells where it lies.
func checkWindows(t *testing.T, tok Tokenizer, s string, size, overlap int) {
	t.Helper()
	valid := validUTF8(s)
	total := tok.Count(s)
	windows := tok.Windows(valid, size, overlap)
	if !slices.Equal(windows, tok.Windows(s, size, overlap)) {
		t.Fatalf("%s %d/%d of %q: invalid bytes change the windows", tok.Name(), size, overlap, s)
	}
	end := 0
	for i, w := range windows {
		if !utf8.ValidString(w.Text) || w.Text == "" || w.Tokens < 1 || w.Tokens > size {
			t.Fatalf("%s %d/%d of %q: window %d is %q with %d tokens", tok.Name(), size, overlap, s, i, w.Text, w.Tokens)
		}
		at := int(uintptr(unsafe.Pointer(unsafe.StringData(w.Text))) - uintptr(unsafe.Pointer(unsafe.StringData(valid))))
		if at > end || overlap == 0 && at != end {
			t.Fatalf("%s %d/%d of %q: window %d begins at %d, the ones before end at %d", tok.Name(), size, overlap, s, i, at, end)
		}
		end = max(end, at+len(w.Text))
	}
	if end != len(valid) {
		t.Fatalf("%s %d/%d of %q: the windows end at %d of %d", tok.Name(), size, overlap, s, end, len(valid))
	}
	if step := size - overlap; size >= 4 {
		least := max(total-3+step-1, 0) / step // a character of up to four tokens may fill the last windows
		if got, most := len(windows), (total+step-1)/step; got > most || got < least {
			t.Fatalf("%s %d/%d of %q: %d windows of %d tokens, want %d", tok.Name(), size, overlap, s, got, total, most)
		}
	}
}

func TestWindowsLoseNothing(t *testing.T) {
	for _, tok := range tokenizers(t) {
		for _, s := range tokenTexts {
			for _, w := range [][2]int{{1, 0}, {2, 1}, {3, 0}, {4, 0}, {4, 3}, {7, 2}, {1000, 100}} {
				checkWindows(t, tok, s, w[0], w[1])
			}
		}
	}
}

func TestWindowsFollowTheRule(t *testing.T) {
	for name, tok := range tokenizers(t) {
		unit := " word" // one token of either vocabulary
		if name == TokenizerChars4 {
			unit = "가나다라"
		}
		for _, tc := range []struct {
			total, size, overlap int
			want                 []int
		}{
			{1250, 1200, 100, []int{1200, 150}}, {1200, 1200, 100, []int{1200, 100}}, {1100, 1200, 100, []int{1100}},
			{1101, 1200, 100, []int{1101, 1}}, {0, 1200, 100, nil}, {10, 4, 0, []int{4, 4, 2}}, {5, 4, 3, []int{4, 4, 3, 2, 1}},
			{5, 4, 9, []int{4, 4, 3, 2, 1}}, {5, 4, -1, []int{4, 1}}, {5, 0, 0, nil},
		} {
			text := strings.Repeat(unit, tc.total)
			got := tok.Windows(text, tc.size, tc.overlap)
			if len(got) != len(tc.want) {
				t.Fatalf("%s %d in %d/%d: %d windows", name, tc.total, tc.size, tc.overlap, len(got))
			}
			at, step := 0, tc.size-min(max(tc.overlap, 0), tc.size-1)
			for i, w := range got {
				if w.Tokens != tc.want[i] || w.Text != text[at*len(unit):(at+w.Tokens)*len(unit)] {
					t.Errorf("%s %d in %d/%d: window %d has %d tokens, want %d", name, tc.total, tc.size, tc.overlap, i, w.Tokens, tc.want[i])
				}
				at += step
			}
		}
	}
}

func TestPiecesDoNotChangeTokens(t *testing.T) {
	texts := append(slices.Clone(tokenTexts), " \n \n \n x", "a\n\n  \n\tb!\n \n/ c\r\n \r\n", "if x:\n    y()\n\n    z = {\n\t1,\n\t}\n", "\n \u00a0\n\u3000 \n")
	for name, tok := range tokenizers(t) {
		b, ok := tok.(*bpe)
		if !ok {
			continue
		}
		for _, s := range texts {
			s = validUTF8(s)
			var got []string
			n := 0
			atLines(s, 1, func(p string) { n++; got = append(got, b.encode(p)...) })
			if want := b.encode(s); !slices.Equal(got, want) {
				t.Errorf("%s %q: %q in %d pieces, %q whole", name, s, got, n, want)
			}
		}
	}
	n := 0
	atLines(strings.Repeat(" \n", pieceBytes*5/4), pieceBytes, func(p string) {
		if n++; len(p) > pieceBytes+1 {
			t.Errorf("a piece of %d bytes", len(p))
		}
	})
	if n != 3 {
		t.Errorf("%d pieces", n)
	}
}

// What is split and merged by our own tables has the tokens that the codec gives.
func checkTokens(t *testing.T, b *bpe, s string) {
	t.Helper()
	s = validUTF8(s)
	var want []int
	b.slow(s, func(end int) { want = append(want, end) })
	for range 2 { // the second time pieces are remembered
		var got []int
		b.fast(b.ranks(), s, func(end int) { got = append(got, end) })
		if !slices.Equal(got, want) {
			t.Fatalf("%s: tokens of %q end at %d, want %d", b.name, s, got, want)
		}
		if n := b.countFast(b.ranks(), s); n != len(want) {
			t.Fatalf("%s: %d tokens, want %d: %q", b.name, n, len(want), s)
		}
	}
}

func bpes(t testing.TB) (out []*bpe) {
	for _, tok := range tokenizers(t) {
		if b, ok := tok.(*bpe); ok {
			out = append(out, b)
		}
	}
	return out
}

func TestTokensAreThoseOfTheCodec(t *testing.T) {
	for _, b := range bpes(t) {
		for _, s := range tokenTexts {
			checkTokens(t, b, s)
		}
		for _, s := range []string{
			" a", "a b", "a  b", "a   b c", "a \n b", "a.\n b", "a. \n\n  b", "don't we're I'LL x's y", "a\t b \tc", "é b", "漢 字 b", "“a” b", "a\u00a0 b", "a \u00a0b",
			"a\u3000 b", "a\u200b b", "1 2 345 6789 0", "- - -- --- x", "x /\n y", "a\x7f b", "a\x01 b\x02c", "/etc/fstab (see x), http://a.b/c?d=e&f g", "🙂 🙂  a", "HELLOworld helloWORLD HTTPServer iPhone's IT'S x'LLy 'S ''s",
			"a\r\n\r\nb \t\tx\n\n  \n y((z//\n/q", "\t(a", " (a", " 1", "  1", "a\n", "if (x[i] != '\\n') { y += 0x1F2e; }", "it'ſ 'ſ ſ'ſ", "漢字AB漢 AB漢字 ǅABC aǅb", "\u0301AB \u0301's x\u0301's !!\u0301a",
			"\x7f\x7f a\x7f\x7f!", "１２３４ ٣٤٥٦ Ⅻ²³", strings.Repeat("word", 60), strings.Repeat("図書館", 40), strings.Repeat("=", 200),
		} {
			checkTokens(t, b, s)
		}
	}
}

// Texts of characters of every class, in every script that tells the classes apart.
func TestTokensOfManyScripts(t *testing.T) {
	scripts := []string{
		"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLM", "éüßñçæøåłšžﬁ", "ÉÜÑÇÆØÅŁ", "ǅǈǲ", "абвгдежзий", "АБВГДЕ", "αβγδέώς", "ΑΒΓΔΏ", "אבגדש", "ابتثجحخدرسلمنهوي",
		"कखगघचजनमरहअआ", "ािीुूे्ंः", "กขคงจฉาิีุเแโไ่้", "漢字日本中文研究所大学経済語", "ひらがなのはをにてした", "カタカナーンスト", "가나다라마바사아자차세계지식한국어", "ㄱㄴㅏ", "𠮷𠀋𪚥", "ʰʲˠ々〻", "\u0301\u0308\u20dd\ufe0f\u200d",
		"0123456789", "٠١٢٣٤", "Ⅻ½²①", "!?.,;:()[]{}<>/\\|-_=+*&^%$#@~`", "'’“”„«»—–…", "'s't're've'm'll'd'S'T'RE'VE'M'LL'D'ſ", "🌍🙂👩🏽🎉🏳️", "€£¥©®™", "ſK", "\x00\x01\x1b\x7f", "\u200b\u202e\ufeff\u00ad\ufffd", "\ue000\U0010ffff",
		"    ", "\t\v\f", "\n\r", "\u00a0\u3000\u2003\u0085\u2028\u1680",
	}
	parts := make([][]rune, len(scripts))
	for i, s := range scripts {
		parts[i] = []rune(s)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	toks := bpes(t)
	for range 6000 {
		var text []rune
		few := [4]int{rnd.IntN(len(parts)), rnd.IntN(len(parts)), rnd.IntN(len(parts)), rnd.IntN(len(parts))}
		for range 1 + rnd.IntN(16) {
			part := parts[few[rnd.IntN(4)]]
			for range 1 + rnd.IntN(1+rnd.IntN(12)) {
				text = append(text, part[rnd.IntN(len(part))])
			}
		}
		for _, b := range toks {
			checkTokens(t, b, string(text))
		}
	}
}

func TestEveryCharacterHasItsClass(t *testing.T) {
	toks := bpes(t)
	c := classes{runeClasses()}
	for r := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		if got, n := c.at(string(r), 0); got != classify(r) || n != utf8.RuneLen(r) {
			t.Fatalf("%U has class %b and %d bytes, want %b", r, got, n, classify(r))
		}
		if r < 0x400 || r%97 == 0 {
			for _, b := range toks {
				checkTokens(t, b, "x"+string(r)+"Yz "+string(r)+" !"+string(r)+"1\n"+string(r))
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range tokenTexts {
		f.Add(s)
	}
	toks := bpes(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, b := range toks {
			checkTokens(t, b, s)
		}
	})
}

func TestTokenizersTakeLinearTime(t *testing.T) {
	for name, tok := range tokenizers(t) {
		tok.Count("warm up")
		for _, unit := range []string{"a", "A", "가", "\xff", " ", "\n", " \n", "!", "1", "'", "🌍", "a ", "\u0301", "aA", "ß\u200d", "\t \r\n", "\n\u3000", "\n\v"} {
			n := 30_000
			if strings.ContainsAny(unit, "\n") {
				n = 60_000
			}
			start := time.Now()
			s := strings.Repeat(unit, n/len(unit))
			if b, ok := tok.(*bpe); ok { // by either way
				tokens := 0
				b.slow(validUTF8(s), func(int) { tokens++ })
				if got := b.countFast(b.ranks(), validUTF8(s)); got != tokens {
					t.Errorf("%s: %d tokens of %q, want %d", name, got, unit, tokens)
				}
			}
			tok.Count(s)
			tok.Count(s + "x")
			if d := time.Since(start); d > 8*time.Second { // see pieces: the slowest took 20 s without
				t.Errorf("%s: %d bytes of %q took %v", name, 2*n, unit, d)
			}
		}
	}
}

func TestTokenizersAreSafeForConcurrentUse(t *testing.T) {
	for name, tok := range tokenizers(t) {
		want := tok.Count(tokenTexts[3])
		done := make(chan int)
		for range 4 {
			go func() { done <- tok.Count(tokenTexts[3]) }()
		}
		for range 4 {
			if got := <-done; got != want {
				t.Errorf("%s: %d, want %d", name, got, want)
			}
		}
	}
}

func FuzzTokenizers(f *testing.F) {
	toks := tokenizers(f)
	for i, s := range tokenTexts {
		f.Add(s, 1+i, i/2)
	}
	f.Fuzz(func(t *testing.T, s string, size, overlap int) {
		if size < 1 || overlap < 0 || overlap >= size || size > 1<<20 || len(s)/(size-overlap) > 1000 {
			return
		}
		for _, tok := range toks {
			checkWindows(t, tok, s, size, overlap)
			if got := tok.Cut(s, size); !strings.HasPrefix(s, got) || tok.Count(got) > size {
				t.Fatalf("%s: Cut(%q, %d) = %q", tok.Name(), s, size, got)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	texts := map[string]string{
		"latin": "The engine stores entities, relations and chunks (see storage.md, §4.2); it's linear in the text. ",
		"han":   "知識圖譜與向量檢索結合起來，可以回答跨越多個文件的問題。北京大学成立于一八九八年。",
		"kana":  "日本語の文章は空白で区切られていないため、形態素解析が必要になることが多い。",
	}
	for name, tok := range tokenizers(b) {
		for script, text := range texts {
			b.Run(name+"/"+script, func(b *testing.B) {
				s := strings.Repeat(text, 1+2000/len(text)) // too long to be remembered whole
				for range warmBytes / len(s) {
					tok.Count(s)
				}
				b.SetBytes(int64(len(s)))
				b.ReportAllocs()
				for b.Loop() {
					tok.Count(s)
				}
			})
		}
	}
}
