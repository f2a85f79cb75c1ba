package llm

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxObjectDepth bounds recursion on hostile input; no answer nests deeper than 3.
const maxObjectDepth = 32

// findObject returns s from the first opening brace on. Fences and prose before
// it are skipped; if a bracket outside double quotes comes first the answer is
// a list, which is not an object and is refused.
func findObject(s string) (string, bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if quoted {
				i++
			}
		case '"':
			quoted = !quoted
		case '{':
			if !quoted {
				return s[i:], true
			}
		case '[':
			if !quoted {
				return "", false
			}
		}
	}
	return "", false
}

// objectReader reads JSON as models write it: besides valid JSON it takes
// unknown escapes, raw control characters in strings, trailing and missing
// commas, and an end anywhere. Values are string, float64, bool, nil, []any and
// map[string]any.
type objectReader struct {
	s      string
	i      int
	closed bool // every bracket that was opened was closed
}

// readObject reads the object that s begins with. ok is false when s is no
// object at all; closed is false when it was cut off.
func readObject(s string) (object map[string]any, closed, ok bool) {
	r := &objectReader{s: s, closed: true}
	v, ok := r.value(0)
	object, isObject := v.(map[string]any)
	return object, r.closed, ok && isObject
}

func (r *objectReader) space() {
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return
		}
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (r *objectReader) peek() byte {
	r.space()
	if r.i >= len(r.s) {
		return 0
	}
	return r.s[r.i]
}

func (r *objectReader) value(depth int) (any, bool) {
	if depth > maxObjectDepth {
		return nil, false
	}
	switch c := r.peek(); c {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		return r.text(), true
	case 0:
		r.closed = false
		return nil, false
	default:
		return r.literal()
	}
}

func (r *objectReader) object(depth int) (any, bool) {
	r.i++
	m := map[string]any{}
	for {
		switch r.peek() {
		case '}':
			r.i++
			return m, true
		case ',':
			r.i++
			continue
		case 0:
			r.closed = false
			return m, true
		case '"':
		default:
			return m, false
		}
		key := r.text()
		if c := r.peek(); c == 0 {
			r.closed = false
			return m, true
		} else if c != ':' {
			return m, false
		}
		r.i++
		v, ok := r.value(depth + 1)
		if v != nil {
			m[key] = v
		}
		if !ok {
			return m, !r.closed
		}
	}
}

func (r *objectReader) list(depth int) (any, bool) {
	r.i++
	var l []any
	for {
		switch r.peek() {
		case ']':
			r.i++
			return l, true
		case ',':
			r.i++
			continue
		case 0:
			r.closed = false
			return l, true
		}
		v, ok := r.value(depth + 1)
		if v != nil {
			l = append(l, v)
		}
		if !ok {
			return l, !r.closed
		}
	}
}

func (r *objectReader) literal() (any, bool) {
	start := r.i
	for r.i < len(r.s) && strings.IndexByte(",]}: \t\r\n\"", r.s[r.i]) < 0 {
		r.i++
	}
	switch word := r.s[start:r.i]; word {
	case "null", "None":
		return nil, true
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	default:
		f, err := strconv.ParseFloat(word, 64)
		return f, err == nil
	}
}

// text reads a string. A backslash before anything that is no JSON escape stays
// a backslash, and so does one that formed a form feed or a backspace directly
// before a letter: no text holds those, but \frac and \beta are common.
func (r *objectReader) text() string {
	r.i++
	start := r.i
	for r.i < len(r.s) && r.s[r.i] != '"' && r.s[r.i] != '\\' {
		r.i++
	}
	if r.i < len(r.s) && r.s[r.i] == '"' {
		r.i++
		return r.s[start : r.i-1]
	}
	b := append(make([]byte, 0, r.i-start+64), r.s[start:r.i]...)
	for r.i < len(r.s) {
		c := r.s[r.i]
		r.i++
		switch {
		case c == '"':
			return string(b)
		case c == '\\' && r.i < len(r.s):
			b = r.escape(b)
		default:
			b = append(b, c)
		}
	}
	r.closed = false
	return string(b)
}

func (r *objectReader) escape(b []byte) []byte {
	c := r.s[r.i]
	r.i++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'n':
		return append(b, '\n')
	case 't':
		return append(b, '\t')
	case 'r':
		return append(b, '\r')
	case 'b', 'f':
		if r.i < len(r.s) && (r.s[r.i]|0x20 >= 'a' && r.s[r.i]|0x20 <= 'z') {
			return append(b, '\\', c)
		}
		return append(b, ' ')
	case 'u':
		u, ok := r.hex()
		if !ok {
			return append(b, '\\', 'u')
		}
		if utf16.IsSurrogate(u) {
			mark := r.i
			if strings.HasPrefix(r.s[r.i:], `\u`) {
				r.i += 2
				if low, ok := r.hex(); ok {
					if joined := utf16.DecodeRune(u, low); joined != utf8.RuneError {
						return utf8.AppendRune(b, joined)
					}
				}
				r.i = mark
			}
			return b // half a surrogate pair is no character
		}
		return utf8.AppendRune(b, u)
	}
	return append(b, '\\', c)
}

func (r *objectReader) hex() (rune, bool) {
	if r.i+4 > len(r.s) {
		return 0, false
	}
	v, err := strconv.ParseUint(r.s[r.i:r.i+4], 16, 16)
	if err != nil {
		return 0, false
	}
	r.i += 4
	return rune(v), true
}
