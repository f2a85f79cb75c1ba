package llm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Longest entity name, in both measures; a longer one is cut on a rune boundary.
const (
	MaxNameRunes = 256
	MaxNameBytes = 512
)

const (
	// Raw text of a name beyond this is ignored: it bounds the work a hostile
	// answer can cause and lies far above what can survive the cut.
	maxRawName = 16 << 10
	// Each pass peels one layer (a pair of quotes, an HTML escape). Text that
	// is still changing after this many is not a name.
	maxNamePasses = 16
)

// NormalizeName returns the key form of an entity name: sanitised, HTML
// unescaped, full-width Latin made ASCII, white space around Han characters and
// enclosing quotes removed, NFC, at most MaxNameRunes and MaxNameBytes. Case is
// kept. The result is a fixed point, so a stored name finds itself. It is empty
// when nothing usable is left; that includes one- and two-digit numbers and
// dotted numbers of up to five characters.
func NormalizeName(s string) string {
	if plainName(s) {
		return s
	}
	if len(s) > maxRawName {
		s = s[:maxRawName]
	}
	for range maxNamePasses {
		next := nameOnce(s)
		if next == s {
			return s
		}
		s = next
	}
	return ""
}

func nameOnce(s string) string {
	s = cleanText(s, true)
	if isShortNumber(s) {
		return ""
	}
	return strings.TrimSpace(cutName(norm.NFC.String(s)))
}

// plainName reports whether nothing in NormalizeName could change s.
func plainName(s string) bool {
	if s == "" || len(s) > MaxNameRunes {
		return false
	}
	numeric := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' || c == '&' || c == '<' {
			return false
		}
		if c != '.' && (c < '0' || c > '9') {
			numeric = false
		}
	}
	first, last := s[0], s[len(s)-1]
	quoted := first == last && (first == '"' || first == '\'')
	return !numeric && !quoted && first != ' ' && last != ' '
}

func isShortNumber(s string) bool {
	if len(s) >= 6 {
		return false
	}
	dots := false
	for i := 0; i < len(s); i++ {
		if s[i] == '.' {
			dots = true
		} else if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return dots || len(s) < 3
}

func cutName(s string) string {
	if len(s) <= MaxNameRunes {
		return s
	}
	runes := 0
	for i, r := range s {
		if runes == MaxNameRunes || i+utf8.RuneLen(r) > MaxNameBytes {
			return s[:i]
		}
		runes++
	}
	return s
}

// NormalizeType returns the key form of an entity type: the first of several
// separated by commas, lower case, without spaces; UNKNOWN, the type of an
// endpoint that was never described, stays upper case. It reports false for a
// type that is empty or holds a character of '()<>|/\.
func NormalizeType(s string) (string, bool) {
	for range maxNamePasses { // taking spaces out can make an escape of what was none
		next, ok := typeOnce(s)
		if !ok || next == s {
			return next, ok
		}
		s = next
	}
	return "", false
}

func typeOnce(s string) (string, bool) {
	s = strings.ReplaceAll(s, "，", ",")
	for s != "" {
		var head string
		head, s, _ = strings.Cut(s, ",")
		head = NormalizeName(head)
		if head == "" {
			continue
		}
		if strings.ContainsAny(head, `'()<>|/\`) {
			return "", false
		}
		return foldType(head)
	}
	return "", false
}

// foldType lower-cases a type and removes its spaces until that changes
// nothing: either step can leave something for the normalisation to do.
func foldType(s string) (string, bool) {
	for range maxNamePasses {
		next := NormalizeName(strings.ReplaceAll(strings.ToLower(s), " ", ""))
		if next == s {
			break
		}
		s = next
	}
	if s == "unknown" {
		s = "UNKNOWN"
	}
	return s, s != ""
}

// NormalizeDescription cleans a description as NormalizeName cleans a name, but
// keeps inner quotes, numbers and any length.
func NormalizeDescription(s string) string {
	return cleanText(s, false)
}

// SplitKeywords splits a list at ASCII and full-width commas and returns the
// normalised, distinct, non-empty keywords sorted by code point.
func SplitKeywords(s string) []string {
	return appendKeywords(nil, s)
}

func appendKeywords(dst []string, list string) []string {
	// A lone short number is a misplaced strength, not a keyword.
	if list = cleanText(list, true); isShortNumber(list) {
		return sortDistinct(dst)
	}
	for list != "" {
		i := strings.IndexAny(list, ",，")
		item := list
		if i < 0 {
			list = ""
		} else {
			_, n := utf8.DecodeRuneInString(list[i:])
			item, list = list[:i], list[i+n:]
		}
		if item = norm.NFC.String(cleanText(item, true)); item != "" {
			dst = append(dst, item)
		}
	}
	return sortDistinct(dst)
}

func sortDistinct(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
