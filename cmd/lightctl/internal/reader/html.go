package reader

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func readHTML(_ *Reader, _ context.Context, b []byte) (*Text, error) {
	text, enc, err := markup(b)
	if err != nil {
		return nil, err
	}
	body, err := htmlText(text)
	return &Text{Body: body, Notes: enc.notes()}, err
}

func readXHTML(_ *Reader, _ context.Context, b []byte) (*Text, error) {
	text, enc, err := markup(b)
	if err != nil {
		return nil, err
	}
	root, err := parseXHTML(text)
	if err != nil {
		return nil, err
	}
	return &Text{Body: pageText(root, true), Notes: enc.notes()}, nil
}

// htmlText returns the title and the visible text of a page.
func htmlText(page string) (string, error) {
	root, err := parseHTML(page)
	if err != nil {
		return "", fmt.Errorf("the page cannot be parsed: %w", err)
	}
	return pageText(root, true), nil
}

// pageText lays out a tree: a line a block, a blank line between paragraphs,
// cells of a table row divided by " | ".
func pageText(root *html.Node, title bool) string {
	w := &htmlWriter{}
	if t := findTitle(root); title && t != "" {
		w.word(t)
		w.breakLines(2)
	}
	w.walk(root)
	return strings.TrimSpace(w.b.String())
}

// htmlWriter joins text as a browser lays it out. Runs of white space are one
// space, except in <pre>.
type htmlWriter struct {
	b      strings.Builder
	breaks int  // line breaks that are due before the next word
	space  bool // a space is due
	glued  bool // the last word ends with its own space, and no line
	bullet bool // a bullet is due
	pre    int  // depth of <pre>
}

// breakLines asks for at least n line breaks before the next word.
func (w *htmlWriter) breakLines(n int) {
	w.space = false
	if !w.glued {
		w.breaks = max(w.breaks, n)
	}
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
	if w.bullet {
		w.b.WriteString("- ")
	}
	w.breaks, w.space, w.glued, w.bullet = 0, false, false, false
	w.b.WriteString(s)
}

// divide writes what stands between two cells, in one line with both.
func (w *htmlWriter) divide() {
	w.breaks, w.bullet, w.space = 0, false, true
	w.word("| ")
	w.glued = true
}

func (w *htmlWriter) text(s string) {
	s = strings.ReplaceAll(s, "\u00ad", "")
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
		w.bullet = true
	case atom.Td, atom.Th:
		if cellBefore(n) {
			w.divide()
		}
	case atom.Pre:
		w.pre++
		defer func() { w.pre-- }()
	}
	if noteMark(n) {
		w.word("[")
		w.glued = true
		defer func() { w.space = false; w.word("]") }()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.walk(c)
	}
	if around > 0 {
		w.breakLines(around)
	}
}

// noteMark reports whether n is the number of a note, which would stand as a
// part of the word before it.
func noteMark(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "role" && a.Val == "doc-noteref" || a.Key == "epub:type" && a.Val == "noteref" {
			return true
		}
	}
	return false
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
		atom.Object, atom.Canvas, atom.Audio, atom.Video, atom.Select, atom.Textarea,
		atom.Rt, atom.Rp: // how a word is spoken would stand inside the word
		return true
	}
	if n.Data == "annotation" || n.Data == "annotation-xml" { // a formula a second time
		return true
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden" && a.Namespace == "":
			return true
		case a.Key == "style" && displayNone(a.Val):
			return true
		case a.Key == "role" && (a.Val == "doc-pagebreak" || a.Val == "doc-backlink"), a.Key == "epub:type" && a.Val == "pagebreak":
			return true // the number of a page in print; the way back from a note
		}
	}
	return false
}

func displayNone(style string) bool {
	style = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, style)
	for d := range strings.SplitSeq(style, ";") {
		if d == "display:none" || d == "display:none!important" {
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
