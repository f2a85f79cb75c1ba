package llm

import (
	"math"
	"unicode/utf8"
)

// chars4 takes every four code points, and what is left at the end, for one
// token. It stands in for a vocabulary where speed or reproducibility matter
// more than a model's exact count.
type chars4 struct{}

const runesPerToken = 4

func (chars4) Name() string { return TokenizerChars4 }

func (chars4) Count(s string) int {
	return (utf8.RuneCountInString(s) + runesPerToken - 1) / runesPerToken
}

func (chars4) Cut(s string, max int) string {
	if max > math.MaxInt/runesPerToken {
		return s
	}
	return runePrefix(s, max*runesPerToken)
}

func (c chars4) Windows(s string, size, overlap int) []Window {
	s = validUTF8(s)
	// at holds the byte offset of every token.
	at := make([]int, 0, len(s)/runesPerToken+2)
	n := 0
	for i := range s {
		if n%runesPerToken == 0 {
			at = append(at, i)
		}
		n++
	}
	total := len(at)
	at = append(at, len(s))
	out := make([]Window, 0, 8)
	for _, w := range spans(total, size, overlap) {
		out = append(out, Window{Text: s[at[w.from]:at[w.to]], Tokens: w.to - w.from})
	}
	return out
}
