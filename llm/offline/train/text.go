package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readCorpus unpacks the packages under work and returns their text.
func readCorpus(work string) (*corpus, *wordnet, error) {
	c := newCorpus()
	s, err := unpack(work, wordnetPackage)
	if err != nil {
		return nil, nil, err
	}
	w, err := readWordnet(s)
	if err != nil {
		return nil, nil, err
	}
	addSynsets(c, w)
	seen := map[string]bool{}
	for _, part := range []struct{ pkg, dir, name, value string }{
		{officePackage, "/usr/share/libreoffice/help/en-US/text", "id", "DisplayArea"},
		{pythonPackage, "/usr/share/doc/python3.11/html", "role", "main"},
	} {
		if s, err = unpack(work, part.pkg); err != nil {
			return nil, nil, err
		}
		files, err := filesBelow(s.path(part.dir), ".html")
		if err != nil {
			return nil, nil, err
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, nil, err
			}
			pageParagraphs(string(text), part.name, part.value, func(p string) {
				if !seen[p] { // pages share notes
					seen[p] = true
					c.add(p, true)
				}
			})
		}
	}
	return c, w, nil
}

// addSynsets adds a synset as the neighbourhood of each of its words: the gloss,
// the other words, and the words of related synsets. Every gloss is counted once.
func addSynsets(c *corpus, w *wordnet) {
	for _, set := range w.synsets {
		for i, word := range set.words {
			c.add(word+" "+set.gloss, i == 0)
		}
		words := strings.Join(set.words, " ")
		if len(set.words) > 1 {
			c.add(words, false)
		}
		for _, p := range set.pointers {
			if !related[p.kind] {
				continue
			}
			to := w.synsets[p.to].words
			c.add(set.words[0]+" "+to[0], false)
			if len(set.words)+len(to) > 2 {
				c.add(strings.Join(to, " ")+" "+words, false)
			}
		}
	}
}

// related holds the pointers of wninput(5WN) that lead to a meaning close by:
// hypernyms, similar adjectives, derived forms, verb groups, causes, entailments
// and attributes. Those to parts, members, domains and opposites do not.
var related = map[string]bool{"@": true, "@i": true, "&": true, "+": true, "\\": true, "$": true, "*": true, ">": true, "^": true, "=": true}

// filesBelow returns the files of a directory tree in the order of their paths.
func filesBelow(dir, suffix string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, suffix) && !strings.Contains(d.Name(), "index") {
			files = append(files, path)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}

// pageParagraphs calls each with the text of every block within the element of a
// page whose attribute name has that value; code and scripts are left out.
func pageParagraphs(page, name, value string, each func(string)) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return // a reader of a string does not fail
	}
	var b strings.Builder
	flush := func() {
		if p := strings.Join(strings.Fields(b.String()), " "); p != "" {
			each(p)
		}
		b.Reset()
	}
	var walk func(n *html.Node, inside bool)
	walk = func(n *html.Node, inside bool) {
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Pre:
			return
		}
		inside = inside || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name && a.Val == value })
		block := n.Type == html.ElementNode && blocks[n.DataAtom]
		if block {
			flush()
		}
		if n.Type == html.TextNode && inside {
			b.WriteString(n.Data)
		}
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			walk(k, inside)
		}
		if block {
			flush()
		}
	}
	walk(root, false)
	flush()
}

var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Dl: true, atom.Dt: true, atom.Dd: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Table: true, atom.Tr: true,
	atom.Td: true, atom.Th: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Aside: true,
	atom.Blockquote: true, atom.Body: true, atom.Br: true, atom.Main: true, atom.Form: true,
}
