package engine

import (
	"bufio"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/graphstore"
)

const graphMLHead = `<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d0" for="node" attr.name="entity_id" attr.type="string" />
  <key id="d1" for="node" attr.name="entity_type" attr.type="string" />
  <key id="d2" for="node" attr.name="description" attr.type="string" />
  <key id="d3" for="node" attr.name="source_id" attr.type="string" />
  <key id="d4" for="node" attr.name="file_path" attr.type="string" />
  <key id="d5" for="edge" attr.name="weight" attr.type="double" />
  <key id="d6" for="edge" attr.name="description" attr.type="string" />
  <key id="d7" for="edge" attr.name="keywords" attr.type="string" />
  <key id="d8" for="edge" attr.name="source_id" attr.type="string" />
  <key id="d9" for="edge" attr.name="file_path" attr.type="string" />
  <graph edgedefault="undirected">
`

// ExportGraphML writes the graph as GraphML, in the order of ExportJSONL and
// with the attributes that LightRAG gives its own file: nodes have entity_id,
// entity_type, description, source_id and file_path, edges weight (a double),
// description, keywords, source_id and file_path. Lists are joined by <SEP>,
// keywords by commas; source_id lists doc_id#chunk_order.
//
// XML cannot hold control characters but tab and line breaks: each is written
// as its picture (U+2400 to U+241F), and U+FFFE and U+FFFF as U+FFFD. If that
// makes two names equal, the later one gets a number.
func (v *View) ExportGraphML(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	x := &graphML{w: out, view: v, ids: make(map[string]string), taken: make(map[string]bool)}
	x.raw(graphMLHead)
	err := v.inPlain(x.node, x.edge)
	if err != nil {
		return err
	}
	x.raw("  </graph>\n</graphml>\n")
	if x.err != nil {
		return x.err
	}
	return out.Flush()
}

// graphML writes elements until the first error.
type graphML struct {
	w     *bufio.Writer
	view  *View
	ids   map[string]string // of names that XML cannot hold as they are
	taken map[string]bool   // ids given to such names
	err   error
}

func (x *graphML) raw(s string) {
	if x.err == nil {
		_, x.err = x.w.WriteString(s)
	}
}

func (x *graphML) text(s string) {
	if x.err == nil {
		x.err = xml.EscapeText(x.w, []byte(xmlSafe(s)))
	}
}

func (x *graphML) data(key, value string) {
	x.raw(`      <data key="` + key + `">`)
	x.text(value)
	x.raw("</data>\n")
}

func (x *graphML) node(e *Entity, paths []string) error {
	id := x.id(e.Name)
	x.raw(`    <node id="`)
	x.text(id)
	x.raw("\">\n")
	x.data("d0", id)
	x.data("d1", e.Type)
	x.data("d2", e.Description)
	x.data("d3", strings.Join(e.Sources, graphstore.Separator))
	x.data("d4", strings.Join(paths, graphstore.Separator))
	x.raw("    </node>\n")
	return x.err
}

func (x *graphML) edge(e *Relation, paths []string) error {
	x.raw(`    <edge source="`)
	x.text(x.id(e.Src))
	x.raw(`" target="`)
	x.text(x.id(e.Tgt))
	x.raw("\">\n")
	x.data("d5", decimal(e.Weight))
	x.data("d6", e.Description)
	x.data("d7", strings.Join(e.Keywords, ","))
	x.data("d8", strings.Join(e.Sources, graphstore.Separator))
	x.data("d9", strings.Join(paths, graphstore.Separator))
	x.raw("    </edge>\n")
	return x.err
}

// id returns the id of a node: its name, unless XML cannot hold that.
func (x *graphML) id(name string) string {
	safe := xmlSafe(name)
	if safe == name {
		return name
	}
	if id, ok := x.ids[name]; ok {
		return id
	}
	id := safe
	for n := 2; ; n++ {
		_, exists, err := x.view.v.FindEntity(id)
		if x.err == nil {
			x.err = err
		}
		if err != nil || !exists && !x.taken[id] {
			break
		}
		id = safe + " (" + strconv.Itoa(n) + ")"
	}
	x.ids[name], x.taken[id] = id, true
	return id
}

// xmlSafe replaces what XML 1.0 cannot hold.
func xmlSafe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= ' ' && r < 0xFFFE, r > 0xFFFF:
			return r
		case r < ' ':
			return 0x2400 + r // the picture of the control character
		}
		return utf8.RuneError
	}, s)
}

// decimal writes a weight as people do.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
