package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// readGraph reads nodes and edges, and the lists of their sources.
func (im *lightragImport) readGraph() error {
	var rows []span
	var q quoting
	err := im.file(graphFile, func(r io.Reader) (int, error) {
		removed, err := readGraphML(r, func(row *graphRow) error {
			if !row.Edge {
				q.note(row.Name)
			}
			at, err := im.spill.putJSON(row)
			rows = append(rows, at)
			return stop(err)
		})
		if removed > 0 {
			im.issues.add("text cleaned", graphFile, "", fmt.Sprintf("%d characters", removed))
		}
		im.graph = err == nil || len(rows) > 0
		return len(rows), err
	})
	if err != nil {
		return err
	}
	im.quoted, im.upper = q.rule(), q.upperRule()
	im.rep.Unquoted = im.quoted && !im.o.KeepQuotes
	if im.upper {
		im.folded = make(map[string]int32)
	}
	for _, edges := range []bool{false, true} { // in whatever order the file has them
		for _, at := range rows {
			var row graphRow
			if err := im.spill.getJSON(at, &row); err != nil {
				return err
			}
			if row.Edge != edges {
				continue
			}
			add := im.addNode
			if edges {
				add = im.addEdge
			}
			if err := add(&row, at); err != nil {
				return err
			}
		}
	}
	if err := im.readSources(entityChunksFile, func(key string) *[]int32 {
		if i, ok := im.nodeAt[im.storeName(key)]; ok {
			return &im.nodes[i].sources
		}
		return nil
	}); err != nil {
		return err
	}
	return im.readSources(relationChunksFile, func(key string) *[]int32 {
		if i, ok := im.findPair(key, graphstore.Separator); ok {
			return &im.edges[i].sources
		}
		return nil
	})
}

// findPair finds the edge of two names that are joined by sep, which may be a
// part of either.
func (im *lightragImport) findPair(key, sep string) (int32, bool) {
	for at := 0; ; {
		i := strings.Index(key[at:], sep)
		if i < 0 {
			return 0, false
		}
		at += i
		if e, ok := im.findEdge(key[:at], key[at+len(sep):]); ok {
			return e, true
		}
		at++
	}
}

// findEdge finds the edge of two names of the directory.
func (im *lightragImport) findEdge(src, tgt string) (int32, bool) {
	a, ok := im.nodeAt[im.storeName(src)]
	if !ok {
		return 0, false
	}
	b, ok := im.nodeAt[im.storeName(tgt)]
	if !ok {
		return 0, false
	}
	e, ok := im.edgeAt[pairOf(a, b)]
	return e, ok
}

func pairOf(a, b int32) [2]int32 { return [2]int32{min(a, b), max(a, b)} }

func (im *lightragImport) newNode(name string) int32 {
	i := int32(len(im.nodes))
	im.nodes = append(im.nodes, importNode{name: name})
	im.nodeAt[name] = i
	return i
}

func (im *lightragImport) addNode(row *graphRow, at span) error {
	name := im.storeName(row.Name)
	if name == "" {
		im.issues.add("row malformed", graphFile, row.Name, "an entity without a name")
		return nil
	}
	if plain := strings.TrimSpace(im.value(row.Name)); name != plain && !(im.quoted && im.o.KeepQuotes) {
		im.issues.add("name changed", graphFile, plain, name)
	}
	i, ok := im.nodeAt[name]
	if !ok {
		i = im.newNode(name)
	}
	n := &im.nodes[i]
	if n.hasRow {
		im.issues.add("name twice", graphFile, row.Name, name)
		var err error
		if at, err = im.join(n.row, row); err != nil {
			return err
		}
	}
	n.row, n.hasRow = at, true
	n.unknown = im.typeOf(row.Attr["entity_type"]) == ""
	n.sources = im.sources(n.sources, row.Attr["source_id"])
	if im.upper {
		im.folded[foldName(row.Name)] = i
	}
	return nil
}

func (im *lightragImport) endpoint(raw string) int32 {
	name := im.storeName(raw)
	if name == "" {
		return -1
	}
	i, ok := im.nodeAt[name]
	if !ok {
		im.issues.add("endpoint missing", graphFile, raw, "")
		i = im.newNode(name)
		im.nodes[i].unknown = true
		if im.upper {
			im.folded[foldName(raw)] = i
		}
	}
	return i
}

func (im *lightragImport) addEdge(row *graphRow, at span) error {
	key := row.Src + " - " + row.Tgt
	a, b := im.endpoint(row.Src), im.endpoint(row.Tgt)
	switch {
	case a < 0 || b < 0:
		im.issues.add("row malformed", graphFile, key, "an edge without an end")
		return nil
	case a == b:
		im.issues.add("self loop", graphFile, row.Src, "")
		return nil
	}
	i, ok := im.edgeAt[pairOf(a, b)]
	if !ok {
		i = im.newEdge(a, b)
	}
	e := &im.edges[i]
	if e.hasRow {
		im.issues.add("name twice", graphFile, key, "")
		var err error
		if at, err = im.join(e.row, row); err != nil {
			return err
		}
	}
	e.row, e.hasRow = at, true
	e.sources = im.sources(e.sources, row.Attr["source_id"])
	return nil
}

func (im *lightragImport) newEdge(a, b int32) int32 {
	i := int32(len(im.edges))
	im.edges = append(im.edges, importEdge{a: a, b: b})
	im.edgeAt[pairOf(a, b)] = i
	im.nodes[a].degree++
	im.nodes[b].degree++
	return i
}

// join makes one row of two that are about the same owner.
func (im *lightragImport) join(old span, row *graphRow) (span, error) {
	var both graphRow
	if err := im.spill.getJSON(old, &both); err != nil {
		return span{}, err
	}
	for k, v := range row.Attr {
		switch have := both.Attr[k]; {
		case have == "":
			both.Attr[k] = v
		case k == "weight":
			both.Attr[k] = strconv.FormatFloat(float64(weightOf(have)+weightOf(v))/format.WeightScale, 'g', -1, 64)
		case k == "description" || k == "source_id" || k == "keywords":
			both.Attr[k] = have + graphstore.Separator + v
		}
	}
	return im.spill.putJSON(&both)
}

// weightOf reads a weight in millionths; what is no finite number >= 0 is 1.
func weightOf(s string) int64 {
	w, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || w != w || w < 0 || math.IsInf(w, 0) {
		return format.WeightScale
	}
	return int64(math.Round(min(w, 1e9) * format.WeightScale))
}

// sources adds the chunks that a source_id lists to dst.
func (im *lightragImport) sources(dst []int32, list string) []int32 {
	for id := range strings.SplitSeq(list, graphstore.Separator) {
		if id = strings.TrimSpace(im.value(id)); id != "" {
			dst = addSource(dst, im.source(id))
		}
	}
	if len(dst) == 0 {
		dst = append(dst, im.source("UNKNOWN"))
	}
	return dst
}

func addSource(dst []int32, c int32) []int32 {
	if slices.Contains(dst, c) {
		return dst
	}
	return append(dst, c)
}

// source returns the chunk of an id; one that is not known is a chunk of the
// document of unknown sources.
func (im *lightragImport) source(id string) int32 {
	if c, ok := im.chunkAt[id]; ok {
		if im.docs[im.chunks[c].doc].id == unknownSourcesID {
			im.issues.add("source unknown", graphFile, id, "")
		}
		return c
	}
	im.issues.add("source unknown", graphFile, id, "")
	d := im.document(unknownSourcesID)
	c := int32(len(im.chunks))
	d.chunks = append(d.chunks, c)
	im.chunkAt[id] = c
	im.chunks = append(im.chunks, importChunk{id: id, doc: im.docAt[unknownSourcesID], order: int64(len(d.chunks) - 1)})
	return c
}

// readSources reads entity_chunks or relation_chunks, the full lists of
// sources where a row has the first of them only.
func (im *lightragImport) readSources(file string, find func(key string) *[]int32) error {
	var buf []byte
	return im.file(file, func(r io.Reader) (int, error) {
		return im.rows(file, r, func(key string, s *jsonStream) (err error) {
			buf, err = s.raw(buf[:0], maxImportRow)
			if err != nil && !errors.Is(err, errTooLong) {
				return err
			}
			var row struct {
				IDs []string `json:"chunk_ids"`
			}
			if err == nil {
				err = json.Unmarshal(buf, &row)
			}
			if err != nil {
				im.issues.add("row malformed", file, key, err.Error())
				return nil
			}
			dst := find(key)
			if dst == nil || len(row.IDs) == 0 {
				return nil // lists of what was deleted are left behind
			}
			was := *dst
			list := make([]int32, 0, len(row.IDs))
			for _, id := range row.IDs {
				list = append(list, im.source(id))
			}
			for _, c := range was { // unless it stands for a list that was empty
				if len(was) > 1 || im.chunks[c].id != "UNKNOWN" {
					list = append(list, c)
				}
			}
			*dst = distinct(list)
			return nil
		})
	})
}

func distinct(list []int32) []int32 {
	seen := make(map[int32]struct{}, len(list))
	return slices.DeleteFunc(list, func(c int32) bool {
		_, twice := seen[c]
		seen[c] = struct{}{}
		return twice
	})
}
