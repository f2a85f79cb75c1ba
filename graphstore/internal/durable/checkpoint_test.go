package durable

import (
	"math/rand/v2"
	"sync"
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
		if _, err := fs.Stat("copy"); err == nil {
			copies++
		} else {
			d := mustOpen(t, fs, "store", Options{MustExist: true})
			if err := d.Checkpoint("copy"); err != nil {
				t.Fatalf("after cut %d: %v", i, err)
			}
			mustClose(t, d)
			if _, err := fs.Stat("copy" + copySuffix); !isNotExist(err) {
				t.Errorf("cut %d: an unfinished copy is left: %v", i, err)
			}
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
