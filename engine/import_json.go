package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonStream reads JSON piece by piece, so that neither a file nor a string of
// it has to fit into memory. It takes what Python's json module writes: NaN
// and Infinity become null, a byte order mark is skipped.
type jsonStream struct {
	r     *bufio.Reader
	off   int64
	depth int
}

const maxJSONDepth = 200

var errTruncatedJSON = errors.New("the file ends in the middle of a value")

func newJSONStream(r io.Reader) *jsonStream {
	s := &jsonStream{r: bufio.NewReaderSize(r, 1<<16)}
	if b, err := s.r.Peek(3); err == nil && bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		s.next()
		s.next()
		s.next()
	}
	return s
}

func (s *jsonStream) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", s.off, fmt.Sprintf(format, args...))
}

// next returns the next byte; the end of the file is an error.
func (s *jsonStream) next() (byte, error) {
	c, err := s.r.ReadByte()
	if err != nil {
		if err == io.EOF {
			err = errTruncatedJSON
		}
		return 0, err
	}
	s.off++
	return c, nil
}

func (s *jsonStream) back() {
	// One byte can always be taken back after ReadByte.
	_ = s.r.UnreadByte()
	s.off--
}

// peek skips white space and returns the byte that the next value begins with.
func (s *jsonStream) peek() (byte, error) {
	for {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			s.back()
			return c, nil
		}
	}
}

func (s *jsonStream) expect(want byte) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != want {
		return s.errorf("%q where %q should be", c, want)
	}
	_, err = s.next()
	return err
}

// end reports an error if anything follows the value that was read.
func (s *jsonStream) end() error {
	c, err := s.peek()
	switch {
	case errors.Is(err, errTruncatedJSON):
		return nil
	case err == nil:
		return s.errorf("%q after the end of the document", c)
	}
	return err
}

// object calls fn for every key, at its value, which fn must read.
func (s *jsonStream) object(fn func(key string) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	return s.items('}', func() error {
		key, err := s.text(maxJSONKey)
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return fn(key)
	})
}

const maxJSONKey = 1 << 20

// array calls fn at every element, which fn must read.
func (s *jsonStream) array(fn func(i int) error) error {
	if err := s.expect('['); err != nil {
		return err
	}
	i := -1
	return s.items(']', func() error {
		i++
		return fn(i)
	})
}

func (s *jsonStream) items(end byte, fn func() error) error {
	if s.depth++; s.depth > maxJSONDepth {
		return s.errorf("values are nested too deeply")
	}
	defer func() { s.depth-- }()
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c == end {
		_, err = s.next()
		return err
	}
	for {
		if err := fn(); err != nil {
			return err
		}
		if c, err = s.peek(); err != nil {
			return err
		}
		if _, err = s.next(); err != nil {
			return err
		}
		switch c {
		case end:
			return nil
		case ',':
		default:
			return s.errorf("%q where a comma or %q should be", c, end)
		}
	}
}

// text reads a string of at most limit bytes.
func (s *jsonStream) text(limit int) (string, error) {
	var b bytes.Buffer
	err := s.textTo(&limitedBuffer{&b, limit})
	return b.String(), err
}

type limitedBuffer struct {
	b    *bytes.Buffer
	left int
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("the string is too long")
	}
	return l.b.Write(p)
}

// textTo writes a string to w as it is read, in pieces that end between two
// characters. What is not UTF-8 is passed on as it is, a lone surrogate as the
// replacement character.
func (s *jsonStream) textTo(w io.Writer) error {
	if err := s.expect('"'); err != nil {
		return err
	}
	buf := make([]byte, 0, 4096)
	flush := func(all bool) error {
		n := len(buf)
		if !all { // a character may go on
			for back := 1; back <= 3 && back <= n; back++ {
				if c := buf[n-back]; c >= 0xc0 {
					if !utf8.FullRune(buf[n-back:]) {
						n -= back
					}
					break
				} else if c < 0x80 {
					break
				}
			}
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		buf = append(buf[:0], buf[n:]...)
		return nil
	}
	for {
		c, err := s.next()
		if err != nil {
			return err
		}
		switch c {
		case '"':
			return flush(true)
		case '\\':
			r, err := s.escape()
			if err != nil {
				return err
			}
			buf = utf8.AppendRune(buf, r)
		default:
			buf = append(buf, c)
		}
		if len(buf) >= 4080 {
			if err := flush(false); err != nil {
				return err
			}
		}
	}
}

// escape reads what follows a backslash.
func (s *jsonStream) escape() (rune, error) {
	c, err := s.next()
	if err != nil {
		return 0, err
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := s.hex4()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		if next, err := s.r.Peek(6); err == nil && next[0] == '\\' && next[1] == 'u' {
			var low rune
			if _, err := fmt.Sscanf(string(next[2:]), "%04x", &low); err == nil {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					_, err := s.r.Discard(6)
					s.off += 6
					return both, err
				}
			}
		}
		return utf8.RuneError, nil
	}
	return 0, s.errorf("unknown escape \\%c", c)
}

func (s *jsonStream) hex4() (rune, error) {
	r := rune(0)
	for range 4 {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, s.errorf("%q in a \\u escape", c)
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}
