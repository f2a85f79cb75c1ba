package llm

import (
	"strings"
	"unicode/utf8"
)

// SanitizeText makes document text storable: NUL bytes and bytes that are not
// UTF-8 (encoded surrogates among them) are removed, everything else is left
// exactly as it is. removed counts sequences: each NUL is one, and so is each
// unbroken run of invalid bytes, so an encoded surrogate counts once. A clean
// text is returned without a copy.
func SanitizeText(s string) (clean string, removed int) {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	inBad := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			if !inBad {
				removed++
			}
			inBad = true
		case r == 0:
			removed++
			inBad = false
		default:
			b.WriteString(s[i : i+n])
			inBad = false
		}
		i += n
	}
	return b.String(), removed
}
