package engine

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// graphRow is a node or an edge of a GraphML file, with its attributes by
// name.
type graphRow struct {
	Name     string // node
	Src, Tgt string // edge
	Edge     bool
	Attr     map[string]string
}

// readGraphML calls fn for the nodes and edges of a file as they come. Keys
// are found by what they are for and by their names: their ids are numbered
// anew by every writer. What XML forbids (control characters, as themselves or
// as references, and bytes that are not UTF-8) is taken out and counted. Rows
// before an error have been handed out.
func readGraphML(r io.Reader, fn func(*graphRow) error) (removed int, err error) {
	clean := &xmlCleaner{r: bufio.NewReaderSize(r, 1<<16)}
	dec := xml.NewDecoder(clean)
	dec.Strict = false
	type key struct{ owner, name string }
	keys := make(map[string]key)
	var row *graphRow
	var field string // attribute that is being read
	var text strings.Builder
	seen := false
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			if !seen {
				err = fmt.Errorf("no <graphml> element")
			} else {
				err = nil
			}
			return clean.removed, err
		}
		if err != nil {
			return clean.removed, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			attr := func(name string) string {
				for i := range t.Attr {
					if t.Attr[i].Name.Local == name {
						return t.Attr[i].Value
					}
				}
				return ""
			}
			switch t.Name.Local {
			case "graphml":
				seen = true
			case "key":
				keys[attr("id")] = key{attr("for"), attr("attr.name")}
			case "node":
				row = &graphRow{Name: attr("id"), Attr: make(map[string]string)}
			case "edge":
				row = &graphRow{Edge: true, Src: attr("source"), Tgt: attr("target"), Attr: make(map[string]string)}
			case "data":
				text.Reset()
				field = ""
				if row == nil {
					break
				}
				k, ok := keys[attr("key")]
				if ok && (k.owner == "all" || (k.owner == "edge") == row.Edge) {
					field = k.name
				}
			}
		case xml.CharData:
			if field != "" {
				text.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "data":
				if row != nil && field != "" {
					row.Attr[field] = text.String()
				}
				field = ""
			case "node", "edge":
				if row != nil {
					if err := fn(row); err != nil {
						return clean.removed, err
					}
				}
				row = nil
			}
		}
	}
}

// xmlCleaner takes out of a file what XML does not allow in one.
type xmlCleaner struct {
	r       *bufio.Reader
	whole   int // bytes of the character that is being handed out
	removed int
}

// Read makes the decoder accept it as a reader; it calls ReadByte only.
func (c *xmlCleaner) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := c.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

func (c *xmlCleaner) ReadByte() (byte, error) {
	for {
		b, err := c.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch {
		case c.whole > 0:
			c.whole--
			return b, nil
		case b == '&':
			if n := c.badReference(); n > 0 {
				c.removed++
				if _, err := c.r.Discard(n); err != nil {
					return 0, err
				}
				continue
			}
			return b, nil
		case b < utf8.RuneSelf:
			if xmlChar(rune(b)) {
				return b, nil
			}
		default:
			rest, _ := c.r.Peek(utf8.UTFMax - 1)
			r, n := utf8.DecodeRune(append([]byte{b}, rest...))
			if n > 1 && xmlChar(r) {
				c.whole = n - 1
				return b, nil
			}
			if n > 1 {
				if _, err := c.r.Discard(n - 1); err != nil {
					return 0, err
				}
			}
		}
		c.removed++
	}
}

// badReference returns the length of the rest of a reference to a character
// that XML does not allow, 0 for anything else.
func (c *xmlCleaner) badReference() int {
	b, _ := c.r.Peek(10)
	ref, _, ok := strings.Cut(string(b), ";")
	if !ok || !strings.HasPrefix(ref, "#") {
		return 0
	}
	digits, base := ref[1:], 10
	if strings.HasPrefix(digits, "x") {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || xmlChar(rune(n)) {
		return 0
	}
	return len(ref) + 1
}

func xmlChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= 0x10ffff
}
