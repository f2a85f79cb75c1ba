package engine

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/llm"
)

// unknownSourcesID is the document of what the graph took from nowhere that is
// known: entities made by hand, custom graphs, chunks that are gone.
const unknownSourcesID = "lightrag:unknown-sources"

// unnamedID is the document of chunks that name none.
const unnamedID = "lightrag:unnamed"

const (
	maxImportRow   = 64 << 20 // bytes of a row; a longer one is malformed
	maxSmallRow    = 1 << 20  // of fields that are no texts
	maxUnknownText = 4096     // bytes of the text of an unknown source
)

// readDocuments reads which documents there are: full_docs, and doc_status,
// which held the texts in old versions.
func (im *lightragImport) readDocuments() error {
	for _, name := range []string{fullDocsFile, docStatusFile} {
		err := im.file(name, func(r io.Reader) (int, error) {
			return im.rows(name, r, func(id string, s *jsonStream) error { return im.readDocument(name, id, s) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rows calls fn at the value of every key of a file that is one object, if it
// is an object.
func (im *lightragImport) rows(file string, r io.Reader, fn func(id string, s *jsonStream) error) (n int, err error) {
	s := newJSONStream(r)
	if c, err := s.peek(); errors.Is(err, errTruncatedJSON) || err == nil && c != '{' {
		return 0, fmt.Errorf("the file holds no JSON object")
	}
	err = s.object(func(id string) error {
		c, err := s.peek()
		if err != nil {
			return err
		}
		if c != '{' {
			im.issues.add("row malformed", file, id, "not an object")
			return s.skip()
		}
		n++
		return fn(id, s)
	})
	if err == nil {
		err = s.end()
	}
	return n, err
}

// textHasher hashes a text that comes in pieces, as Insert would store it.
type textHasher struct {
	h       hash.Hash
	removed int
	blank   bool
}

func newTextHasher() *textHasher { return &textHasher{h: sha256.New(), blank: true} }

func (t *textHasher) Write(p []byte) (int, error) {
	text, removed := llm.SanitizeText(string(p))
	t.removed += removed
	t.blank = t.blank && strings.TrimSpace(text) == ""
	io.WriteString(t.h, text)
	return len(p), nil
}

func (im *lightragImport) readDocument(file, id string, s *jsonStream) error {
	var path string
	text := newTextHasher()
	has := false
	err := s.object(func(key string) error {
		switch key {
		case "content":
			if c, err := s.peek(); err != nil || c != '"' {
				return errors.Join(err, s.skip())
			}
			has = true
			return s.textTo(text)
		case "file_path":
			return im.smallText(file, id, s, &path)
		}
		return s.skip()
	})
	if err != nil {
		return err
	}
	d := im.document(id)
	im.setPath(d, file, path)
	if has && !text.blank && !d.text {
		d.text, d.removed = true, text.removed
		text.h.Sum(d.hash[:0])
	}
	return nil
}

// smallText reads a string, or leaves dst alone if the value is something else.
func (im *lightragImport) smallText(file, id string, s *jsonStream, dst *string) error {
	b, err := s.raw(nil, maxSmallRow)
	if errors.Is(err, errTooLong) {
		im.issues.add("row malformed", file, id, "a field is too long")
		return nil
	}
	if err != nil {
		return err
	}
	var v any
	if json.Unmarshal(b, &v) == nil {
		if t, ok := v.(string); ok {
			*dst = t
		}
	}
	return nil
}

// document returns the document of that id in the directory.
func (im *lightragImport) document(id string) *importDoc {
	if i, ok := im.docAt[id]; ok {
		return &im.docs[i]
	}
	d := importDoc{id: id}
	if err := checkName("id", id, false); err != nil {
		sum := sha256.Sum256([]byte(id))
		d.id = "lightrag:" + hex.EncodeToString(sum[:16])
		im.issues.add("document id changed", fullDocsFile, id, d.id)
	}
	im.docAt[id] = int32(len(im.docs))
	im.docs = append(im.docs, d)
	return &im.docs[len(im.docs)-1]
}

// cleanSource returns a path of the directory as one of ours, "" if it is none.
func (im *lightragImport) cleanSource(file, path string) string {
	switch strings.TrimSpace(path) {
	case "", "unknown_source", "no-file-path", "custom_kg":
		return ""
	}
	if err := checkName("path", path, true); err != nil {
		im.issues.add("path unusable", file, path, "")
		return ""
	}
	return cleanPath(path)
}

func (im *lightragImport) setPath(d *importDoc, file, path string) {
	if path = im.cleanSource(file, path); d.path == "" {
		d.path = path
	}
}

// chunkRow is what is read of a chunk.
type chunkRow struct {
	Tokens  json.RawMessage `json:"tokens"`
	Content *string         `json:"content"`
	Order   json.RawMessage `json:"chunk_order_index"`
	Doc     any             `json:"full_doc_id"`
	Path    any             `json:"file_path"`
	Answers any             `json:"llm_cache_list"`
}

// readChunks reads the chunks, and those that only the vectors' file holds.
func (im *lightragImport) readChunks() error {
	im.cacheKeys = make(map[string]int32)
	var buf []byte
	err := im.file(textChunksFile, func(r io.Reader) (int, error) {
		return im.rows(textChunksFile, r, func(id string, s *jsonStream) (err error) {
			buf, err = s.raw(buf[:0], maxImportRow)
			if errors.Is(err, errTooLong) {
				im.issues.add("row malformed", textChunksFile, id, err.Error())
				return nil
			}
			if err != nil {
				return err
			}
			var row chunkRow
			if err := json.Unmarshal(buf, &row); err != nil || row.Content == nil {
				im.issues.add("row malformed", textChunksFile, id, "no content")
				return nil
			}
			return im.addChunk(textChunksFile, id, &row)
		})
	})
	if err != nil {
		return err
	}
	if im.chunkVectors, err = im.openVectors(chunkVectorsFile, func(_ int32, row *vectorRow) error {
		id := row.ID
		if _, ok := im.chunkAt[id]; ok || row.Content == nil {
			return nil
		}
		im.issues.add("chunk recovered", chunkVectorsFile, id, "")
		return im.addChunk(chunkVectorsFile, id, &chunkRow{Content: row.Content, Doc: row.Doc, Path: row.Path})
	}); err != nil {
		return err
	}
	return im.orderChunks()
}

func (im *lightragImport) addChunk(file, id string, row *chunkRow) error {
	text, removed := llm.SanitizeText(*row.Content)
	if removed > 0 {
		im.issues.add("text cleaned", file, id, "")
	}
	at, err := im.spill.put([]byte(text))
	if err != nil {
		return stop(err)
	}
	name, _ := row.Doc.(string)
	if strings.TrimSpace(name) == "" {
		im.issues.add("document unnamed", file, id, "")
		name = unnamedID
	}
	path, _ := row.Path.(string)
	d := im.document(name)
	im.setPath(d, file, path)
	c := importChunk{
		id: id, doc: im.docAt[name], order: number(row.Order, -1), tokens: uint32(min(max(number(row.Tokens, 0), 0), 1<<31)),
		path: im.cleanSource(file, path), text: at, print: fingerprintOf(text),
	}
	index, twice := im.chunkAt[id]
	if twice {
		im.issues.add("row twice", file, id, "")
		im.chunks[index] = c
	} else {
		index = int32(len(im.chunks))
		im.chunkAt[id] = index
		im.chunks = append(im.chunks, c)
	}
	keys, _ := row.Answers.([]any)
	for _, k := range keys {
		if key, ok := k.(string); ok {
			im.cacheKeys[key] = index
		}
	}
	return nil
}

// number reads an integer, also one that is written as a float or a string.
func number(b json.RawMessage, none int64) int64 {
	var f float64
	if json.Unmarshal(bytes.Trim(b, `"`), &f) != nil || f != f || f < -1e15 || f > 1e15 {
		return none
	}
	return int64(f)
}

// orderChunks gives every document its chunks, in order, each with an order of
// its own.
func (im *lightragImport) orderChunks() error {
	for i := range im.chunks {
		d := &im.docs[im.chunks[i].doc]
		d.chunks = append(d.chunks, int32(i))
	}
	for i := range im.docs {
		d := &im.docs[i]
		slices.SortStableFunc(d.chunks, func(a, b int32) int { return cmp.Compare(im.chunks[a].order, im.chunks[b].order) })
		usable := true
		for n, c := range d.chunks {
			order := im.chunks[c].order
			usable = usable && order >= 0 && order <= 1<<31 && (n == 0 || order != im.chunks[d.chunks[n-1]].order)
		}
		if usable {
			continue
		}
		im.issues.add("chunk order twice", textChunksFile, d.id, "")
		for n, c := range d.chunks {
			im.chunks[c].order = int64(n)
		}
	}
	return nil
}

// chunkText reads a chunk's text back.
func (im *lightragImport) chunkText(c *importChunk) (string, error) {
	b, err := im.spill.get(c.text)
	return string(b), err
}

// contents reads the texts of documents again: only of those that have no
// chunks, one at a time.
func (im *lightragImport) contents(fn func(d *importDoc, text string) error) error {
	left := make(map[string]bool)
	for id, i := range im.docAt {
		if d := &im.docs[i]; d.text && len(d.chunks) == 0 {
			left[id] = true
		}
	}
	for _, name := range []string{fullDocsFile, docStatusFile} {
		if len(left) == 0 {
			return nil
		}
		files := len(im.rep.Files)
		err := im.file(name, func(r io.Reader) (int, error) {
			return im.rows(name, r, func(id string, s *jsonStream) error {
				if !left[id] {
					return s.skip()
				}
				var text strings.Builder
				err := s.object(func(key string) error {
					if c, err := s.peek(); err != nil || key != "content" || c != '"' {
						return errors.Join(err, s.skip())
					}
					return s.textTo(&text)
				})
				if err != nil || text.Len() == 0 {
					return err
				}
				delete(left, id)
				return stop(fn(&im.docs[im.docAt[id]], text.String()))
			})
		})
		im.rep.Files = im.rep.Files[:files] // they are there already
		if err != nil {
			return err
		}
	}
	return nil
}
