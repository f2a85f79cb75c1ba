package alike

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// small words that an acronym may leave out.
var small = set("of the and for in on at to a an de la le des du et der die das und für von y e do da")

// Acronyms returns what a name of several words may be abbreviated to, folded:
// its initials with and without small words. A name of one word has none.
func Acronyms(name string) []string {
	list := strings.Fields(Key(name))
	if len(list) < 2 {
		return nil
	}
	var all, main strings.Builder
	mains := 0
	for _, w := range list {
		r, _ := utf8.DecodeRuneInString(w)
		all.WriteRune(r)
		if !small[w] {
			main.WriteRune(r)
			mains++
		}
	}
	out := []string{all.String()}
	if mains >= 2 && mains < len(list) {
		out = append(out, main.String())
	}
	return out
}

// Acronym returns the folded letters of a name that looks like an acronym: one
// word of two to eight letters, most of them capitals ("NASA", "U.S.", "LLMs").
func Acronym(name string) (string, bool) {
	k := Key(name)
	n := utf8.RuneCountInString(k)
	if n < 2 || n > 9 || strings.IndexByte(k, ' ') >= 0 {
		return "", false
	}
	upper, lower := 0, 0
	for _, r := range name {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	if upper < 2 || lower > 1 {
		return "", false
	}
	if lower == 1 {
		if !strings.HasSuffix(name, "s") {
			return "", false
		}
		k = strings.TrimSuffix(k, "s")
	}
	return k, true
}

// Ends returns the first and the last word of a name of two to five words, which
// people and places are often called by, folded and without titles.
func Ends(name string) (first, last string, ok bool) {
	list := bareWords(name)
	if len(list) < 2 || len(list) > 5 {
		return "", "", false
	}
	return list[0], list[len(list)-1], true
}

// Word returns the folded word that a name consists of, titles aside.
func Word(name string) (string, bool) {
	list := bareWords(name)
	if len(list) != 1 || utf8.RuneCountInString(list[0]) < 3 {
		return "", false
	}
	return list[0], true
}

func bareWords(name string) []string {
	var f Form
	list := f.dropWords(strings.Fields(Key(name)))
	if len(list) > 1 && articles[list[0]] {
		list = list[1:]
	}
	return list
}

// NumbersDiffer reports two names that hold different numbers, in digits of any
// script or in Roman numerals: "GPT-3" and "GPT-4" are two things, however alike.
func NumbersDiffer(a, b string) bool { return numbers(a) != numbers(b) }

func numbers(name string) string {
	var b strings.Builder
	digits := func(r rune) bool { return unicode.IsDigit(r) || unicode.IsNumber(r) }
	for w := range strings.FieldsSeq(Key(name)) {
		switch {
		case strings.ContainsFunc(w, digits):
			for _, r := range w {
				if digits(r) {
					b.WriteRune(r)
				}
			}
			b.WriteByte(' ')
		case strings.Trim(w, "ivxlc") == "":
			b.WriteString(w + " ")
		}
	}
	return b.String()
}

// Dice returns the similarity of two names in [0, 1]: twice the number of pairs
// of letters they share over the number they have (Dice 1945), of their keys
// without spaces.
func Dice(a, b string) float64 {
	x, y := pairs(Key(a)), pairs(Key(b))
	total, shared := 0, 0
	for p, n := range x {
		total += n
		shared += min(n, y[p])
	}
	for _, n := range y {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(total)
}

func pairs(key string) map[[2]rune]int {
	m := make(map[[2]rune]int)
	before := rune(0)
	for _, r := range key {
		if r == ' ' {
			continue
		}
		m[[2]rune{before, r}]++
		before = r
	}
	return m
}
