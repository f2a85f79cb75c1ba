package reader

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// paragraph is a paragraph, a list item, or a whole table.
type paragraph struct {
	text string
	item bool // of a list
	note bool // a footnote, after the paragraph that cites it
}

// joinParagraphs divides by blank lines, but the items of a list by line ends.
func joinParagraphs(ps []paragraph) string {
	var b strings.Builder
	item := false
	for _, p := range ps {
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		switch {
		case b.Len() == 0:
		case item && p.item:
			b.WriteByte('\n')
		default:
			b.WriteString("\n\n")
		}
		item = p.item
		b.WriteString(strings.TrimRight(p.text, " \t\n"))
	}
	return b.String()
}

// oneParagraph is the text of a cell or of a note.
func oneParagraph(ps []paragraph) string {
	var words []string
	for _, p := range ps {
		if !p.note {
			words = append(words, strings.Fields(p.text)...)
		}
	}
	return strings.Join(words, " ")
}

func notesOf(ps []paragraph) []paragraph {
	var out []paragraph
	for _, p := range ps {
		if p.note {
			out = append(out, p)
		}
	}
	return out
}

// blocks reads paragraphs and tables.
func (d *docx) blocks() ([]paragraph, error) {
	var out []paragraph
	open := "" // of a paragraph whose end was deleted
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		if isAlternate(e) {
			return d.alternate(func() error { return d.x.each(visit) })
		}
		switch wordElement(e) {
		case "p":
			p, err := d.paragraph()
			if p.contents {
				return err
			}
			text := open + p.b.String()
			if open = ""; p.open && len(p.after) == 0 {
				open = text
				return err
			}
			if p.list && strings.TrimSpace(text) != "" {
				text = strings.Repeat("  ", p.level) + "- " + strings.TrimLeft(text, " \t")
			}
			out = append(append(out, paragraph{text: text, item: p.list}), p.after...)
			return err
		case "tbl":
			t, err := d.table()
			out = append(out, t...)
			return err
		case "sdt":
			return d.control(visit)
		case "del", "moveFrom", "sectPr", "sdtPr", "customXmlPr", "altChunk", "footnotePr", "endnotePr", "background":
			return d.x.skip()
		}
		return d.x.each(visit) // a wrapper, or of no interest
	}
	err := d.x.each(visit)
	if open != "" {
		out = append(out, paragraph{text: open})
	}
	return out, err
}

// control reads a structured document tag, unless it is a table of contents.
func (d *docx) control(visit func(xml.StartElement) error) error {
	contents := false
	var properties func(xml.StartElement) error
	properties = func(e xml.StartElement) error {
		if wordElement(e) == "docPartGallery" && attr(e, "val") == "Table of Contents" {
			contents = true
		}
		return d.x.each(properties)
	}
	return d.x.each(func(e xml.StartElement) error {
		switch {
		case wordElement(e) == "sdtPr":
			return d.x.each(properties)
		case wordElement(e) != "sdtContent" || contents:
			return d.x.skip()
		}
		return d.x.each(visit)
	})
}

// table returns a paragraph of the rows, and the notes that its cells cite. A
// table inside a cell is part of the cell.
func (d *docx) table() ([]paragraph, error) {
	var rows []string
	var notes []paragraph
	var cells []string
	deleted := false
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch wordElement(e) {
		case "tblPr", "tblGrid", "tblPrEx", "tcPr", "sdtPr":
			return d.x.skip()
		case "tr":
			cells, deleted = nil, false
			if err := d.x.each(visit); err != nil {
				return err
			}
			if row := strings.Join(cells, "\t"); !deleted && strings.TrimSpace(row) != "" {
				rows = append(rows, row)
			}
			return nil
		case "trPr":
			return d.x.each(func(e xml.StartElement) error {
				deleted = deleted || wordElement(e) == "del"
				return d.x.skip()
			})
		case "tc":
			blocks, err := d.blocks()
			cells = append(cells, oneParagraph(blocks))
			notes = append(notes, notesOf(blocks)...)
			return err
		case "del", "moveFrom":
			return d.x.skip()
		}
		return d.x.each(visit)
	}
	err := d.x.each(visit)
	return append([]paragraph{{text: strings.Join(rows, "\n")}}, notes...), err
}

// inline is a paragraph that is being read.
type inline struct {
	b        strings.Builder
	list     bool
	level    int
	open     bool        // its end was deleted: the next one goes on with it
	contents bool        // a line of a table of contents
	after    []paragraph // text boxes and notes
}

func (d *docx) paragraph() (*inline, error) {
	p := &inline{}
	return p, d.x.each(func(e xml.StartElement) error { return d.inline(p, e) })
}

func (d *docx) inline(p *inline, e xml.StartElement) error {
	children := func() error {
		return d.x.each(func(e xml.StartElement) error { return d.inline(p, e) })
	}
	if isAlternate(e) {
		return d.alternate(children)
	}
	if e.Name.Local == "t" && strings.HasSuffix(e.Name.Space, "/math") { // of a formula
		return d.characters(p)
	}
	switch wordElement(e) {
	case "t":
		return d.characters(p)
	case "tab", "ptab":
		p.b.WriteByte('\t')
	case "br", "cr":
		p.b.WriteByte('\n')
	case "noBreakHyphen":
		p.b.WriteByte('-')
	case "sym":
		// Letters of a symbol font have no meaning without it.
		if n, err := strconv.ParseUint(attr(e, "char"), 16, 32); err == nil && n >= ' ' && (n < 0xD800 || n > 0xF8FF) && n <= 0xFFFF {
			p.b.WriteRune(rune(n))
		}
	case "pPr":
		return d.properties(p)
	case "r":
		return d.run(p)
	case "footnoteReference":
		d.cite(p, "footnote "+attr(e, "id"))
	case "endnoteReference":
		d.cite(p, "endnote "+attr(e, "id"))
	case "txbxContent":
		blocks, err := d.blocks()
		p.after = append(p.after, blocks...)
		return err
	case "del", "moveFrom", "delText", "instrText", "delInstrText", "rPr", "rt", "fldData", "sdtPr":
		return d.x.skip()
	}
	return children()
}

func (d *docx) characters(p *inline) error {
	s, err := d.x.text()
	p.b.WriteString(strings.ReplaceAll(s, "\u00ad", ""))
	return err
}

// run reads a run, unless it is hidden. Its properties come first.
func (d *docx) run(p *inline) error {
	hidden := false
	return d.x.each(func(e xml.StartElement) error {
		switch {
		case wordElement(e) == "rPr":
			return d.x.each(func(e xml.StartElement) error {
				if wordElement(e) == "vanish" {
					hidden = on(e)
				}
				return d.x.skip()
			})
		case hidden:
			return d.x.skip()
		}
		return d.inline(p, e)
	})
}

// properties reads what a paragraph is.
func (d *docx) properties(p *inline) error {
	heading := false
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch wordElement(e) {
		case "pStyle":
			style := strings.ToLower(attr(e, "val"))
			heading = strings.HasPrefix(style, "heading") || style == "title"
			p.list = p.list || strings.HasPrefix(style, "listbullet") || strings.HasPrefix(style, "listnumber")
			p.contents = len(style) == 4 && strings.HasPrefix(style, "toc") && style[3] >= '1' && style[3] <= '9'
		case "numId":
			p.list = attr(e, "val") != "0"
		case "ilvl":
			if n, err := strconv.Atoi(attr(e, "val")); err == nil && n >= 0 && n <= 8 {
				p.level = n
			}
		case "rPr": // of the end of the paragraph
			return d.x.each(func(e xml.StartElement) error {
				p.open = p.open || wordElement(e) == "del"
				return d.x.skip()
			})
		case "pPrChange", "tabs", "sectPr":
			return d.x.skip()
		}
		return d.x.each(visit)
	}
	err := d.x.each(visit)
	p.list = p.list && !heading
	return err
}

// cite marks a note and puts its text after the first paragraph that cites it:
// a file cannot make its text any number of times as long. Separators and
// references to nothing leave no mark.
func (d *docx) cite(p *inline, note string) {
	text := d.notes[note]
	if text == "" {
		return
	}
	if mark := d.marks[note]; mark != "" {
		p.b.WriteString(mark)
		return
	}
	mark := "[^" + strconv.Itoa(len(d.marks)+1) + "]"
	d.marks[note] = mark
	p.b.WriteString(mark)
	p.after = append(p.after, paragraph{text: mark + ": " + text, note: true})
}
