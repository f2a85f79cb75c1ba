package reader

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Encoding is how the bytes of a text were understood.
type Encoding struct {
	Name    string // as the WHATWG spells it
	Guessed bool   // neither marked nor declared nor evident
}

func (e Encoding) notes() []string {
	if !e.Guessed {
		return nil
	}
	return []string{"the encoding is a guess: " + e.Name}
}

var utf8Text = Encoding{Name: "utf-8"}

// Decode returns a text as UTF-8. In this order decide: a byte order mark of
// UTF-8, UTF-16 or UTF-32; UTF-8 if the text is valid; the pattern of zero bytes
// that UTF-16 and UTF-32 leave in most scripts; UTF-8 that is damaged, if most of
// what is not ASCII is valid or there is a NUL: its bad bytes are kept for
// the caller to count; else the likeliest legacy encoding, which is a guess.
// What is no text at all is refused.
func Decode(b []byte) (string, Encoding, error) {
	if enc, name, n := marked(b); enc != nil {
		return decodeAs(enc, name, b[n:], false)
	} else if n > 0 {
		b = b[n:]
	}
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		if bytes.HasPrefix(b, []byte("%PDF-")) {
			return "", Encoding{}, refuse(ErrType, "the file is not text but application/pdf")
		}
		return string(b), utf8Text, nil
	}
	if enc, name := wide(b); enc != nil {
		return decodeAs(enc, name, b, true)
	}
	if err := checkText(b); err != nil {
		return "", Encoding{}, err
	}
	if bytes.IndexByte(b, 0) >= 0 || mostlyUTF8(b) {
		return string(b), utf8Text, nil
	}
	enc, name := guess(b)
	return decodeAs(enc, name, b, true)
}

func decodeAs(enc encoding.Encoding, name string, b []byte, guessed bool) (string, Encoding, error) {
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return "", Encoding{}, refuse(ErrType, "no %s: %w", name, err)
	}
	return string(out), Encoding{name, guessed}, nil
}

// marked returns the encoding of a byte order mark and the length of the mark.
// For UTF-8 the encoding is nil. The mark of UTF-32 begins like that of UTF-16.
func marked(b []byte) (enc encoding.Encoding, name string, n int) {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32le", 4
	case bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "utf-32be", 4
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le", 2
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be", 2
	case bytes.HasPrefix(b, []byte{0xEF, 0xBB, 0xBF}):
		return nil, "utf-8", 3
	}
	return nil, "", 0
}

// wide recognises UTF-16 and UTF-32 without a mark by where the zero bytes are,
// and believes it only if what it says is text.
func wide(b []byte) (encoding.Encoding, string) {
	sample := b[:min(len(b), 1<<16)&^1]
	var zeros [4]int
	for i, c := range sample {
		if c == 0 {
			zeros[i%4]++
		}
	}
	quarter := (len(sample) + 3) / 4 // the bytes at one place of four
	// even and odd count a half of the sample each, in which most are zeros.
	even, odd := zeros[0]+zeros[2], zeros[1]+zeros[3]
	var enc encoding.Encoding
	var name string
	switch {
	case len(b)%4 == 0 && zeros[3] == quarter && zeros[2]*10 >= quarter*9:
		enc, name = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32le"
	case len(b)%4 == 0 && zeros[0] == quarter && zeros[1]*10 >= quarter*9:
		enc, name = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "utf-32be"
	case len(b)%2 == 0 && odd*10 > len(sample) && even*20 <= odd:
		enc, name = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le"
	case len(b)%2 == 0 && even*10 > len(sample) && odd*20 <= even:
		enc, name = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be"
	default:
		return nil, ""
	}
	out, err := enc.NewDecoder().Bytes(sample)
	out = bytes.TrimSuffix(out, []byte(string(utf8.RuneError))) // the sample may end inside a character
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) || controls(out)*20 > len(out) {
		return nil, ""
	}
	return enc, name
}

// checkText refuses pictures, archives, programs and the like.
func checkText(b []byte) error {
	kind, _, _ := strings.Cut(http.DetectContentType(b), ";")
	sample := b[:min(len(b), 1<<16)]
	switch {
	case strings.HasPrefix(kind, "text/"):
		return nil
	case kind != "application/octet-stream":
		return refuse(ErrType, "the file is not text but %s", kind)
	case controls(sample) > 2 && controls(sample)*20 > len(sample) && len(bytes.Trim(sample, "\x00 \t\r\n\xff")) > 0:
		return refuse(ErrType, "the file is not text but binary data")
	}
	return nil
}

// controls counts the control characters that no text has.
func controls(b []byte) int {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' && c != 0x1B {
			n++
		}
	}
	return n
}

// mostlyUTF8 reports whether more characters beyond ASCII are valid UTF-8 than
// bytes are not.
func mostlyUTF8(b []byte) bool {
	valid, bad := 0, 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			valid++
		}
		b = b[n:]
	}
	return valid > bad
}

// minConfidence is from where a guess says more than that nothing speaks
// against it: multi-byte encodings begin at 10 of 100.
const minConfidence = 20

// guess returns the likeliest encoding of a text that is no UTF-8, by the
// statistics of chardet; windows-1252 when they say nothing.
func guess(b []byte) (encoding.Encoding, string) {
	results, _ := chardet.NewTextDetector().DetectAll(b[:min(len(b), 1<<16)]) // an error is an empty list
	for _, r := range results {
		if r.Confidence < minConfidence {
			break
		}
		name := r.Charset
		switch r.Language {
		case "cs", "hu", "pl", "ro": // found as ISO-8859-2, but misnamed where it is Windows' own
			if name == "windows-1252" {
				name = "windows-1250"
			}
		}
		switch name {
		case "GB-18030":
			name = "gb18030"
		case "ISO-8859-7":
			name = "windows-1253"
		case "ISO-8859-8-I", "ISO-8859-8":
			name = "windows-1255"
		}
		enc, err := htmlindex.Get(name)
		if err != nil {
			continue
		}
		if canonical, err := htmlindex.Name(enc); err == nil && canonical != "utf-8" && canonical != "replacement" && !strings.HasPrefix(canonical, "utf-16") {
			return enc, canonical
		}
	}
	enc, _ := htmlindex.Get("windows-1252") // always there
	return enc, "windows-1252"
}
