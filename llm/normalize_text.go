package llm

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// traits of a text decide which of the costlier steps it needs.
type traits struct {
	amp, tag, control, invalid, wide, han, curly bool
}

func inspect(s string) (t traits) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '&':
				t.amp = true
			case c == '<':
				t.tag = true
			case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f:
				t.control = true
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			t.invalid = true
		case isControl(r):
			t.control = true
		case isHan(r):
			t.han = true
		case r == '—' || r == '\u3000' || r >= 0xff00 && r <= 0xff5e:
			t.wide = true
		case r == '“' || r == '”' || r == '‘' || r == '’' || r == '\u00a0' || r == '\u202f':
			t.curly = true
		}
	}
	return t
}

// cleanText makes one pass of normalisation: trimmed, HTML unescaped, without
// control characters and break tags, ASCII for full-width Latin, no white space
// around Han characters, no enclosing quotes. A name also loses curly quotes and
// the quotes that touch a Han character.
func cleanText(s string, name bool) string {
	s = strings.TrimSpace(s)
	t := inspect(s)
	if t.amp {
		if u := html.UnescapeString(s); u != s {
			s = u
			t = inspect(s)
		}
	}
	if t.invalid {
		s = strings.ToValidUTF8(s, "")
	}
	if t.control {
		s = strings.Map(dropControl, s)
	}
	if t.tag {
		s = dropTags(s)
	}
	if t.wide {
		s = strings.Map(narrow, s)
	}
	s = strings.TrimSpace(s)
	if t.han {
		s = joinHan(s)
	}
	s = unquote(s)
	if name && t.curly {
		s = dropCurly(s)
	}
	if name && t.han {
		s = dropQuotesAtHan(s)
	}
	return strings.TrimSpace(s)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff
}

func isHan(r rune) bool { return r >= 0x4e00 && r <= 0x9fa5 }

func dropControl(r rune) rune {
	if isControl(r) {
		return -1
	}
	return r
}

func narrow(r rune) rune {
	switch r {
	case '\u3000':
		return ' '
	case '—', '－':
		return '-'
	case '＋', '／', '＊', '（', '）':
		return r - 0xfee0
	}
	if r >= 'Ａ' && r <= 'Ｚ' || r >= 'ａ' && r <= 'ｚ' || r >= '０' && r <= '９' {
		return r - 0xfee0
	}
	return r
}

// dropTags removes paragraph and line break tags.
func dropTags(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		if n := breakTag(s[i:]); n > 0 {
			b.WriteString(s[:i])
			s = s[i+n:]
		} else {
			b.WriteString(s[:i+1])
			s = s[i+1:]
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s)
	return b.String()
}

// breakTag returns the length of the <p> or <br> tag that s begins with, in
// any of the forms <p>, </p>, <p/>, <p >; else 0.
func breakTag(s string) int {
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	switch {
	case i < len(s) && s[i]|0x20 == 'p':
		i++
	case i+1 < len(s) && s[i]|0x20 == 'b' && s[i+1]|0x20 == 'r':
		i += 2
	default:
		return 0
	}
	// A run of spaces this long is not a tag; without a bound many `<p   `
	// would make the scan quadratic.
	for end := i + 8; i < len(s) && i < end && s[i] == ' '; {
		i++
	}
	if i < len(s) && s[i] == '/' {
		i++
	}
	if i < len(s) && s[i] == '>' {
		return i + 1
	}
	return 0
}

// joinHan removes white space between two Han characters and between a Han
// character and an ASCII letter, digit or symbol.
func joinHan(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			b.WriteString(s[i : i+n])
			prev, i = r, i+n
			continue
		}
		j, next := i, rune(0)
		for j < len(s) {
			r, n := utf8.DecodeRuneInString(s[j:])
			if !unicode.IsSpace(r) {
				next = r
				break
			}
			j += n
		}
		if !(isHan(prev) && (isHan(next) || sticksToHan(next)) || isHan(next) && sticksToHan(prev)) {
			b.WriteString(s[i:j])
		}
		i = j
	}
	return b.String()
}

func sticksToHan(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		r != 0 && r < utf8.RuneSelf && strings.IndexByte("()[]@#$%!&*-=+_", byte(r)) >= 0
}

// unquote removes one enclosing pair of quotes of each kind, outermost first,
// unless the same quote occurs inside, where it may be a pair of its own.
func unquote(s string) string {
	for _, q := range [...]struct{ open, close string }{
		{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"《", "》"},
	} {
		if len(s) < len(q.open)+len(q.close) || !strings.HasPrefix(s, q.open) || !strings.HasSuffix(s, q.close) {
			continue
		}
		inner := s[len(q.open) : len(s)-len(q.close)]
		if !strings.Contains(inner, q.open) && !strings.Contains(inner, q.close) {
			s = inner
		}
	}
	return s
}

func dropCurly(s string) string {
	prev := rune(0)
	return strings.Map(func(r rune) rune {
		before := prev
		prev = r
		switch r {
		case '“', '”', '‘', '’':
			return -1
		case '\u00a0':
			return ' '
		case '\u202f':
			if before != 0 && !unicode.IsDigit(before) {
				return ' '
			}
		}
		return r
	}, s)
}

// dropQuotesAtHan removes runs of ASCII quotes that touch a Han character.
func dropQuotesAtHan(s string) string {
	if !strings.ContainsAny(s, `'"`) {
		return s
	}
	var b strings.Builder
	prev := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != '\'' && r != '"' {
			b.WriteString(s[i : i+n])
			prev, i = r, i+n
			continue
		}
		j := i
		for j < len(s) && (s[j] == '\'' || s[j] == '"') {
			j++
		}
		next, _ := utf8.DecodeRuneInString(s[j:])
		if !isHan(prev) && !isHan(next) {
			b.WriteString(s[i:j])
			prev = '"'
		}
		i = j
	}
	return b.String()
}
