package engine

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// ExportMarkdown writes the graph as a document to read: the entities with the
// most relations first, each with its description, its relations (which link
// to the other entity) and its sources. Texts cannot bring mark-up of their
// own.
func (v *View) ExportMarkdown(w io.Writer) error {
	if v.err != nil {
		return v.err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	order := v.byDegree()
	rank := make(map[format.EntityID]int, len(order))
	for i, id := range order {
		rank[id] = i + 1
	}
	n := v.Counts()
	fmt.Fprintf(out, "# Knowledge graph\n\n%s and %s from %s. Entities with the most relations come first.\n",
		plural(n.Entities, "entity", "entities"), plural(n.Relations, "relation", "relations"),
		plural(n.Documents, "document", "documents"))
	if v.models.Offline() {
		fmt.Fprintf(out, "\nMade offline, at least in part: %s.\n", markdownText(v.models.String()))
	}
	r := newReader(v.v)
	for i, id := range order {
		if err := v.markdownEntity(out, r, i+1, id, rank); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (v *View) markdownEntity(out *bufio.Writer, r *reader, n int, id format.EntityID, rank map[format.EntityID]int) error {
	e, err := r.entity(id)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n## <a id=\"e%d\"></a>%s\n\n*%s, %s*\n", n, markdownText(e.Name), markdownText(e.Type),
		plural(uint64(e.Degree), "relation", "relations"))
	for _, text := range strings.Split(e.Description, graphstore.Separator) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(out, "\n%s\n", markdownText(text))
		}
	}
	if e.Degree > 0 {
		out.WriteByte('\n')
	}
	for _, nb := range v.v.Neighbors(id) {
		rel, err := r.relation(nb.Relation)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "- [%s](#e%d)", markdownText(v.v.EntityName(nb.Entity)), rank[nb.Entity])
		if text := strings.ReplaceAll(rel.Description, graphstore.Separator, " / "); text != "" {
			fmt.Fprintf(out, ": %s", markdownText(text))
		}
		fmt.Fprintf(out, " (weight %s", decimal(rel.Weight))
		if len(rel.Keywords) > 0 {
			fmt.Fprintf(out, "; %s", markdownText(strings.Join(rel.Keywords, ", ")))
		}
		out.WriteString(")\n")
	}
	sources := make([]string, len(e.Sources))
	for i, s := range e.Sources {
		sources[i] = markdownText(s)
	}
	_, err = fmt.Fprintf(out, "\nSources: %s\n", strings.Join(sources, ", "))
	return err
}

// byDegree lists the entities with the most relations first, equal ones in
// name order.
func (v *View) byDegree() []format.EntityID {
	order := v.entityOrder()
	slices.SortStableFunc(order, func(a, b format.EntityID) int { return cmp.Compare(v.v.Degree(b), v.v.Degree(a)) })
	return order
}

// markdownText makes s one line of text that means what it shows.
func markdownText(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case unicode.IsControl(r):
			r = unicode.ReplacementChar
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '\\', '`', '*', '_', '[', ']', '~', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '#', '>', '|', '.', ')', '-', '+', '=':
			if lineStart(b.String()) { // of a heading, a quotation, a list
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lineStart reports whether what was written so far is nothing, or a number
// that could be that of a list.
func lineStart(s string) bool {
	return len(s) < 10 && strings.Trim(s, "0123456789") == ""
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
