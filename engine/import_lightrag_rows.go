package engine

import (
	"slices"
	"strings"

	"github.com/lightctl/lightrag/graphstore"
)

// rowFragment is a fragment made of a row of the graph.
type rowFragment struct {
	Node, Edge  int32 // one of them, the other is -1
	Chunk       int32
	Type        string
	Description string
	Keywords    []string
	Weight      int64
}

// spread is what a row says beyond the answers, and where it is put.
type spread struct {
	texts []string // descriptions that no answer gives
	on    []int32  // sources that no answer covers
	last  int32    // where texts go when there are none; -1 = nowhere
}

// spreadRows makes fragments of what the graph's rows say beyond the answers.
func (im *lightragImport) spreadRows() error {
	said, err := im.relationTexts()
	if err != nil {
		return err
	}
	related := make(map[uint64]struct{}) // entity and chunk of a relation
	for i := range im.edges {
		e := &im.edges[i]
		for _, list := range [2][]int32{e.sources, e.cover.chunks} {
			for _, c := range list {
				related[nodeIn(e.a, c)] = struct{}{}
				related[nodeIn(e.b, c)] = struct{}{}
			}
		}
	}
	for i := range im.nodes {
		if err := im.spreadNode(int32(i), said, related); err != nil {
			return err
		}
	}
	for i := range im.edges {
		if err := im.spreadEdge(int32(i)); err != nil {
			return err
		}
	}
	return nil
}

func nodeIn(node, chunk int32) uint64 { return uint64(node)<<32 | uint64(uint32(chunk)) }

// relationTexts returns what the relations of entities without a type say: an
// entity that was never extracted has the description of one of them.
func (im *lightragImport) relationTexts() (map[uint64]struct{}, error) {
	said := make(map[uint64]struct{})
	for i := range im.edges {
		e := &im.edges[i]
		if !e.hasRow || !im.nodes[e.a].unknown && !im.nodes[e.b].unknown {
			continue
		}
		var row graphRow
		if err := im.spill.getJSON(e.row, &row); err != nil {
			return nil, err
		}
		for _, d := range im.descriptions(row.Attr["description"]) {
			said[describedAs(im.nodes[e.a].name, "", d)] = struct{}{}
			said[describedAs(im.nodes[e.b].name, "", d)] = struct{}{}
		}
	}
	return said, nil
}

// beyond works out what a row says that the answers do not.
func (im *lightragImport) beyond(texts []string, sources []int32, cover *coverage) spread {
	s := spread{last: -1}
	known := 0
	for _, t := range texts {
		if slices.Contains(cover.texts, graphstore.TextHash(t)) {
			known++
		} else {
			s.texts = append(s.texts, t)
		}
	}
	covered := make(map[int32]struct{}, len(cover.chunks))
	for _, c := range cover.chunks {
		covered[c] = struct{}{}
	}
	for _, c := range sources {
		if _, ok := covered[c]; !ok {
			s.on = append(s.on, c)
		} else {
			s.last = c
		}
	}
	if len(texts) == 1 && known == 0 && len(cover.texts) > 0 {
		s.texts = nil // a summary, or what an earlier version of a parser made of the answer
	}
	if s.last < 0 && len(cover.chunks) > 0 {
		s.last = cover.chunks[len(cover.chunks)-1]
	}
	return s
}

func (im *lightragImport) spreadNode(i int32, said, related map[uint64]struct{}) error {
	n := &im.nodes[i]
	if !n.hasRow {
		return nil
	}
	var row graphRow
	if err := im.spill.getJSON(n.row, &row); err != nil {
		return err
	}
	s := im.beyond(im.descriptions(row.Attr["description"]), n.sources, &n.cover)
	kind := im.typeOf(row.Attr["entity_type"])
	if kind == "" && n.degree > 0 {
		s.texts = slices.DeleteFunc(s.texts, func(t string) bool {
			_, ok := said[describedAs(n.name, "", t)]
			return ok
		})
	}
	put := func(chunk int32, kind, text string) error {
		return im.putRow(&rowFragment{Node: i, Edge: -1, Chunk: chunk, Type: kind, Description: text})
	}
	for at, c := range s.on {
		text := ""
		if at < len(s.texts) {
			text = s.texts[at]
		}
		if _, ok := related[nodeIn(i, c)]; ok && text == "" {
			continue // the relation implies the entity
		}
		if err := put(c, kind, text); err != nil {
			return err
		}
	}
	last := s.last
	if len(s.on) > 0 {
		last = s.on[len(s.on)-1]
	}
	for at := len(s.on); at < len(s.texts) && last >= 0; at++ {
		k := kind
		if len(s.on) == 0 && len(n.cover.texts) > 0 {
			k = "" // the answers have voted
		}
		if err := put(last, k, s.texts[at]); err != nil {
			return err
		}
	}
	return nil
}

func (im *lightragImport) spreadEdge(i int32) error {
	e := &im.edges[i]
	if !e.hasRow {
		return nil
	}
	var row graphRow
	if err := im.spill.getJSON(e.row, &row); err != nil {
		return err
	}
	s := im.beyond(im.descriptions(row.Attr["description"]), e.sources, &e.cover)
	words := im.keywordsOf(row.Attr["keywords"])
	weight := max(weightOf(row.Attr["weight"])-e.cover.weight, 0)
	n := int64(len(s.on))
	for at, c := range s.on {
		f := rowFragment{Node: -1, Edge: i, Chunk: c, Keywords: words, Weight: weight / n}
		if int64(at) < weight%n {
			f.Weight++
		}
		if at < len(s.texts) {
			f.Description = s.texts[at]
		}
		if err := im.putRow(&f); err != nil {
			return err
		}
	}
	last := s.last
	if n > 0 {
		last = s.on[n-1]
	}
	for at := len(s.on); at < len(s.texts) && last >= 0; at++ {
		if err := im.putRow(&rowFragment{Node: -1, Edge: i, Chunk: last, Description: s.texts[at]}); err != nil {
			return err
		}
	}
	return nil
}

// putRow gives a fragment to the document of its chunk.
func (im *lightragImport) putRow(f *rowFragment) error {
	at, err := im.spill.putJSON(f)
	if err != nil {
		return err
	}
	d := &im.docs[im.chunks[f.Chunk].doc]
	d.rows = append(d.rows, at)
	name := ""
	if f.Node >= 0 {
		name = im.nodes[f.Node].name
	} else {
		e := &im.edges[f.Edge]
		name = im.nodes[e.a].name + " - " + im.nodes[e.b].name
	}
	im.tell(f.Chunk, name, f.Description)
	return nil
}

// tell adds what is said about an owner to the text of a source that has none:
// it is the passage that can be shown for it.
func (im *lightragImport) tell(chunk int32, name, description string) {
	if im.docs[im.chunks[chunk].doc].id != unknownSourcesID {
		return
	}
	if im.told == nil {
		im.told = make(map[int32]*strings.Builder)
	}
	b := im.told[chunk]
	if b == nil {
		b = &strings.Builder{}
		im.told[chunk] = b
	}
	line := name
	if description != "" {
		line += ": " + description
	}
	if b.Len()+len(line) < maxUnknownText || b.Len() == 0 {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}
