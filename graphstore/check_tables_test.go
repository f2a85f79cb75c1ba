package graphstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestDeepCheckFindsFlipsInTables: a bit anywhere in a table is found, if the
// store opens at all.
func TestDeepCheckFindsFlipsInTables(t *testing.T) {
	mem := vfs.NewMem()
	s, _ := opened(t, mem, nil)
	for i := range 20 {
		insert(t, s, oneChunk(fmt.Sprint("doc ", i), fmt.Sprint("Name", i)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := mem.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range names {
		path := mem.PathJoin("store/kv", name)
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		whole := fileBytes(t, mem, path)
		write := func(b []byte) {
			t.Helper()
			f, err := mem.Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Write(b)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; i < len(whole); i += max(1, len(whole)/40) {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1 << (i % 8)
			write(damaged)
			o, _ := testOptions(mem)
			o.ReadOnly = true
			s, err := Open("store", o)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("%s, byte %d: %v", name, i, err)
				}
				continue
			}
			list, err := s.Check(context.Background(), true)
			if err != nil || len(list) == 0 || list[0].Row != "table "+name {
				t.Errorf("%s, byte %d: found %v, %v", name, i, list, err)
			}
			found++
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		write(whole)
	}
	if found == 0 {
		t.Error("the store never opened")
	}
	s, _ = opened(t, mem, nil)
	checked(t, s)
}
