package engine

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// FuzzImportJSONL imports hostile files: whatever they hold, the import says
// which line is wrong and leaves nothing, or it makes a sound store whose full
// export can be imported in its turn.
func FuzzImportJSONL(f *testing.F) {
	full := []byte(smallExport(f))
	f.Add(full)
	lines := bytes.SplitAfter(full, []byte("\n"))
	for i := range lines { // a line missing, a line twice
		f.Add(bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil))
		f.Add(bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := testOptions(&fakeModel{})
		_, err := ImportJSONL(t.Context(), "copy", bytes.NewReader(b), o)
		if err != nil {
			var le *LineError
			if !errors.As(err, &le) {
				t.Fatalf("an error that names no line: %v", err)
			}
			if names, _ := o.Storage.FS.List(""); len(names) > 0 {
				t.Fatalf("the import left %q", names)
			}
			return
		}
		head, err := (&jsonlImport{in: newLineReader(bytes.NewReader(b))}).header()
		if err != nil || head.Dim == 0 {
			return
		}
		o.Embedder = whoever{llm.EmbedderInfo{Name: head.Embedder, Dim: int(head.Dim), Checksum: head.Checksum}}
		o.Tokenizer, o.SummaryFragments = head.Tokenizer, 0
		db := opened(t, "copy", o)
		sound(t, db)
		v := db.View()
		defer v.Close()
		var first bytes.Buffer
		if err := v.ExportFull(&first); err != nil {
			t.Fatal(err)
		}
		o2 := testOptions(&fakeModel{})
		if _, err := ImportJSONL(t.Context(), "again", bytes.NewReader(first.Bytes()), o2); err != nil {
			t.Fatalf("the export of what was imported cannot be imported: %v", err)
		}
		o2.Embedder, o2.Tokenizer, o2.SummaryFragments = o.Embedder, o.Tokenizer, 0
		sameText(t, fullExportOf(t, opened(t, "again", o2)), first.String())
	})
}

// whoever stands for the embedder of a store that was imported.
type whoever struct{ info llm.EmbedderInfo }

func (w whoever) Info() llm.EmbedderInfo { return w.info }

func (w whoever) Embed(context.Context, []string, llm.Purpose) ([][]float32, error) {
	return nil, errors.New("asked to embed")
}
