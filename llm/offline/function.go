package offline

import (
	"strings"
	"unicode"
)

// FunctionWords returns a test for words that carry no meaning of their own in
// the language that text is written in, as far as it can be told: articles,
// pronouns, question words, endings of Korean predicates. Case does not matter,
// but that capitals in a text that has small letters too are initials: WHO, IT,
// US. The test is safe for concurrent use.
func FunctionWords(text string) func(word string) bool {
	lang := languageOf(text)
	mixed := strings.ContainsFunc(text, unicode.IsLower)
	return func(word string) bool {
		switch {
		case word == "":
			return true
		case lang == korean && scriptOf(firstRune(word)) == scriptHangul:
			w := analyseKorean(word)
			return w.verbal && runes(w.stem) < 2
		case mixed && len(word) > 1 && !strings.ContainsFunc(word, unicode.IsLower) && strings.ContainsFunc(word, unicode.IsUpper):
			return false
		}
		low := strings.ToLower(strings.ReplaceAll(word, "’", "'"))
		c := classOf(low, lang)
		if base, ok := strings.CutSuffix(low, "'s"); ok && lang != german {
			c |= classOf(base, lang)
		}
		return c&(stop|copula) != 0
	}
}
