package engine

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/graphstore"
)

// CSVPart says which rows ExportCSV writes.
type CSVPart uint8

const (
	CSVAll       CSVPart = iota // entities, then relations, told apart by the column kind
	CSVEntities                 // one table of entities
	CSVRelations                // one table of relations
)

var (
	entityColumns   = []string{"name", "type", "description", "degree", "sources", "files"}
	relationColumns = []string{"src", "tgt", "weight", "keywords", "description", "sources", "files"}
	allColumns      = []string{
		"kind", "name", "type", "src", "tgt", "weight", "keywords", "description", "degree", "sources", "files",
	}
)

// ExportCSV writes the graph as a table (RFC 4180: a header, lines that end in
// CR LF, quotes where they are needed; UTF-8 without a mark), in the order of
// ExportJSONL. Lists are joined by <SEP>.
//
// A spreadsheet runs a cell that begins with =, +, - or @ (of either width) as a
// formula. Such a cell, and one that begins with a tab, a line break or an
// apostrophe, is written with an apostrophe before it: taking one away gives the
// text back.
// NUL, which no table can hold, is left out.
func (v *View) ExportCSV(w io.Writer, part CSVPart) error {
	out := bufio.NewWriterSize(w, 1<<16)
	t := &csvTable{w: out}
	var entity func(*Entity, []string) error
	var relation func(*Relation, []string) error
	switch part {
	case CSVEntities:
		t.row(entityColumns...)
		entity = func(e *Entity, paths []string) error {
			return t.row(e.Name, e.Type, e.Description, strconv.Itoa(e.Degree), joinList(e.Sources), joinList(paths))
		}
	case CSVRelations:
		t.row(relationColumns...)
		relation = func(e *Relation, paths []string) error {
			return t.row(e.Src, e.Tgt, decimal(e.Weight), joinList(e.Keywords), e.Description, joinList(e.Sources), joinList(paths))
		}
	default:
		t.row(allColumns...)
		entity = func(e *Entity, paths []string) error {
			return t.row("entity", e.Name, e.Type, "", "", "", "", e.Description, strconv.Itoa(e.Degree),
				joinList(e.Sources), joinList(paths))
		}
		relation = func(e *Relation, paths []string) error {
			return t.row("relation", "", "", e.Src, e.Tgt, decimal(e.Weight), joinList(e.Keywords), e.Description, "",
				joinList(e.Sources), joinList(paths))
		}
	}
	if err := v.inPlain(entity, relation); err != nil {
		return err
	}
	if t.err != nil {
		return t.err
	}
	return out.Flush()
}

func joinList(s []string) string { return strings.Join(s, graphstore.Separator) }

// csvTable writes rows until the first error.
type csvTable struct {
	w   *bufio.Writer
	err error
}

func (t *csvTable) row(cells ...string) error {
	for i, c := range cells {
		if i > 0 {
			t.put(",")
		}
		c = csvCell(c)
		if strings.ContainsAny(c, "\",\r\n") || strings.TrimSpace(c) != c {
			c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		t.put(c)
	}
	t.put("\r\n")
	return t.err
}

func (t *csvTable) put(s string) {
	if t.err == nil {
		_, t.err = t.w.WriteString(s)
	}
}

// csvCell makes sure that a spreadsheet shows a text and does not run it.
func csvCell(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@＝＋－＠\t\r\n'", first) {
		return "'" + s
	}
	return s
}
