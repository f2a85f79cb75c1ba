package lexical

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lightctl/lightrag/llm/offline"
)

// maxQueryTerms bounds the distinct terms of a query.
const maxQueryTerms = 256

// QueryTerms appends the distinct terms of a question or keyword to dst, in the
// order of the text, at most 256. Words that carry no meaning of their own in the
// language of the text ("what", "the", 무엇인가, 什么) give none, unless there are no others:
// they would find what has nothing to do with the question.
func QueryTerms(dst []string, text string) []string {
	text = text[:min(len(text), maxQuery)]
	base := len(dst)
	add := func(term []byte) {
		if len(dst)-base < maxQueryTerms && !slices.Contains(dst[base:], string(term)) {
			dst = append(dst, string(term))
		}
	}
	var a Analyzer
	for w := range Words(text) {
		if !w.Function {
			a.Terms(text[w.Start:w.End], func(t []byte) {
				if !functionPair(t) {
					add(t)
				}
			})
		}
	}
	if len(dst) == base {
		a.Terms(text, add)
	}
	return dst
}

// maxQuery bounds, in bytes, what is read of a query.
const maxQuery = 8 << 10

// Word is a piece of a text between spaces and marks that join nothing: a word
// of an alphabet or of Korean, a clause of Chinese or Japanese.
type Word struct {
	Start, End int  // bytes of the text
	Function   bool // it carries no meaning of its own
}

// Words yields the words of a text that is read as a question.
func Words(text string) func(yield func(Word) bool) {
	return func(yield func(Word) bool) {
		function := offline.FunctionWords(text)
		eachRun(text, func(start, end int) bool {
			return yield(Word{start, end, function(text[start:end])})
		})
	}
}

// functionPair reports a pair of characters that belongs to grammar: hiragana
// only, or of a Chinese question.
func functionPair(term []byte) bool {
	r, size := utf8.DecodeRune(term)
	switch {
	case r < 0x3041:
		return false
	case r <= 0x3096:
		r, _ = utf8.DecodeRune(term[size:])
		return size == len(term) || r >= 0x3041 && r <= 0x3096
	}
	return unicode.Is(unicode.Han, r) && chineseFunction()[string(term)]
}

var chineseFunction = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, p := range strings.Fields(`什么 甚么 怎么 怎样 如何 为何 为什 哪里 哪些 哪个 哪儿 哪年 哪位 多少 是谁 谁是 是什 么是 是否 有哪 有什 么样 请问 的是 是在 在哪 这个 那个 这些 那些 他们 我们 你们 可以
		什麼 怎麼 怎樣 為何 為什 哪裡 哪個 多少 麼是 有沒 請問 這個 那個 這些`) {
		m[p] = true
	}
	return m
})

// Piece is a part of a question that stands by itself: a word, a Korean word
// without its particle, a stretch of Chinese or Japanese.
type Piece struct {
	Text   string
	Weight float64 // the greatest of its terms
}

// Pieces appends the pieces of a word whose terms weigh more than 0. A stretch of
// characters ends where a pair of them weighs nothing or belongs to grammar.
func Pieces(dst []Piece, word string, weigh func(term []byte) float64) []Piece {
	for len(word) > 0 {
		r, _ := utf8.DecodeRuneInString(word)
		pairs := scriptOf(r) == scriptPairs
		end := strings.IndexFunc(word, func(r rune) bool { return (scriptOf(r) == scriptPairs) != pairs })
		if end < 0 {
			end = len(word)
		}
		if part := word[:end]; pairs {
			dst = stretches(dst, part, weigh)
		} else {
			p := Piece{Text: bare(part)}
			Analyzer{}.Terms(part, func(t []byte) { p.Weight = max(p.Weight, weigh(t)) })
			if p.Weight > 0 {
				dst = append(dst, p)
			}
		}
		word = word[end:]
	}
	return dst
}

// bare takes a possessive or a particle off a word.
func bare(word string) string {
	for _, s := range [...]string{"'s", "’s", "'S", "’S"} {
		if w, ok := strings.CutSuffix(word, s); ok && w != "" {
			return w
		}
	}
	if r, _ := utf8.DecodeRuneInString(word); scriptOf(r) == scriptHangul {
		word, _ = offline.SplitParticle(word)
	}
	return word
}

func stretches(dst []Piece, text string, weigh func(term []byte) float64) []Piece {
	if utf8.RuneCountInString(text) == 1 {
		if w := weigh([]byte(text)); w > 0 {
			dst = append(dst, Piece{text, w})
		}
		return dst
	}
	open := Piece{}
	start, end := 0, 0 // of the open stretch
	flush := func() {
		if open.Weight > 0 {
			open.Text = text[start:end]
			dst = append(dst, open)
		}
		open = Piece{}
	}
	for i := 0; ; {
		_, first := utf8.DecodeRuneInString(text[i:])
		if i+first >= len(text) {
			break
		}
		_, second := utf8.DecodeRuneInString(text[i+first:])
		pair := []byte(text[i : i+first+second])
		if w := weigh(pair); w > 0 && !functionPair(pair) {
			if open.Weight == 0 {
				start = i
			}
			open.Weight, end = max(open.Weight, w), i+len(pair)
		} else {
			flush()
		}
		i += first
	}
	flush()
	return dst
}

// WordEnds reports whether a word may end between two neighbouring runes of a
// text: one is a space, or one script ends there, or it is one that leaves
// nothing between words.
func WordEnds(a, b rune) bool {
	x, y := scriptOf(a), scriptOf(b)
	return x != y || x != scriptAlphabet && x != scriptHangul
}
