package reader

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// entry is a file of an archive.
type entry struct{ name, text string }

func zipOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		method := zip.Deflate
		if len(e.text) < 4096 { // a compressor takes a megabyte, which fuzzing would wait for
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	transitional = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	strict       = "http://purl.oclc.org/ooxml/wordprocessingml/main"
	relType      = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

// wordXML is a part of a docx.
func wordXML(space, root, inner string) string {
	return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:` + root + ` xmlns:w="` + space +
		`" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">` +
		inner + `</w:` + root + `>`
}

func relsXML(rels ...string) string {
	var b strings.Builder
	b.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for i := 0; i < len(rels); i += 2 {
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="%s" Target="%s"/>`, i, relType+rels[i], rels[i+1])
	}
	return b.String() + `</Relationships>`
}

// docxOf returns a document with that body, and footnotes.
func docxOf(t testing.TB, space, body, footnotes string) []byte {
	return zipOf(t,
		entry{"[Content_Types].xml", "<Types/>"},
		entry{"_rels/.rels", relsXML("officeDocument", "word/document.xml")},
		entry{"word/_rels/document.xml.rels", relsXML("footnotes", "footnotes.xml", "header", "header1.xml")},
		entry{"word/document.xml", wordXML(space, "document", "<w:body>"+body+"</w:body>")},
		entry{"word/footnotes.xml", wordXML(space, "footnotes", footnotes)},
		entry{"word/header1.xml", wordXML(space, "hdr", par("a header"))},
	)
}

func par(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

func page(body string) string {
	return `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body>` +
		body + `</body></html>`
}

const container = `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>`

// epubOf returns a book whose spine has the chapters in the order given.
func epubOf(t testing.TB, chapters []string, more ...entry) []byte {
	var manifest, spine strings.Builder
	entries := []entry{{"mimetype", "application/epub+zip"}, {"META-INF/container.xml", container}}
	for i, c := range chapters {
		fmt.Fprintf(&manifest, `<item id="c%d" href="text/ch%%20%d.xhtml" media-type="application/xhtml+xml"/>`, i, i)
		fmt.Fprintf(&spine, `<itemref idref="c%d"/>`, i)
		entries = append(entries, entry{fmt.Sprintf("OEBPS/Text/ch %d.xhtml", i), c})
	}
	entries = append(entries, entry{"OEBPS/nav.xhtml", page("<nav>contents</nav>")}, entry{"OEBPS/content.opf",
		`<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The  Book</dc:title><dc:creator>Ann Author</dc:creator></metadata><manifest>` +
			`<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="pic" href="a.svg" media-type="image/svg+xml"/>` +
			manifest.String() + `</manifest><spine><itemref idref="nav"/><itemref idref="pic"/>` + spine.String() + `</spine></package>`})
	return zipOf(t, append(entries, more...)...)
}

// pdfPage draws lines of text in Helvetica, from the top; none draws a box.
func pdfPage(lines ...string) string {
	if len(lines) == 0 {
		return "10 10 100 100 re f"
	}
	var b strings.Builder
	b.WriteString("BT /F1 12 Tf 14 TL 72 720 Td\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(l))
	}
	b.WriteString("ET")
	return b.String()
}

// pdfOf writes a PDF of those content streams. With a lock it is encrypted.
func pdfOf(lock *pdfLock, pages ...string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Pages /Count %d /Kids [ %s] >>", len(pages), kids.String())
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	for i, p := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i)
		if lock != nil {
			p = lock.encrypt(len(offsets)+1, p)
		}
		object("<< /Length %d >>\nstream\n%s\nendstream", len(p), p)
	}
	trailer := ""
	if lock != nil {
		object("<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>", hex.EncodeToString(lock.owner), hex.EncodeToString(lock.user))
		trailer = fmt.Sprintf("/Encrypt %d 0 R /ID [<%s> <%s>]", len(offsets), hex.EncodeToString(lock.id), hex.EncodeToString(lock.id))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, start)
	return b.Bytes()
}

// pdfLock is the standard security handler, revision 2 (RC4, 40 bits).
type pdfLock struct{ owner, user, id, key []byte }

func newPDFLock(password string) *pdfLock {
	padding, _ := hex.DecodeString("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
	pad := func(s string) []byte { return append([]byte(s), padding...)[:32] }
	l := &pdfLock{id: []byte("0123456789abcdef")}
	owner := md5.Sum(pad("owner"))
	l.owner = rc4Of(owner[:5], pad(password))
	in := append(pad(password), l.owner...)
	in = binary.LittleEndian.AppendUint32(in, ^uint32(3)) // -4, as in /P
	key := md5.Sum(append(in, l.id...))
	l.key = key[:5]
	l.user = rc4Of(l.key, pad(""))
	return l
}

func (l *pdfLock) encrypt(object int, s string) string {
	k := md5.Sum(append(append([]byte{}, l.key...), byte(object), byte(object>>8), byte(object>>16), 0, 0))
	return string(rc4Of(k[:10], []byte(s)))
}

func rc4Of(key, in []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(in))
	c.XORKeyStream(out, in)
	return out
}

func utf16Of(s string, big, mark bool) []byte {
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	var b []byte
	for _, u := range units {
		if big {
			b = binary.BigEndian.AppendUint16(b, u)
		} else {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
	}
	return b
}

func utf32Of(s string, big, mark bool) []byte {
	runes := []rune(s)
	if mark {
		runes = append([]rune{0xFEFF}, runes...)
	}
	var b []byte
	for _, r := range runes {
		if big {
			b = binary.BigEndian.AppendUint32(b, uint32(r))
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
		}
	}
	return b
}
