package engine

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzJSONStream reads a document in both ways that imports use, and compares
// with encoding/json what that accepts.
func FuzzJSONStream(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"content":"x\u00e9\ud83d\ude00\ud800","n":[1,-2.5e3,true,null,NaN,-Infinity]},"b":[]}`, "\xef\xbb\xbf{}", `{"matrix": "AAAA\/w=="}`,
		`{"a":1,}`, `[1 2]`, `"` + strings.Repeat("語", 3000) + `"`, `{"a"`, "\"a\x01b\"", `[[[[[[[[[[]]]]]]]]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		s := newJSONStream(bytes.NewReader(doc))
		got, err := s.raw(nil, 1<<20)
		if err == nil {
			err = s.end()
		}
		var want any
		if json.Unmarshal(doc, &want) == nil {
			var have any
			if err != nil {
				if !strings.Contains(err.Error(), "nested") && !strings.Contains(err.Error(), "is no value") {
					t.Fatalf("refused: %v", err)
				}
			} else if json.Unmarshal(got, &have) != nil || !reflect.DeepEqual(have, want) {
				t.Fatalf("%q, want %q", got, doc)
			}
			if text, ok := want.(string); ok {
				var b bytes.Buffer
				if err := newJSONStream(bytes.NewReader(doc)).textTo(&b); err != nil {
					t.Fatal(err)
				}
				if strings.ToValidUTF8(b.String(), "\ufffd") != strings.ToValidUTF8(text, "\ufffd") && utf8.Valid(doc) {
					t.Fatalf("text %q, want %q", b.String(), text)
				}
			}
		}
		// Whatever it is, walking it ends and hands out keys and texts.
		s = newJSONStream(bytes.NewReader(doc))
		_ = s.object(func(string) error {
			c, err := s.peek()
			switch {
			case err != nil:
				return err
			case c == '{':
				return s.object(func(string) error { return s.skip() })
			case c == '"':
				return s.textTo(&base64Writer{w: &bytes.Buffer{}})
			}
			return s.skip()
		})
	})
}

// FuzzGraphML reads a graph file: what comes out can be stored.
func FuzzGraphML(f *testing.F) {
	s := &ragStore{
		nodes: []ragNode{{"A & B", "person", []string{"one", "two"}, []string{"c1", "c2"}}, {"C<SEP>", "UNKNOWN", []string{"three"}, []string{"c1"}}},
		edges: []ragEdge{{"A & B", "C<SEP>", 2, []string{"k"}, []string{"both"}, []string{"c1"}}},
	}
	for _, form := range []string{formNano, form13, form15} {
		var b bytes.Buffer
		s.writeGraph(&b, form)
		f.Add(b.Bytes())
	}
	f.Add([]byte("<graphml><key id='d0' for='all' attr.name='x'/><node id='a\x01'><data key='d0'>&#0;&#x1F;&unknown;\xff</data></node>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		rows := 0
		_, _ = readGraphML(bytes.NewReader(doc), func(row *graphRow) error {
			rows++
			for _, v := range append([]string{row.Name, row.Src, row.Tgt}, row.Attr["description"], row.Attr["x"]) {
				if !utf8.ValidString(v) || strings.ContainsAny(v, "\x00\x01\x1f") {
					t.Fatalf("%q", v)
				}
			}
			return nil
		})
		if rows > len(doc) {
			t.Fatalf("%d rows", rows)
		}
	})
}
