package durable

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
)

const testDim = 8

// testVector is the vector of one version; every version has its own.
func testVector(version uint32) []float32 {
	rng := rand.New(rand.NewPCG(1, uint64(version)))
	v := make([]float32, testDim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// putVectors commits rows key(i) and buffered vectors for first <= i < end,
// one batch each.
func putVectors(d *DB, first, end int) error {
	for i := first; i < end; i++ {
		b := d.NewBatch()
		if err := b.Set(key(i), []byte("row"), nil); err != nil {
			return err
		}
		v := format.BufferedVector{Kind: format.KindEntity, Owner: uint32(i), Version: uint32(i), Vector: testVector(uint32(i))}
		if err := d.BufferVector(b, uint64(i), &v); err != nil {
			return err
		}
		if err := d.Commit(b); err != nil {
			return err
		}
	}
	return nil
}

// sealBuffered seals every buffered vector below upTo.
func sealBuffered(d *DB, upTo int) (SegmentInfo, error) {
	var list []format.BufferedVector
	s := d.Snapshot()
	defer s.Close()
	err := Buffered(s, uint64(upTo), func(_ uint64, v *format.BufferedVector) error {
		w := *v
		w.Vector = append([]float32(nil), v.Vector...)
		list = append(list, w)
		return nil
	})
	if err != nil {
		return SegmentInfo{}, err
	}
	return d.Seal(SealOptions{Dim: testDim, Codec: format.CodecPlanes, UpTo: uint64(upTo)}, iterate(list))
}

func iterate(list []format.BufferedVector) func() (format.Kind, uint32, uint32, []float32, bool) {
	return func() (format.Kind, uint32, uint32, []float32, bool) {
		if len(list) == 0 {
			return 0, 0, 0, nil, false
		}
		v := list[0]
		list = list[1:]
		return v.Kind, v.Owner, v.Version, v.Vector, true
	}
}

// loadVersions returns the versions of all vectors, and fails on a vector that
// comes twice or with other floats than were stored.
func loadVersions(d *DB) (map[uint32]bool, error) {
	seen := make(map[uint32]bool)
	err := d.LoadVectors(func(kind format.Kind, owner, version uint32, vec []float32) error {
		if seen[version] {
			return fmt.Errorf("vector %d twice", version)
		}
		if kind != format.KindEntity || owner != version || fmt.Sprint(vec) != fmt.Sprint(testVector(version)) {
			return fmt.Errorf("vector %d is not what was stored", version)
		}
		seen[version] = true
		return nil
	})
	return seen, err
}

// crashPoint is a disk after a power cut, and what had been acknowledged then.
type crashPoint struct {
	name    string
	fs      *vfs.MemFS
	created bool
	acked   int
}

// crashScript runs a fixed script and cuts the power before every operation
// that could change the disk. wrap may put a broken file system in between.
func crashScript(t *testing.T, percent int, wrap func(vfs.FS) vfs.FS) []crashPoint {
	mem := vfs.NewCrashableMem()
	rng := rand.New(rand.NewPCG(7, uint64(percent)))
	var mu sync.Mutex // the log is synced on a goroutine of its own
	var points []crashPoint
	created, acked := false, 0
	set := func(change func()) {
		mu.Lock()
		defer mu.Unlock()
		change()
	}
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileWrite {
			points = append(points, crashPoint{
				name: fmt.Sprintf("%d: before %v of %s", len(points), op.Kind, op.Path),
				fs:   mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}), created: created, acked: acked,
			})
		}
		return nil
	}))
	disk := wrap(fs)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	step := func(d *DB, first, end int) {
		for i := first; i < end; i++ {
			check(putVectors(d, i, i+1))
			set(func() { acked = i + 1 })
		}
	}
	d := mustOpen(t, disk, "store", Options{})
	set(func() { created = true })
	step(d, 0, 6)
	_, err := sealBuffered(d, 5)
	check(err)
	step(d, 6, 8)
	check(d.Flush())
	mustClose(t, d)
	d = mustOpen(t, disk, "store", Options{MustExist: true})
	step(d, 8, 10)
	_, err = sealBuffered(d, 10)
	check(err)
	step(d, 10, 12)
	mustClose(t, d)
	return points
}

// checkCrash opens the disk of p and says what is wrong with it.
func checkCrash(p crashPoint) error {
	d, err := Open("store", Options{FS: p.fs, Verify: func(Reader) error { return nil }})
	if err != nil {
		return err
	}
	defer d.Close(format.Counters{})
	if d.Fresh() && p.created {
		return fmt.Errorf("the store is gone")
	}
	n := 0
	for ; ; n++ {
		_, c, err := d.Get(key(n))
		if err != nil {
			break
		}
		c.Close()
	}
	if n < p.acked || n > p.acked+1 {
		return fmt.Errorf("%d rows, %d acknowledged", n, p.acked)
	}
	seen, err := loadVersions(d)
	if err != nil {
		return err
	}
	for i := range n {
		if !seen[uint32(i)] {
			return fmt.Errorf("row %d has no vector", i)
		}
	}
	if len(seen) != n {
		return fmt.Errorf("%d vectors for %d rows", len(seen), n)
	}
	if err := putVectors(d, n, n+1); err != nil {
		return err
	}
	if _, err = sealBuffered(d, n+1); err != nil {
		return err
	}
	if err := d.Close(format.Counters{}); err != nil {
		return err
	}
	names, err := p.fs.List("store/seg")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, tmpSuffix) {
			return fmt.Errorf("%s was left behind", name)
		}
	}
	return nil
}

func TestPowerCut(t *testing.T) {
	for _, percent := range []int{0, 50} {
		t.Run(fmt.Sprintf("unsynced=%d%%", percent), func(t *testing.T) {
			t.Parallel()
			points := crashScript(t, percent, func(fs vfs.FS) vfs.FS { return fs })
			if len(points) < 100 {
				t.Errorf("only %d power cuts", len(points))
			}
			for _, p := range points {
				if err := checkCrash(p); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			}
		})
	}
}

// TestPowerCutIsNoticed breaks one promise of the file system at a time. If the
// checks above find nothing then, they prove nothing.
func TestPowerCutIsNoticed(t *testing.T) {
	for _, broken := range []string{"/seg", "store"} {
		t.Run("no sync of "+broken, func(t *testing.T) {
			t.Parallel()
			points := crashScript(t, 0, func(fs vfs.FS) vfs.FS { return lazyDir{fs, broken} })
			for _, p := range points {
				if checkCrash(p) != nil {
					return
				}
			}
			t.Error("no power cut lost anything")
		})
	}
}

// lazyDir does not sync the directories whose path ends in suffix.
type lazyDir struct {
	vfs.FS
	suffix string
}

func (l lazyDir) OpenDir(name string) (vfs.File, error) {
	f, err := l.FS.OpenDir(name)
	if err == nil && strings.HasSuffix(name, l.suffix) {
		return lazyFile{f}, nil
	}
	return f, err
}

type lazyFile struct{ vfs.File }

func (lazyFile) Sync() error { return nil }
