package llm

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// runeClass says in which sets of the expressions that split a text a character is.
type runeClass uint8

const (
	inUpper  runeClass = 1 << iota // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], what begins a word
	inLower                        // [\p{Ll}\p{Lm}\p{Lo}\p{M}], what ends one
	isLetter                       // \p{L}
	isPrefix                       // [^\r\n\p{L}\p{N}], what may stand before a word
	isSymbol                       // [^\s\p{L}\p{N}]
	isDigit                        // \p{N}
	isSpace                        // \s
	isBreak                        // [\r\n]
)

// classify works out the class of r. The codec's sets leave out the character
// DEL: it is in none.
func classify(r rune) runeClass {
	switch {
	case r == 0x7f:
		return 0
	case r == '\n', r == '\r':
		return isSpace | isBreak
	case unicode.IsSpace(r):
		return isSpace | isPrefix
	case unicode.In(r, unicode.Ll):
		return inLower | isLetter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return inUpper | isLetter
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return inUpper | inLower | isLetter
	case unicode.Is(unicode.M, r):
		return inUpper | inLower | isPrefix | isSymbol
	case unicode.Is(unicode.N, r):
		return isDigit
	}
	return isPrefix | isSymbol
}

// runeClasses holds the classes of the first two planes of Unicode, in which
// nearly every character of a text is.
var runeClasses = sync.OnceValue(func() *[0x20000]runeClass {
	t := new([0x20000]runeClass)
	for r := range t {
		t[r] = isPrefix | isSymbol
	}
	set := func(c runeClass, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			for _, r := range table.R16 {
				for at := int(r.Lo); at <= int(r.Hi); at += int(r.Stride) {
					t[at] = c
				}
			}
			for _, r := range table.R32 {
				for at := int(r.Lo); at <= int(r.Hi) && at < len(t); at += int(r.Stride) {
					t[at] = c
				}
			}
		}
	}
	set(inLower|isLetter, unicode.Ll)
	set(inUpper|isLetter, unicode.Lu, unicode.Lt)
	set(inUpper|inLower|isLetter, unicode.Lm, unicode.Lo)
	set(inUpper|inLower|isPrefix|isSymbol, unicode.M)
	set(isDigit, unicode.N)
	set(isSpace|isPrefix, unicode.White_Space)
	t['\n'], t['\r'], t[0x7f] = isSpace|isBreak, isSpace|isBreak, 0
	return t
})

// classes finds the class of a character of a text.
type classes struct{ table *[0x20000]runeClass }

// at returns the class of the character at i and its bytes; past the end of s
// there is one of no class and no bytes.
func (c classes) at(s string, i int) (runeClass, int) {
	if i >= len(s) {
		return 0, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return c.table[b], 1
	}
	return c.wide(s, i)
}

func (c classes) wide(s string, i int) (runeClass, int) {
	r, n := utf8.DecodeRuneInString(s[i:])
	if int(r) < len(c.table) {
		return c.table[r], n
	}
	return classify(r), n
}

// run returns where the run of characters of a class in set ends that begins at i.
func (c classes) run(s string, i int, set runeClass) int {
	for {
		k, n := c.at(s, i)
		if k&set == 0 {
			return i
		}
		i += n
	}
}
