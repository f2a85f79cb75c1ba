package engine

import (
	"encoding/json"
	"errors"
	"fmt"
)

// raw appends the next value, as it is written, to dst; NaN and Infinity, which
// JSON does not have, as null. A value of more than limit bytes is read to its
// end, and reported.
func (s *jsonStream) raw(dst []byte, limit int) ([]byte, error) {
	c := rawCopy{dst: dst, left: limit}
	err := s.copyValue(&c)
	if err == nil && c.left < 0 {
		err = errTooLong
	}
	return c.dst, err
}

var errTooLong = errors.New("the value is too long")

// rawCopy keeps bytes until its limit is reached; left < 0 says that it was.
type rawCopy struct {
	dst  []byte
	left int
}

func (c *rawCopy) put(b ...byte) {
	if c.left < 0 {
		return
	}
	if c.left -= len(b); c.left >= 0 {
		c.dst = append(c.dst, b...)
	}
}

// skip reads over the next value.
func (s *jsonStream) skip() error { return s.copyValue(&rawCopy{left: -1}) }

func (s *jsonStream) copyValue(dst *rawCopy) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		return s.copyString(dst)
	case '{', '[':
		closing, first := byte('}'), true
		if c == '[' {
			closing = ']'
		}
		dst.put(c)
		item := func() error {
			if !first {
				dst.put(',')
			}
			first = false
			return nil
		}
		if _, err := s.next(); err != nil {
			return err
		}
		err := s.items(closing, func() error {
			if err := item(); err != nil {
				return err
			}
			if c == '{' {
				if k, err := s.peek(); err != nil {
					return err
				} else if k != '"' {
					return s.errorf("%q where a key should be", k)
				}
				if err := s.copyString(dst); err != nil {
					return err
				}
				if err := s.expect(':'); err != nil {
					return err
				}
				dst.put(':')
			}
			return s.copyValue(dst)
		})
		dst.put(closing)
		return err
	}
	return s.copyWord(dst)
}

func (s *jsonStream) copyString(dst *rawCopy) error {
	if _, err := s.next(); err != nil {
		return err
	}
	dst.put('"')
	for {
		c, err := s.next()
		if err != nil {
			return err
		}
		switch {
		case c < ' ': // encoding/json refuses what Python may write
			dst.put([]byte(fmt.Sprintf(`\u%04x`, c))...)
			continue
		case c == '\\':
			dst.put(c)
			if c, err = s.next(); err != nil {
				return err
			}
		case c == '"':
			dst.put(c)
			return nil
		}
		dst.put(c)
	}
}

// copyWord copies a number, true, false or null.
func (s *jsonStream) copyWord(dst *rawCopy) error {
	var word [64]byte
	n := 0
	for {
		c, err := s.next()
		if errors.Is(err, errTruncatedJSON) && n > 0 {
			break
		}
		if err != nil {
			return err
		}
		if c == ',' || c == '}' || c == ']' || c == ':' || c <= ' ' || c == '"' {
			s.back()
			break
		}
		if n == len(word) {
			return s.errorf("%q is no value", word[:n])
		}
		word[n] = c
		n++
	}
	switch w := string(word[:n]); {
	case w == "NaN" || w == "Infinity" || w == "-Infinity":
		dst.put([]byte("null")...)
	case n > 0 && json.Valid(word[:n]):
		dst.put(word[:n]...)
	default:
		return s.errorf("%q is no value", w)
	}
	return nil
}
