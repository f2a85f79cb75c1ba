package durable

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestCompactErasesWhatASnapshotKept: a row that a compaction had to keep ends
// in the lowest level beside its deletion, where Pebble leaves both.
func TestCompactErasesWhatASnapshotKept(t *testing.T) {
	mem := vfs.NewMem()
	d := mustOpen(t, mem, "store", Options{})
	value := func(i int) string { // stands as it is in a table: nothing of it repeats
		hash := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		return string(hash[:])
	}
	for i := range 1000 {
		mustPut(t, d, i, value(i))
	}
	compact(t, d)
	old := d.Snapshot()
	b := d.NewBatch()
	if err := errors.Join(b.Delete(key(500), nil), d.Commit(b)); err != nil {
		t.Fatal(err)
	}
	compact(t, d)
	if got := read(t, old, 500); got != value(500) {
		t.Errorf("the snapshot sees %q", got)
	}
	old.Close()
	compact(t, d)
	mustClose(t, d)
	mustClose(t, mustOpen(t, mem, "store", Options{}))
	kept := ""
	for path, content := range files(t, mem, "store/kv") {
		kept += path + content
	}
	if !strings.Contains(kept, value(499)) || strings.Contains(kept, value(500)) {
		t.Errorf("row 499 is there: %v, row 500: %v", strings.Contains(kept, value(499)), strings.Contains(kept, value(500)))
	}
}

func TestCompactIsForWritableStores(t *testing.T) {
	mem := sealedStore(t, 10)
	d := mustOpen(t, mem, "store", Options{ReadOnly: true})
	defer mustClose(t, d)
	if err := d.Compact(context.Background()); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}
