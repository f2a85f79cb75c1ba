package reader

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// readDOCX returns the body of a WordprocessingML document, transitional or
// strict: elements are told by local name within the two namespaces.
func readDOCX(r *Reader, _ context.Context, b []byte) (*Text, error) {
	a, err := openArchive(b, "docx", r.opts.Limit)
	if err != nil {
		return nil, err
	}
	main, err := mainPart(a)
	if err != nil {
		return nil, err
	}
	d := &docx{notes: make(map[string]string), marks: make(map[string]string)}
	rels, err := relations(a, main)
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{"footnote", "endnote"} {
		part, ok := rels[kind+"s"]
		if !ok {
			continue
		}
		if err := d.readNotes(a, part, kind); err != nil {
			return nil, err
		}
	}
	xmlText, err := a.read(main)
	if err != nil {
		return nil, err
	}
	if d.x, err = newXMLReader(xmlText); err != nil {
		return nil, damaged(main, err)
	}
	blocks, err := d.blocks()
	if err != nil {
		return nil, damaged(main, err)
	}
	return &Text{Body: joinParagraphs(blocks)}, nil
}

// mainPart finds the document in the package.
func mainPart(a *archive) (string, error) {
	rels, err := relations(a, "")
	if err != nil {
		return "", err
	}
	main, ok := rels["officeDocument"]
	if !ok || a.find(main) == nil {
		main = "word/document.xml"
	}
	if a.find(main) == nil {
		return "", refuse(ErrType, "the archive holds no document")
	}
	if !strings.HasSuffix(strings.ToLower(main), ".xml") || strings.HasPrefix(main, "xl/") || strings.HasPrefix(main, "ppt/") {
		return "", refuse(ErrType, "the archive holds %s, not a text document", main)
	}
	return main, nil
}

// relations returns the parts that part refers to, by the last word of the
// relation's type, which is the same in both namespaces. The first counts.
func relations(a *archive, part string) (map[string]string, error) {
	dir, base := path.Split(part)
	name := dir + "_rels/" + base + ".rels"
	out := make(map[string]string)
	b, err := a.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := newXMLReader(b)
	if err != nil {
		return nil, damaged(name, err)
	}
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		if e.Name.Local == "Relationship" && attr(e, "TargetMode") != "External" {
			kind, target := path.Base(attr(e, "Type")), attr(e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join(dir, target)
			}
			if _, dup := out[kind]; !dup {
				out[kind] = cleanName(target)
			}
		}
		return x.each(visit)
	}
	if err := x.each(visit); err != nil {
		return nil, damaged(name, err)
	}
	return out, nil
}

// docx reads one document. Its methods read the children of the element that
// was just begun, to its end.
type docx struct {
	x     *xmlReader
	notes map[string]string // "footnote 2" -> its text
	marks map[string]string // of the notes that were cited so far
}

// readNotes takes in the texts of footnotes or endnotes.
func (d *docx) readNotes(a *archive, part, kind string) error {
	b, err := a.read(part)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := &docx{}
	if n.x, err = newXMLReader(b); err != nil {
		return damaged(part, err)
	}
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		if wordElement(e) != kind {
			return n.x.each(visit)
		}
		if t := attr(e, "type"); t != "" && t != "normal" { // separators
			return n.x.skip()
		}
		blocks, err := n.blocks()
		d.notes[kind+" "+attr(e, "id")] = oneParagraph(blocks)
		return err
	}
	if err := n.x.each(visit); err != nil {
		return damaged(part, err)
	}
	return nil
}

// wordElement is the name of an element of WordprocessingML, else "".
func wordElement(e xml.StartElement) string {
	switch e.Name.Space {
	case "http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main":
		return e.Name.Local
	}
	return ""
}

func isAlternate(e xml.StartElement) bool {
	return e.Name.Local == "AlternateContent" && e.Name.Space == "http://schemas.openxmlformats.org/markup-compatibility/2006"
}

// alternate reads what a newer program would show, and not a second time what
// an older one would.
func (d *docx) alternate(read func() error) error {
	done := false
	return d.x.each(func(xml.StartElement) error {
		if done {
			return d.x.skip()
		}
		done = true
		return read()
	})
}

// on reports whether a switch such as <w:vanish/> is not switched off.
func on(e xml.StartElement) bool {
	switch attr(e, "val") {
	case "0", "false", "off":
		return false
	}
	return true
}
