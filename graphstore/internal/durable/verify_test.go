package durable

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// badTables names the tables that VerifyTables reports.
func badTables(t testing.TB, d *DB) (names []string) {
	t.Helper()
	if err := d.VerifyTables(context.Background(), func(path string, err error) error {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", path, err)
		}
		names = append(names, path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// tabledStore is a closed store with tables in two levels, one of them with an
// index of two, values that stand elsewhere, and the deletion of a range.
func tabledStore(t testing.TB) *vfs.MemFS {
	mem := vfs.NewCrashableMem()
	d := mustOpen(t, mem, "store", Options{})
	value := func(i, n int) (s string) {
		for ; len(s) < n; i += 1000 {
			hash := sha256.Sum256(fmt.Append(nil, i))
			s += string(hash[:])
		}
		return s
	}
	for i := range 100 {
		mustPut(t, d, i, value(i, 1000))
	}
	compact(t, d)
	for i := range 50 {
		mustPut(t, d, 2*i, value(i, 40))
	}
	b := d.NewBatch()
	if err := errors.Join(b.DeleteRange(key(10), key(20), nil), d.Commit(b)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	return mem
}

// TestVerifyFindsEveryFlip: no bit of any byte of a table can change unnoticed.
func TestVerifyFindsEveryFlip(t *testing.T) {
	mem := tabledStore(t)
	tables := 0
	for path, content := range files(t, mem, "store/kv") {
		if !strings.HasSuffix(path, ".sst") {
			continue
		}
		tables++
		if err := verifyTable(t.Context(), mem, path); err != nil {
			t.Fatal(err)
		}
		ends := 1000 // where the small blocks stand: every byte of them
		for i := 0; i < len(content); i++ {
			if i > ends && i < len(content)-ends && i%211 != 0 {
				continue
			}
			damage := []byte(content)
			damage[i] ^= 1 << (i % 8)
			overwrite(t, mem, path, string(damage))
			if err := verifyTable(t.Context(), mem, path); !errors.Is(classify(err), ErrCorrupt) {
				t.Errorf("%s, byte %d of %d: %v", path, i, len(content), err)
			}
		}
		for _, n := range []int{0, 10, len(content) / 2, len(content) - 1} {
			overwrite(t, mem, path, content[:n])
			if err := verifyTable(t.Context(), mem, path); !errors.Is(classify(err), ErrCorrupt) {
				t.Errorf("%s, %d of %d bytes: %v", path, n, len(content), err)
			}
		}
		overwrite(t, mem, path, content)
	}
	if tables < 2 {
		t.Errorf("%d tables", tables)
	}
}

func TestVerifyTablesOfAnOpenStore(t *testing.T) {
	mem := vfs.NewMem()
	d := mustOpen(t, mem, "store", Options{})
	for i := range 100 {
		mustPut(t, d, i, "value")
	}
	compact(t, d)
	if bad := badTables(t, d); len(bad) > 0 {
		t.Error(bad)
	}
	names, err := d.tables()
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	if err := mem.Remove("store/kv/" + names[0]); err != nil {
		t.Fatal(err)
	}
	if bad := badTables(t, d); len(bad) != 1 {
		t.Errorf("a table that is missing: %q", bad)
	}
	mustClose(t, d)
	if err := d.VerifyTables(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// The filter of a table that only deletes is an empty block.
func TestVerifyPassesATableWithoutRows(t *testing.T) {
	mem := vfs.NewMem()
	d := mustOpen(t, mem, "store", Options{})
	for i := range 100 {
		mustPut(t, d, i, "value")
	}
	compact(t, d)
	old := d.Snapshot() // for which what is deleted has to stay
	b := d.NewBatch()
	if err := errors.Join(b.DeleteRange(key(10), key(20), nil), d.Commit(b), d.Flush()); err != nil {
		t.Fatal(err)
	}
	if names, err := d.tables(); err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	if bad := badTables(t, d); len(bad) > 0 {
		t.Error(bad)
	}
	old.Close()
	mustClose(t, d)
}
