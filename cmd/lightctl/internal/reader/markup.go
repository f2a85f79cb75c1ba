package reader

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding/htmlindex"
)

// declared finds the encoding that an XML declaration or a <meta> names, in the
// bytes that ASCII has too.
var declared = regexp.MustCompile(`(?i)^\s*<\?xml[^>]*\sencoding\s*=\s*["']([a-z0-9._:-]+)["']|<meta\s[^>]*charset\s*=\s*["']?\s*([a-z0-9._:-]+)`)

// markup decodes html or xml: by its byte order mark, as UTF-8 if it is valid,
// as it declares, else as Decode does.
func markup(b []byte) (string, Encoding, error) {
	if _, _, n := marked(b); n > 0 {
		return Decode(b)
	}
	// ISO-2022-JP is valid UTF-8 to look at; its escapes give it away.
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 && bytes.IndexByte(b, 0x1B) < 0 {
		return Decode(b)
	}
	if m := declared.FindSubmatch(b[:min(len(b), 4096)]); m != nil {
		enc, err := htmlindex.Get(string(m[1]) + string(m[2]))
		if err != nil {
			return Decode(b)
		}
		// A declaration that can be read as ASCII is not in UTF-16, nor is
		// what comes here in UTF-8. Of what browsers refuse to decode, the
		// replacement encoding would leave a single character.
		if name, err := htmlindex.Name(enc); err == nil && name != "replacement" && !strings.HasPrefix(name, "utf-") {
			return decodeAs(enc, name, b, false)
		}
	}
	return Decode(b)
}

func decodeMarkup(b []byte) (string, error) {
	text, _, err := markup(b)
	return text, err
}

// parseXHTML reads a page as XML, in which <title/> and <p/> are empty. One
// that is not well-formed is read as HTML, as browsers would have it.
func parseXHTML(page string) (*html.Node, error) {
	root, err := xhtmlTree(page)
	if errors.Is(err, errDeep) {
		return nil, err
	}
	if err != nil {
		return parseHTML(page)
	}
	return root, nil
}

const xhtmlSpace = "http://www.w3.org/1999/xhtml"

func xhtmlTree(page string) (*html.Node, error) {
	dec := xml.NewDecoder(strings.NewReader(page))
	dec.Entity = xml.HTMLEntity
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // decoded before
	x := &xmlReader{dec: dec}
	root := &html.Node{Type: html.DocumentNode}
	at := root
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			if root.FirstChild == nil {
				return nil, io.ErrUnexpectedEOF
			}
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			n := &html.Node{Type: html.ElementNode, Data: t.Name.Local}
			if t.Name.Space == xhtmlSpace || t.Name.Space == "" || t.Name.Local == "svg" {
				n.DataAtom = atom.Lookup([]byte(strings.ToLower(t.Name.Local)))
			}
			for _, a := range t.Attr {
				key := a.Name.Local
				if a.Name.Space != "" && key == "type" {
					key = "epub:type"
				}
				n.Attr = append(n.Attr, html.Attribute{Key: key, Val: a.Value})
			}
			at.AppendChild(n)
			at = n
		case xml.EndElement:
			at = at.Parent
		case xml.CharData:
			if at != root {
				at.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
			}
		}
	}
}
