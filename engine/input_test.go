package engine

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

func TestUnusableInputIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	good := doc("good", "@e|Alpha|person|The first.")
	chunk := func(order int, path string) Chunk { return Chunk{Order: order, Path: path, Content: "text"} }
	beyond := int64(1 << 32)
	for _, tt := range []struct {
		name string
		docs []Document
		says string
	}{
		{"empty text", []Document{good, {ID: "x"}}, "no text"},
		{"blank text", []Document{good, {ID: "x", Text: " \n\t\u00a0\u2003"}}, "no text"},
		{"nothing but what is removed", []Document{good, {ID: "x", Text: "\x00\xff\x00"}}, "no text"},
		{"no id and no path", []Document{good, {Text: "a"}}, "blank document id"},
		{"blank id", []Document{good, {ID: "  ", Text: "a"}}, "blank document id"},
		{"NUL in an id", []Document{good, {ID: "a\x00b", Text: "a"}}, "control character"},
		{"line break in an id", []Document{good, {ID: "a\nb", Text: "a"}}, "control character"},
		{"escape sequence in an id", []Document{good, {ID: "\x1b[31m", Text: "a"}}, "control character"},
		{"line separator in an id", []Document{good, {ID: "a\u2028b", Text: "a"}}, "control character"},
		{"invalid UTF-8 in an id", []Document{good, {ID: "a\xed\xb2\x9a", Text: "a"}}, "UTF-8"},
		{"id of 2 KB", []Document{good, {ID: strings.Repeat("i", 2048), Text: "a"}}, "2048 bytes"},
		{"NUL in a path", []Document{good, {ID: "x", Path: "a\x00", Text: "a"}}, "control character"},
		{"blank path", []Document{good, {ID: "x", Path: " ", Text: "a"}}, "blank document path"},
		{"invalid UTF-8 in a path", []Document{good, {ID: "x", Path: "\xff", Text: "a"}}, "UTF-8"},
		{"one id twice", []Document{good, {ID: "x", Text: "a"}, {ID: "x", Text: "b"}}, "documents 2 and 3"},
		{"one path twice, spelled differently", []Document{good, {Path: "a/./b", Text: "a"}, {Path: `a\b`, Text: "b"}}, `"a/b"`},
		{"no chunks", []Document{good, {ID: "x", Chunks: []Chunk{}}}, "no text"},
		{"blank chunks", []Document{good, {ID: "x", Chunks: []Chunk{{Content: " "}, {Order: 1}}}}, "no text"},
		{"text and chunks", []Document{good, {ID: "x", Text: "a", Chunks: []Chunk{chunk(0, "")}}}, "both"},
		{"one order twice", []Document{good, {ID: "x", Chunks: []Chunk{chunk(3, ""), chunk(3, "")}}}, "order 3"},
		{"negative order", []Document{good, {ID: "x", Chunks: []Chunk{chunk(-1, "")}}}, "-1"},
		{"order beyond 32 bits", []Document{good, {ID: "x", Chunks: []Chunk{chunk(int(beyond), "")}}}, "4294967296"},
		{"hostile chunk path", []Document{good, {ID: "x", Chunks: []Chunk{chunk(0, "a\x07")}}}, "control character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if bits.UintSize == 32 && strings.Contains(tt.name, "32 bits") {
				t.Skip("no int is beyond")
			}
			m := &fakeModel{}
			db := opened(t, "store", testOptions(m))
			rep, err := db.Insert(t.Context(), tt.docs...)
			if !errors.Is(err, ErrInvalid) || rep != nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Insert: %v, want ErrInvalid that says %q", err, tt.says)
			}
			if strings.ContainsAny(err.Error(), "\x00\x1b\x07\n") {
				t.Errorf("the error carries control characters: %q", err)
			}
			list, lerr := db.Documents()
			if lerr != nil || len(list) != 0 || len(m.calls) != 0 {
				t.Errorf("%d documents stored, %d calls made: %v", len(list), len(m.calls), lerr)
			}
		})
	}
}

func TestHostileTextIsCleanedAndCounted(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	lines := "@e|Al\x00pha|person|The \xed\xb2\x9afirst\xff one."
	rep := inserted(t, db, doc("a", lines), Document{ID: "b", Chunks: []Chunk{{Content: "\x00x"}, {Order: 1, Content: "y\xc0\xc0"}}})
	if n := rep.Documents[0].Removed; n != 3 {
		t.Errorf("removed: %d", n)
	}
	if n := rep.Documents[1].Removed; n != 2 {
		t.Errorf("removed from chunks: %d", n)
	}
	info, chunks, err := db.Document("a")
	if err != nil || info.Removed != rep.Documents[0].Removed {
		t.Errorf("stored: %+v %v", info, err)
	}
	for _, c := range chunks {
		if strings.ContainsAny(c.Content, "\x00\ufffd") {
			t.Errorf("stored text %q", c.Content)
		}
	}
	v := db.View()
	defer v.Close()
	if e, err := v.Entity("Alpha"); err != nil || e.Description != "The first one." {
		t.Errorf("entity: %+v %v", e, err)
	}
}

func TestOneLineOfTwoMegabytes(t *testing.T) {
	for _, tokenizer := range []string{"chars4", "o200k"} {
		t.Run(tokenizer, func(t *testing.T) {
			o := testOptions(&fakeModel{})
			o.Tokenizer = tokenizer
			db := opened(t, "store", o)
			line := strings.Repeat("lorem ipsum dolor sit amet ", 2<<20/27)
			if tokenizer == "chars4" {
				line = strings.Repeat("x", 2<<20) // not even a space
			}
			rep := inserted(t, db, Document{ID: "long", Text: line})
			if rep.Documents[0].Chunks < 200 {
				t.Errorf("%d chunks", rep.Documents[0].Chunks)
			}
			sound(t, db)
		})
	}
}

func TestStrangeButHarmlessNamesAreKept(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	for _, tt := range []struct{ given, stored string }{
		{"../../etc/passwd", "../../etc/passwd"},
		{"/abs/./x//y.md", "/abs/x/y.md"},
		{`C:\docs\a.md`, "C:/docs/a.md"},
		{"https://example.org/a//b?x=1", "https://example.org/a//b?x=1"},
		{"наука#7%00 'quoted' \"x\" <script>", "наука#7%00 'quoted' \"x\" <script>"},
		{"m/documents\u202e", "m/documents\u202e"},
	} {
		inserted(t, db, Document{Path: tt.given, Text: "@e|E|t|From " + tt.given + "."})
		info, chunks, err := db.Document(tt.stored)
		if err != nil {
			t.Errorf("%q: %v", tt.given, err)
			continue
		}
		if info.ID != tt.stored || info.Path != tt.stored || len(chunks) != 1 || chunks[0].ID != tt.stored+"#0" {
			t.Errorf("%q: %+v %+v", tt.given, info, chunks)
		}
	}
	v := db.View()
	e, err := v.Entity("E")
	v.Close()
	if err != nil || len(e.Sources) != 6 || !slices.Contains(e.Sources, "../../etc/passwd#0") {
		t.Errorf("%+v %v", e, err)
	}
	r, err := db.Retrieve(t.Context(), Query{Text: "from", Mode: Naive})
	if err != nil || len(r.References) != 6 {
		t.Errorf("%v %+v", err, r)
	}
	rep, err := db.DeleteDocuments(t.Context(), "https://example.org/a//b?x=1", "../../etc/passwd", "")
	if err != nil || len(rep.Deleted) != 2 || len(rep.NotFound) != 1 {
		t.Errorf("%v %+v", err, rep)
	}
	sound(t, db)
}

func TestChunksOfTheCallerStayAsTheyAre(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	content := "\ufeff  \n@e|Kept|t|As it is.  \n\n" + strings.Repeat("long ", 20000)
	rep := inserted(t, db, Document{ID: "d", Path: "p", Chunks: []Chunk{
		{Order: 40, Path: "other/path", Content: content}, {Order: 7, Content: "seven"}, {Order: 9, Content: " "},
	}})
	if rep.Documents[0].Chunks != 3 {
		t.Errorf("%+v", rep.Documents[0])
	}
	_, chunks, err := db.Document("d")
	if err != nil || len(chunks) != 3 {
		t.Fatal(err, chunks)
	}
	for i, want := range []struct {
		order         int
		path, content string
	}{{7, "p", "seven"}, {9, "p", " "}, {40, "other/path", content}} {
		c := chunks[i]
		if c.Order != want.order || c.Path != want.path || c.Content != want.content {
			t.Errorf("chunk %d: order %d, path %q, %d bytes", i, c.Order, c.Path, len(c.Content))
		}
	}
}

func TestBlankNamesAndQuestionsAreRefused(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, doc("a", "@e|a|t|x"))
	for _, text := range []string{"", "   ", "\x00", "\n\u00a0"} {
		if _, err := db.Retrieve(t.Context(), Query{Text: text}); !errors.Is(err, ErrInvalid) {
			t.Errorf("Retrieve(%q): %v", text, err)
		}
		if _, err := db.Query(t.Context(), Query{Text: text, Mode: Bypass}); !errors.Is(err, ErrInvalid) {
			t.Errorf("Query(%q): %v", text, err)
		}
	}
	if r, err := db.Retrieve(t.Context(), Query{Text: "  a "}); err != nil || r.Query != "a" {
		t.Errorf("a question in blanks: %+v %v", r, err)
	}
	v := db.View()
	defer v.Close()
	for _, name := range []string{"", "   ", "\u3000"} {
		if _, err := v.Entity(name); !errors.Is(err, ErrInvalid) {
			t.Errorf("blank entity %q: %v", name, err)
		}
		if _, err := v.Relation("a", name); !errors.Is(err, ErrInvalid) {
			t.Errorf("blank end %q: %v", name, err)
		}
	}
}
