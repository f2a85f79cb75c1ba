package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/lightctl/lightrag/cmd/lightctl/internal/reader"
	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// input is one document that was read, or why it was not.
type input struct {
	doc    engine.Document
	size   int // bytes of text
	origin string
	notes  []string // what a person should know of the text
	err    error
}

// unreadable is the input for a document that cannot be used.
func unreadable(id string, err error) input {
	return input{doc: engine.Document{ID: id, Path: id}, origin: id, err: err}
}

const knownTypes = reader.Types + ", jsonl"

func isKnown(name string) bool { return isJSONL(name) || reader.Known(name) }

func isJSONL(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".jsonl", ".ndjson":
		return true
	}
	return false
}

// readFile turns one file, of the type that name tells, into documents. It
// calls yield for each; an error of yield ends it and is returned. What is wrong
// with the file is yielded.
func (s *source) readFile(ctx context.Context, id, name string, r io.Reader, yield func(input) error) error {
	if isJSONL(name) {
		return readJSONL(id, r, s.limit, yield)
	}
	text, err := s.reader.Read(ctx, name, r)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, reader.ErrTooLarge):
		return yield(unreadable(id, fmt.Errorf("%w (--max-file-mib)", err)))
	case err != nil:
		return yield(unreadable(id, bare(err)))
	case isBlank(text.Body):
		return yield(unreadable(id, errors.New("the document is blank")))
	}
	return yield(input{doc: engine.Document{ID: id, Path: id, Text: text.Body}, size: len(text.Body), origin: id, notes: text.Notes})
}

// isBlank reports whether nothing of text would be left to index.
func isBlank(text string) bool {
	text, _ = llm.SanitizeText(text)
	return strings.TrimSpace(text) == ""
}

func errTooLarge(limit int64) error {
	return fmt.Errorf("%w of %s (--max-file-mib)", reader.ErrTooLarge, bytesText(uint64(limit)))
}
