package durable

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// A power cut at any moment leaves no copy or a whole one, and nothing that the
// next copy trips over.
func TestACopyAppearsWholeOrNotAtAll(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var mu sync.Mutex // files are written beside the copy too
	var after []*vfs.MemFS
	cut := false
	setCut := func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		cut = on
	}
	rng := rand.New(rand.NewPCG(1, 2))
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if cut && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileWrite {
			after = append(after, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}))
		}
		return nil
	}))
	d := mustOpen(t, fs, "store", Options{})
	if err := putVectors(d, 0, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := sealBuffered(d, 8); err != nil {
		t.Fatal(err)
	}
	setCut(true)
	if err := d.Checkpoint("copy"); err != nil {
		t.Fatal(err)
	}
	setCut(false)
	mustClose(t, d)
	copies := 0
	for i, fs := range append(after, mem.CrashClone(vfs.CrashCloneCfg{})) {
		var want error
		if _, err := fs.Stat("copy"); err == nil {
			copies++
			want = ErrExists
		}
		d := mustOpen(t, fs, "store", Options{MustExist: true})
		if err := d.Checkpoint("copy"); !errors.Is(err, want) {
			t.Fatalf("after cut %d: %v", i, err)
		}
		mustClose(t, d)
		if _, err := fs.Stat("copy" + stageSuffix); !isNotExist(err) {
			t.Errorf("cut %d: an unfinished copy is left: %v", i, err)
		}
		c := mustOpen(t, fs, "copy", Options{MustExist: true})
		if seen, err := loadVersions(c); err != nil || len(seen) != 10 || !c.Clean() {
			t.Errorf("cut %d: %d vectors, sealed %v, %v", i, len(seen), c.Clean(), err)
		}
		mustClose(t, c)
	}
	if copies == 0 || copies > len(after)/2 {
		t.Errorf("%d of %d cuts came after the copy", copies, len(after))
	}
}

// A disk that is full at some moment, or from then on, fails the copy, not the
// store, and leaves nothing that the next copy trips over.
func TestACopyOnAFullDisk(t *testing.T) {
	for _, once := range []bool{false, true} {
		n := int64(0)
		for copyOnAFullDisk(t, n, once) {
			n++
		}
		if n < 10 {
			t.Errorf("%d operations", n)
		}
	}
}

// copyOnAFullDisk reports whether a copy takes more than n operations.
func copyOnAFullDisk(t *testing.T, n int64, once bool) bool {
	mem := vfs.NewMem()
	var count atomic.Int64
	var linked atomic.Bool // or not: it is copied then
	f := &fault{err: syscall.ENOSPC, match: func(op errorfs.Op) bool {
		switch op.Kind {
		case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpMkdirAll, errorfs.OpLink, errorfs.OpRename, errorfs.OpLock:
			i := int64(-1)
			if strings.Contains(op.Path, "copy") {
				i = count.Add(1) - 1
			}
			if i == n && op.Kind == errorfs.OpLink {
				linked.Store(true)
			}
			return i == n || i > n && !once
		}
		return false
	}}
	d := mustOpen(t, f.wrap(mem), "store", Options{})
	defer mustClose(t, d)
	if err := putVectors(d, 0, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := sealBuffered(d, 8); err != nil {
		t.Fatal(err)
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	f.armed.Store(true)
	err := d.Checkpoint("copy")
	f.armed.Store(false)
	failed := f.hits.Load() > 0 && !(once && linked.Load())
	if failed != errors.Is(err, ErrDiskFull) || !failed && err != nil || errors.Is(err, ErrFailed) {
		t.Errorf("operation %d, once %v: %v", n, once, err)
	}
	want := 2 // the store and the copy
	if failed {
		want = 1
	}
	if names, err := mem.List(""); err != nil || len(names) != want {
		t.Errorf("operation %d, once %v: there is %q, %v", n, once, names, err)
	}
	mustPut(t, d, 10, "row")
	if err := d.Checkpoint("copy"); failed && err != nil {
		t.Errorf("operation %d, once %v: once more: %v", n, once, err)
	}
	return f.hits.Load() > 0
}
