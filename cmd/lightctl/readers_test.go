package main

import (
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/lightctl/lightrag/cmd/lightctl/internal/reader"
)

// readAllInputs reads one file.
func readAllInputs(t *testing.T, name, content string, limit int64) []input {
	t.Helper()
	s, err := openSource(nil, reader.Options{Limit: limit}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out []input
	err = s.readFile(t.Context(), name, name, strings.NewReader(content), func(in input) error {
		out = append(out, in)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func utf16Text(s string, big bool) string {
	var b strings.Builder
	for _, u := range append([]uint16{0xFEFF}, utf16.Encode([]rune(s))...) {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

func TestMarkedJSONLinesAreDecoded(t *testing.T) {
	const line = `{"text":"Käthe, 별 und 𝄞"}`
	for name, content := range map[string]string{
		"none": line, "UTF-8": "\xef\xbb\xbf" + line, "UTF-16 little": utf16Text(line, false), "UTF-16 big": utf16Text(line, true),
	} {
		if in := readAllInputs(t, "a.jsonl", content, 1000)[0]; in.err != nil || in.doc.Text != "Käthe, 별 und 𝄞" {
			t.Errorf("%s: %q, %v", name, in.doc.Text, in.err)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	in := readAllInputs(t, "a.txt", strings.Repeat("x", 1<<20+1), 1<<20)[0]
	if in.err == nil || in.err.Error() != "larger than the limit of 1.0 MiB (--max-file-mib)" {
		t.Errorf("%v", in.err)
	}
	got := readAllInputs(t, "a.jsonl", `{"text":"`+strings.Repeat("x", 200)+"\"}\n{\"text\":\"short\"}", 100)
	if len(got) != 2 || got[0].err == nil || got[1].doc.Text != "short" || got[1].doc.ID != "a.jsonl#2" {
		t.Errorf("%+v", got)
	}
}

func TestJSONLines(t *testing.T) {
	long := strings.Repeat("word ", 400<<10)
	got := readAllInputs(t, "d/f.jsonl", strings.Join([]string{
		`{"id":"x","path":"p.txt","text":"one","other":{"a":[1]}}`,
		``,
		`{"content":"two"}`,
		`{"text":"` + long + `"}`,
		`{"text":null}`,
		`{"title":"no text"}`,
		`not json`,
		`{"text":"  "}`,
		`null`,
		"{\"text\":\"bad \xff\xfe byte\"}\r",
		`{"id":5,"text":"x"}`,
	}, "\n"), 64<<20)
	want := []struct{ id, path, text, err string }{
		{"x", "p.txt", "one", ""},
		{"d/f.jsonl#3", "d/f.jsonl", "two", ""},
		{"d/f.jsonl#4", "d/f.jsonl", long, ""},
		{"d/f.jsonl#5", "", "", `d/f.jsonl:5: field "text" is null`},
		{"d/f.jsonl#6", "", "", `d/f.jsonl:6: no field "text"`},
		{"d/f.jsonl#7", "", "", "d/f.jsonl:7: no JSON object"},
		{"d/f.jsonl#8", "", "", "d/f.jsonl:8: the document is blank"},
		{"d/f.jsonl#9", "", "", "d/f.jsonl:9: null instead"},
		{"d/f.jsonl#10", "d/f.jsonl", "bad \x00 byte", ""},
		{"d/f.jsonl#11", "", "", `d/f.jsonl:11: field "id" is not a string`},
	}
	if len(got) != len(want) {
		t.Fatalf("%d documents, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.doc.ID != w.id {
			t.Errorf("id %q, want %q", g.doc.ID, w.id)
		}
		if w.err != "" {
			if g.err == nil || !strings.HasPrefix(g.err.Error(), w.err) {
				t.Errorf("%s: error %v, want %s", w.id, g.err, w.err)
			}
			continue
		}
		if g.err != nil || g.doc.Text != w.text || g.doc.Path != w.path {
			t.Errorf("%s: path %q, text of %d bytes, %v", w.id, g.doc.Path, len(g.doc.Text), g.err)
		}
	}
	if got := readAllInputs(t, "e.jsonl", "\n\n", 100); len(got) != 1 || got[0].err == nil {
		t.Errorf("a file without lines: %+v", got)
	}
}

func FuzzJSONLine(f *testing.F) {
	f.Add([]byte(`{"id":"a","text":"b"}`))
	f.Add([]byte("{\"text\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		in, ok := jsonlInput("f", 1, line, 100)
		if ok && in.err == nil && in.doc.Text == "" {
			t.Error("a document without text and without error")
		}
		_, _, _ = parseChunk(line)
	})
}

func TestChunkFileIsReadLazily(t *testing.T) {
	b := newBench(t)
	name := b.file("c.jsonl", chunked)
	c, err := openChunks(name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.WriteFile(name, []byte(strings.Replace(chunked, `"notes"`, `"other"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	err = c.each(t.Context(), func(input) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("a file that changes under the reader: %v", err)
	}
}
