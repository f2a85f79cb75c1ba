package engine

import (
	"errors"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// documentBytes of documents are stored by one registration.
const documentBytes = 4 << 20

// jsonlDocument is a document and all its lines.
type jsonlDocument struct {
	at        int // line
	line      documentLine
	row       format.Document
	chunks    []graphstore.NewChunk
	visible   map[uint32]*graphstore.ChunkContribution // by order
	fragments []fragmentLine
	lines     []int // of fragments
	size      int
}

func (im *jsonlImport) documentLine(line []byte) error {
	if err := im.enter(atDocuments, "document"); err != nil {
		return err
	}
	if err := im.endDocument(); err != nil {
		return err
	}
	d := &jsonlDocument{at: im.in.line, visible: make(map[uint32]*graphstore.ChunkContribution), size: len(line)}
	l := &d.line
	if err := im.in.decode(line, l); err != nil {
		return err
	}
	for _, f := range [...]struct{ field, text string }{{"id", l.ID}, {"path", l.Path}} {
		if err := checkName(f.field, f.text, f.field == "path"); err != nil {
			return &LineError{im.in.line, f.field, err}
		}
	}
	status := format.DocumentStatus(0)
	for s, name := range statusNames {
		if name == l.Status {
			status = s
		}
	}
	switch {
	case status == 0:
		return im.in.fail("status", "%q is no status", l.Status)
	case status == format.StatusProcessed && !l.Committed:
		return im.in.fail("committed", "a processed document is committed")
	}
	d.row = format.Document{
		ID: l.ID, Path: l.Path, Hash: l.Hash, Status: status, Generation: l.Generation, Malformed: l.Malformed,
		Removed: l.Removed, Failed: l.Failed, Error: l.Error, Created: l.Created, Updated: l.Updated, Metadata: l.Metadata,
		Calls: l.Calls, PromptTokens: l.PromptTokens, CachedTokens: l.CachedTokens, CompletionTokens: l.CompletionTokens,
	}
	im.doc = d
	im.rep.Documents++
	return nil
}

// of says whether a line belongs to the document whose lines are being read.
func (im *jsonlImport) of(kind, doc string) error {
	switch {
	case im.doc == nil:
		return im.in.fail("kind", "%q before any document", kind)
	case im.doc.line.ID != doc:
		return im.in.fail("doc", "%q stands among the lines of %q", doc, im.doc.line.ID)
	}
	return nil
}

func (im *jsonlImport) chunkLine(line []byte) error {
	var l chunkLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	if err := im.of("chunk", l.Doc); err != nil {
		return err
	}
	d := im.doc
	if err := checkName("path", l.Path, true); err != nil {
		return &LineError{im.in.line, "path", err}
	}
	if d.visible[l.Order] != nil {
		return im.in.fail("order", "two chunks of order %d", l.Order)
	}
	if !d.line.Committed && (len(l.Keywords)+len(l.CacheKeys) > 0 || l.Malformed > 0 || l.Failure != "") {
		return im.in.fail("keywords", "the document is not committed: nothing is known of its chunks but the text")
	}
	c := &graphstore.ChunkContribution{Order: l.Order, Keywords: l.Keywords, Malformed: l.Malformed, Failure: l.Failure}
	for _, k := range l.CacheKeys {
		c.CacheKeys = append(c.CacheKeys, k)
	}
	d.visible[l.Order] = c
	d.chunks = append(d.chunks, graphstore.NewChunk{Order: l.Order, Path: l.Path, Text: l.Content, Tokens: l.Tokens})
	d.size += len(line)
	im.rep.Chunks++
	return nil
}

// chunkVector takes the vector of a chunk.
func (im *jsonlImport) chunkVector(l *vectorLine) error {
	if err := im.of("vector", l.Doc); err != nil {
		return err
	}
	d := im.doc
	c := d.visible[l.Order]
	switch {
	case c == nil:
		return im.in.fail("order", "document %q has no chunk %d so far", l.Doc, l.Order)
	case !d.line.Committed:
		return im.in.fail("of", "the document is not committed: its chunks have no vectors")
	case c.Vector != nil:
		return im.in.fail("order", "chunk %d has a vector already", l.Order)
	}
	c.Vector = l.Data
	d.size += 4 * len(l.Data)
	return nil
}

func (im *jsonlImport) fragmentLine(line []byte) error {
	var l fragmentLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	if err := im.of("fragment", l.Doc); err != nil {
		return err
	}
	d := im.doc
	switch {
	case !d.line.Committed:
		return im.in.fail("doc", "the document is not committed: it says nothing")
	case d.visible[l.Order] == nil:
		return im.in.fail("order", "document %q has no chunk %d", l.Doc, l.Order)
	}
	if err := im.checkOwner(l.Of, &l.ownerName); err != nil {
		return err
	}
	if l.Of == "entity" && (len(l.Keywords) > 0 || l.Weight != 0) {
		return im.in.fail("keywords", "an entity has neither keywords nor a weight")
	}
	if l.Mention && (l.Of != "entity" || l.Type != "" || l.Description != "") {
		return im.in.fail("mention", "a mention names an entity and says nothing about it")
	}
	if l.Of == "relation" && l.Type != "" {
		return im.in.fail("type", "a relation has none")
	}
	d.fragments = append(d.fragments, l)
	d.lines = append(d.lines, im.in.line)
	d.size += len(line)
	im.rep.Fragments++
	return nil
}

// checkOwner says whether a line names one entity or one relation.
func (im *jsonlImport) checkOwner(of string, n *ownerName) error {
	names := [...]struct{ field, name, of string }{
		{"name", n.Name, "entity"}, {"src", n.Src, "relation"}, {"tgt", n.Tgt, "relation"},
	}
	if of != "entity" && of != "relation" {
		return im.in.fail("of", "%q is neither entity nor relation", of)
	}
	for _, f := range names {
		if f.of != of {
			if f.name != "" {
				return im.in.fail(f.field, "is not a field of an %s", of)
			}
			continue
		}
		if strings.TrimSpace(f.name) == "" {
			return im.in.fail(f.field, "blank")
		}
		if strings.ContainsRune(f.name, 0) {
			return im.in.fail(f.field, "holds NUL")
		}
	}
	if of == "relation" && n.Src >= n.Tgt {
		return im.in.fail("src", "%q does not come before tgt %q", n.Src, n.Tgt)
	}
	return nil
}

// endDocument is called when all lines of the document have been read.
func (im *jsonlImport) endDocument() error {
	d := im.doc
	if d == nil {
		return nil
	}
	im.doc = nil
	if len(d.chunks) == 0 {
		return &LineError{d.at, "", errors.Join(errors.New("the document has no chunk"), ErrInvalid)}
	}
	for _, other := range im.ready { // one replaces the other: they are registered one after the other
		if other.row.ID == d.row.ID {
			if err := im.flushDocuments(); err != nil {
				return err
			}
			break
		}
	}
	im.ready = append(im.ready, d)
	if im.size += d.size; im.size < documentBytes && len(im.ready) < 256 {
		return nil
	}
	return im.flushDocuments()
}

// flushDocuments registers the documents that are ready, in their order, and
// commits those that are committed.
func (im *jsonlImport) flushDocuments() error {
	if len(im.ready) == 0 {
		return nil
	}
	ready := im.ready
	im.ready, im.size = nil, 0
	news := make([]graphstore.NewDocument, len(ready))
	for i, d := range ready {
		news[i] = graphstore.NewDocument{
			ID: d.row.ID, Path: d.row.Path, Hash: d.row.Hash, Chunks: d.chunks, Removed: d.row.Removed,
			Metadata: d.row.Metadata, Replace: !d.line.Committed, Copy: true,
		}
	}
	results, err := im.store.Register(im.ctx, news)
	if err != nil {
		return &LineError{ready[0].at, "", err}
	}
	history := make([]graphstore.RestoredDocument, len(ready))
	for i, d := range ready {
		switch res := &results[i]; res.Status {
		case graphstore.Registered:
			history[i] = graphstore.RestoredDocument{Doc: res.Doc, Row: d.row}
		default:
			return d.fail("id", "there are two documents %q, and the second does not wait to replace the first", d.row.ID)
		}
	}
	for i, d := range ready {
		if !d.line.Committed {
			continue
		}
		if err := im.commitDocument(history[i].Doc, d); err != nil {
			return err
		}
	}
	return im.store.RestoreDocuments(im.ctx, history)
}

func (d *jsonlDocument) fail(field, text string, args ...any) error {
	return (&lineReader{line: d.at}).fail(field, text, args...)
}

// commitDocument commits what a registered document says.
func (im *jsonlImport) commitDocument(doc format.DocID, d *jsonlDocument) error {
	v, err := im.store.View()
	if err != nil {
		return err
	}
	c := graphstore.Contribution{
		Doc: doc, Malformed: d.row.Malformed, Failed: d.row.Failed, ListedSources: d.line.Listed,
	}
	err = v.DocumentTexts(doc, func(order uint32, row *format.Chunk) error {
		chunk := d.visible[order]
		chunk.ID = row.ID
		c.Chunks = append(c.Chunks, *chunk)
		return nil
	})
	v.Close()
	if err != nil {
		return err
	}
	for i := range d.fragments {
		l := &d.fragments[i]
		chunk := d.visible[l.Order].ID
		key := format.FragmentKey{Doc: doc, Order: l.Order, Pass: l.Pass, Index: l.Index}
		if l.Of == "entity" {
			c.Entities = append(c.Entities, graphstore.EntityFragment{
				Name: l.Name, Chunk: chunk, Key: key, Type: l.Type, Description: l.Description, Mention: l.Mention,
			})
			continue
		}
		c.Relations = append(c.Relations, graphstore.RelationFragment{
			Src: l.Src, Tgt: l.Tgt, Chunk: chunk, Key: key, Description: l.Description, Keywords: l.Keywords, Weight: int64(l.Weight),
		})
	}
	p, err := im.store.Prepare(im.ctx, c)
	if err == nil {
		_, err = im.store.Commit(im.ctx, p)
	}
	if errors.Is(err, ErrInvalid) || errors.Is(err, ErrMismatch) {
		return &LineError{d.at, "", err}
	}
	return err
}
