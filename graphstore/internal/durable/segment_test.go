package durable

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"go.uber.org/goleak"

	"github.com/lightctl/lightrag/format"
)

// TestMain also looks for goroutines left behind, by failed opens above all.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSealThatFails leaves the store usable and the vectors buffered.
func TestSealThatFails(t *testing.T) {
	tests := map[string]func(errorfs.Op) bool{
		"create": on("/seg/", errorfs.OpCreate),
		"write":  on("/seg/", errorfs.OpFileWrite),
		"sync":   on("/seg/", errorfs.OpFileSync),
		"rename": on("/seg/", errorfs.OpRename),
		"read":   on("/seg/", errorfs.OpFileReadAt),
		"dir":    func(op errorfs.Op) bool { return strings.HasSuffix(op.Path, "/seg") && op.Kind == errorfs.OpFileSync },
	}
	for name, match := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fault{match: match, err: syscall.ENOSPC}
			mem := vfs.NewCrashableMem()
			d := mustOpen(t, f.wrap(mem), "store", Options{})
			if err := putVectors(d, 0, 10); err != nil {
				t.Fatal(err)
			}
			f.armed.Store(true)
			if _, err := sealBuffered(d, 10); !errors.Is(err, ErrDiskFull) {
				t.Errorf("seal: %v", err)
			}
			f.armed.Store(false)
			if err := d.Health(); err != nil {
				t.Error(err)
			}
			if got := len(d.Segments()); got != 0 {
				t.Errorf("%d segments", got)
			}
			info, err := sealBuffered(d, 8)
			if err != nil || info.Rows != 8 {
				t.Fatalf("second seal: %d rows, %v", info.Rows, err)
			}
			if seen, err := loadVersions(d); err != nil || len(seen) != 10 {
				t.Errorf("%d vectors, %v", len(seen), err)
			}
			mustClose(t, d)
			d = mustOpen(t, mem, "store", Options{})
			if got := d.Segments(); len(got) != 1 || got[0] != info {
				t.Errorf("segments after reopening: %v", got)
			}
			mustClose(t, d)
		})
	}
}

// TestUnnamedSegments go to the trash first and away at the next clean open.
func TestUnnamedSegments(t *testing.T) {
	mem := sealedStore(t, 10)
	overwrite(t, mem, "store/seg/00.gvs", "unnamed")
	overwrite(t, mem, "store/seg/01.tmp", "torn")
	overwrite(t, mem, "store/seg/notes.txt", "unknown")
	mustClose(t, mustOpen(t, mem, "store", Options{}))
	got := files(t, mem, "store/seg")
	if len(got) != 3 || got["store/seg/trash/00.gvs"] != "unnamed" || got["store/seg/notes.txt"] != "unknown" {
		t.Errorf("after the first open: %d files", len(got))
	}
	mustClose(t, mustOpen(t, mem, "store", Options{}))
	if got := files(t, mem, "store/seg"); len(got) != 2 {
		t.Errorf("after the second open: %d files", len(got))
	}
	if err := readAll(mem, 10, false); err != nil {
		t.Error(err)
	}
}

func TestCheckpoint(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewCrashableMem(), "disk": vfs.Default} {
		t.Run(name, func(t *testing.T) {
			dir := "base"
			if fs == vfs.Default {
				dir = t.TempDir()
			}
			d := mustOpen(t, fs, fs.PathJoin(dir, "store"), Options{})
			if err := putVectors(d, 0, 10); err != nil {
				t.Fatal(err)
			}
			if _, err := sealBuffered(d, 8); err != nil {
				t.Fatal(err)
			}
			dst := fs.PathJoin(dir, "copy")
			if err := d.Checkpoint(dst); err != nil {
				t.Fatal(err)
			}
			if err := d.Checkpoint(dst); !errors.Is(err, ErrExists) {
				t.Errorf("second copy: %v", err)
			}
			mustPut(t, d, 10, "row")
			mustClose(t, d)
			c := mustOpen(t, fs, dst, Options{MustExist: true})
			defer mustClose(t, c)
			if !c.Clean() {
				t.Error("copy has no seal")
			}
			if seen, err := loadVersions(c); err != nil || len(seen) != 10 {
				t.Errorf("%d vectors, %v", len(seen), err)
			}
			if got := read(t, c, 9) + read(t, c, 10); got != "row" {
				t.Errorf("rows 9 and 10 are %q", got)
			}
		})
	}
}

// TestLoadStops at the first error and leaves no goroutine behind.
func TestLoadStops(t *testing.T) {
	mem := vfs.NewMem()
	d := mustOpen(t, mem, "store", Options{})
	defer mustClose(t, d)
	list := make([]format.BufferedVector, 40000) // several blocks
	for i := range list {
		list[i] = format.BufferedVector{Kind: format.KindEntity, Owner: uint32(i), Version: uint32(i), Vector: testVector(uint32(i))}
	}
	if _, err := d.Seal(SealOptions{Dim: testDim}, iterate(list)); err != nil {
		t.Fatal(err)
	}
	if seen, err := loadVersions(d); err != nil || len(seen) != len(list) {
		t.Errorf("%d vectors, %v", len(seen), err)
	}
	n := 0
	err := d.LoadVectors(func(format.Kind, uint32, uint32, []float32) error {
		if n++; n == 100 {
			return errIO
		}
		return nil
	})
	if !errors.Is(err, errIO) || n != 100 {
		t.Errorf("%v after %d", err, n)
	}
}

// TestCloseWaitsForSnapshots, and can be called again.
func TestCloseWaitsForSnapshots(t *testing.T) {
	d := mustOpen(t, vfs.NewMem(), "store", Options{})
	s := d.Snapshot()
	go func() { time.Sleep(30 * time.Millisecond); s.Close() }()
	mustClose(t, d)
	if _, _, err := s.Get(key(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	late := d.Snapshot()
	defer late.Close()
	if _, err := late.NewIter(nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("snapshot of a closed store: %v", err)
	}
}
