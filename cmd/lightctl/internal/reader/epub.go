package reader

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// readEPUB returns the documents of the spine in its order.
func readEPUB(r *Reader, ctx context.Context, b []byte) (*Text, error) {
	a, err := openArchive(b, "epub", r.opts.Limit)
	if err != nil {
		return nil, err
	}
	opf, err := packageOf(a)
	if err != nil {
		return nil, err
	}
	p, err := readPackage(a, opf)
	if err != nil {
		return nil, err
	}
	locked, err := encrypted(a)
	if err != nil {
		return nil, err
	}
	var parts []string
	missing, total := 0, int64(0)
	for _, id := range p.spine {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := p.page(id)
		if name == "" {
			continue
		}
		if locked[strings.ToLower(cleanName(name))] {
			return nil, refuse(ErrEncrypted, "the book is protected (DRM), its text cannot be read")
		}
		text, err := bookPage(a, name)
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return nil, err
		}
		if total += int64(len(text)); total > r.opts.Limit {
			return nil, tooLarge("its text is ", r.opts.Limit)
		}
		parts = append(parts, text)
	}
	if total == 0 {
		return nil, refuse(ErrNoText, "the book's pages hold no text")
	}
	t := &Text{Body: joinBlocks(append(p.head(parts), parts...))}
	if missing > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of the book's documents are missing in the file", missing))
	}
	return t, nil
}

func bookPage(a *archive, name string) (string, error) {
	b, err := a.read(name)
	if err != nil {
		return "", err
	}
	if len(b) == 0 {
		return "", nil
	}
	text, err := decodeMarkup(b)
	if err != nil {
		return "", damaged(name, err)
	}
	root, err := parseXHTML(text)
	if err != nil {
		return "", damaged(name, err)
	}
	return pageText(root, false), nil
}

// packageOf finds the package document.
func packageOf(a *archive) (string, error) {
	const container = "META-INF/container.xml"
	b, err := a.read(container)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var first string
	if err == nil {
		err = visitAll(container, b, func(e xml.StartElement) {
			if e.Name.Local == "rootfile" && first == "" {
				first = attr(e, "full-path")
			}
		})
		if err != nil {
			return "", err
		}
	}
	if first != "" && a.find(first) != nil {
		return first, nil
	}
	for name := range a.files {
		if strings.EqualFold(path.Ext(name), ".opf") && (first == "" || name < first) {
			first = name
		}
	}
	if first == "" || a.find(first) == nil {
		return "", refuse(ErrType, "the archive holds no book")
	}
	return first, nil
}

// visitAll calls fn for every element of a document.
func visitAll(name string, b []byte, fn func(xml.StartElement)) error {
	x, err := newXMLReader(b)
	if err != nil {
		return damaged(name, err)
	}
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		fn(e)
		return x.each(visit)
	}
	if err := x.each(visit); err != nil {
		return damaged(name, err)
	}
	return nil
}

// book is what the package document says.
type book struct {
	title    string
	creators []string
	items    map[string]bookItem
	spine    []string // ids of items
	toc      map[string]bool
}

type bookItem struct {
	name, kind, fallback string
	nav                  bool
}

func readPackage(a *archive, opf string) (*book, error) {
	b, err := a.read(opf)
	if err != nil {
		return nil, err
	}
	p := &book{items: make(map[string]bookItem), toc: make(map[string]bool)}
	dir := path.Dir(cleanName(opf))
	x, err := newXMLReader(b)
	if err != nil {
		return nil, damaged(opf, err)
	}
	seen := make(map[string]bool)
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "title", "creator":
			s, err := x.text()
			s = strings.Join(strings.Fields(s), " ")
			if e.Name.Local == "creator" && s != "" {
				p.creators = append(p.creators, s)
			} else if p.title == "" {
				p.title = s
			}
			return err
		case "item":
			p.items[attr(e, "id")] = bookItem{
				name: join(dir, attr(e, "href")), kind: attr(e, "media-type"), fallback: attr(e, "fallback"),
				nav: has(attr(e, "properties"), "nav"),
			}
		case "itemref":
			if id := attr(e, "idref"); !seen[id] {
				seen[id] = true
				p.spine = append(p.spine, id)
			}
		case "reference":
			if strings.EqualFold(attr(e, "type"), "toc") {
				p.toc[join(dir, attr(e, "href"))] = true
			}
		}
		return x.each(visit)
	}
	if err := x.each(visit); err != nil {
		return nil, damaged(opf, err)
	}
	return p, nil
}

// head is what the first page does not say itself of title and creators.
func (p *book) head(pages []string) []string {
	first := ""
	for _, first = range pages {
		if strings.TrimSpace(first) != "" {
			break
		}
	}
	var head []string
	for _, s := range []string{p.title, strings.Join(p.creators, ", ")} {
		if !strings.Contains(first, s) {
			head = append(head, s)
		}
	}
	return head
}

// page returns the entry of a document that is to be read, or "". An item of
// another type stands for its fallback.
func (p *book) page(id string) string {
	for range 8 {
		it, ok := p.items[id]
		switch {
		case !ok || it.nav || p.toc[it.name]:
			return ""
		case it.kind == "application/xhtml+xml" || it.kind == "text/html" || it.kind == "application/x-dtbook+xml" ||
			it.kind == "text/x-oeb1-document":
			return it.name
		}
		id = it.fallback
	}
	return ""
}

// join resolves a reference of the package document, which is a URL.
func join(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if u, err := url.PathUnescape(href); err == nil {
		href = u
	}
	return cleanName(path.Join(dir, href))
}

func has(list, word string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == word {
			return true
		}
	}
	return false
}

// encrypted returns the entries, in lower case, that are enciphered. Fonts that
// are only garbled are not.
func encrypted(a *archive) (map[string]bool, error) {
	const name = "META-INF/encryption.xml"
	out := make(map[string]bool)
	b, err := a.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	garbled := false
	err = visitAll(name, b, func(e xml.StartElement) {
		switch e.Name.Local {
		case "EncryptedData":
			garbled = false
		case "EncryptionMethod":
			switch attr(e, "Algorithm") {
			case "http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC":
				garbled = true
			}
		case "CipherReference":
			if !garbled {
				out[strings.ToLower(join("", attr(e, "URI")))] = true
			}
		}
	})
	return out, err
}
