package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// write replaces a file.
func write(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	w, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(b)
	if err := errors.Join(err, w.Sync(), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// Whatever part of an index file is damaged, it is reported and made again.
func TestDamageToEverySectionOfAnIndexFile(t *testing.T) {
	o, _ := indexed(t)
	fs := o.Storage.FS
	path := fs.PathJoin("store", "idx", "entity.hnsw")
	intact := readAll(t, fs, path)
	tried := 0
	for s := range int(binary.LittleEndian.Uint32(intact[68:])) {
		entry := intact[96+24*s:]
		at, n := binary.LittleEndian.Uint64(entry[8:]), binary.LittleEndian.Uint64(entry[16:])
		if n == 0 {
			continue
		}
		tried++
		b := slices.Clone(intact)
		b[at+n/2] ^= 1
		write(t, fs, path, b)
		var log logged
		o.Logger = slogOf(&log)
		db := opened(t, "store", o)
		if !strings.Contains(log.String(), "entity.hnsw") {
			t.Errorf("section %d: not reported: %q", s, log.String())
		}
		sameAsBruteForce(t, db)
		linked(t, db)
		sameAsBruteForce(t, db)
		closed(t, db)
		log = logged{}
		db = opened(t, "store", o)
		if now, slots := marks(db); now != slots || log.String() != "" {
			t.Errorf("section %d: not made again: %v of %v, %q", s, now, slots, log.String())
		}
		closed(t, db)
	}
	if tried < 6 {
		t.Errorf("only %d sections", tried)
	}
}

// The same names and versions, but other vectors: a file that belongs to another store, or to one whose last commits
// were lost.
func TestAnIndexFileOfAnotherStore(t *testing.T) {
	o, _ := indexed(t)
	other := testOptions(&fakeModel{})
	other.exactBelow, other.Storage.FS = 1, vfs.NewCrashableMem()
	db, err := Open("store", other)
	if err != nil {
		t.Fatal(err)
	}
	var docs []Document
	for i := range 12 {
		docs = append(docs, doc(fmt.Sprint("other ", i), fmt.Sprintf("@e|Planet %d|t|Quite different words %d.", i, i)))
	}
	inserted(t, db, docs...)
	linked(t, db)
	closed(t, db)
	path := o.Storage.FS.PathJoin("store", "idx", "entity.hnsw")
	write(t, o.Storage.FS, path, readAll(t, other.Storage.FS, path))

	var log logged
	o.Logger = slogOf(&log)
	db = opened(t, "store", o)
	sameAsBruteForce(t, db)
	linked(t, db)
	sameAsBruteForce(t, db)
	sound(t, db)
	if !strings.Contains(log.String(), "entity.hnsw") {
		t.Errorf("not reported: %q", log.String())
	}
	closed(t, db)
	db = opened(t, "store", o)
	linked(t, db)
	sameAsBruteForce(t, db)
}

// A crash loses what was linked since the last save, and no more.
func TestTheIndexIsSavedInTheBackground(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.exactBelow, o.saveEvery = 1, 4
	fs := vfs.NewCrashableMem()
	o.Storage.FS = fs
	db := opened(t, "store", o)
	docs := corpus(16)
	inserted(t, db, docs[:12]...)
	linked(t, db)
	saved := func() bool { _, err := fs.Stat(fs.PathJoin("store", "idx", "chunk.hnsw")); return err == nil }
	for end := time.Now().Add(time.Minute); !saved(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never saved")
		}
	}
	inserted(t, db, docs[12:]...)
	if _, err := db.DeleteDocuments(t.Context(), docs[2].ID); err != nil {
		t.Fatal(err)
	}
	want := exported(t, db)

	r := rand.New(rand.NewPCG(1, 1))
	for _, unsynced := range []int{0, 50, 100} {
		var log logged
		o.Logger = slogOf(&log)
		o.Storage.FS = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: r})
		after := opened(t, "store", o)
		if now, _ := marks(after); now[2] < 4 {
			t.Errorf("%d chunks are linked right after Open", now[2])
		}
		if exported(t, after) != want {
			t.Error("the graph differs after the crash")
		}
		sameAsBruteForce(t, after)
		linked(t, after)
		sameAsBruteForce(t, after)
		sound(t, after)
		if strings.Contains(log.String(), "index") {
			t.Errorf("log: %s", log.String())
		}
		closed(t, after)
	}
}

// A crash at any moment, in the middle of saving too, leaves a store that opens.
func TestCrashesWhileTheIndexIsSaved(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.exactBelow, o.saveEvery = 1, 1
	fs := vfs.NewCrashableMem()
	o.Storage.FS = fs
	db := opened(t, "store", o)
	stop, done := make(chan struct{}), make(chan []*vfs.MemFS)
	go func() {
		var clones []*vfs.MemFS
		r := rand.New(rand.NewPCG(2, 2))
		for {
			select {
			case <-stop:
				done <- clones
				return
			case <-time.After(3 * time.Millisecond):
				clones = append(clones, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 60, RNG: r}))
			}
		}
	}()
	for _, d := range corpus(10) {
		inserted(t, db, d)
	}
	close(stop)
	clones := <-done
	if len(clones) == 0 {
		t.Skip("too slow a machine")
	}
	for i := 0; i < len(clones); i += 1 + len(clones)/12 {
		o.Storage.FS = clones[i]
		after := opened(t, "store", o)
		if _, slots := marks(after); !slices.Contains(slots[:], 1) { // one alone is not linked
			linked(t, after)
		}
		if st, err := after.Stats(); err != nil || st.Entities >= 5 {
			sameAsBruteForce(t, after)
		}
		sound(t, after)
		closed(t, after)
	}
}

// What is replaced over and over leaves the graph while the store is open.
func TestDeadVectorsLeaveTheGraph(t *testing.T) {
	o := testOptions(&fakeModel{})
	o.exactBelow = 1
	db := opened(t, "store", o)
	docs := corpus(8)
	inserted(t, db, docs...)
	linked(t, db)
	for i := range 6 {
		if _, err := db.DeleteDocuments(t.Context(), docs[i].ID); err != nil {
			t.Fatal(err)
		}
		inserted(t, db, docs[i])
		linked(t, db)
	}
	entities := db.index.kinds[0]
	for end := time.Now().Add(time.Minute); entities.graph.Free() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing was taken out: %+v", entities.graph.Stats())
		}
		db.index.wake()
	}
	sameAsBruteForce(t, db)
	if s := entities.graph.Stats(); s.Unreachable != 0 {
		t.Errorf("%+v", s)
	}
	sound(t, db)
}
