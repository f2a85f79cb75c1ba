package durable

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
)

// fault fails the operations that match, while it is armed.
type fault struct {
	armed atomic.Bool
	hits  atomic.Int64
	match func(errorfs.Op) bool
	err   error
}

func (f *fault) wrap(fs vfs.FS) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if f.armed.Load() && f.match(op) {
			f.hits.Add(1)
			return f.err
		}
		return nil
	}))
}

func on(suffix string, kinds ...errorfs.OpKind) func(errorfs.Op) bool {
	return func(op errorfs.Op) bool {
		if !strings.Contains(op.Path, suffix) {
			return false
		}
		for _, k := range kinds {
			if op.Kind == k {
				return true
			}
		}
		return false
	}
}

var errIO = errors.New("input/output error")

// TestFailedLog covers every file whose errors Pebble answers with an exit or a
// panic. The store must fail with a plain error, keep serving reads, close
// quickly, and reopen with everything that was acknowledged.
func TestFailedLog(t *testing.T) {
	flush := func(d *DB) error { return d.Flush() }
	write := func(d *DB) error { return put(d, 1000, "in doubt") }
	big := func(d *DB) error { // goes past the memtable: the log is rotated
		for i := range 40 {
			if err := put(d, 1000, strings.Repeat("x", 64<<10)+fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return errors.New("nothing failed")
	}
	tests := []struct {
		name  string
		match func(errorfs.Op) bool
		do    func(*DB) error
	}{
		{"log write", on(".log", errorfs.OpFileWrite), write},
		{"log sync", on(".log", errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo), write},
		{"log create, write", on(".log", errorfs.OpCreate, errorfs.OpReuseForWrite), big},
		{"log create, flush", on(".log", errorfs.OpCreate, errorfs.OpReuseForWrite), flush},
		{"log write, flush", on(".log", errorfs.OpFileWrite), flush},
		{"directory sync", func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, "/kv") && op.Kind == errorfs.OpFileSync
		}, flush},
		{"manifest write", on("MANIFEST", errorfs.OpFileWrite), flush},
		{"manifest sync", on("MANIFEST", errorfs.OpFileSync, errorfs.OpFileSyncData), flush},
		{"table create", on(".sst", errorfs.OpCreate), flush},
		{"table write", on(".sst", errorfs.OpFileWrite), flush},
		{"everything", func(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }, write},
	}
	for _, cause := range []error{errIO, syscall.ENOSPC} {
		for _, test := range tests {
			t.Run(fmt.Sprintf("%s/%v", test.name, cause), func(t *testing.T) {
				t.Parallel() // mostly pauses
				f := &fault{match: test.match, err: cause}
				mem := vfs.NewCrashableMem()
				d := mustOpen(t, f.wrap(mem), "store", Options{MemTableBytes: 1 << 20})
				for i := range 50 {
					mustPut(t, d, i, "kept")
				}
				f.armed.Store(true)
				err := test.do(d)
				if f.hits.Load() == 0 {
					t.Fatal("the fault was never met")
				}
				for _, want := range []error{ErrFailed, cause} {
					if !errors.Is(err, want) {
						t.Errorf("error %v does not match %v", err, want)
					}
				}
				if errors.Is(cause, syscall.ENOSPC) != errors.Is(err, ErrDiskFull) {
					t.Errorf("disk full: %v", err)
				}
				f.armed.Store(false) // the store stays failed all the same
				if err := put(d, 2000, "refused"); !errors.Is(err, ErrFailed) {
					t.Errorf("write after the failure: %v", err)
				}
				if err := d.Health(); !errors.Is(err, ErrFailed) {
					t.Errorf("health: %v", err)
				}
				s := d.Snapshot()
				for i := range 50 {
					if got := read(t, s, i); got != "kept" {
						t.Fatalf("failed store: key %d is %q", i, got)
					}
				}
				s.Close()
				start := time.Now()
				if err := d.Close(format.Counters{}); !errors.Is(err, ErrFailed) {
					t.Errorf("close: %v", err)
				}
				if took := time.Since(start); took > patience {
					t.Errorf("close took %v", took)
				}
				if n := d.health.fatals.Load(); n != 0 {
					t.Errorf("%d calls of Fatalf: the shield let an error through", n)
				}
				for _, fs := range []vfs.FS{mem, mem.CrashClone(vfs.CrashCloneCfg{})} {
					d := mustOpen(t, fs, "store", Options{MustExist: true})
					if d.Clean() {
						t.Error("a failed store was sealed")
					}
					for i := range 50 {
						if got := read(t, d, i); got != "kept" {
							t.Fatalf("reopened store: key %d is %q", i, got)
						}
					}
					if got := read(t, d, 2000); got != "" {
						t.Errorf("reopened store: refused write is there: %q", got)
					}
					mustPut(t, d, 3000, "healed")
					mustClose(t, d)
				}
			})
		}
	}
}

// TestFailedOpen fails the n-th operation of creating and of reopening a store,
// for every n, and opens it again without the fault.
func TestFailedOpen(t *testing.T) {
	for n := int64(0); ; n++ {
		var count atomic.Int64
		f := &fault{err: errIO, match: func(op errorfs.Op) bool { return count.Add(1)-1 == n }}
		mem := vfs.NewCrashableMem()
		fs := f.wrap(mem)
		f.armed.Store(true)
		var err error
		for range 2 {
			var d *DB
			if d, err = Open("store", Options{FS: fs}); err != nil {
				break
			}
			if err = d.Close(format.Counters{}); err != nil {
				break
			}
		}
		if f.hits.Load() == 0 {
			if n < 50 {
				t.Fatalf("only %d operations", n)
			}
			break
		}
		if err != nil && !errors.Is(err, errIO) {
			t.Errorf("operation %d: error hides its cause: %v", n, err)
		}
		d, err := Open("store", Options{FS: mem})
		if err != nil {
			t.Fatalf("operation %d: reopening: %v", n, err)
		}
		mustPut(t, d, 1, "works")
		mustClose(t, d)
	}
}
