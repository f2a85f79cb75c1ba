package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

type entityLine struct {
	Kind        string   `json:"kind"`
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Fragments   []string `json:"fragments"`
	Sources     []string `json:"sources"`
	Degree      int      `json:"degree"`
}

type relationLine struct {
	Kind        string   `json:"kind"`
	Src         string   `json:"src"`
	Tgt         string   `json:"tgt"`
	Weight      float64  `json:"weight"`
	Keywords    []string `json:"keywords"`
	Description string   `json:"description"`
	Fragments   []string `json:"fragments"`
	Sources     []string `json:"sources"`
}

// ExportJSONL writes the graph of the view to w, one JSON object a line: the
// entities in name order, then the relations by source and target, all by code
// point. The same documents give the same bytes, whatever order they were
// finished in. Entities have kind, name, type, description, fragments (the
// distinct descriptions the merged one was made from), sources
// (doc_id#chunk_order) and degree; relations kind, src, tgt, weight, keywords,
// description, fragments and sources.
func (v *View) ExportJSONL(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	line := newLineEncoder(out)
	if err := v.Entities(func(e *Entity) error { return line(newEntityLine(e)) }); err != nil {
		return err
	}
	if err := v.Relations(func(e *Relation) error { return line(newRelationLine(e)) }); err != nil {
		return err
	}
	return out.Flush()
}

func newEntityLine(e *Entity) entityLine {
	return entityLine{"entity", e.Name, e.Type, e.Description, list(e.Fragments), list(e.Sources), e.Degree}
}

func newRelationLine(e *Relation) relationLine {
	return relationLine{"relation", e.Src, e.Tgt, e.Weight, list(e.Keywords), e.Description, list(e.Fragments), list(e.Sources)}
}

// newLineEncoder returns a function that writes one value a line, with no
// characters escaped for the sake of HTML.
func newLineEncoder(w io.Writer) func(any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	return func(v any) error {
		buf.Reset()
		if err := enc.Encode(v); err != nil {
			return err
		}
		_, err := w.Write(buf.Bytes())
		return err
	}
}

// list keeps empty lists from becoming null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
