package graphstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPurgedTermsLeaveTheDisk looks for the words of a deleted document in the
// tables.
func TestPurgedTermsLeaveTheDisk(t *testing.T) {
	mem := vfs.NewMem()
	s, _ := opened(t, mem, nil)
	insert(t, s, oneChunk("kept", "Keptname"))
	doc := insert(t, s, oneChunk("gone", "Secretname"))
	ctx := context.Background()
	if n, err := s.PurgePostings(ctx); err != nil || n != 0 {
		t.Fatalf("nothing to purge: %d, %v", n, err)
	}
	if _, err := s.Delete(ctx, []DocID{doc}, DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	n, err := s.PurgePostings(ctx)
	if err != nil || n == 0 {
		t.Fatalf("%d, %v", n, err)
	}
	checked(t, s)
	if n, err := s.PurgePostings(ctx); err != nil || n != 0 {
		t.Fatalf("again: %d, %v", n, err)
	}
	withView(t, s, func(v *View) {
		if got := found(t, v, "keptname", "secretname"); !slices.Equal(got, []string{"Keptname 2", ""}) {
			t.Errorf("%q", got)
		}
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	inTables := func(word string) bool {
		names, err := mem.List("store/kv")
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(names, func(name string) bool {
			return strings.HasSuffix(name, ".sst") && bytes.Contains(fileBytes(t, mem, mem.PathJoin("store/kv", name)), []byte(word))
		})
	}
	if !inTables("keptname") || inTables("secretname") {
		t.Errorf("in the tables: keptname %v, secretname %v", inTables("keptname"), inTables("secretname"))
	}
	s, _ = opened(t, mem, func(o *Options) { o.ReadOnly = true })
	if _, err := s.PurgePostings(ctx); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

func fileBytes(t testing.TB, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}
