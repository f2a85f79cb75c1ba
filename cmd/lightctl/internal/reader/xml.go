package reader

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds the nesting of elements, for the stack and for the memory
// that open elements take.
const maxDepth = 512

var errDeep = errors.New("its elements are nested too deeply")

// xmlReader reads tokens and bounds their nesting.
type xmlReader struct {
	dec   *xml.Decoder
	depth int
}

func newXMLReader(b []byte) (*xmlReader, error) {
	text, err := decodeMarkup(b)
	if err != nil {
		return nil, err
	}
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // decoded above
	return &xmlReader{dec: dec}, nil
}

// next returns the next token, whose bytes are valid until the one after it.
func (x *xmlReader) next() (xml.Token, error) {
	t, err := x.dec.Token()
	switch t.(type) {
	case xml.StartElement:
		if x.depth++; x.depth > maxDepth {
			return nil, errDeep
		}
	case xml.EndElement:
		x.depth--
	}
	return t, err
}

// skip reads to the end of the element that was just begun.
func (x *xmlReader) skip() error {
	for end := x.depth - 1; x.depth > end; {
		if _, err := x.next(); err != nil {
			return unexpectedEnd(err)
		}
	}
	return nil
}

// text returns the character data up to the end of the element that was just
// begun.
func (x *xmlReader) text() (string, error) {
	var b strings.Builder
	for end := x.depth - 1; x.depth > end; {
		t, err := x.next()
		if err != nil {
			return "", unexpectedEnd(err)
		}
		if c, ok := t.(xml.CharData); ok {
			b.Write(c)
		}
	}
	return b.String(), nil
}

// each calls fn for every child element of the one that was just begun; fn
// reads the child to its end. At the top it reads the whole document.
func (x *xmlReader) each(fn func(xml.StartElement) error) error {
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) && x.depth == 0 {
			return nil
		}
		if err != nil {
			return unexpectedEnd(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := fn(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func damaged(part string, err error) error { return fmt.Errorf("%s is damaged: %w", part, err) }

// attr returns the attribute of that local name in any namespace, or "".
func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}
