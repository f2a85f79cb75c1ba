package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/lightctl/lightrag/engine"
)

// readJSONL yields one document for every line {"id"?, "path"?, "text"}, where
// "content" is another word for "text". Other fields are ignored; the default
// id is file#line, the default path the file. Blank lines are skipped.
func readJSONL(id string, r io.Reader, limit int64, yield func(input) error) error {
	any := false
	failed := errors.New("stop")
	err := lines(decodeMark(r), limit, func(n int, line []byte, _ int64) error {
		in, ok := jsonlInput(id, n, line, limit)
		if !ok {
			return nil
		}
		any = true
		if err := yield(in); err != nil {
			failed = err
			return failed
		}
		return nil
	})
	switch {
	case err == nil && !any:
		return yield(unreadable(id, errors.New("the file has no lines")))
	case err == nil, errors.Is(err, failed):
		return err
	}
	return yield(unreadable(id, err))
}

func jsonlInput(file string, n int, line []byte, limit int64) (in input, ok bool) {
	id := fmt.Sprintf("%s#%d", file, n)
	bad := func(err error) (input, bool) { return unreadable(id, atLine(file, n, err)), true }
	if line == nil {
		return bad(errTooLarge(limit))
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return input{}, false
	}
	f, err := parseFields(line)
	if err != nil {
		return bad(err)
	}
	name := "text"
	if _, ok := f[name]; !ok {
		name = "content"
		if _, ok := f[name]; !ok {
			return bad(errors.New(`no field "text"`))
		}
	}
	text, err := f.text(name)
	if err != nil {
		return bad(err)
	}
	doc := engine.Document{ID: id, Path: file, Text: text}
	for field, to := range map[string]*string{"id": &doc.ID, "path": &doc.Path} {
		if !f.given(field) {
			continue
		}
		if *to, err = f.text(field); err != nil {
			return bad(err)
		}
	}
	in = input{doc: doc, size: len(text), origin: id}
	if isBlank(text) {
		in.err = atLine(file, n, errors.New("the document is blank"))
	}
	return in, true
}

func atLine(file string, n int, err error) error { return fmt.Errorf("%s:%d: %w", file, n, err) }

// fields are the members of one JSON object. Names are matched exactly.
type fields map[string]json.RawMessage

// parseFields reads one line. Bytes that are no UTF-8, which the decoder would
// replace silently, become NULs for the engine to remove and count.
func parseFields(line []byte) (fields, error) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte(`\u0000`))
	}
	var f fields
	if err := json.Unmarshal(line, &f); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("no JSON object: %w (at byte %d)", err, syntax.Offset)
		}
		return nil, errors.New("no JSON object")
	}
	if f == nil {
		return nil, errors.New("null instead of a JSON object")
	}
	return f, nil
}

// given reports whether a field is there and not null.
func (f fields) given(name string) bool {
	v, ok := f[name]
	return ok && string(v) != "null"
}

// text returns a field that must be a string.
func (f fields) text(name string) (string, error) {
	if err := f.need(name); err != nil {
		return "", err
	}
	var s string
	if err := json.Unmarshal(f[name], &s); err != nil {
		return "", fmt.Errorf("field %q is not a string", name)
	}
	return s, nil
}

// order returns a field that must be an integer that is not negative.
func (f fields) order(name string) (int, error) {
	if err := f.need(name); err != nil {
		return 0, err
	}
	var n uint32
	if err := json.Unmarshal(f[name], &n); err != nil {
		return 0, fmt.Errorf("field %q is %s, not an integer from 0 to 4294967295", name, clip(string(f[name]), 40))
	}
	return int(n), nil
}

func (f fields) need(name string) error {
	v, ok := f[name]
	switch {
	case !ok:
		return fmt.Errorf("field %q is missing", name)
	case string(v) == "null":
		return fmt.Errorf("field %q is null", name)
	}
	return nil
}
