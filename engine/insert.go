package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

const (
	maxIDBytes    = 1024
	registerDocs  = 256     // documents made durable by one commit
	registerBytes = 4 << 20 // or this much text
)

// Insert indexes documents: it makes them durable, extracts entities and
// relations from their chunks, and commits each document as a whole, together
// with others that are ready at the same time. Documents that earlier calls
// accepted and did not finish are taken up too.
//
// Input that cannot be used (a blank text, a hostile id, an id twice) is
// ErrInvalid before anything is written. When only documents failed the error
// is nil and the report says which; they can be retried. The error is not nil
// when the call as a whole could not go on: the context ended, the store
// failed, the model refused the key.
func (db *DB) Insert(ctx context.Context, docs ...Document) (*Report, error) {
	return db.insert(ctx, docs, false)
}

// InsertPart is Insert for all calls but the last of a run that brings more
// than one call should hold: what it makes stale is left to the Insert, Resume or
// Refresh that ends the run, or to the part with which the store has doubled.
// Until then searches find an owner that has changed by the vector that it had,
// and a description waits for its summary; what is new has both at once. The
// next call makes good what a run leaves stale that does not come to its end.
func (db *DB) InsertPart(ctx context.Context, docs ...Document) (*Report, error) {
	return db.insert(ctx, docs, true)
}

func (db *DB) insert(ctx context.Context, docs []Document, part bool) (*Report, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()

	named := make([]graphstore.NewDocument, len(docs)) // without their chunks
	seen := make(map[string]int, len(docs))
	for i := range docs {
		n, err := nameDocument(&docs[i])
		if err != nil {
			return nil, fmt.Errorf("lightrag: insert document %d of %d: %w", i+1, len(docs), err)
		}
		if j, dup := seen[n.ID]; dup {
			return nil, fmt.Errorf("lightrag: insert: %w: documents %d and %d of the call have the same id %q", ErrInvalid, j+1, i+1, n.ID)
		}
		seen[n.ID] = i
		named[i] = n
	}

	run := db.newRun(ctx, "insert")
	defer run.stop()
	run.part = part
	if run.single = len(docs) == 1 && !part; !run.single {
		defer db.index.hurry()()
	}
	run.progress.Documents = len(docs)
	run.report.Documents = make([]DocumentReport, len(docs))
	for i := range named {
		run.report.Documents[i] = DocumentReport{ID: named[i].ID, Path: named[i].Path}
		run.bytesLeft += textBytes(&docs[i])
	}
	for start := 0; start < len(docs); {
		end, size := start, 0
		for end < len(docs) && end-start < registerDocs && (end == start || size < registerBytes) {
			cutDocument(db.tok, &db.opts, &docs[end], &named[end])
			size += textBytes(&docs[end])
			end++
		}
		if err := run.insert(named[start:end], start, size); err != nil {
			return run.finish(err)
		}
		for i := start; i < end; i++ {
			named[i].Chunks = nil // they are durable; the rest of the call needs the memory
		}
		start = end
	}
	run.resume()
	return run.finish(nil)
}

// Resume takes up the documents that were accepted earlier and not finished.
func (db *DB) Resume(ctx context.Context) (*Report, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()
	run := db.newRun(ctx, "resume")
	defer run.stop()
	defer db.index.hurry()()
	run.resume()
	return run.finish(nil)
}

// Retry processes failed documents again, and those some of whose chunks
// failed, all of them or those named, and takes up unfinished ones. Finished model calls are not repeated.
func (db *DB) Retry(ctx context.Context, ids ...string) (*Report, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()
	run := db.newRun(ctx, "retry")
	defer run.stop()
	defer db.index.hurry()()
	if err := run.retry(ids); err != nil {
		return run.finish(err)
	}
	run.resume()
	return run.finish(nil)
}

// nameDocument validates a document and settles its names. Nothing of it is
// cut yet: a call may bring more text than should be held twice.
func nameDocument(d *Document) (graphstore.NewDocument, error) {
	n := graphstore.NewDocument{ID: d.ID, Path: d.Path, Metadata: d.Metadata, Replace: d.Replace}
	if err := checkName("path", n.Path, true); err != nil {
		return n, err
	}
	if n.Path != "" {
		n.Path = cleanPath(n.Path)
	}
	if n.ID == "" {
		n.ID = n.Path
	}
	if err := checkName("id", n.ID, false); err != nil {
		return n, err
	}
	if d.Chunks == nil {
		if blank(d.Text) {
			return n, fmt.Errorf("%w: document %q has no text", ErrInvalid, n.ID)
		}
		return n, nil
	}

	if d.Text != "" {
		return n, fmt.Errorf("%w: document %q has both Text and Chunks", ErrInvalid, n.ID)
	}
	empty := true
	orders := make(map[int]bool, len(d.Chunks))
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if c.Order < 0 || int64(c.Order) > 1<<32-1 {
			return n, fmt.Errorf("%w: document %q: chunk order %d is not in 0..4294967295", ErrInvalid, n.ID, c.Order)
		}
		if orders[c.Order] {
			return n, fmt.Errorf("%w: document %q has two chunks of order %d", ErrInvalid, n.ID, c.Order)
		}
		orders[c.Order] = true
		if err := checkName("chunk path", c.Path, true); err != nil {
			return n, fmt.Errorf("document %q: %w", n.ID, err)
		}
		empty = empty && blank(c.Content)
	}
	if empty {
		return n, fmt.Errorf("%w: document %q has no text", ErrInvalid, n.ID)
	}
	return n, nil
}

func blank(text string) bool {
	text, _ = llm.SanitizeText(text)
	return strings.TrimSpace(text) == ""
}

func textBytes(d *Document) int {
	n := len(d.Text)
	for i := range d.Chunks {
		n += len(d.Chunks[i].Content)
	}
	return n
}

// cutDocument cleans and cuts a document that nameDocument accepted.
func cutDocument(tok llm.Tokenizer, o *Options, d *Document, n *graphstore.NewDocument) {
	if d.Chunks == nil {
		text, removed := llm.SanitizeText(d.Text)
		n.Removed = uint32(removed)
		n.Chunks = cutText(tok, text, o)
		n.Hash = sha256.Sum256([]byte(text))
		return
	}
	h := sha256.New()
	byOrder := func(a, b Chunk) int { return cmp.Compare(a.Order, b.Order) }
	for _, c := range slices.SortedFunc(slices.Values(d.Chunks), byOrder) { // the same document, however its chunks are listed
		text, removed := llm.SanitizeText(c.Content)
		n.Removed += uint32(removed)
		n.Chunks = append(n.Chunks, graphstore.NewChunk{
			Order: uint32(c.Order), Path: c.Path, Text: text, Tokens: uint32(tok.Count(text)),
		})
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], uint64(c.Order))
		binary.LittleEndian.PutUint64(b[8:], uint64(len(text)))
		h.Write(b[:])
		h.Write([]byte(text))
	}
	h.Sum(n.Hash[:0])
}

// cleanPath gives a path one spelling, with slashes on every system. A URL
// stays as it is.
func cleanPath(p string) string {
	if strings.Contains(p, "://") {
		return p
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// checkName refuses names that no terminal, log line or key should carry.
func checkName(what, s string, empty bool) error {
	switch {
	case s == "" && empty:
		return nil
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("%w: blank document %s", ErrInvalid, what)
	case len(s) > maxIDBytes:
		return fmt.Errorf("%w: document %s of %d bytes; at most %d are possible", ErrInvalid, what, len(s), maxIDBytes)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: document %s %q is not valid UTF-8", ErrInvalid, what, s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 {
			return fmt.Errorf("%w: document %s %q holds a control character", ErrInvalid, what, s)
		}
	}
	return nil
}

// fatal reports whether err ends the whole call rather than one document.
func fatal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrFailed) || errors.Is(err, ErrClosed) ||
		errors.Is(err, ErrDiskFull) || errors.Is(err, ErrCorrupt) || errors.Is(err, llm.ErrAuth)
}
