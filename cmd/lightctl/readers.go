package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// input is one document that was read, or why it was not.
type input struct {
	doc    engine.Document
	size   int // bytes of text
	origin string
	err    error
}

// unreadable is the input for a document that cannot be used.
func unreadable(id string, err error) input {
	return input{doc: engine.Document{ID: id, Path: id}, origin: id, err: err}
}

// reader turns one file into documents. It calls yield for each; an error of
// yield ends it and is returned. What is wrong with the file is yielded.
type reader func(id string, r io.Reader, limit int64, yield func(input) error) error

// readerOf returns the reader for files of that name, or nil.
func readerOf(name string) reader {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text", ".md", ".markdown":
		return readText
	case ".html", ".htm", ".xhtml":
		return readHTML
	case ".jsonl", ".ndjson":
		return readJSONL
	}
	return nil
}

const knownTypes = "txt, md, html, jsonl"

// readText yields the whole file as one document. A byte order mark is taken
// out; bytes that are no UTF-8 are left for the engine, which counts them.
func readText(id string, r io.Reader, limit int64, yield func(input) error) error {
	b, err := readAll(decodeMark(r), limit)
	if err != nil {
		return yield(unreadable(id, err))
	}
	return yield(textInput(id, string(b)))
}

func textInput(id, text string) input {
	if isBlank(text) {
		return unreadable(id, errors.New("the document is blank"))
	}
	return input{doc: engine.Document{ID: id, Path: id, Text: text}, size: len(text), origin: id}
}

// isBlank reports whether nothing of text would be left to index.
func isBlank(text string) bool {
	text, _ = llm.SanitizeText(text)
	return strings.TrimSpace(text) == ""
}

// readAll reads at most limit bytes and refuses more.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, errTooLarge(limit)
	}
	return b, nil
}

func errTooLarge(limit int64) error {
	return fmt.Errorf("larger than the limit of %s (--max-file-mib)", bytesText(uint64(limit)))
}

// decodeMark removes a byte order mark, and turns UTF-16 that is marked as such
// into UTF-8.
func decodeMark(r io.Reader) io.Reader {
	br := bufio.NewReaderSize(r, 1<<16)
	head, _ := br.Peek(3) // an error comes again with the first read
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		_, _ = br.Discard(3)
		return br
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return transform.NewReader(br, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder())
	}
	return br
}

// lines calls fn for every line of r with its number, from 1, without its line
// end, and the bytes it takes in r. A line longer than limit is given as nil.
// fn keeps nothing of line.
func lines(r io.Reader, limit int64, fn func(n int, line []byte, size int64) error) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	var size int64
	long, n := false, 0
	for {
		part, err := br.ReadSlice('\n')
		size += int64(len(part))
		if !long && int64(len(line)+len(part)) > limit+1 {
			long, line = true, line[:0]
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		end := err != nil
		if end && size == 0 {
			return nil
		}
		n++
		given := bytes.TrimRight(line, "\r\n")
		if long {
			given = nil
		} else if given == nil {
			given = []byte{}
		}
		if err := fn(n, given, size); err != nil || end {
			return err
		}
		line, size, long = line[:0], 0, false
	}
}
