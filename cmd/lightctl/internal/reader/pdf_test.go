package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// engineDir holds the compiled engine for all tests.
var engineDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lightctl-reader")
	if err != nil {
		panic(err)
	}
	engineDir = filepath.Join(dir, "cache")
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func pdfReader(t *testing.T, o Options) *Reader {
	t.Helper()
	o.CacheDir = engineDir
	r := New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestPDF(t *testing.T) {
	r := pdfReader(t, Options{})
	read := func(b []byte) (*Text, error) { return r.Read(t.Context(), "a.PDF", bytes.NewReader(b)) }
	for _, c := range []struct {
		name, want, notes string
		file              []byte
	}{
		{"lines and pages", "John Hooker paid for\nthe telescope (100 inch).\n\nPage two.", "",
			pdfOf(nil, pdfPage("John Hooker paid for", "the telescope (100 inch)."), pdfPage("Page two."))},
		{"a word divided", "the background is dark", "", pdfOf(nil, pdfPage("the back-", "ground is dark"))},
		{"Latin letters", "K\u00e4the", "", pdfOf(nil, pdfPage("K\xe4the"))},
		{"a page without text", "Page one.", "1 of 2 pages have no text layer", pdfOf(nil, pdfPage("Page one."), pdfPage())},
		{"owner's password only", "Free to read.", "", pdfOf(newPDFLock(""), pdfPage("Free to read."))},
		{"junk before the header", "Text.", "", append([]byte("junk\n"), pdfOf(nil, pdfPage("Text."))...)},
	} {
		got, err := read(c.file)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got.Body != c.want || strings.Join(got.Notes, "; ") != c.notes {
			t.Errorf("%s: %q %q, want %q %q", c.name, got.Body, got.Notes, c.want, c.notes)
		}
	}
	for _, c := range []struct {
		name, text string
		is         error
		file       []byte
	}{
		{"password", "opens with a password only", ErrEncrypted, pdfOf(newPDFLock("secret"), pdfPage("Secret."))},
		{"scanned", "the 2 pages have no text layer; scanned pages need OCR", ErrNoText, pdfOf(nil, pdfPage(), pdfPage())},
		{"no pages", "has no pages", ErrNoText, pdfOf(nil)},
		{"header alone", "damaged", ErrType, []byte("%PDF-1.7\n")},
		{"another file", "it does not begin with %PDF-", ErrType, []byte("GIF89a")},
	} {
		_, err := read(c.file)
		if !errors.Is(err, c.is) || err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
}

func TestDamagedPDFsHarmNobody(t *testing.T) {
	r := pdfReader(t, Options{Limit: 1 << 20})
	whole := pdfOf(nil, pdfPage("The first page of a document that will be damaged."), pdfPage("Second."))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		b := bytes.Clone(whole)
		for range 1 + rng.IntN(8) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		if i%3 == 0 {
			b = b[:rng.IntN(len(b))]
		}
		_, _ = r.Read(t.Context(), "a.pdf", bytes.NewReader(b)) // text or an error
	}
	got, err := r.Read(t.Context(), "a.pdf", bytes.NewReader(whole))
	if err != nil || !strings.Contains(got.Body, "first page") {
		t.Errorf("the file itself, after its ruins: %v, %v", got, err)
	}
}

func TestPDFLimits(t *testing.T) {
	long := make([]string, 4000) // a page that takes long
	for i := range long {
		long[i] = strings.Repeat("word ", 20)
	}
	file := pdfOf(nil, pdfPage("Short."), pdfPage(long...))
	t.Run("time", func(t *testing.T) {
		r := pdfReader(t, Options{PageTime: time.Millisecond})
		_, err := r.Read(t.Context(), "a.pdf", bytes.NewReader(file))
		if err == nil || !strings.Contains(err.Error(), "took longer than 1ms") {
			t.Fatalf("a millisecond sufficed: %v", err)
		}
		r.pdf.opts.PageTime = time.Minute
		if got, err := r.Read(t.Context(), "a.pdf", bytes.NewReader(pdfOf(nil, pdfPage("Short.")))); err != nil || got.Body != "Short." {
			t.Errorf("the file after it: %v, %v", got, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		r := pdfReader(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Read(ctx, "a.pdf", bytes.NewReader(file)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	t.Run("text", func(t *testing.T) {
		r := pdfReader(t, Options{Limit: int64(len(file))})
		shared := strings.Repeat("4 0 R ", 200) // one page, many times
		many := bytes.Replace(pdfOf(nil, pdfPage(strings.Repeat("word ", 50))), []byte("[ 4 0 R ]"), []byte("[ "+shared+"]"), 1)
		many = bytes.Replace(many, []byte("/Count 1"), []byte("/Count 200"), 1)
		r.opts.Limit, r.pdf.opts.Limit = 20000, 20000
		if _, err := r.Read(t.Context(), "a.pdf", bytes.NewReader(many)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v", err)
		}
	})
}

func TestPDFEngineIsKept(t *testing.T) {
	file := pdfOf(nil, pdfPage("Compiled."))
	stamps := func() string {
		var b strings.Builder
		err := filepath.WalkDir(engineDir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				fmt.Fprintln(&b, name, info.Size(), info.ModTime())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	kept := ""
	for range 2 {
		r := New(Options{CacheDir: engineDir})
		got, err := r.Read(t.Context(), "a.pdf", bytes.NewReader(file))
		if err != nil || got.Body != "Compiled." {
			t.Fatalf("%v, %v", got, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Read(t.Context(), "a.pdf", bytes.NewReader(file)); !errors.Is(err, errReaderClosed) {
			t.Errorf("a closed reader: %v", err)
		}
		now := stamps()
		if now == "" || kept != "" && now != kept {
			t.Errorf("the cache is empty or was written again:\n%s\n%s", kept, now)
		}
		kept = now
	}
}

func TestPDFEngineStartsForPDFsOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	r := New(Options{CacheDir: dir})
	defer r.Close()
	for name, text := range map[string]string{"a.txt": "text", "a.html": "<p>text", "empty.pdf": "", "none.pdf": "text"} {
		_, _ = r.Read(t.Context(), name, strings.NewReader(text))
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || r.pdf.pool != nil {
		t.Errorf("the engine was started: %v", err)
	}
}

func TestJoinHyphens(t *testing.T) {
	for in, want := range map[string]string{
		"the back\x02ground":                           "the background",
		"Jean\x02Paul in A\x020":                       "Jean-Paul in A-0",
		"a well\x02known man, a well-known fact":       "a well-known man, a well-known fact",
		"a well\x02known man, well-known or wellknown": "a wellknown man, well-known or wellknown",
		"DIS\x02CLAIMED":                               "DIS-CLAIMED",
		"DIS\x02CLAIMED or disclaimed":                 "DISCLAIMED or disclaimed",
		"Zusammen\x02\narbeit":                         "Zusammenarbeit",
		"двух\x02этажный":                              "двухэтажный",
		"1999\x022000, \x02, x\x02":                    "1999-2000, -, x-",
		"three\x02part\x02word":                        "threepartword",
	} {
		if got := joinHyphens(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTidyPage(t *testing.T) {
	for in, want := range map[string]string{
		"e\ufb03cient o\ufb00er\r\nnext":                       "efficient offer\nnext",
		"Niels M\u00a8oller, na\u00a8\u0131ve, Fran\u00b8cois": "Niels Möller, naïve, François",
		"a\u00a8 b\u00b4":                                      "a\u00a8 b\u00b4",
		"soft\u00adware\x00\x07!":                              "software!",
		"soft\u00ad\nware":                                     "soft\x02ware",
	} {
		if got := tidyPage(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
