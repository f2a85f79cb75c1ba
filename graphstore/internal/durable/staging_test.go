package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Every operation on an unfinished copy is a moment at which another store is
// copied to the same place.
func TestTwoCopiesToOnePlaceDoNotMix(t *testing.T) {
	mem := vfs.NewMem()
	other := mustOpen(t, mem, "other", Options{})
	defer mustClose(t, other)
	mustPut(t, other, 0, "other")
	var busy sync.Mutex // with an attempt: what it does itself is not a moment
	attempts := 0
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !strings.HasPrefix(op.Path, "copy"+stageSuffix+"/store") || !busy.TryLock() {
			return nil
		}
		defer busy.Unlock()
		attempts++
		want, text := ErrLocked, "making it in copy"+stageSuffix
		if _, err := mem.Stat("copy"); err == nil {
			want, text = ErrExists, "stage copy: the directory is not empty"
		}
		if err := other.Checkpoint("copy"); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("before %v of %s: %v", op.Kind, op.Path, err)
		}
		return nil
	}))
	d := mustOpen(t, fs, "store", Options{})
	mustPut(t, d, 0, "mine")
	if err := d.Checkpoint("copy"); err != nil {
		t.Fatal(err)
	}
	if attempts < 20 {
		t.Errorf("%d attempts", attempts)
	}
	mustClose(t, d)
	if err := other.Checkpoint("copy"); !errors.Is(err, ErrExists) {
		t.Errorf("afterwards: %v", err)
	}
	c := mustOpen(t, mem, "copy", Options{MustExist: true})
	if got := read(t, c, 0); got != "mine" || !c.Clean() {
		t.Errorf("the copy holds %q, sealed %v", got, c.Clean())
	}
	mustClose(t, c)
	if names, err := mem.List(""); err != nil || len(names) != 3 {
		t.Errorf("%q, %v", names, err)
	}
}

// lateLock calls what others do just before and after a lock is taken.
type lateLock struct {
	vfs.FS
	before, after func()
}

func (l lateLock) Lock(name string) (io.Closer, error) {
	l.before()
	lock, err := l.FS.Lock(name)
	l.after()
	return lock, err
}

// published makes a store that holds one file, as others would.
func published(t *testing.T, fs vfs.FS, dir string) {
	t.Helper()
	s, err := Stage(fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := fs.MkdirAll(s.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(fs, s.Dir(), "file", []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Publish(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestStageWhileAnotherEnds(t *testing.T) {
	nothing := func() {}
	for _, c := range []struct {
		name          string
		before, after func(fs vfs.FS)
		want          error
		left          []string
	}{{
		name:   "it has published",
		before: func(fs vfs.FS) { published(t, fs, "new"); _ = fs.MkdirAll("new"+stageSuffix, 0o755) },
		want:   ErrExists, left: []string{"new"},
	}, {
		name:   "it has removed the place",
		before: func(fs vfs.FS) { _ = fs.RemoveAll("new" + stageSuffix) },
		want:   ErrLocked,
	}, {
		name:  "it has removed the lock",
		after: func(fs vfs.FS) { _ = fs.Remove("new" + stageSuffix + "/lock") },
		want:  ErrLocked, left: []string{"new" + stageSuffix},
	}} {
		mem := vfs.NewMem()
		// Work of somebody else, who has the place by the time the lock is taken.
		if err := mem.MkdirAll("new"+stageSuffix+"/store/work", 0o755); err != nil {
			t.Fatal(err)
		}
		fs := lateLock{FS: mem, before: nothing, after: nothing}
		if c.before != nil {
			fs.before = func() { c.before(mem) }
		}
		if c.after != nil {
			fs.after = func() { c.after(mem) }
		}
		if _, err := Stage(fs, "new"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if names, err := mem.List(""); err != nil || !slices.Equal(names, c.left) {
			t.Errorf("%s: %q is left, %v", c.name, names, err)
		}
		if _, err := mem.Stat("new" + stageSuffix + "/store/work"); c.after != nil && err != nil {
			t.Errorf("%s: the work of another is gone: %v", c.name, err)
		}
	}
}

func TestStageRefusesWhatIsThere(t *testing.T) {
	mem := vfs.NewMem()
	published(t, mem, "whole")
	if err := writeFile(mem, "", "file", []byte("text")); err != nil {
		t.Fatal(err)
	}
	// A crash just after the name was given leaves the place.
	if err := mem.MkdirAll("whole"+stageSuffix+"/store", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(mem, "whole"+stageSuffix, "lock", nil); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"whole", "file"} {
		if _, err := Stage(mem, dir); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	s, err := Stage(mem, "late")
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.MkdirAll(s.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(mem, "", "late", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); !errors.Is(err, ErrExists) {
		t.Errorf("published over a file: %v", err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	names, err := mem.List("")
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"file", "late", "whole"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// A lock on the system's disk excludes a second name of the place too.
func TestStageKnowsAPlaceByEveryName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	link := dir + "-link"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	s, err := Stage(nil, filepath.Join(dir, "new", "store"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(nil, filepath.Join(link, "new", "store")+"/"); !errors.Is(err, ErrLocked) {
		t.Errorf("by another name: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(filepath.Join(dir, "new")); err != nil || len(names) != 0 {
		t.Errorf("%v are left, %v", names, err)
	}
}

// What was published is there after a power cut, in a new directory too.
func TestAPublishedStoreStandsAPowerCut(t *testing.T) {
	mem := vfs.NewCrashableMem()
	published(t, mem, "new/dir/store")
	if data, err := readFile(mem.CrashClone(vfs.CrashCloneCfg{}), "new/dir/store/file", 10); err != nil || string(data) != "whole" {
		t.Errorf("%q, %v", data, err)
	}
}
