package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hyphenMark is what PDFium puts in the place of a hyphen at a line end and of
// the line end itself.
const hyphenMark = '\x02'

// accents are what TeX sets before a letter instead of one glyph for both.
var accents = map[rune]rune{
	'\u00a8': '\u0308', '\u00af': '\u0304', '\u00b4': '\u0301', '\u00b8': '\u0327', '\u02c6': '\u0302', '\u02c7': '\u030c',
	'\u02d8': '\u0306', '\u02d9': '\u0307', '\u02da': '\u030a', '\u02dc': '\u0303', '\u02dd': '\u030b',
}

// joinAccents makes one letter of an accent and the letter after it, where
// there is such a letter.
func joinAccents(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return accents[r] != 0 }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if mark := accents[r]; mark != 0 {
			base, m := utf8.DecodeRuneInString(s[i+n:])
			if base == 'ı' {
				base = 'i'
			}
			if both := norm.NFC.String(string([]rune{base, mark})); unicode.IsLetter(base) && utf8.RuneCountInString(both) == 1 {
				b.WriteString(both)
				i += n + m
				continue
			}
		}
		b.WriteString(s[i : i+n])
		i += n
	}
	return b.String()
}

// ligatures are glyphs that stand for several letters.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\r\n", "\n", "\r", "\n", "\u00a0", " ", "\u00ad\n", string(hyphenMark), "\ufffe", string(hyphenMark))

// tidyPage spells out ligatures and takes out what is not text.
func tidyPage(s string) string {
	s = joinAccents(ligatures.Replace(s))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == hyphenMark:
			return r
		case unicode.IsControl(r), r == '\u00ad', r == '\uffff', r == '\ufeff':
			return -1
		}
		return r
	}, s)
}

// joinHyphens puts together the words that a line end divides. The hyphen
// goes if small letters stand around it, as in "back-/ground"; it stays in
// "Jean-/Paul", "A-/0" and the like. Other places of the text overrule this:
// "well-/known" keeps it if "well-known" is found inside a line and "wellknown"
// is not, and "DIS-/CLAIMED" loses it if "disclaimed" is found and
// "dis-claimed" is not.
func joinHyphens(s string) string {
	if strings.IndexByte(s, hyphenMark) < 0 {
		return s
	}
	words := hyphenWords(s)
	var b strings.Builder
	b.Grow(len(s))
	rest := s
	for {
		i := strings.IndexByte(rest, hyphenMark)
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		left, right := rest[:i], strings.TrimPrefix(rest[i+1:], "\n")
		b.WriteString(left)
		before, after := lastWord(left), firstWord(right)
		whole, parts := words[strings.ToLower(before+after)], words[strings.ToLower(before+"-"+after)]
		switch {
		case before == "" || after == "", parts && !whole, whole == parts && !divided(before, after):
			b.WriteByte('-')
		}
		rest = right
	}
}

// divided reports whether the halves may be of one word.
func divided(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLetter(last) && unicode.IsLower(first) && (unicode.IsLower(last) || utf8.RuneCountInString(before) == 1)
}

// hyphenWords collects, in small letters, the words of a text that are not
// divided.
func hyphenWords(s string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !inWord(r) && r != '-' && r != hyphenMark }) {
		if strings.IndexByte(w, hyphenMark) < 0 {
			words[strings.ToLower(strings.Trim(w, "-"))] = true
		}
	}
	return words
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

func lastWord(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return !inWord(r) })
	if i < 0 {
		return s
	}
	return strings.TrimLeftFunc(s[i:], func(r rune) bool { return !inWord(r) })
}

func firstWord(s string) string {
	i := strings.IndexFunc(s, func(r rune) bool { return !inWord(r) })
	if i < 0 {
		return s
	}
	return s[:i]
}
