package alike

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Key returns the normal form in which differences of case, width, punctuation
// and white space are gone, and nothing else: "O’Neill, Co." and "ONEILL CO" have
// one key. Symbols that tell names apart ("C++", "C#") and points inside numbers
// stay. It is empty for a name without a letter, digit or symbol.
func Key(name string) string {
	if k, ok := plainKey(name); ok {
		return k
	}
	k := keyOnce(strings.ToValidUTF8(name, ""))
	for range maxKeyPasses {
		next := keyOnce(k)
		if next == k {
			break
		}
		k = next
	}
	return k
}

// maxKeyPasses bounds what a hostile name can cost: what a pass leaves out can bring together what makes one letter.
const maxKeyPasses = 4

func keyOnce(name string) string {
	// Of Cherokee, the folding of package cases makes small letters of capitals and capitals of small ones.
	return words(cases.Fold().String(strings.ToLower(norm.NFKC.String(name))))
}

// plainKey is Key for names of lower-case ASCII letters and digits in single
// spaces, which most folded ones are.
func plainKey(name string) (string, bool) {
	space := true
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			space = false
		case c == ' ' && !space:
			space = true
		default:
			return "", false
		}
	}
	return name, !space
}

// words keeps what tells names apart, in single spaces.
func words(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	var before rune // last rune of s that was looked at
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), unicode.IsNumber(r),
			unicode.IsSymbol(r) && !quote(r), strings.ContainsRune("#%&@*", r),
			inNumber(r, before, s[i:]):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(r)
		case r == '.' || quote(r): // "U.S." is "US", "O'Neill" is "ONeill"
			gap = gap || r == '.' && !wordFollows(s[i:], before)
		default:
			gap = true
		}
		before = r
	}
	return b.String()
}

// quote reports an apostrophe or quotation mark.
func quote(r rune) bool { return strings.ContainsRune("'’‘`´\"“”", r) }

// inNumber reports a mark that is a part of a number: 1.5, 1,000, 3-2.
func inNumber(r, before rune, rest string) bool {
	if !strings.ContainsRune(".,-:", r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[utf8.RuneLen(r):])
	return unicode.IsDigit(next) && (unicode.IsDigit(before) || r == '-' && !unicode.IsLetter(before))
}

// wordFollows reports whether the full stop that rest begins with stands inside
// an abbreviation written with one letter at a time.
func wordFollows(rest string, before rune) bool {
	next, _ := utf8.DecodeRuneInString(rest[1:])
	return unicode.IsLetter(before) && unicode.IsLetter(next)
}

// Certain reports whether two names are the same one in another spelling: they
// have one key, and it is not that of a word in one and of initials in the other
// ("WHO" and "Who", "IT" and "it").
func Certain(a, b string) bool {
	k := Key(a)
	return k != "" && k == Key(b) && !(initials(a) != initials(b) && strings.IndexByte(k, ' ') < 0)
}

// initials reports a short word in capitals: at most six letters, no lower case.
func initials(name string) bool {
	n := 0
	for _, r := range name {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n >= 2 && n <= 6
}
