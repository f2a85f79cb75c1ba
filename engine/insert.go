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
	registerDocs  = 256     // documents made durable by one commit, and between two refreshes
	registerBytes = 4 << 20 // or this much text
)

// Insert indexes documents: it makes them durable, extracts entities and
// relations from their chunks, and commits each document as one atomic change.
// Documents that earlier calls accepted and did not finish are taken up too.
//
// Input that cannot be used (a blank text, a hostile id, an id twice) is
// ErrInvalid before anything is written. When only documents failed the error
// is nil and the report says which; they can be retried. The error is not nil
// when the call as a whole could not go on: the context ended, the store
// failed, the model refused the key.
func (db *DB) Insert(ctx context.Context, docs ...Document) (*Report, error) {
	if err := db.begin(true); err != nil {
		return nil, err
	}
	defer db.end()

	news := make([]graphstore.NewDocument, len(docs))
	seen := make(map[string]int, len(docs))
	for i := range docs {
		n, err := db.newDocument(&docs[i])
		if err != nil {
			return nil, fmt.Errorf("lightrag: insert document %d of %d: %w", i+1, len(docs), err)
		}
		if j, dup := seen[n.ID]; dup {
			return nil, fmt.Errorf("lightrag: insert: %w: documents %d and %d of the call have the same id %q", ErrInvalid, j+1, i+1, n.ID)
		}
		seen[n.ID] = i
		news[i] = n
	}

	run := db.newRun(ctx, "insert")
	defer run.stop()
	run.report.Documents = make([]DocumentReport, len(news))
	for i := range news {
		n := &news[i]
		run.report.Documents[i] = DocumentReport{ID: n.ID, Path: n.Path, Chunks: len(n.Chunks), Removed: int(n.Removed)}
	}
	for start := 0; start < len(news); {
		end, size := start, 0
		for end < len(news) && end-start < registerDocs && (end == start || size < registerBytes) {
			for _, c := range news[end].Chunks {
				size += len(c.Text)
			}
			end++
		}
		if err := run.insert(news[start:end], start); err != nil {
			return run.finish(err)
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
	if err := run.retry(ids); err != nil {
		return run.finish(err)
	}
	run.resume()
	return run.finish(nil)
}

// newDocument validates, cleans and cuts one document.
func (db *DB) newDocument(d *Document) (graphstore.NewDocument, error) {
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
		text, removed := llm.SanitizeText(d.Text)
		if strings.TrimSpace(text) == "" {
			return n, fmt.Errorf("%w: document %q has no text", ErrInvalid, n.ID)
		}
		n.Removed = uint32(removed)
		n.Chunks = chunkText(db.tok, text, db.opts.ChunkTokens, db.opts.ChunkOverlap)
		n.Hash = sha256.Sum256([]byte(text))
		return n, nil
	}

	if d.Text != "" {
		return n, fmt.Errorf("%w: document %q has both Text and Chunks", ErrInvalid, n.ID)
	}
	h := sha256.New()
	blank := true
	orders := make(map[int]bool, len(d.Chunks))
	byOrder := func(a, b Chunk) int { return cmp.Compare(a.Order, b.Order) }
	for _, c := range slices.SortedFunc(slices.Values(d.Chunks), byOrder) { // the same document, however its chunks are listed
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
		text, removed := llm.SanitizeText(c.Content)
		n.Removed += uint32(removed)
		blank = blank && strings.TrimSpace(text) == ""
		n.Chunks = append(n.Chunks, graphstore.NewChunk{
			Order: uint32(c.Order), Path: c.Path, Text: text, Tokens: uint32(db.tok.Count(text)),
		})
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], uint64(c.Order))
		binary.LittleEndian.PutUint64(b[8:], uint64(len(text)))
		h.Write(b[:])
		h.Write([]byte(text))
	}
	if blank {
		return n, fmt.Errorf("%w: document %q has no text", ErrInvalid, n.ID)
	}
	h.Sum(n.Hash[:0])
	return n, nil
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
