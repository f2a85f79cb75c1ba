package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/lightctl/lightrag/engine"
)

// maxChunkLine bounds one line of a pre-chunked file.
const maxChunkLine = 1 << 30

// chunkFile is a pre-chunked file that was checked as a whole: its documents in
// the order in which they are first seen, and where their lines are. The texts
// stay in the file until they are read.
type chunkFile struct {
	name string
	f    *os.File
	docs []*chunkDoc
}

type chunkDoc struct {
	id    string
	lines []chunkLine
	seen  map[int]int // chunk order -> line number
}

type chunkLine struct {
	offset int64
	size   int
	number int
}

// openChunks checks every line {doc_id, path?, chunk_order, content}; unknown
// fields are ignored. The error names the file and the line.
func openChunks(name string) (*chunkFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, about(name, err)
	}
	c := &chunkFile{name: name, f: f}
	if err := c.scan(); err != nil {
		f.Close()
		return nil, about(name, err)
	}
	return c, nil
}

func (c *chunkFile) Close() error { return c.f.Close() }

func (c *chunkFile) scan() error {
	info, err := c.f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return unusable(c.name + " is not a regular file, which pre-chunked input must be")
	}
	var offset int64
	if head := make([]byte, 3); readFull(c.f, head) && bytes.Equal(head, []byte{0xEF, 0xBB, 0xBF}) {
		offset = 3
	}
	byID := make(map[string]*chunkDoc)
	src := io.NewSectionReader(c.f, offset, info.Size()-offset)
	err = lines(src, maxChunkLine, func(n int, line []byte, size int64) error {
		at := offset
		offset += size
		if line == nil {
			return badLine(c.name, n, errors.New("the line is longer than 1 GiB"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		id, chunk, err := parseChunk(line)
		if err != nil {
			return badLine(c.name, n, err)
		}
		d := byID[id]
		if d == nil {
			d = &chunkDoc{id: id, seen: make(map[int]int)}
			byID[id] = d
			c.docs = append(c.docs, d)
		}
		if first, dup := d.seen[chunk.Order]; dup {
			return badLine(c.name, n, fmt.Errorf("document %q has chunk_order %d already in line %d", id, chunk.Order, first))
		}
		d.seen[chunk.Order] = n
		d.lines = append(d.lines, chunkLine{at, len(line), n})
		return nil
	})
	if err == nil && len(c.docs) == 0 {
		err = unusable(c.name + " has no lines")
	}
	for _, d := range c.docs {
		d.seen = nil
	}
	return err
}

// unusable refuses a file for what it is, as every verb does that takes a file as
// a whole: exit code 2.
func unusable(text string) error { return &plainError{engine.ErrInvalid, text} }

func badLine(file string, n int, err error) error { return unusable(atLine(file, n, err).Error()) }

func readFull(r io.ReaderAt, b []byte) bool {
	n, _ := r.ReadAt(b, 0)
	return n == len(b)
}

// parseChunk reads one line. The content is taken as it is.
func parseChunk(line []byte) (id string, c engine.Chunk, err error) {
	f, err := parseFields(line)
	if err != nil {
		return "", c, err
	}
	if id, err = f.text("doc_id"); err != nil {
		return "", c, err
	}
	if strings.TrimSpace(id) == "" {
		return "", c, errors.New(`field "doc_id" is blank`)
	}
	if c.Order, err = f.order("chunk_order"); err != nil {
		return "", c, err
	}
	if c.Content, err = f.text("content"); err != nil {
		return "", c, err
	}
	if f.given("path") {
		if c.Path, err = f.text("path"); err != nil {
			return "", c, err
		}
	}
	return id, c, nil
}

// each reads the documents one after the other. A document none of whose
// chunks has a path is cited by its id.
func (c *chunkFile) each(ctx context.Context, yield func(input) error) error {
	for _, d := range c.docs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		in, err := c.read(d)
		if err != nil {
			return about(c.name, err)
		}
		if err := yield(in); err != nil {
			return err
		}
	}
	return nil
}

func (c *chunkFile) read(d *chunkDoc) (input, error) {
	in := input{doc: engine.Document{ID: d.id}, origin: fmt.Sprintf("%s:%d", c.name, d.lines[0].number)}
	for _, l := range d.lines {
		line := make([]byte, l.size)
		if _, err := c.f.ReadAt(line, l.offset); err != nil {
			return in, atLine(c.name, l.number, err)
		}
		id, chunk, err := parseChunk(line)
		if err == nil && id != d.id {
			err = errors.New("the file was changed while it was read")
		}
		if err != nil {
			return in, atLine(c.name, l.number, err)
		}
		if in.doc.Path == "" && chunk.Path != "" {
			in.doc.Path = path.Clean(chunk.Path)
		}
		if chunk.Path == in.doc.Path {
			chunk.Path = ""
		}
		in.size += len(chunk.Content)
		in.doc.Chunks = append(in.doc.Chunks, chunk)
	}
	if in.doc.Path == "" {
		in.doc.Path = d.id
	}
	return in, nil
}
