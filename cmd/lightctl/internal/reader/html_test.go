package reader

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestHTMLText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"title and blocks", "<title>A &amp; B</title><h1>Head</h1><p>One<p>Two  three\n four", "A & B\n\nHead\n\nOne\n\nTwo three four"},
		{"inline", "<p>a<b>b</b> <i>c</i>d</p>", "ab cd"},
		{"invisible", "<p>seen<script>no()</script><style>p{}</style><template>no</template><noscript>no</noscript><span hidden>no</span><b style='color:red; Display : none'>no</b>", "seen"},
		{"breaks", "one<br>two<br><br>three", "one\ntwo\n\nthree"},
		{"list", "<ul><li> a<li>b</ul>", "- a\n- b"},
		{"list of paragraphs", "<ul><li><p>a</p></li><li></li><li><p>b</p><p>c</p></li></ul>", "- a\n\n- b\n\nc"},
		{"table", "<table><tr><th>k<th>v<tr><td>1<td>2</table>", "k | v\n1 | 2"},
		{"table of paragraphs", "<table><tr><td><p>1</p></td><td><p>2</p></td><td></td><td>4</td></tr></table>", "1 | 2 | | 4"},
		{"pre", "<pre>\n  a\n    b\n</pre>", "  a\n    b"},
		{"entities", "<p>&lt;x&gt; &eacute;&nbsp;&#9731;", "<x> é ☃"},
		{"comment", "a<!-- no -->b", "ab"},
		{"soft hyphen", "Tele&shy;skop", "Teleskop"},
		{"ruby", "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", "漢字"},
		{"note", `<p>Hooker<a role="doc-noteref" href="#n"><sup>1</sup></a> paid.</p><p id=n>Him. <a role="doc-backlink">up</a>`, "Hooker[1] paid.\n\nHim."},
		{"formula", "<math><mi>E</mi><annotation encoding='x'>E again</annotation></math>", "E"},
		{"empty", "<title></title><p> ", ""},
	} {
		got, err := htmlText(c.page)
		if err != nil || got != strings.TrimSpace(c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if _, err := htmlText(strings.Repeat("<div>", 100000)); err == nil {
		t.Error("a page of 100,000 levels was parsed")
	}
}

func TestXHTML(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	for _, c := range []struct{ name, page, want string }{
		{"empty elements", page(`<p/><script src="x"/><a id="y"/><p>Text &amp; more&nbsp;text</p>`), "Text & more text"},
		{"title", strings.Replace(page("<p>Text</p>"), "<title/>", "<title>Head</title>", 1), "Head\n\nText"},
		{"CDATA", page("<p><![CDATA[a < b]]></p>"), "a < b"},
		{"upper case", "<HTML xmlns='http://www.w3.org/1999/xhtml'><BODY><P>a</P><P>b</P></BODY></HTML>", "a\n\nb"},
		{"page number", page(`<p>be<span epub:type="pagebreak">12</span>fore</p>`), "before"},
		{"not well-formed", "<html><body><p>one<p>two</html>", "one\n\ntwo"},
	} {
		got, err := r.Read(t.Context(), "a.xhtml", strings.NewReader(c.page))
		if err != nil || got.Body != c.want {
			t.Errorf("%s: %+v, %v; want %q", c.name, got, err, c.want)
		}
	}
	if _, err := r.Read(t.Context(), "a.xhtml", strings.NewReader(strings.Repeat("<a>", 100000))); err == nil {
		t.Error("a page of 100,000 levels was parsed")
	}
}

func FuzzHTMLText(f *testing.F) {
	f.Add("<p>a<table><td>b<pre> c")
	f.Add("\xff\xfe<\x00")
	f.Add(page("<p>a</p>"))
	f.Fuzz(func(t *testing.T, page string) {
		_, _ = htmlText(page) // must not panic
		if root, err := parseXHTML(page); err == nil {
			_ = pageText(root, true)
		}
	})
}

// A page cannot make its tree any number of times as large.
func TestUnclosedElementsAreBounded(t *testing.T) {
	var open strings.Builder
	for i := range 400 {
		fmt.Fprintf(&open, "<b id=%d>", i)
	}
	_, err := htmlText("<p>" + open.String() + strings.Repeat("<p>x", 4000))
	if !errors.Is(err, errMultiplied) {
		t.Errorf("%v", err)
	}
	for name, page := range map[string]string{
		"closed":   strings.Repeat("<p><b><i>x</i></b>", 20000),
		"equal":    "<p>" + strings.Repeat("<b>", 400) + strings.Repeat("<p>some words", 20000),
		"all bold": "<font><b>" + strings.Repeat("<p>some words", 20000),
	} {
		if text, err := htmlText(page); err != nil || text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
