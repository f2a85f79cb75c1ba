package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// compare holds what is in the store now against the rows of the graph file
// and reports what differs, by kind. Owners that documents of elsewhere speak
// of as well are left out.
func (im *lightragImport) compare() error {
	view, err := im.db.store.View()
	if err != nil {
		return err
	}
	defer view.Close()
	ours := make(map[format.ChunkID]int32, len(im.chunks))
	for i := range im.docs {
		d := &im.docs[i]
		if !d.done || d.cut {
			continue
		}
		stored, err := view.DocumentChunks(d.doc)
		if err != nil {
			continue // deleted meanwhile
		}
		byOrder := make(map[uint32]format.ChunkID, len(stored))
		for j := range stored {
			byOrder[stored[j].Order] = stored[j].ID
		}
		for _, c := range d.chunks {
			if id, ok := byOrder[uint32(im.chunks[c].order)]; ok {
				ours[id] = c
			}
		}
	}
	for i := range im.nodes {
		if n := &im.nodes[i]; n.hasRow {
			if err := im.compareNode(view, n, ours); err != nil {
				return err
			}
		}
	}
	for i := range im.edges {
		if e := &im.edges[i]; e.hasRow {
			if err := im.compareEdge(view, e, ours); err != nil {
				return err
			}
		}
	}
	return nil
}

func (im *lightragImport) compareNode(view *graphstore.View, n *importNode, ours map[format.ChunkID]int32) error {
	id, ok, err := view.FindEntity(n.name)
	if err != nil {
		return err
	}
	if !ok {
		im.issues.add("missing in the store", graphFile, n.name, "")
		return nil
	}
	recs, err := view.EntityRecords([]format.EntityID{id}, nil)
	if err != nil {
		return err
	}
	var row graphRow
	if err := im.spill.getJSON(n.row, &row); err != nil {
		return err
	}
	foreign, err := im.compareSources(view, format.KindEntity, uint32(id), n.name, n.sources, ours)
	if err != nil || foreign {
		return err
	}
	want, ok := llm.NormalizeType(im.value(row.Attr["entity_type"]))
	if !ok {
		want = graphstore.UnknownType
	}
	if recs[0].Type != want {
		im.issues.add("type differs", graphFile, n.name, recs[0].Type+" instead of "+want)
	}
	if got := view.Degree(id); got != int(n.degree) {
		im.issues.add("degree differs", graphFile, n.name, fmt.Sprintf("%d instead of %d", got, n.degree))
	}
	return im.compareTexts(view, format.KindEntity, uint32(id), n.name, row.Attr["description"])
}

func (im *lightragImport) compareEdge(view *graphstore.View, e *importEdge, ours map[format.ChunkID]int32) error {
	a, b := im.nodes[e.a].name, im.nodes[e.b].name
	name := a + " - " + b
	id, ok, err := view.FindRelation(a, b)
	if err != nil {
		return err
	}
	if !ok {
		im.issues.add("missing in the store", graphFile, name, "")
		return nil
	}
	recs, err := view.RelationRecords([]format.RelationID{id}, nil)
	if err != nil {
		return err
	}
	var row graphRow
	if err := im.spill.getJSON(e.row, &row); err != nil {
		return err
	}
	foreign, err := im.compareSources(view, format.KindRelation, uint32(id), name, e.sources, ours)
	if err != nil || foreign {
		return err
	}
	if want := weightOf(row.Attr["weight"]); recs[0].Weight != want {
		im.issues.add("weight differs", graphFile, name, fmt.Sprintf("%g instead of %g",
			float64(recs[0].Weight)/format.WeightScale, float64(want)/format.WeightScale))
	}
	if want := im.keywordsOf(row.Attr["keywords"]); !slices.Equal(recs[0].Keywords, want) {
		im.issues.add("keywords differ", graphFile, name, fmt.Sprintf("%q instead of %q", recs[0].Keywords, want))
	}
	return im.compareTexts(view, format.KindRelation, uint32(id), name, row.Attr["description"])
}

// compareTexts compares descriptions as sets: their order is that of the
// chunks here, and of sets of Python there.
func (im *lightragImport) compareTexts(view *graphstore.View, kind format.Kind, owner uint32, name, description string) error {
	got, err := view.Descriptions(kind, owner)
	if err != nil {
		return err
	}
	want := im.descriptions(description)
	if sameTexts(got, want) {
		return nil
	}
	if len(want) == 1 && len(got) > 1 && !slices.Contains(got, want[0]) {
		im.issues.add("description summarised", graphFile, name, fmt.Sprintf("of %d descriptions", len(got)))
		return nil
	}
	var more, fewer []string
	for _, t := range got {
		if !slices.Contains(want, t) {
			more = append(more, t)
		}
	}
	for _, t := range want {
		if !slices.Contains(got, t) {
			fewer = append(fewer, t)
		}
	}
	im.issues.add("description differs", graphFile, name, fmt.Sprintf("more: %q, fewer: %q", more, fewer))
	return nil
}

func sameTexts(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// compareSources compares sources, and says whether some are of documents
// that are not of this import.
func (im *lightragImport) compareSources(view *graphstore.View, kind format.Kind, owner uint32, name string,
	want []int32, ours map[format.ChunkID]int32) (foreign bool, err error) {
	ids, err := view.AllSources(kind, owner)
	if err != nil {
		return false, err
	}
	have := make(map[int32]bool, len(ids))
	var more, fewer []string
	for _, id := range ids {
		c, ok := ours[id]
		if !ok {
			return true, nil
		}
		have[c] = true
		if !slices.Contains(want, c) {
			more = append(more, im.chunks[c].id)
		}
	}
	for _, c := range want {
		if !have[c] {
			fewer = append(fewer, im.chunks[c].id)
		}
	}
	if len(more) > 0 {
		im.issues.add("sources more", graphFile, name, strings.Join(more, " "))
	}
	if len(fewer) > 0 {
		im.issues.add("sources fewer", graphFile, name, strings.Join(fewer, " "))
	}
	return false, nil
}
