package engine

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// vectorPage is how many bytes of vectors an export holds at a time.
const vectorPage = 64 << 20

// ExportFull writes everything that the store was made of, as JSON lines from
// which ImportJSONL makes an equal store without asking a model: settings,
// documents of every status with their chunks, fragments in canonical order,
// summaries, vectors (base64 of little-endian float32, exact), cached answers,
// and the lines of ExportJSONL. Ids are the caller's, names and orders, never
// the store's own. The same store gives the same bytes, and so does the store
// that is made from them.
func (v *View) ExportFull(w io.Writer) error {
	if v.err != nil {
		return v.err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	x := &fullExport{view: v, v: v.v, r: newReader(v.v), encode: newLineEncoder(out)}
	x.page = max(1, vectorPage/(4*max(1, int(v.v.Identity().Dim))))
	for _, part := range []func() error{x.store, x.overlays, x.documents, x.owners, x.answers, x.metas} {
		if err := part(); err != nil {
			return err
		}
	}
	if err := x.line(endLine{"end", x.lines}); err != nil {
		return err
	}
	return out.Flush()
}

// fullExport writes the lines of a full export.
type fullExport struct {
	view   *View
	v      *graphstore.View
	r      *reader
	encode func(any) error
	lines  int
	page   int // vectors read at a time
}

func (x *fullExport) line(l any) error {
	x.lines++
	return x.encode(l)
}

func (x *fullExport) store() error {
	id := x.v.Identity()
	sources, s := x.v.Policy()
	return x.line(storeLine{
		Kind: "store", Version: jsonlVersion, Embedder: id.Embedder, Dim: id.Dim, Checksum: id.Checksum,
		Tokenizer: id.Tokenizer, Created: id.Created, MaxSources: sources,
		SummaryFragments: s.Fragments, SummaryTokens: s.Tokens, SummaryJoin: s.Join,
	})
}

// documents writes the documents in the order in which they were accepted: it
// is the order of their fragments. Vectors are read for many at a time.
func (x *fullExport) documents() error {
	var docs []storedDocument
	var chunks []uint32
	flush := func() error {
		vectors, err := x.v.Vectors(format.KindChunk, chunks)
		if err != nil {
			return err
		}
		at := make(map[uint32][]float32, len(chunks))
		for i, id := range chunks {
			at[id] = vectors[i].Vector
		}
		for i := range docs {
			if err := x.document(docs[i].doc, &docs[i].row, at); err != nil {
				return err
			}
		}
		docs, chunks = docs[:0], chunks[:0]
		return nil
	}
	err := x.v.Documents(func(doc format.DocID, row format.Document) error {
		docs = append(docs, storedDocument{doc, row})
		if err := x.v.DocumentTexts(doc, func(_ uint32, c *format.Chunk) error {
			chunks = append(chunks, uint32(c.ID))
			return nil
		}); err != nil {
			return err
		}
		if len(chunks) < x.page && len(docs) < 1024 {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

type storedDocument struct {
	doc format.DocID
	row format.Document
}

func (x *fullExport) document(doc format.DocID, row *format.Document, vectors map[uint32][]float32) error {
	fragments, listed, err := x.fragments(doc, row.ID)
	if err != nil {
		return err
	}
	committed := false
	if err := x.v.DocumentTexts(doc, func(_ uint32, c *format.Chunk) error {
		committed = committed || x.v.ChunkLive(c.ID)
		return nil
	}); err != nil {
		return err
	}
	if err := x.line(documentLine{
		Kind: "document", ID: row.ID, Path: row.Path, Hash: row.Hash, Status: statusNames[row.Status], Committed: committed,
		Listed: listed, Generation: row.Generation, Malformed: row.Malformed, Removed: row.Removed, Failed: row.Failed,
		Error: row.Error, Created: row.Created, Updated: row.Updated, Metadata: row.Metadata,
		Calls: row.Calls, PromptTokens: row.PromptTokens, CachedTokens: row.CachedTokens, CompletionTokens: row.CompletionTokens,
	}); err != nil {
		return err
	}
	if err := x.v.DocumentTexts(doc, func(order uint32, c *format.Chunk) error {
		visible, _, err := x.v.ChunkRow(c.ID)
		if err != nil {
			return err
		}
		l := chunkLine{
			Kind: "chunk", Doc: row.ID, Order: order, Path: c.Path, Tokens: c.Tokens, Content: c.Text, Keywords: visible.Keywords,
			Malformed: visible.Malformed, Failure: visible.Failure,
		}
		for _, k := range visible.CacheKeys {
			l.CacheKeys = append(l.CacheKeys, k)
		}
		if err := x.line(l); err != nil {
			return err
		}
		if vec := vectors[uint32(c.ID)]; vec != nil {
			return x.line(vectorLine{Kind: "vector", Of: "chunk", Doc: row.ID, Order: order, Data: vec})
		}
		return nil
	}); err != nil {
		return err
	}
	for i := range fragments {
		if err := x.line(&fragments[i]); err != nil {
			return err
		}
	}
	return nil
}

// fragments returns what a document says, in canonical order, without what
// follows from it: that a relation implies its ends. listed reports that it
// does not where an end has fragments of its own.
func (x *fullExport) fragments(doc format.DocID, id string) (lines []fragmentLine, listed bool, err error) {
	stored := make(map[impliedAt]format.FragmentKey)
	m := newImplication()
	err = x.v.DocumentFragments(doc, func(df *graphstore.DocumentFragment) error {
		f := &df.Fragment
		mention := f.Class == format.ClassImplied && f.Relation == 0
		l := fragmentLine{
			Kind: "fragment", Of: df.Kind.String(), Doc: id, Order: df.Key.Order, Pass: df.Key.Pass, Index: df.Key.Index,
			ownerName: ownerName{df.Name, df.Src, df.Tgt}, Mention: mention,
			Type: f.Type, Description: f.Description, Keywords: f.Keywords, Weight: millionth(f.Weight),
		}
		switch {
		case f.Class == format.ClassImplied && !mention:
			stored[impliedAt{df.Name, df.Key.Order}] = df.Key
			return nil
		case df.Kind == format.KindEntity:
			m.entity(l.Name, df.Key)
		default:
			m.relation(l.Src, l.Tgt, df.Key)
		}
		lines = append(lines, l)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	if !m.gives(stored, false) {
		if listed = true; !m.gives(stored, true) {
			return nil, false, fmt.Errorf("lightrag: export document %q: %w: its relations do not imply the sources that its entities have", id, ErrCorrupt)
		}
	}
	slices.SortFunc(lines, func(a, b fragmentLine) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.Of, b.Of), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Tgt, b.Tgt))
	})
	return lines, listed, nil
}

// owners writes entities and relations as ExportJSONL does, each with its
// summaries and its vector.
func (x *fullExport) owners() error {
	order := x.view.entityOrder()
	for page := range slices.Chunk(order, x.page) {
		ids := make([]uint32, len(page))
		for i, id := range page {
			ids[i] = uint32(id)
		}
		if err := x.ownerPage(format.KindEntity, ids); err != nil {
			return err
		}
	}
	var ids []uint32
	if err := x.view.eachRelation(order, func(id format.RelationID) error {
		if ids = append(ids, uint32(id)); len(ids) < x.page {
			return nil
		}
		err := x.ownerPage(format.KindRelation, ids)
		ids = ids[:0]
		return err
	}); err != nil {
		return err
	}
	return x.ownerPage(format.KindRelation, ids)
}

func (x *fullExport) ownerPage(kind format.Kind, ids []uint32) error {
	vectors, err := x.v.Vectors(kind, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		name, err := x.owner(kind, id)
		if err != nil {
			return err
		}
		err = x.v.Summaries(kind, id, func(level uint8, first format.FragmentKey, s *format.Summary) error {
			l := summaryLine{
				Kind: "summary", Of: kind.String(), ownerName: name, Level: level, Input: s.Input, Model: s.Model, Text: s.Text,
			}
			var err error
			if l.First, err = x.ref(first); err == nil {
				l.Last, err = x.ref(s.Last)
			}
			if err != nil {
				return err
			}
			return x.line(l)
		})
		if err != nil {
			return err
		}
		if vec := &vectors[i]; vec.Vector != nil {
			if err := x.line(vectorLine{
				Kind: "vector", Of: kind.String(), ownerName: name, TextHash: hash64(vec.TextHash), Data: vec.Vector,
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// owner writes the derived line of an owner.
func (x *fullExport) owner(kind format.Kind, id uint32) (ownerName, error) {
	if kind == format.KindEntity {
		e, err := x.r.entity(format.EntityID(id))
		if err != nil {
			return ownerName{}, err
		}
		return ownerName{Name: e.Name}, x.line(newEntityLine(e))
	}
	e, err := x.r.relation(format.RelationID(id))
	if err != nil {
		return ownerName{}, err
	}
	return ownerName{Src: e.Src, Tgt: e.Tgt}, x.line(newRelationLine(e))
}

func (x *fullExport) ref(k format.FragmentKey) (fragmentRef, error) {
	if k.Doc == 0 { // made by hand
		return fragmentRef{Order: k.Order}, nil
	}
	doc, err := x.r.document(k.Doc)
	return fragmentRef{doc, k.Order, k.Pass, k.Index}, err
}

func (x *fullExport) answers() error {
	return x.v.Answers(func(key [32]byte, a *format.Answer) error {
		return x.line(answerLine{
			Kind: "answer", Key: key, Task: a.Task, Created: a.Created, PromptTokens: a.PromptTokens,
			CachedTokens: a.CachedTokens, CompletionTokens: a.CompletionTokens, Text: a.Text,
		})
	})
}

func (x *fullExport) metas() error {
	return x.v.Metas(func(name string, value []byte) error { return x.line(metaLine{"meta", name, value}) })
}

var statusNames = map[format.DocumentStatus]string{
	format.StatusPending:    string(StatusPending),
	format.StatusProcessing: string(StatusProcessing),
	format.StatusProcessed:  string(StatusProcessed),
	format.StatusFailed:     string(StatusFailed),
}
