package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxLine bounds one line of an import; no document of a store has a longer
// chunk.
const maxLine = 256 << 20

// LineError says which line of an imported file cannot be used, and why.
type LineError struct {
	Line  int    // from 1
	Field string // "" = the line as a whole
	Err   error
}

func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: field %q: %v", e.Line, e.Field, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// lineReader reads JSON lines and says where it is.
type lineReader struct {
	r    *bufio.Reader
	line int
	buf  []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 1<<20)} }

// next returns the next line that is not blank, without its end, good until
// the next call; io.EOF after the last.
func (r *lineReader) next() ([]byte, error) {
	for {
		r.buf = r.buf[:0]
		for {
			part, err := r.r.ReadSlice('\n')
			if len(r.buf) == 0 && len(part) > 0 {
				r.line++
			}
			if len(r.buf)+len(part) > maxLine {
				return nil, r.fail("", "longer than %d bytes", maxLine)
			}
			r.buf = append(r.buf, part...)
			if err == nil || errors.Is(err, io.EOF) && len(r.buf) > 0 {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, err
			}
		}
		line := r.buf
		if r.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// fail returns an error about a field of the current line.
func (r *lineReader) fail(field, text string, args ...any) error {
	return &LineError{r.line, field, fmt.Errorf(text+": %w", append(args, ErrInvalid)...)}
}

// kind returns the kind of a line.
func (r *lineReader) kind(line []byte) (string, error) {
	if !utf8.Valid(line) {
		return "", r.fail("", "not UTF-8")
	}
	var l struct {
		Kind *string `json:"kind"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return "", r.syntax(err)
	}
	if l.Kind == nil {
		return "", r.fail("kind", "missing")
	}
	return *l.Kind, nil
}

// decode fills v, a pointer to one of the line types. Every field must be
// known, be there unless it may be left out, and be there once.
func (r *lineReader) decode(line []byte, v any) error {
	known := jsonFieldsOf(reflect.TypeOf(v).Elem())
	seen := make(map[string]bool, len(known))
	var bad error
	topFields(line, func(name string) bool {
		switch _, ok := known[name]; {
		case !ok:
			bad = r.fail(name, "unknown")
		case seen[name]:
			bad = r.fail(name, "given twice")
		}
		seen[name] = true
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	for name, required := range known {
		if required && !seen[name] && (bad == nil || name < bad.(*LineError).Field) {
			bad = r.fail(name, "missing")
		}
	}
	if bad != nil {
		return bad
	}
	if err := json.Unmarshal(line, v); err != nil {
		return r.field(line, v, err)
	}
	return nil
}

// field finds the field that cannot be decoded; err is what was said of it.
func (r *lineReader) field(line []byte, v any, err error) error {
	var raw map[string]json.RawMessage
	if json.Unmarshal(line, &raw) != nil {
		return r.syntax(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if value, ok := raw[name]; ok && !f.Anonymous {
			if e := json.Unmarshal(value, reflect.New(f.Type).Interface()); e != nil {
				var typ *json.UnmarshalTypeError
				if errors.As(e, &typ) {
					return r.fail(name, "a %s stands where %s belongs", typ.Value, typ.Type)
				}
				return r.fail(name, "%v", e)
			}
		}
	}
	return r.syntax(err)
}

// syntax says that a line is not the JSON that it should be.
func (r *lineReader) syntax(err error) error {
	return r.fail("", "%v", err)
}

var lineFields sync.Map // reflect.Type -> map[string]bool

// jsonFieldsOf lists the fields of a line type and whether they must be there.
func jsonFieldsOf(t reflect.Type) map[string]bool {
	if m, ok := lineFields.Load(t); ok {
		return m.(map[string]bool)
	}
	m := make(map[string]bool)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		m[name] = !strings.Contains(rest, "omitempty")
	}
	lineFields.Store(t, m)
	return m
}

// topFields calls fn with the names of the fields of a JSON object, not of
// objects inside it, until it returns false. b is valid JSON.
func topFields(b []byte, fn func(name string) bool) {
	depth, name := 0, false
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
			name = depth == 1
		case '}', ']':
			depth--
		case ',':
			name = depth == 1
		case '"':
			start := i
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if name {
				var s string
				if json.Unmarshal(b[start:min(i+1, len(b))], &s) != nil || !fn(s) {
					return
				}
				name = false
			}
		}
	}
}
