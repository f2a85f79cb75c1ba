package reader

import (
	"errors"
	"strings"
	"testing"
)

func TestEPUB(t *testing.T) {
	got, err := readBytes(t, "a.epub", epubOf(t, []string{
		page("<h1>One</h1><p>First.</p>"), page(`<p>Second<span epub:type="pagebreak">7</span>.</p><table><tr><td>a</td><td>b</td></tr></table>`),
	}))
	want := "The Book\n\nAnn Author\n\nOne\n\nFirst.\n\nSecond.\n\na | b"
	if err != nil || got.Body != want || got.Notes != nil {
		t.Errorf("%+v, %v; want %q", got, err, want)
	}
	got, err = readBytes(t, "a.epub", epubOf(t, []string{page("<h1>The Book</h1><p>by Ann Author</p>"), page("<p>Text.</p>")}))
	if want = "The Book\n\nby Ann Author\n\nText."; err != nil || got.Body != want {
		t.Errorf("a book with a title page: %+v, %v; want %q", got, err, want)
	}
}

func TestEPUBPackage(t *testing.T) {
	opf := func(manifest, spine, guide string) string {
		return `<package><manifest>` + manifest + `</manifest><spine>` + spine + `</spine><guide>` + guide + `</guide></package>`
	}
	const xhtml = ` media-type="application/xhtml+xml"`
	chapter := entry{"a.xhtml", page("<p>Text.</p>")}
	for _, c := range []struct {
		name, want, notes string
		entries           []entry
	}{
		{"no container", "Text.", "", []entry{{"book.opf", opf(`<item id="a" href="a.xhtml"`+xhtml+`/>`, `<itemref idref="a"/>`, "")}, chapter}},
		{"a document twice", "Text.", "", []entry{{"book.opf", opf(`<item id="a" href="a.xhtml#x"`+xhtml+`/>`, `<itemref idref="a"/><itemref idref="a"/>`, "")}, chapter}},
		{"fallback", "Text.", "", []entry{{"book.opf", opf(`<item id="p" href="p.jpg" media-type="image/jpeg" fallback="a"/><item id="a" href="a.xhtml"`+xhtml+`/>`, `<itemref idref="p"/>`, "")}, chapter}},
		{"fallback in a circle", "Text.", "", []entry{{"book.opf", opf(`<item id="p" href="p.jpg" media-type="image/jpeg" fallback="p"/><item id="a" href="a.xhtml"`+xhtml+`/>`, `<itemref idref="p"/><itemref idref="a"/>`, "")}, chapter}},
		{"contents of version 2", "Text.", "", []entry{{"book.opf", opf(`<item id="t" href="toc.html"`+xhtml+`/><item id="a" href="a.xhtml"`+xhtml+`/>`, `<itemref idref="t"/><itemref idref="a"/>`, `<reference type="toc" href="toc.html"/>`)}, {"toc.html", page("contents")}, chapter}},
		{"a document is missing", "Text.", "1 of the book's documents are missing in the file", []entry{{"book.opf", opf(`<item id="x" href="x.xhtml"`+xhtml+`/><item id="a" href="A.XHTML"`+xhtml+`/>`, `<itemref idref="x"/><itemref idref="a"/>`, "")}, chapter}},
	} {
		got, err := readBytes(t, "a.epub", zipOf(t, c.entries...))
		if err != nil || got.Body != c.want || strings.Join(got.Notes, "; ") != c.notes {
			t.Errorf("%s: %+v, %v; want %q %q", c.name, got, err, c.want, c.notes)
		}
	}
}

func TestEPUBThatCannotBeRead(t *testing.T) {
	enciphered := func(algorithm, uri string) entry {
		return entry{"META-INF/encryption.xml", `<encryption><EncryptedData><EncryptionMethod Algorithm="` + algorithm +
			`"/><CipherData><CipherReference URI="` + uri + `"/></CipherData></EncryptedData></encryption>`}
	}
	const aes, font = "http://www.w3.org/2001/04/xmlenc#aes128-cbc", "http://www.idpf.org/2008/embedding"
	chapters := []string{page("<p>Text.</p>")}
	if got, err := readBytes(t, "a.epub", epubOf(t, chapters, enciphered(font, "OEBPS/fonts/a.otf"))); err != nil || !strings.Contains(got.Body, "Text.") {
		t.Errorf("garbled fonts: %+v, %v", got, err)
	}
	for _, c := range []struct {
		name, text string
		is         error
		file       []byte
	}{
		{"DRM", "protected (DRM)", ErrEncrypted, epubOf(t, chapters, enciphered(aes, "OEBPS/text/ch%200.xhtml"))},
		{"no archive", "no epub file", ErrType, []byte("text")},
		{"another archive", "holds no book", ErrType, zipOf(t, entry{"a.txt", "x"})},
		{"no text", "pages hold no text", ErrNoText, epubOf(t, []string{page("<img/>")})},
		{"deep", "nested too deeply", errDeep, epubOf(t, []string{strings.Repeat("<a>", 100000)})},
		{"bomb", "larger than the limit", ErrTooLarge, epubOf(t, []string{page(strings.Repeat(" ", 2<<20))})},
	} {
		_, err := readBytes(t, "a.epub", c.file)
		if !errors.Is(err, c.is) || err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
}
