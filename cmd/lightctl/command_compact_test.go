package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// filesWith returns the files of the store in which a word stands, whatever
// its case.
func (b *bench) filesWith(word string) (found []string) {
	b.t.Helper()
	if err := filepath.WalkDir(b.env["LIGHTRAG_DB"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(content), []byte(word)) {
			found = append(found, filepath.Base(path))
		}
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	return found
}

func TestCompactErasesTheWordsOfADeletedDocument(t *testing.T) {
	b := newBench(t)
	b.exits(exitNotFound, "compact")
	b.file("notes/gone.txt", "Qyzzvorn Plimbwig founded the Qyzzvorn Institute in Reykjavik. Qyzzvorn Plimbwig paid for it.")
	b.file("notes/kept.txt", "Ada Lovelace wrote the first program. Ada Lovelace lived in Wexfordshire and liked Reykjavik.")
	notes := filepath.Join(b.dir, "notes")
	b.ok("index", "--offline", "--quiet", notes)
	if len(b.filesWith("qyzzvorn")) == 0 {
		t.Error("the words of the document that will be deleted cannot be found like this")
	}
	b.ok("docs", "delete", "--offline", filepath.Join(notes, "gone.txt"))
	got := decode[compactJSON](t, b.ok("compact", "--json"))
	if got.Purged || got.Terms == 0 || got.Answers != 0 || got.BytesBefore == 0 || got.BytesAfter == 0 {
		t.Errorf("%+v", got)
	}
	for _, word := range []string{"qyzzvorn", "plimbwig"} {
		if found := b.filesWith(word); len(found) > 0 {
			t.Errorf("%q stands in %q", word, found)
		}
	}
	// Blocks are compressed, which breaks some words up, but not all of them.
	if len(b.filesWith("wexfordshire"))+len(b.filesWith("lovelace"))+len(b.filesWith("reykjavik")) == 0 {
		t.Error("the words of the document that is left cannot be found like this")
	}
	b.ok("check", "--deep")
	if again := decode[compactJSON](t, b.ok("compact", "--json")); again.Terms != 0 || again.Vectors != 0 {
		t.Errorf("again: %+v", again)
	}
	b.exits(exitUsage, "compact", "now")
}

func TestCompactPurgeErasesAnswers(t *testing.T) {
	b, srv, flags := scripted(t)
	b.ok(with(flags, "index", "--pre-chunked", b.file("chunks.jsonl", chunked))...)
	asked := len(srv.Chats())
	b.ok(with(flags, "docs", "delete", "engine")...)
	if got := decode[compactJSON](t, b.ok("compact", "--json")); got.Answers != 0 {
		t.Errorf("without --purge: %+v", got)
	}
	got := decode[compactJSON](t, b.ok("compact", "--purge", "--json"))
	if !got.Purged || got.Answers == 0 {
		t.Errorf("%+v", got)
	}
	b.ok("check", "--deep")
	b.ok(with(flags, "index", "--pre-chunked", b.file("chunks.jsonl", chunked))...)
	if len(srv.Chats()) == asked {
		t.Error("nothing was asked again")
	}
}
