package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// delimiter stands between the fields of a row in the current format.
const delimiter = "<|#|>"

// maxUnknownDelimiter is the longest name between <| and |> that is taken for
// a delimiter when a row has too few fields.
const maxUnknownDelimiter = 16

// maxDelimiterRun bounds the look-ahead for damage: no form repeats a part more
// often, and a scan that went on could be made quadratic.
const maxDelimiterRun = 4

// splitFields appends the non-blank fields of a line, trimmed, to dst. With
// repair, damaged forms of the delimiter separate fields too.
func splitFields(dst []string, line string, repair bool) []string {
	start := 0
	for i := 0; i < len(line); {
		n := 0
		switch c := line[i]; {
		case c == '<' && strings.HasPrefix(line[i:], delimiter):
			n = len(delimiter) + glued(line[i+len(delimiter):])
		case repair && (c == '<' || c == '|'):
			n = damagedDelimiter(line, i)
		}
		if n == 0 {
			i++
			continue
		}
		dst = appendField(dst, line[start:i])
		i += n
		start = i
	}
	return appendField(dst, line[start:])
}

func appendField(dst []string, f string) []string {
	if f = strings.TrimSpace(f); f != "" {
		dst = append(dst, f)
	}
	return dst
}

// glued returns the length of the debris of a doubled delimiter: pipes and
// whole or half delimiters directly behind one.
func glued(s string) int {
	i := 0
	for i < len(s) {
		switch rest := s[i:]; {
		case rest[0] == '|':
			i++
		case strings.HasPrefix(rest, "#|>"):
			i += 3
		default:
			return i
		}
	}
	return i
}

// damagedDelimiter returns the length of the damaged delimiter at line[i], or 0.
// The forms are those seen in recorded answers: doubled, missing or escaped
// parts, one stray character beside the core, one space inside, and, only
// between two non-spaces, a missing core. An a <|> b or x <|| y in free text
// is none of them.
func damagedDelimiter(line string, i int) int {
	d := delimiterScanner{s: line, i: i}
	lt := d.takeOne('<') > 0
	stray := lt && d.strayBefore()
	left := d.take('|')
	spaces := 0
	if lt && left+d.peekPast(' ', '|', '#') > 0 {
		spaces += d.takeOne(' ')
		left += d.take('|')
	}
	escaped := d.takeOne('\\') > 0
	core := d.take('#')
	if core == 0 {
		if escaped || stray || spaces > 0 {
			return 0
		}
		return coreless(line, i, lt, left)
	}
	right := 0
	for range maxDelimiterRun {
		if lt {
			spaces += d.takeOne(' ')
		}
		right += d.take('|')
		if d.take('#') == 0 {
			break
		}
	}
	if lt {
		spaces += d.takeOne(' ')
	}
	gt := d.takeOne('>') > 0
	if !gt && lt && left > 0 && spaces == 0 {
		gt = d.strayAfter()
		stray = stray || gt
	}
	ok := false
	switch {
	case core > 3 || spaces > 1:
	case lt && gt:
		ok = left+right > 0 || (core == 1 && !stray && spaces == 0)
	case spaces > 0:
	case lt:
		if ok = left > 0 && right > 0; !ok && left > 0 && d.takeOne(':') > 0 {
			ok = true
		}
	case gt:
		ok = left > 0 && right > 0
	default:
		ok = left > 1 && right > 1
	}
	if !ok {
		return 0
	}
	return d.i - i + glued(line[d.i:])
}

// coreless measures <|>, <||> and <|| glued between two fields.
func coreless(line string, i int, lt bool, pipes int) int {
	if !lt || pipes == 0 || pipes > 2 {
		return 0
	}
	end := i + 1 + pipes
	if end < len(line) && line[end] == '>' {
		end++
	} else if pipes != 2 {
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	after, _ := utf8.DecodeRuneInString(line[end:])
	if i == 0 || end == len(line) || unicode.IsSpace(before) || unicode.IsSpace(after) {
		return 0
	}
	return end - i
}

type delimiterScanner struct {
	s string
	i int
}

// take consumes a run of c, up to its longest part that can matter, and
// returns how much.
func (d *delimiterScanner) take(c byte) int {
	start := d.i
	for d.i < len(d.s) && d.s[d.i] == c && d.i-start < maxDelimiterRun {
		d.i++
	}
	return d.i - start
}

// takeOne consumes one c if it is next.
func (d *delimiterScanner) takeOne(c byte) int {
	if d.i < len(d.s) && d.s[d.i] == c {
		d.i++
		return 1
	}
	return 0
}

// peekPast returns 1 if the next byte is c followed by one of the others.
func (d *delimiterScanner) peekPast(c, a, b byte) int {
	if d.i+1 < len(d.s) && d.s[d.i] == c && (d.s[d.i+1] == a || d.s[d.i+1] == b) {
		return 1
	}
	return 0
}

// strayBefore consumes one foreign character between < and the core, as in
// <X#|> or <X|#|>.
func (d *delimiterScanner) strayBefore() bool {
	r, n := utf8.DecodeRuneInString(d.s[d.i:])
	if n == 0 || unicode.IsSpace(r) || strings.ContainsRune(`|#<>\`, r) {
		return false
	}
	rest := d.s[d.i+n:]
	if !strings.HasPrefix(rest, "#|") && !strings.HasPrefix(rest, "|#") {
		return false
	}
	d.i += n
	return true
}

// strayAfter consumes one foreign character and the > behind it, as in <|#X>
// or <|#|Y>.
func (d *delimiterScanner) strayAfter() bool {
	r, n := utf8.DecodeRuneInString(d.s[d.i:])
	if n == 0 || unicode.IsSpace(r) || strings.ContainsRune(`|#<>`, r) {
		return false
	}
	rest := d.s[d.i+n:]
	switch {
	case strings.HasPrefix(rest, ">"):
		d.i += n + 1
	case strings.HasPrefix(rest, "|>"):
		d.i += n + 2
	default:
		return false
	}
	return true
}

// splitUnknown splits fields further at delimiters of a foreign name, such as
// <|sep|>.
func splitUnknown(dst, fields []string) []string {
	for _, f := range fields {
		for {
			i, n := findUnknown(f)
			if n == 0 {
				break
			}
			dst = appendField(dst, f[:i])
			f = f[i+n:]
		}
		dst = appendField(dst, f)
	}
	return dst
}

func findUnknown(s string) (at, length int) {
	for i := 0; ; {
		j := strings.Index(s[i:], "<|")
		if j < 0 {
			return 0, 0
		}
		i += j
		for k, runes := i+2, 0; k < len(s) && runes <= maxUnknownDelimiter; runes++ {
			if strings.HasPrefix(s[k:], "|>") {
				if runes > 0 {
					return i, k + 2 - i
				}
				break
			}
			r, n := utf8.DecodeRuneInString(s[k:])
			if unicode.IsSpace(r) || r == '<' {
				break
			}
			k += n
		}
		i += 2
	}
}
