package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// KGImport says how a hand-made graph is imported.
type KGImport struct {
	// Name is what the ids of its documents begin with: the path of the file.
	Name string
	// TempDir is where texts are kept in a file meanwhile. "" = the system's.
	TempDir string
}

// ImportKG reads a hand-made graph in the form that LightRAG's
// insert_custom_kg takes:
//
//	{"chunks": [{"content", "source_id", "file_path"?, "chunk_order_index"?}],
//	 "entities": [{"entity_name", "entity_type"?, "description"?, "source_id"?, "file_path"?}],
//	 "relationships": [{"src_id", "tgt_id", "description", "keywords", "weight"?, "source_id"?, "file_path"?}]}
//
// source_id is a label: what has that of a chunk comes from it. Every label is
// a document, Name#label, with the chunks of that label; what names no chunk's
// label is in the document Name#UNKNOWN, whose one passage is what its rows
// say. Of two rows of one name or pair the last counts. Types are lower-cased,
// the weight is 1 if there is none, and an end without a row of its own is an
// entity of type UNKNOWN.
//
// Nothing is stored if anything is wrong with the file: the error matches
// ErrInvalid and names the elements and fields. The same graph again changes
// nothing; another one under the same Name takes the place of the documents
// whose labels it has. Vectors are made at the end, like those of Insert; if
// the embedder does not answer they stay stale, and the report counts them.
//
// Texts wait in a temporary file; memory holds the rows of one label, and the
// names of all.
func (db *DB) ImportKG(ctx context.Context, r io.Reader, o KGImport) (*ImportReport, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()
	rep, err := db.importKG(ctx, r, o)
	if err != nil {
		err = fmt.Errorf("lightrag: import %s: %w", o.Name, within(err))
	}
	return rep, err
}

func (db *DB) importKG(ctx context.Context, r io.Reader, o KGImport) (_ *ImportReport, err error) {
	if err := checkName("name", o.Name, false); err != nil {
		return nil, err
	}
	sp, err := newSpill(o.TempDir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	im := &kgImport{
		db: db, ctx: ctx, name: cleanPath(o.Name), spill: sp, at: make(map[string]int),
		entities: make(map[string]int), relations: make(map[[2]string]int),
		rep: &ImportReport{Source: o.Name},
	}
	if err := im.read(&contextReader{ctx, r}); err != nil {
		return nil, err
	}
	if err := im.group(); err != nil {
		return nil, err
	}
	now := Progress{Documents: len(im.labels)}
	for i := range im.labels {
		now.Chunks += len(im.labels[i].chunks)
	}
	for i := range im.labels {
		if err := im.commit(&im.labels[i]); err != nil {
			return im.rep, err
		}
		now.DocumentsDone, now.ChunksDone = i+1, now.ChunksDone+len(im.labels[i].chunks)
		db.importStep(now)
	}
	if _, _, err := db.refresh(ctx); err != nil {
		if fatal(ctx, err) && !errors.Is(err, llm.ErrAuth) {
			return im.rep, err
		}
		db.opts.Logger.Warn("lightrag: a graph is imported, but vectors or summaries are still stale", "error", err)
	}
	im.rep.VectorsMissing, err = db.store.StaleCount()
	return im.rep, err
}

// kgImport is one running import of a hand-made graph.
type kgImport struct {
	db    *DB
	ctx   context.Context
	name  string
	spill *spill
	rep   *ImportReport
	bad   []error
	lost  int // problems that were not kept

	labels    []kgLabel
	at        map[string]int // label -> index
	rows      []kgSpan
	entities  map[string]int    // last row of a name
	relations map[[2]string]int // last row of a pair
}

// kgLabel is a document in the making.
type kgLabel struct {
	name   string
	path   string
	chunks []kgChunk
	rows   []span
}

type kgChunk struct {
	order int64
	path  string
	text  span
}

// kgSpan is a row and the label that it names.
type kgSpan struct {
	label string
	at    span
}

// kgRow is an entity or a relation as it will be stored.
type kgRow struct {
	Name, Src, Tgt string
	Type           string
	Description    string
	Keywords       []string
	Weight         int64
}

const (
	maxKGProblems = 20
	unknownLabel  = "UNKNOWN"
)

// group gives the rows that count to their labels.
func (im *kgImport) group() error {
	last := make(map[int]bool, len(im.entities)+len(im.relations))
	for _, i := range im.entities {
		last[i] = true
	}
	for _, i := range im.relations {
		last[i] = true
	}
	im.rep.Entities, im.rep.Relations = len(im.entities), len(im.relations)
	twice := make(issues)
	for i, row := range im.rows {
		if !last[i] {
			twice.add("row twice", im.name, fmt.Sprintf("row %d", i), "")
			continue
		}
		at, ok := im.at[row.label]
		if !ok {
			if at, ok = im.at[unknownLabel]; !ok {
				at = len(im.labels)
				im.at[unknownLabel] = at
				im.labels = append(im.labels, kgLabel{name: unknownLabel})
			}
		}
		im.labels[at].rows = append(im.labels[at].rows, row.at)
	}
	im.rep.Issues = twice.sorted()
	for i := range im.labels {
		l := &im.labels[i]
		if len(l.chunks) > 0 {
			if err := im.orders(l); err != nil {
				return err
			}
			continue
		}
		var text strings.Builder
		for _, at := range l.rows {
			var row kgRow
			if err := im.spill.getJSON(at, &row); err != nil {
				return err
			}
			line := row.Name
			if line == "" {
				line = row.Src + " - " + row.Tgt
			}
			if line += ": " + row.Description; text.Len() == 0 || text.Len()+len(line) < maxUnknownText {
				text.WriteString(line + "\n")
			}
		}
		at, err := im.spill.put([]byte(strings.TrimSuffix(text.String(), "\n")))
		if err != nil {
			return err
		}
		l.chunks = []kgChunk{{text: at}}
	}
	return nil
}

// orders gives chunks without an order the next free one.
func (im *kgImport) orders(l *kgLabel) error {
	used := make(map[int64]bool)
	for _, c := range l.chunks {
		if c.order >= 0 && used[c.order] {
			return fmt.Errorf("%w: two chunks of source_id %q have the chunk_order_index %d", ErrInvalid, l.name, c.order)
		}
		used[c.order] = true
	}
	next := int64(0)
	for i := range l.chunks {
		if l.chunks[i].order >= 0 {
			continue
		}
		for used[next] {
			next++
		}
		l.chunks[i].order = next
		used[next] = true
	}
	return nil
}

// commit stores the document of a label.
func (im *kgImport) commit(l *kgLabel) error {
	n := graphstore.NewDocument{ID: im.name + "#" + l.name, Path: l.path, Replace: true}
	h := sha256.New()
	fmt.Fprintf(h, "graph %q\n", n.ID)
	for _, c := range l.chunks {
		b, err := im.spill.get(c.text)
		if err != nil {
			return err
		}
		path := c.path
		if path == l.path {
			path = ""
		}
		text := string(b)
		n.Chunks = append(n.Chunks, graphstore.NewChunk{Order: uint32(c.order), Path: path, Text: text, Tokens: uint32(im.db.tok.Count(text))})
		fmt.Fprintf(h, "%d %q %q\n", c.order, path, text)
	}
	for _, at := range l.rows {
		b, err := im.spill.get(at)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\n", b)
	}
	h.Sum(n.Hash[:0])
	res, err := im.db.importDocument(im.ctx, n, func(doc format.DocID, stored []graphstore.Chunk) (graphstore.Contribution, error) {
		return im.contribution(l, doc, stored)
	})
	if err != nil {
		return fmt.Errorf("document %q: %w", n.ID, err)
	}
	if res.Status == graphstore.Unchanged {
		im.rep.Unchanged++
		return nil
	}
	im.rep.Documents++
	im.rep.Chunks += len(n.Chunks)
	im.rep.FromRows += len(l.rows)
	return nil
}

// contribution makes fragments of a label's rows, all of its last chunk.
func (im *kgImport) contribution(l *kgLabel, doc format.DocID, stored []graphstore.Chunk) (graphstore.Contribution, error) {
	c := graphstore.Contribution{Doc: doc}
	for i := range stored {
		c.Chunks = append(c.Chunks, graphstore.ChunkContribution{ID: stored[i].ID, Order: stored[i].Order})
	}
	order := uint32(l.chunks[len(l.chunks)-1].order)
	i := slices.IndexFunc(stored, func(s graphstore.Chunk) bool { return s.Order == order })
	if i < 0 {
		return c, fmt.Errorf("%w: its chunks are not those that were registered", ErrMismatch)
	}
	chunk := stored[i].ID
	for index, at := range l.rows {
		var row kgRow
		if err := im.spill.getJSON(at, &row); err != nil {
			return c, err
		}
		key := format.FragmentKey{Doc: doc, Order: order, Index: uint16(index)} // distinct for one owner, which has one row
		if row.Name != "" {
			c.Entities = append(c.Entities, graphstore.EntityFragment{
				Name: row.Name, Chunk: chunk, Key: key, Type: row.Type, Description: row.Description,
			})
			continue
		}
		c.Relations = append(c.Relations, graphstore.RelationFragment{
			Src: row.Src, Tgt: row.Tgt, Chunk: chunk, Key: key, Description: row.Description, Keywords: row.Keywords, Weight: row.Weight,
		})
	}
	return c, nil
}
