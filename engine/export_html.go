package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"

	"github.com/lightctl/lightrag/format"
)

// The parts of the page. They are our own and need nothing else.
var (
	//go:embed page/page.html
	pageHTML []byte
	//go:embed page/page.css
	pageCSS []byte
	//go:embed page/page.js
	pageJS []byte
)

// HTMLOptions shape ExportHTML. The zero value works.
type HTMLOptions struct {
	Title string // "" = Knowledge graph
	// MaxEntities bounds what the page holds: those with the most relations,
	// and the relations between them. 0 = 20,000.
	MaxEntities int
}

const (
	defaultPageEntities = 20_000
	pageSources         = 50 // of one record
)

// ExportHTML writes one page that draws the graph and needs nothing else: no
// network, no other file. It has search, zoom, entity details and a legend of
// types, and says how much of the graph it shows. Places are computed here, so
// that a large graph opens at once. Whatever names and descriptions hold, the
// page shows it as text; its own policy forbids every other script and every
// request. The same graph gives the same bytes.
func (v *View) ExportHTML(w io.Writer, o HTMLOptions) error {
	if v.err != nil {
		return v.err
	}
	title := cmp.Or(o.Title, "Knowledge graph")
	limit := o.MaxEntities
	if limit <= 0 {
		limit = defaultPageEntities
	}
	out := bufio.NewWriterSize(w, 1<<16)
	policy := fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'",
		contentHash(pageJS), contentHash(pageCSS))
	rest := pageHTML
	for _, part := range []struct {
		mark  string
		write func() error
	}{
		{"{{policy}}", text(out, policy)},
		{"{{title}}", text(out, html.EscapeString(title))},
		{"{{css}}", text(out, string(pageCSS))},
		{"{{data}}", func() error { return v.pageData(out, title, limit) }},
		{"{{js}}", text(out, string(pageJS))},
	} {
		before, after, ok := bytes.Cut(rest, []byte(part.mark))
		if !ok {
			return fmt.Errorf("lightrag: export: the page has no place for %s", part.mark)
		}
		if _, err := out.Write(before); err != nil {
			return err
		}
		if err := part.write(); err != nil {
			return err
		}
		rest = after
	}
	if _, err := out.Write(rest); err != nil {
		return err
	}
	return out.Flush()
}

func text(w *bufio.Writer, s string) func() error {
	return func() error { _, err := w.WriteString(s); return err }
}

func contentHash(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}

type pageHead struct {
	Title     string   `json:"title"`
	Documents uint64   `json:"documents"`
	Entities  uint64   `json:"entities"`
	Relations uint64   `json:"relations"`
	Types     []string `json:"types"`            // the most frequent first
	Models    string   `json:"models,omitempty"` // where the offline pair made it
}

type pageNode struct {
	Name        string   `json:"n"`
	Type        int      `json:"t"`
	X           int      `json:"x"`
	Y           int      `json:"y"`
	Degree      int      `json:"d"`
	Description string   `json:"s,omitempty"`
	Sources     []string `json:"c,omitempty"`
	More        int      `json:"m,omitempty"` // sources that are left out
}

type pageEdge struct {
	A           int32    `json:"a"`
	B           int32    `json:"b"`
	Weight      float64  `json:"w"`
	Keywords    []string `json:"k,omitempty"`
	Description string   `json:"s,omitempty"`
}

// pageData writes the graph as JSON that cannot end the element it stands in:
// encoding/json escapes <, > and & as well as U+2028 and U+2029.
func (v *View) pageData(out *bufio.Writer, title string, limit int) error {
	order := v.byDegree()
	order = order[:min(len(order), limit)]
	at := make(map[format.EntityID]int32, len(order))
	for i, id := range order {
		at[id] = int32(i)
	}
	var edges [][2]int32
	var relations []format.RelationID
	for i, id := range order {
		for _, nb := range v.v.Neighbors(id) {
			if j, ok := at[nb.Entity]; ok && int32(i) < j {
				edges = append(edges, [2]int32{int32(i), j})
				relations = append(relations, nb.Relation)
			}
		}
	}
	x, y := pagePlaces(len(order), edges)

	r := newReader(v.v)
	types, typeAt, err := v.pageTypes(order)
	if err != nil {
		return err
	}
	n := v.Counts()
	put := func(prefix string, value any) error {
		b, err := json.Marshal(value)
		if err == nil {
			_, err = out.WriteString(prefix)
		}
		if err == nil {
			_, err = out.Write(b)
		}
		return err
	}
	made := ""
	if v.models.Offline() {
		made = v.models.String()
	}
	if err := put(`{"graph":`, pageHead{title, n.Documents, n.Entities, n.Relations, types, made}); err != nil {
		return err
	}
	next := ",\"nodes\":[\n"
	for i, id := range order {
		e, err := r.entity(id)
		if err != nil {
			return err
		}
		node := pageNode{
			Name: e.Name, Type: typeAt[e.Type], X: x[i], Y: y[i], Degree: e.Degree, Description: e.Description, Sources: e.Sources,
		}
		if len(e.Sources) > pageSources {
			node.Sources, node.More = e.Sources[:pageSources], len(e.Sources)-pageSources
		}
		if err := put(next, node); err != nil {
			return err
		}
		next = ",\n"
	}
	if len(order) == 0 {
		out.WriteString(next)
	}
	next = "],\"edges\":[\n"
	for i, id := range relations {
		e, err := r.relation(id)
		if err != nil {
			return err
		}
		if err := put(next, pageEdge{edges[i][0], edges[i][1], e.Weight, e.Keywords, e.Description}); err != nil {
			return err
		}
		next = ",\n"
	}
	if len(relations) == 0 {
		out.WriteString(next)
	}
	_, err = out.WriteString("]}\n")
	return err
}

// pageTypes lists the types of entities, the most frequent first.
func (v *View) pageTypes(order []format.EntityID) ([]string, map[string]int, error) {
	counts, err := v.typesOf(order)
	if err != nil {
		return nil, nil, err
	}
	types := make([]string, len(counts))
	for i, c := range counts {
		types[i] = c.Type
	}
	at := make(map[string]int, len(types))
	for i, t := range types {
		at[t] = i
	}
	return types, at, nil
}

// pagePlaces lays out the nodes that have edges, and puts the others, which
// nothing pulls anywhere, in rows below.
func pagePlaces(nodes int, edges [][2]int32) (x, y []int) {
	index := make([]int32, nodes) // in the layout, from 1
	n := int32(0)
	linked := make([]bool, nodes)
	for _, e := range edges {
		linked[e[0]], linked[e[1]] = true, true
	}
	for i := range index {
		if linked[i] {
			n++
			index[i] = n
		}
	}
	moved := make([][2]int32, len(edges))
	for i, e := range edges {
		moved[i] = [2]int32{index[e[0]] - 1, index[e[1]] - 1}
	}
	l := newLayout(int(n), moved)
	l.run(layoutRounds(int(n)))
	x, y = make([]int, nodes), make([]int, nodes)
	left, right, bottom := -1000.0, 1000.0, 0.0
	for i := range index {
		if k := index[i] - 1; k >= 0 {
			x[i], y[i] = int(math.Round(l.x[k]*10)), int(math.Round(l.y[k]*10))
			left, right, bottom = min(left, float64(x[i])), max(right, float64(x[i])), max(bottom, float64(y[i]))
		}
	}
	across := max(1, int(math.Sqrt(float64(4*(nodes-int(n)))))) // four times as wide as high
	step := max(400, int(right-left)/across)
	free := 0
	for i := range index {
		if index[i] == 0 {
			x[i], y[i] = int(left)+free%across*step+step/2, int(bottom)+(2+free/across)*step
			free++
		}
	}
	return x, y
}
