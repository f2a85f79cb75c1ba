package main

import (
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

// readOne reads a file that holds one document.
func readAllInputs(t *testing.T, name, content string, limit int64) []input {
	t.Helper()
	var out []input
	err := readerOf(name)(name, strings.NewReader(content), limit, func(in input) error {
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

func TestMarksAreDecoded(t *testing.T) {
	const text = "Käthe, 별 und 𝄞"
	for name, content := range map[string]string{
		"none": text, "UTF-8": "\xef\xbb\xbf" + text,
		"UTF-16 little": utf16Text(text, false), "UTF-16 big": utf16Text(text, true),
	} {
		if in := readAllInputs(t, "a.txt", content, 1000)[0]; in.err != nil || in.doc.Text != text {
			t.Errorf("%s: %q, %v", name, in.doc.Text, in.err)
		}
		line := strings.Replace(content, text, `{"text":"`+text+`"}`, 1)
		if strings.HasPrefix(name, "UTF-16") {
			line = utf16Text(`{"text":"`+text+`"}`, name == "UTF-16 big")
		}
		if in := readAllInputs(t, "a.jsonl", line, 1000)[0]; in.err != nil || in.doc.Text != text {
			t.Errorf("%s, jsonl: %q, %v", name, in.doc.Text, in.err)
		}
	}
	if in := readAllInputs(t, "a.md", "a\xffb", 1000)[0]; in.doc.Text != "a\xffb" {
		t.Errorf("bytes that are no UTF-8 were not left to the engine: %q", in.doc.Text)
	}
}

func TestSizeLimit(t *testing.T) {
	if in := readAllInputs(t, "a.txt", strings.Repeat("x", 100), 100)[0]; in.err != nil {
		t.Error(in.err)
	}
	if in := readAllInputs(t, "a.txt", strings.Repeat("x", 101), 100)[0]; in.err == nil {
		t.Error("101 bytes pass a limit of 100")
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

func TestHTMLText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"title and blocks", "<title>A &amp; B</title><h1>Head</h1><p>One<p>Two  three\n four", "A & B\n\nHead\n\nOne\n\nTwo three four"},
		{"inline", "<p>a<b>b</b> <i>c</i>d</p>", "ab cd"},
		{"invisible", "<p>seen<script>no()</script><style>p{}</style><template>no</template><noscript>no</noscript><span hidden>no</span>", "seen"},
		{"breaks", "one<br>two<br><br>three", "one\ntwo\n\nthree"},
		{"list", "<ul><li> a<li>b</ul>", "- a\n- b"},
		{"table", "<table><tr><th>k<th>v<tr><td>1<td>2</table>", "k | v\n1 | 2"},
		{"pre", "<pre>\n  a\n    b\n</pre>", "  a\n    b"},
		{"entities", "<p>&lt;x&gt; &eacute;&nbsp;&#9731;", "<x> é ☃"},
		{"comment", "a<!-- no -->b", "ab"},
		{"declared", "<meta charset=iso-8859-1><p>K\xe4the", "Käthe"},
		{"undeclared", "<p>K\xe4the \x93x\x94", "Käthe “x”"},
		{"empty", "<title></title><p> ", ""},
	} {
		got, err := htmlText([]byte(c.page))
		if err != nil || got != strings.TrimSpace(c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if _, err := htmlText([]byte(strings.Repeat("<div>", 100000))); err == nil {
		t.Error("a page of 100,000 levels was parsed")
	}
}

func FuzzHTMLText(f *testing.F) {
	f.Add([]byte("<p>a<table><td>b<pre> c"))
	f.Add([]byte("\xff\xfe<\x00"))
	f.Fuzz(func(t *testing.T, page []byte) {
		_, _ = htmlText(page) // must not panic
	})
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
