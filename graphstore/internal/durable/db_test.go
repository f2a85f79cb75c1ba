package durable

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

func mustOpen(t testing.TB, fs vfs.FS, dir string, o Options) *DB {
	t.Helper()
	o.FS = fs
	d, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustClose(t testing.TB, d *DB) {
	t.Helper()
	if err := d.Close(format.Counters{}); err != nil {
		t.Fatal(err)
	}
}

func key(i int) []byte { return format.AppendMetaKey(nil, fmt.Sprintf("k%06d", i)) }

func put(d *DB, i int, value string) error {
	b := d.NewBatch()
	if err := b.Set(key(i), []byte(value), nil); err != nil {
		return err
	}
	return d.Commit(b)
}

func mustPut(t testing.TB, d *DB, i int, value string) {
	t.Helper()
	if err := put(d, i, value); err != nil {
		t.Fatal(err)
	}
}

// read returns the value of key i, or "" if there is none.
func read(t testing.TB, r Reader, i int) string {
	t.Helper()
	v, c, err := r.Get(key(i))
	if errors.Is(err, ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return string(v)
}

func TestStoreKeepsWhatIsCommitted(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": nil} {
		t.Run(name, func(t *testing.T) {
			dir := "store"
			if fs == nil {
				dir = t.TempDir() + "/a/b/store"
			}
			d := mustOpen(t, fs, dir, Options{})
			if !d.Fresh() || !d.Clean() {
				t.Errorf("new store: fresh %v, clean %v", d.Fresh(), d.Clean())
			}
			s0 := d.Snapshot()
			for i := range 100 {
				mustPut(t, d, i, fmt.Sprint(i))
			}
			if got := read(t, s0, 1); got != "" {
				t.Errorf("old snapshot sees %q", got)
			}
			s0.Close()
			s0.Close()
			mustClose(t, d)
			mustClose(t, d)
			if err := put(d, 1, ""); !errors.Is(err, ErrClosed) {
				t.Errorf("commit after close: %v", err)
			}
			d = mustOpen(t, fs, dir, Options{MustExist: true})
			if d.Fresh() {
				t.Error("reopened store is fresh")
			}
			for i := range 100 {
				if got := read(t, d, i); got != fmt.Sprint(i) {
					t.Fatalf("key %d is %q", i, got)
				}
			}
			mustClose(t, d)
		})
	}
}

// TestMemtablesLeaveTheBlockCacheItsRoom: Pebble takes the memtable, and the
// one that it keeps for later, out of the budget of the block cache.
func TestMemtablesLeaveTheBlockCacheItsRoom(t *testing.T) {
	d := mustOpen(t, vfs.NewMem(), "store", Options{CacheBytes: 1 << 20, MemTableBytes: 1 << 20})
	defer mustClose(t, d)
	for i := range 400 { // four memtables
		mustPut(t, d, i, strings.Repeat(fmt.Sprint(i%10), 10_000))
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range 5 {
			read(t, d, 80*i)
		}
	}
	if m := d.Metrics(); m.BlockCache.Size < 100_000 || m.BlockCache.Hits == 0 {
		t.Errorf("%d bytes in the cache, %d hits; memtables: %d and %d", m.BlockCache.Size, m.BlockCache.Hits, m.MemTable.Size, m.MemTable.ZombieSize)
	}
}
