package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Types names the file types that a Reader knows.
const Types = "txt, md, html, docx, epub, pdf"

// Errors that a caller may want to tell apart. Their texts name no file.
var (
	ErrTooLarge  = errors.New("larger than the limit")
	ErrEncrypted = errors.New("encrypted")
	ErrNoText    = errors.New("no text")
	ErrType      = errors.New("not of its type")
)

// Options of a Reader. The zero value works.
type Options struct {
	// Limit bounds the bytes of a file, of all that is unpacked from it, and of
	// its text. Default 64 MiB.
	Limit int64
	// CacheDir is where the compiled PDF engine is kept between processes. It
	// is created when the first PDF is met, for this user alone. Default: none,
	// every process that meets a PDF compiles the engine.
	CacheDir string
	// PageTime and FileTime bound the work on one page and on one file of a
	// PDF. Defaults 30 s and 10 min.
	PageTime, FileTime time.Duration
}

func (o Options) withDefaults() Options {
	if o.Limit <= 0 {
		o.Limit = 64 << 20
	}
	if o.PageTime <= 0 {
		o.PageTime = 30 * time.Second
	}
	if o.FileTime <= 0 {
		o.FileTime = 10 * time.Minute
	}
	return o
}

// Reader reads files. It is safe for concurrent use; PDFs are read one by one.
type Reader struct {
	opts Options
	pdf  pdfEngine
}

// New returns a Reader. It starts nothing.
func New(o Options) *Reader {
	o = o.withDefaults()
	return &Reader{opts: o, pdf: pdfEngine{opts: o}}
}

// Close releases the PDF engine, if one was started.
func (r *Reader) Close() error { return r.pdf.close() }

// Text is what a file says.
type Text struct {
	Body  string
	Notes []string // in words, for a person
}

type readFunc func(*Reader, context.Context, []byte) (*Text, error)

func readerOf(name string) readFunc {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text", ".md", ".markdown":
		return readPlain
	case ".html", ".htm":
		return readHTML
	case ".xhtml", ".xht":
		return readXHTML
	case ".docx":
		return readDOCX
	case ".epub":
		return readEPUB
	case ".pdf":
		return readPDF
	}
	return nil
}

// Known reports whether files of that name can be read.
func Known(name string) bool { return readerOf(name) != nil }

// Read returns the text of one file, whose type the end of its name tells.
//
//   - txt, md: as they are, decoded: see [Decode].
//   - html: the title and the visible text; a line a block, a bullet a list
//     item, " | " between the cells of a table row.
//   - docx: the body with tables (a line a row, tabs between cells), text boxes
//     and notes; without headers, footers, comments, hidden text, tables of
//     contents and what a tracked change deleted.
//   - epub: title, creators, then the documents of the spine, without tables of
//     contents and printed page numbers.
//   - pdf: the text layer, page by page; see joinHyphens for words that a line
//     end divides.
func (r *Reader) Read(ctx context.Context, name string, src io.Reader) (*Text, error) {
	read := readerOf(name)
	if read == nil {
		return nil, refuse(ErrType, "%q is of none of the types %s", name, Types)
	}
	b, err := io.ReadAll(io.LimitReader(src, r.opts.Limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > r.opts.Limit {
		return nil, tooLarge("", r.opts.Limit)
	}
	if len(b) == 0 {
		return nil, refuse(ErrNoText, "the file is empty")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := read(r, ctx, b)
	if err != nil {
		return nil, err
	}
	if int64(len(t.Body)) > r.opts.Limit {
		return nil, tooLarge("its text is ", r.opts.Limit)
	}
	return t, nil
}

// refusal is an error whose text says what its kind says in passing.
type refusal struct{ kind, err error }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Errorf(format, args...)}
}

func (e *refusal) Error() string   { return e.err.Error() }
func (e *refusal) Unwrap() []error { return []error{e.kind, e.err} }

func tooLarge(what string, limit int64) error {
	return fmt.Errorf("%s%w of %.1f MiB", what, ErrTooLarge, float64(limit)/(1<<20))
}

func readPlain(_ *Reader, _ context.Context, b []byte) (*Text, error) {
	text, enc, err := Decode(b)
	if err != nil {
		return nil, err
	}
	return &Text{Body: text, Notes: enc.notes()}, nil
}

// joinBlocks joins paragraphs by blank lines and drops the blank ones.
func joinBlocks(parts []string) string {
	var b bytes.Buffer
	for _, p := range parts {
		if p = strings.Trim(p, "\n "); p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p)
	}
	return b.String()
}
