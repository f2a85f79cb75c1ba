package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// readHTML yields the title and the visible text of a page.
func readHTML(id string, r io.Reader, limit int64, yield func(input) error) error {
	b, err := readAll(decodeMark(r), limit)
	if err != nil {
		return yield(unreadable(id, err))
	}
	text, err := htmlText(b)
	if err != nil {
		return yield(unreadable(id, err))
	}
	return yield(textInput(id, text))
}

// htmlText returns the title and the visible text of a page: a line a block, a
// blank line between paragraphs, cells of a table row divided by " | ". A page
// that is no UTF-8 is decoded as it declares, else as Windows-1252.
func htmlText(page []byte) (string, error) {
	if !utf8.Valid(page) {
		enc, _, certain := charset.DetermineEncoding(page[:min(len(page), 1024)], "text/html")
		if certain || bytes.IndexByte(page, 0) < 0 {
			if b, err := enc.NewDecoder().Bytes(page); err == nil {
				page = b
			}
		}
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return "", fmt.Errorf("the page cannot be parsed: %w", err)
	}
	w := &htmlWriter{}
	if t := findTitle(root); t != "" {
		w.word(t)
		w.breakLines(2)
	}
	w.walk(root)
	return strings.TrimSpace(w.b.String()), nil
}

// htmlWriter joins text as a browser lays it out. Runs of white space are one
// space, except in <pre>.
type htmlWriter struct {
	b      strings.Builder
	breaks int  // line breaks that are due before the next word
	space  bool // a space is due
	glued  bool // the last word ends with its own space
	pre    int  // depth of <pre>
}

// breakLines asks for at least n line breaks before the next word.
func (w *htmlWriter) breakLines(n int) {
	w.breaks = max(w.breaks, n)
	w.space = false
}

func (w *htmlWriter) word(s string) {
	if w.b.Len() > 0 {
		switch {
		case w.breaks > 0:
			w.b.WriteString(strings.Repeat("\n", w.breaks))
		case w.space && !w.glued:
			w.b.WriteByte(' ')
		}
	}
	w.breaks, w.space, w.glued = 0, false, false
	w.b.WriteString(s)
}

// mark writes a bullet or a divider, to which the next word is glued.
func (w *htmlWriter) mark(s string) {
	w.word(s)
	w.glued = true
}

func (w *htmlWriter) text(s string) {
	if w.pre > 0 {
		if strings.TrimSpace(s) != "" {
			w.word(strings.Trim(s, "\r\n"))
		}
		return
	}
	if s == "" {
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	w.space = w.space || unicode.IsSpace(first)
	for i, f := range strings.Fields(s) {
		w.space = w.space || i > 0
		w.word(f)
	}
	w.space = w.space || unicode.IsSpace(last)
}

// walk writes the visible text below n. The parser bounds the depth.
func (w *htmlWriter) walk(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.CommentNode, html.DoctypeNode:
		return
	case html.ElementNode:
		if invisible(n) {
			return
		}
	}
	around := breaksAround(n)
	if around > 0 {
		w.breakLines(around)
	}
	switch n.DataAtom {
	case atom.Br:
		w.breaks++
		w.space = false
	case atom.Li:
		w.mark("- ")
	case atom.Td, atom.Th:
		if cellBefore(n) {
			w.space = true
			w.mark("| ")
		}
	case atom.Pre:
		w.pre++
		defer func() { w.pre-- }()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.walk(c)
	}
	if around > 0 {
		w.breakLines(around)
	}
}

// cellBefore reports whether n is not the first cell of its row.
func cellBefore(n *html.Node) bool {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if p.DataAtom == atom.Td || p.DataAtom == atom.Th {
			return true
		}
	}
	return false
}

func invisible(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe,
		atom.Object, atom.Canvas, atom.Audio, atom.Video, atom.Select, atom.Textarea:
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" && a.Namespace == "" {
			return true
		}
	}
	return false
}

// breaksAround returns how many line breaks stand before and after an element.
func breaksAround(n *html.Node) int {
	if n.Type != html.ElementNode {
		return 0
	}
	switch n.DataAtom {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Pre, atom.Table,
		atom.Ul, atom.Ol, atom.Dl, atom.Section, atom.Article, atom.Figure, atom.Hr:
		return 2
	case atom.Div, atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside,
		atom.Address, atom.Figcaption, atom.Caption, atom.Form, atom.Fieldset, atom.Legend, atom.Details,
		atom.Summary, atom.Body, atom.Center, atom.Option:
		return 1
	}
	return 0
}

func findTitle(n *html.Node) string {
	if n.Type == html.ElementNode && n.DataAtom == atom.Title && n.Namespace == "" {
		if c := n.FirstChild; c != nil {
			return strings.Join(strings.Fields(c.Data), " ")
		}
		return ""
	}
	if n.Type == html.ElementNode && n.DataAtom == atom.Body {
		return ""
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if t := findTitle(c); t != "" {
			return t
		}
	}
	return ""
}
