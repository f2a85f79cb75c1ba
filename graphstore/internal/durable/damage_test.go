package durable

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// files returns the content of every file below dir.
func files(t testing.TB, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			for k, v := range files(t, fs, path) {
				out[k] = v
			}
			continue
		}
		out[path] = slurp(t, fs, path)
	}
	return out
}

func slurp(t testing.TB, fs vfs.FS, path string) string {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func overwrite(t testing.TB, fs vfs.FS, path, content string) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// sealedStore makes a closed store with rows, a segment and buffered vectors.
func sealedStore(t testing.TB, rows int) *vfs.MemFS {
	mem := vfs.NewCrashableMem()
	d := mustOpen(t, mem, "store", Options{})
	if err := putVectors(d, 0, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := sealBuffered(d, rows-2); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	return mem
}

// readAll reads every row and vector of the store.
func readAll(fs vfs.FS, rows int, readOnly bool) error {
	d, err := Open("store", Options{FS: fs, ReadOnly: readOnly})
	if err != nil {
		return err
	}
	defer d.Close(format.Counters{})
	for i := range rows {
		v, c, err := d.Get(key(i))
		if err != nil {
			return err
		}
		if string(v) != "row" {
			return fmt.Errorf("silent damage: row %d is %q", i, v)
		}
		c.Close()
	}
	seen, err := loadVersions(d)
	if err == nil && len(seen) != rows {
		err = fmt.Errorf("silent damage: %d vectors", len(seen))
	}
	return err
}

// TestEveryFlipIsDetected flips one bit of every few bytes of every file of a
// sealed store, and cuts and removes every file. Damage that Open can see must
// leave all files as they were.
func TestEveryFlipIsDetected(t *testing.T) {
	const rows = 30
	mem := sealedStore(t, rows)
	for path, content := range files(t, mem, "store") {
		if strings.HasSuffix(path, "LOCK") {
			continue
		}
		t.Run(path, func(t *testing.T) {
			check := func(what string, damage func(fs *vfs.MemFS)) {
				fs := mem.CrashClone(vfs.CrashCloneCfg{})
				damage(fs)
				before := files(t, fs, "store")
				err := readAll(fs, rows, true)
				// A table may hold bytes that no read needs; readAll has
				// then seen the right data.
				harmless := err == nil && strings.HasSuffix(path, ".sst")
				if !errors.Is(err, ErrCorrupt) && !harmless {
					t.Errorf("%s: %v", what, err)
				}
				if d, err := Open("store", Options{FS: fs}); err == nil {
					d.Close(format.Counters{}) // damage in a table shows when it is read
					return
				}
				for name, was := range before {
					if is := files(t, fs, "store")[name]; is != was {
						t.Errorf("%s: a refused store was changed: %s", what, name)
					}
				}
			}
			step := max(1, len(content)/24)
			for i := 0; i < len(content); i += step {
				check(fmt.Sprintf("bit of byte %d", i), func(fs *vfs.MemFS) {
					b := []byte(content)
					b[i] ^= 1 << (i % 8)
					overwrite(t, fs, path, string(b))
				})
			}
			if len(content) > 0 {
				check("cut", func(fs *vfs.MemFS) { overwrite(t, fs, path, content[:len(content)-1]) })
			}
			if !strings.HasSuffix(path, sealName) {
				check("removed", func(fs *vfs.MemFS) {
					if err := fs.Remove(path); err != nil {
						t.Fatal(err)
					}
				})
			}
		})
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	for _, clean := range []bool{true, false} {
		mem := sealedStore(t, 10)
		if !clean {
			d := mustOpen(t, mem, "store", Options{})
			mustPut(t, d, 10, "row")
			mem = mem.CrashClone(vfs.CrashCloneCfg{}) // as a power cut leaves it
			mustClose(t, d)
		}
		before := files(t, mem, "store")
		verified := false
		d := mustOpen(t, mem, "store", Options{ReadOnly: true, Verify: func(Reader) error { verified = true; return nil }})
		if d.Clean() != clean || verified == clean {
			t.Errorf("clean %v, Clean() %v, verified %v", clean, d.Clean(), verified)
		}
		if _, err := loadVersions(d); err != nil {
			t.Error(err)
		}
		if err := put(d, 1, ""); !errors.Is(err, ErrReadOnly) {
			t.Errorf("write: %v", err)
		}
		if err := d.Flush(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("flush: %v", err)
		}
		mustClose(t, d)
		if after := files(t, mem, "store"); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Error("files changed")
		}
	}
}

func TestVerifyRefusesBeforeAnythingChanges(t *testing.T) {
	mem := sealedStore(t, 10)
	d := mustOpen(t, mem, "store", Options{})
	crashed := mem.CrashClone(vfs.CrashCloneCfg{})
	mustClose(t, d)
	before := files(t, crashed, "store")
	_, err := Open("store", Options{FS: crashed, Verify: func(r Reader) error {
		if _, err := loadVersions(r.(*DB)); err != nil {
			return err
		}
		return errIO
	}})
	if !errors.Is(err, errIO) {
		t.Fatalf("open: %v", err)
	}
	if after := files(t, crashed, "store"); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("files changed")
	}
}

func TestRefusedDirectories(t *testing.T) {
	newer := sealedStore(t, 5)
	d := mustOpen(t, newer, "store", Options{})
	b := d.NewBatch()
	row := append(append([]byte(format.Magic), 0, 0, 0, 99), 0, 0, 0, 99)
	if err := errors.Join(b.Set(formatKey(), row, nil), d.Commit(b)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)

	locked := sealedStore(t, 5)
	defer mustOpen(t, locked, "store", Options{}).Close(format.Counters{})

	foreign, file, orphan := vfs.NewMem(), vfs.NewMem(), sealedStore(t, 5)
	if err := foreign.MkdirAll("store", 0o755); err != nil {
		t.Fatal(err)
	}
	overwrite(t, foreign, "store/letter.txt", "hello")
	overwrite(t, file, "store", "hello")
	if err := errors.Join(orphan.RemoveAll("store/kv"), orphan.Remove("store/SEAL")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		fs   vfs.FS
		o    Options
		want error
	}{
		{"newer store", newer, Options{}, ErrTooNew},
		{"locked", locked, Options{}, ErrLocked},
		{"locked, read-only", locked, Options{ReadOnly: true}, ErrLocked},
		{"foreign", foreign, Options{}, ErrInvalid},
		{"file", file, Options{}, ErrInvalid},
		{"segments without database", orphan, Options{}, ErrCorrupt},
		{"absent", vfs.NewMem(), Options{MustExist: true}, ErrNotFound},
		{"absent, read-only", vfs.NewMem(), Options{ReadOnly: true}, ErrNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := fmt.Sprint(test.fs.(*vfs.MemFS).String())
			test.o.FS = test.fs
			if _, err := Open("store", test.o); !errors.Is(err, test.want) {
				t.Errorf("error %v", err)
			}
			if after := fmt.Sprint(test.fs.(*vfs.MemFS).String()); after != before {
				t.Errorf("changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
	t.Run("locked on disk", func(t *testing.T) {
		dir := t.TempDir()
		d := mustOpen(t, nil, dir, Options{})
		defer mustClose(t, d)
		if _, err := Open(dir+"/../"+dir[strings.LastIndexByte(dir, '/')+1:], Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("second open: %v", err)
		}
	})
}
