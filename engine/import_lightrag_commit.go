package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// rowPass is the pass of fragments made of rows: behind both answers.
const rowPass = 2

// commitAll stores the documents, in the order of the files.
func (im *lightragImport) commitAll() error {
	if err := im.findMixed(); err != nil {
		return err
	}
	for i := range im.docs {
		d := &im.docs[i]
		if d.id == unknownSourcesID {
			if err := im.writeUnknown(d); err != nil {
				return err
			}
		}
		if len(d.chunks) == 0 {
			if !d.text && d.id != unknownSourcesID {
				im.issues.add("document blank", fullDocsFile, d.id, "")
			}
			continue
		}
		n, err := im.newDocument(d)
		if err != nil {
			return err
		}
		if err := im.commit(d, n); err != nil {
			return err
		}
	}
	return im.contents(func(d *importDoc, text string) error {
		text, d.removed = llm.SanitizeText(text)
		n := graphstore.NewDocument{
			ID: d.id, Path: cmp.Or(d.path, d.id), Hash: d.hash, Removed: uint32(d.removed), Replace: true,
			Chunks: chunkText(im.db.tok, text, im.db.opts.ChunkTokens, im.db.opts.ChunkOverlap),
		}
		d.cut = true
		im.issues.add("chunks cut anew", fullDocsFile, d.id, fmt.Sprintf("%d chunks", len(n.Chunks)))
		return im.commit(d, n)
	})
}

// findMixed looks whether the store holds documents of elsewhere: then a
// vector whose row does not tell its text may be of less than an owner says.
func (im *lightragImport) findMixed() error {
	ours := make(map[string]bool, len(im.docs))
	for i := range im.docs {
		ours[im.docs[i].id] = true
	}
	view, err := im.db.store.View()
	if err != nil {
		return err
	}
	defer view.Close()
	return view.Documents(func(_ format.DocID, d format.Document) error {
		im.mixed = im.mixed || !ours[d.ID]
		return nil
	})
}

// writeUnknown gives sources that are no chunks their texts, and drops those
// that nothing was made of.
func (im *lightragImport) writeUnknown(d *importDoc) error {
	d.chunks = slices.DeleteFunc(d.chunks, func(c int32) bool { return im.told[c] == nil })
	for _, i := range d.chunks {
		at, err := im.spill.put([]byte(strings.TrimSuffix(im.told[i].String(), "\n")))
		if err != nil {
			return err
		}
		im.chunks[i].text = at
	}
	im.told = nil
	return nil
}

func (im *lightragImport) newDocument(d *importDoc) (graphstore.NewDocument, error) {
	d.path = cmp.Or(d.path, d.id) // references need something to show
	n := graphstore.NewDocument{ID: d.id, Path: d.path, Hash: d.hash, Removed: uint32(d.removed), Replace: true}
	h := sha256.New()
	fmt.Fprintf(h, "chunks of %q\n", d.id)
	for _, i := range d.chunks {
		c := &im.chunks[i]
		text, err := im.chunkText(c)
		if err != nil {
			return n, err
		}
		path := c.path
		if path == d.path {
			path = ""
		}
		tokens := c.tokens
		if tokens == 0 {
			tokens = uint32(im.db.tok.Count(text))
		}
		n.Chunks = append(n.Chunks, graphstore.NewChunk{Order: uint32(c.order), Path: path, Text: text, Tokens: tokens})
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], uint64(c.order))
		binary.LittleEndian.PutUint64(b[8:], uint64(len(text)))
		h.Write(b[:])
		h.Write([]byte(text))
	}
	if !d.text {
		h.Sum(n.Hash[:0])
	}
	return n, nil
}

// commit stores one document with what its chunks' answers and the graph's
// rows say, unless it is there.
func (im *lightragImport) commit(d *importDoc, n graphstore.NewDocument) error {
	res, err := im.db.importDocument(im.ctx, n, func(doc format.DocID, stored []graphstore.Chunk) (c graphstore.Contribution, err error) {
		d.doc, c.Doc = doc, doc
		if !d.cut {
			return c, im.contribution(d, stored, &c)
		}
		c.Failed = uint32(len(stored)) // they can be extracted later
		for i := range stored {
			c.Chunks = append(c.Chunks, graphstore.ChunkContribution{
				ID: stored[i].ID, Order: stored[i].Order, Failure: "imported without its chunks: not extracted yet",
			})
		}
		return c, nil
	})
	if err != nil {
		return fmt.Errorf("document %q: %w", d.id, err)
	}
	d.doc = res.Doc
	switch res.Status {
	case graphstore.Unchanged:
		im.rep.Unchanged++
	case graphstore.Duplicate:
		im.issues.add("document duplicate", fullDocsFile, d.id, res.Original)
		return nil
	default:
		im.rep.Documents++
		im.rep.Chunks += len(n.Chunks)
	}
	d.done = true
	im.step()
	return nil
}

func (im *lightragImport) step() {
	im.db.importStep(Progress{
		Documents: len(im.docs), DocumentsDone: im.rep.Documents + im.rep.Unchanged,
		Chunks: len(im.chunks), ChunksDone: im.rep.Chunks,
	})
}

// contribution gathers what the chunks' answers and the graph's rows say.
func (im *lightragImport) contribution(d *importDoc, stored []graphstore.Chunk, out *graphstore.Contribution) error {
	at := make(map[int32]*graphstore.Chunk, len(d.chunks))
	byOrder := make(map[uint32]*graphstore.Chunk, len(stored))
	for i := range stored {
		byOrder[stored[i].Order] = &stored[i]
	}
	var chunks []graphstore.Chunk
	var results []chunkResult
	for _, i := range d.chunks {
		c := &im.chunks[i]
		s := byOrder[uint32(c.order)]
		if s == nil { // registered by an import of another state of the directory
			return fmt.Errorf("%w: its chunks are not those that were registered", ErrMismatch)
		}
		at[i] = s
		rep, err := im.replayOf(c, false)
		if err != nil {
			return err
		}
		var res chunkResult
		if rep != nil {
			im.rep.Replayed++
			res.records = rep.MergedExtraction
			if d.id != unknownSourcesID { // whose texts are ours
				if res.keys, err = im.storeAnswers(c, s.Text, rep.answers); err != nil {
					return err
				}
			}
		}
		chunks, results = append(chunks, *s), append(results, res)
	}
	*out = contribution(d.doc, chunks, results)
	if v := im.chunkVectors; v != nil && v.usable() {
		for n, i := range d.chunks {
			out.Chunks[n].Vector = im.chunkVector(v, i)
		}
	}
	return im.rowFragments(d, at, out)
}

// storeAnswers puts answers into the cache under the keys of the calls that
// would be made for the chunk now: whoever indexes its text again pays
// nothing.
func (im *lightragImport) storeAnswers(c *importChunk, text string, answers []string) ([]answerKey, error) {
	var keys []answerKey
	for i, answer := range answers {
		req := im.db.opts.extractRequest(text)
		if i > 0 {
			req = im.db.opts.gleanRequest(text, answers[0])
		}
		key := requestKey(im.db.opts.Completer.Model(), &req)
		err := im.db.store.PutAnswer(key, format.Answer{Text: answer, Task: uint8(req.Task), Created: c.answers[i].created})
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
		im.rep.Answers++
	}
	return keys, nil
}

// rowFragments adds the fragments made of rows.
func (im *lightragImport) rowFragments(d *importDoc, at map[int32]*graphstore.Chunk, out *graphstore.Contribution) error {
	type ownerIn struct{ node, chunk int32 }
	entities := make(map[ownerIn]uint16)
	relations := make(map[int32]uint16)
	im.rep.FromRows += len(d.rows)
	for _, row := range d.rows {
		var f rowFragment
		if err := im.spill.getJSON(row, &f); err != nil {
			return err
		}
		s := at[f.Chunk]
		key := format.FragmentKey{Doc: d.doc, Order: s.Order, Pass: rowPass}
		if f.Node >= 0 {
			o := ownerIn{f.Node, f.Chunk}
			key.Index = entities[o]
			entities[o]++
			out.Entities = append(out.Entities, graphstore.EntityFragment{
				Name: im.nodes[f.Node].name, Chunk: s.ID, Key: key, Type: f.Type, Description: f.Description,
			})
			continue
		}
		key.Index = relations[f.Chunk]
		relations[f.Chunk]++
		e := &im.edges[f.Edge]
		out.Relations = append(out.Relations, graphstore.RelationFragment{
			Src: im.nodes[e.a].name, Tgt: im.nodes[e.b].name, Chunk: s.ID, Key: key,
			Description: f.Description, Keywords: f.Keywords, Weight: f.Weight,
		})
	}
	return nil
}

// chunkVector returns the vector of a chunk, if it was made from its text.
func (im *lightragImport) chunkVector(f *vectorFile, chunk int32) []float32 {
	c := &im.chunks[chunk]
	row, ok := f.at[c.id]
	if !ok {
		return nil
	}
	if h := f.texts[row]; h != 0 && h != c.print.sum {
		im.issues.add("vector of another text", f.name, c.id, "the chunk's text is another one")
		return nil
	}
	v, err := f.vector(int(row))
	if err != nil {
		im.issues.add("vector unusable", f.name, c.id, err.Error())
		return nil
	}
	im.rep.Vectors++
	return v
}
