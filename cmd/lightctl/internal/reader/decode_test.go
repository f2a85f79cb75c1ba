package reader

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

func encoded(t testing.TB, name, text string) []byte {
	t.Helper()
	enc, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecode(t *testing.T) {
	const text = "Käthe, 별 und 𝄞"
	for _, c := range []struct {
		name, want string
		enc        Encoding
		b          []byte
	}{
		{"UTF-8", text, utf8Text, []byte(text)},
		{"UTF-8 with mark", text, utf8Text, []byte("\ufeff" + text)},
		{"UTF-16LE", text, Encoding{Name: "utf-16le"}, utf16Of(text, false, true)},
		{"UTF-16BE", text, Encoding{Name: "utf-16be"}, utf16Of(text, true, true)},
		{"UTF-32LE", text, Encoding{Name: "utf-32le"}, utf32Of(text, false, true)},
		{"UTF-32BE", text, Encoding{Name: "utf-32be"}, utf32Of(text, true, true)},
		{"UTF-16LE without mark", text, Encoding{"utf-16le", true}, utf16Of(text, false, false)},
		{"UTF-16BE without mark", text, Encoding{"utf-16be", true}, utf16Of(text, true, false)},
		{"UTF-32LE without mark", text, Encoding{"utf-32le", true}, utf32Of(text, false, false)},
		{"UTF-32BE without mark", text, Encoding{"utf-32be", true}, utf32Of(text, true, false)},
		{"two letters of UTF-16", "Hi", Encoding{"utf-16le", true}, utf16Of("Hi", false, false)},
		{"damaged UTF-8", "Käthe \xff wohnt in Köln", utf8Text, []byte("Käthe \xff wohnt in Köln")},
		{"a NUL", "one \x00 and \xff", utf8Text, []byte("one \x00 and \xff")},
		{"short", "Käthe", Encoding{"windows-1252", true}, []byte("K\xe4the")},
		{"half a mark", "ÿa", Encoding{"windows-1252", true}, []byte("\xffa")},
	} {
		got, enc, err := Decode(c.b)
		if err != nil || got != c.want || enc != c.enc {
			t.Errorf("%s: %q %v %v, want %q %v", c.name, got, enc, err, c.want, c.enc)
		}
	}
}

func TestLegacyEncodingsAreGuessed(t *testing.T) {
	for enc, text := range map[string]string{
		"windows-1252": "Le café était déjà fermé à cause de la grève générale. “Smart quotes” aren’t ASCII.",
		"windows-1250": "Łódź leży w środkowej Polsce. Zażółć gęślą jaźń, proszę bardzo.",
		"windows-1251": "Лев Толстой родился в Ясной Поляне.",
		"koi8-r":       "Лев Толстой родился в Ясной Поляне.",
		"windows-1253": "Ο Σωκράτης ήταν Έλληνας φιλόσοφος.",
		"windows-1254": "İstanbul Türkiye'nin en kalabalık şehridir.",
		"windows-1255": "ירושלים היא בירת ישראל",
		"shift_jis":    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
		"euc-jp":       "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
		"euc-kr":       "세종대왕은 조선의 제4대 국왕이다. 한글을 창제하였다.",
		"gb18030":      "鲁迅是中国现代文学的奠基人之一,原名周樟寿。",
		"big5":         "魯迅是中國現代文學的奠基人之一,原名周樟壽。",
	} {
		got, e, err := Decode(encoded(t, enc, text))
		if err != nil || got != text || !e.Guessed {
			t.Errorf("%s: %q as %v, %v", enc, got, e, err)
		}
	}
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	for want, b := range map[string]string{
		"application/pdf": "%PDF-1.4\n1 0 obj",
		"application/zip": "PK\x03\x04\x14\x00\x00\x00\x08\x00",
		"image/png":       "\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR",
		"binary data":     "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x03\x00>\x00\x01\x00\x00",
	} {
		_, _, err := Decode([]byte(b))
		if !errors.Is(err, ErrType) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestMarkupEncodings(t *testing.T) {
	const jis = "名前はまだ無い。"
	for _, c := range []struct {
		name, want string
		enc        Encoding
		b          []byte
	}{
		{"meta", `<meta charset=iso-8859-1>Käthe`, Encoding{Name: "windows-1252"}, []byte("<meta charset=iso-8859-1>K\xe4the")},
		{"meta http-equiv", `<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">Москва`, Encoding{Name: "koi8-r"},
			append([]byte(`<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">`), encoded(t, "koi8-r", "Москва")...)},
		{"xml declaration", `<?xml version="1.0" encoding="windows-1251"?><p>Москва</p>`, Encoding{Name: "windows-1251"},
			append([]byte(`<?xml version="1.0" encoding="windows-1251"?><p>`), encoded(t, "windows-1251", "Москва</p>")...)},
		{"UTF-8 that declares another", "<meta charset=iso-8859-1>Käthe", utf8Text, []byte("<meta charset=iso-8859-1>Käthe")},
		{"ISO-2022-JP", "<meta charset=iso-2022-jp>" + jis, Encoding{Name: "iso-2022-jp"}, append([]byte("<meta charset=iso-2022-jp>"), encoded(t, "iso-2022-jp", jis)...)},
		{"a mark beats it", "<meta charset=iso-8859-1>é", Encoding{Name: "utf-16le"}, utf16Of("<meta charset=iso-8859-1>é", false, true)},
		{"one that nobody decodes", "<meta charset=iso-2022-kr>Käthe", Encoding{"windows-1252", true}, []byte("<meta charset=iso-2022-kr>K\xe4the")},
		{"undeclared", "<p>Käthe “x”", Encoding{"windows-1252", true}, []byte("<p>K\xe4the \x93x\x94")},
	} {
		got, enc, err := markup(c.b)
		if err != nil || got != c.want || enc != c.enc {
			t.Errorf("%s: %q %v %v, want %q %v", c.name, got, enc, err, c.want, c.enc)
		}
	}
}

func TestLimitAndEmptyFiles(t *testing.T) {
	r := New(Options{Limit: 100})
	defer r.Close()
	read := func(name, text string) error {
		_, err := r.Read(t.Context(), name, strings.NewReader(text))
		return err
	}
	if err := read("a.txt", strings.Repeat("x", 100)); err != nil {
		t.Error(err)
	}
	if err := read("a.txt", strings.Repeat("x", 101)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("101 bytes pass a limit of 100: %v", err)
	}
	if err := read("a.txt", string(encoded(t, "windows-1252", strings.Repeat("é", 99)))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("198 bytes of text pass a limit of 100: %v", err)
	}
	for _, name := range []string{"a.txt", "a.md", "a.html", "a.docx", "a.epub", "a.pdf"} {
		if err := read(name, ""); !errors.Is(err, ErrNoText) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := read("a.xyz", "text"); !errors.Is(err, ErrType) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range [][]byte{[]byte("K\xe4the"), utf16Of("Hi 별", false, true), utf32Of("Hi", true, false), []byte("%PDF-"), []byte("\x1b$B")} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, enc, err := Decode(b)
		if err == nil && enc != utf8Text && !utf8.ValidString(text) {
			t.Errorf("%v gave bytes that are no UTF-8", enc)
		}
		if err == nil && enc == utf8Text && text != string(bytes.TrimPrefix(b, []byte("\ufeff"))) {
			t.Error("bytes that count as UTF-8 were changed")
		}
		_, _, _ = markup(b)
		if out := joinHyphens(tidyPage(string(b))); strings.ContainsRune(out, hyphenMark) {
			t.Error("a mark of a hyphen is left")
		}
	})
}
