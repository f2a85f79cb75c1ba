package reader

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func readBytes(t testing.TB, name string, b []byte) (*Text, error) {
	t.Helper()
	r := New(Options{Limit: 1 << 20})
	defer r.Close()
	return r.Read(t.Context(), name, bytes.NewReader(b))
}

func TestDOCX(t *testing.T) {
	run := func(s string) string { return "<w:r><w:t xml:space='preserve'>" + s + "</w:t></w:r>" }
	item := func(level, s string) string {
		return `<w:p><w:pPr><w:pStyle w:val="ListParagraph"/><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="1"/></w:numPr></w:pPr>` + run(s) + "</w:p>"
	}
	cell := func(s string) string { return "<w:tc><w:tcPr/>" + s + "</w:tc>" }
	row := func(s ...string) string { return "<w:tr>" + strings.Join(s, "") + "</w:tr>" }
	table := func(rows ...string) string { return "<w:tbl><w:tblPr/>" + strings.Join(rows, "") + "</w:tbl>" }
	footnotes := `<w:footnote w:type="separator" w:id="-1">` + par("line") + `</w:footnote><w:footnote w:id="1">` + par("Paid in 1906.") + par("Twice.") + `</w:footnote>`
	for _, c := range []struct{ name, body, want string }{
		{"paragraphs", par("One.") + "<w:p/>" + par("Two."), "One.\n\nTwo."},
		{"runs of a word", "<w:p>" + run("Tele") + run("scope ") + run("one") + "</w:p>", "Telescope one"},
		{"heading", `<w:p><w:pPr><w:pStyle w:val="Heading1"/><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>` + run("Head") + "</w:p>" + par("Text"), "Head\n\nText"},
		{"list", par("Before") + item("0", "a") + item("1", "b") + item("0", "c") + par("After"), "Before\n\n- a\n  - b\n- c\n\nAfter"},
		{"table", table(row(cell(par("Name")), cell(par("Year"))), row(cell(par("Hale")+par("George")), cell(par("1868")))), "Name\tYear\nHale George\t1868"},
		{"table in a table", table(row(cell(table(row(cell(par("a")), cell(par("b"))))+par("c")), cell(par("d")))), "a b c\td"},
		{"tabs and breaks", "<w:p><w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/><w:t>e</w:t></w:r></w:p>", "a\tb\nc-de"},
		{"tracked changes", "<w:p>" + run("It ") + "<w:del><w:r><w:delText>was</w:delText></w:r></w:del><w:ins>" + run("is") + "</w:ins><w:moveFrom>" + run("moved") + "</w:moveFrom><w:moveTo>" + run(" here") + "</w:moveTo></w:p>", "It is here"},
		{"deleted paragraph end", "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>" + run("One ") + "</w:p>" + par("sentence."), "One sentence."},
		{"deleted row", table(row("<w:trPr><w:del/></w:trPr>"+cell(par("gone"))), row(cell(par("kept")))), "kept"},
		{"field", "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r>" + run("12") + "<w:r><w:fldChar w:fldCharType='end'/></w:r><w:fldSimple w:instr='DATE'>" + run(" May") + "</w:fldSimple></w:p>", "12 May"},
		{"hyperlink", "<w:p>" + run("see ") + "<w:hyperlink>" + run("there") + "</w:hyperlink></w:p>", "see there"},
		{"hidden", "<w:p>" + run("seen") + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r><w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>, too</w:t></w:r></w:p>", "seen, too"},
		{"footnote", "<w:p>" + run("Hooker") + "<w:r><w:footnoteReference w:id='1'/></w:r>" + run(" paid.") + "</w:p>" + par("Next."), "Hooker[^1] paid.\n\n[^1]: Paid in 1906. Twice.\n\nNext."},
		{"footnote cited twice", "<w:p>" + run("a") + "<w:r><w:footnoteReference w:id='1'/></w:r></w:p><w:p>" + run("b") + "<w:r><w:footnoteReference w:id='1'/></w:r></w:p>", "a[^1]\n\n[^1]: Paid in 1906. Twice.\n\nb[^1]"},
		{"footnote in a table", table(row(cell("<w:p>" + run("Hooker") + "<w:r><w:footnoteReference w:id='1'/></w:r></w:p>"))), "Hooker[^1]\n\n[^1]: Paid in 1906. Twice."},
		{"text box once", "<w:p>" + run("Outside") + "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><w:txbxContent>" + par("Boxed") + "</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>" + par("Boxed") + "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>", "Outside\n\nBoxed"},
		{"contents", "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr><w:sdtContent>" + par("Head 1") + "</w:sdtContent></w:sdt><w:p><w:pPr><w:pStyle w:val='TOC1'/></w:pPr>" + run("Head 1") + "</w:p><w:sdt><w:sdtPr/><w:sdtContent>" + par("Kept") + "</w:sdtContent></w:sdt>", "Kept"},
		{"formula", "<w:p><m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath></w:p>", "E=mc"},
		{"ruby", "<w:p><w:r><w:ruby><w:rt>" + run("かん") + "</w:rt><w:rubyBase>" + run("漢") + "</w:rubyBase></w:ruby></w:r>" + run("字") + "</w:p>", "漢字"},
		{"symbols", "<w:p><w:r><w:sym w:font='Wingdings' w:char='F0FC'/><w:sym w:font='x' w:char='2190'/></w:r></w:p>", "←"},
		{"comment mark", "<w:p>" + run("a") + "<w:commentRangeStart w:id='0'/><w:r><w:commentReference w:id='0'/></w:r></w:p>", "a"},
	} {
		for _, space := range []string{transitional, strict} {
			got, err := readBytes(t, "a.docx", docxOf(t, space, c.body, footnotes))
			if err != nil || got.Body != c.want {
				t.Errorf("%s: %+v, %v; want %q", c.name, got, err, c.want)
			}
		}
	}
}

func TestDOCXThatCannotBeRead(t *testing.T) {
	deep := strings.Repeat("<w:tbl>", 100000)
	for _, c := range []struct {
		name, text string
		is         error
		file       []byte
	}{
		{"no archive", "no docx file", ErrType, []byte("text")},
		{"password", "protected by a password", ErrEncrypted, append(bytes.Clone(oleMark), 0, 0)},
		{"a book", "holds no document", ErrType, zipOf(t, entry{"mimetype", "x"})},
		{"a table of numbers", "holds xl/workbook.xml", ErrType, zipOf(t, entry{"_rels/.rels", relsXML("officeDocument", "xl/workbook.xml")}, entry{"xl/workbook.xml", "<a/>"})},
		{"cut short", "word/document.xml is damaged", nil, docxOf(t, transitional, "<w:p><w:r>", "")},
		{"deep", "nested too deeply", errDeep, docxOf(t, transitional, deep, "")},
		{"bomb", "unpacked it is larger than the limit of 1.0 MiB", ErrTooLarge, docxOf(t, transitional, par(strings.Repeat(" ", 2<<20)), "")},
		{"bomb of two", "unpacked it is larger", ErrTooLarge, docxOf(t, transitional, par(strings.Repeat("a", 600<<10)), par(strings.Repeat("b", 600<<10)))},
	} {
		_, err := readBytes(t, "a.docx", c.file)
		if err == nil || !strings.Contains(err.Error(), c.text) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
}

func TestDOCXPartsAreFoundByRelation(t *testing.T) {
	b := zipOf(t, entry{"_rels/.rels", relsXML("officeDocument", "/Word/Main.xml")},
		entry{`word\main.xml`, wordXML(transitional, "document", "<w:body>"+par("Found.")+"</w:body>")})
	if got, err := readBytes(t, "a.docx", b); err != nil || got.Body != "Found." {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzBooks puts the input where the readers of archives find their XML.
func FuzzBooks(f *testing.F) {
	f.Add("<w:p><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc/></w:tr></w:tbl>", "<p>a</p>", container)
	f.Add("<w:sdt><w:sdtPr/><w:sdtContent/></w:sdt><w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr></w:p>", "<li/><td/>", "<rootfile full-path='x.opf'/>")
	f.Fuzz(func(t *testing.T, body, chapter, head string) {
		_, _ = readBytes(t, "a.docx", docxOf(t, transitional, body, body))
		_, _ = readBytes(t, "a.epub", epubOf(t, []string{page(chapter)}, entry{"META-INF/encryption.xml", head}))
		_, _ = readBytes(t, "a.epub", zipOf(t, entry{"META-INF/container.xml", head}, entry{"x.opf", chapter}))
		raw := append([]byte(head), docxOf(t, transitional, body, "")...)
		_, _ = readBytes(t, "a.docx", raw)
	})
}
