package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// reembedStore is a store of n documents, some vectors of which are in segments.
func reembedStore(t *testing.T, fs vfs.FS, n int) (Options, *DB) {
	t.Helper()
	o := testOptions(&fakeModel{})
	o.Gleaning, o.stagePage = -1, 20
	o.Storage.FS, o.Storage.SealBytes = fs, 4096
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	inserted(t, db, corpus(n)...)
	return o, db
}

// counting is an embedder of another dimension that counts the texts it embeds,
// and may be down.
func counting(down func(texts int) bool) (*words, *atomic.Int64) {
	n := new(atomic.Int64) // documents are embedded side by side
	return &words{name: "other words", dim: 64, hook: func(texts []string, vecs [][]float32) ([][]float32, error) {
		if down != nil && down(int(n.Load())+len(texts)) {
			return nil, errors.New("no answer")
		}
		n.Add(int64(len(texts)))
		return vecs, nil
	}}, n
}

// nearest is what a question finds, and how near it is, in the order of names:
// among equals the order is that of ids.
func nearest(t *testing.T, db *DB, text string) string {
	t.Helper()
	r, err := db.Retrieve(t.Context(), Query{Text: text, Mode: Mix, LowLevel: []string{text}, HighLevel: []string{text}, CosineThreshold: -1})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range r.Entities {
		lines = append(lines, fmt.Sprintf("%s %.4f\n", e.Name, e.Score))
	}
	for _, c := range r.Chunks {
		lines = append(lines, fmt.Sprintf("%s %.4f\n", c.ID, c.Score))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// rebuilt is a store that was made with the embedder from the start.
func rebuilt(t *testing.T, o Options, n int) *DB {
	t.Helper()
	o.Storage.FS = vfs.NewMem()
	db := opened(t, "fresh", o)
	inserted(t, db, corpus(n)...)
	return db
}

func TestReEmbedChangesTheEmbedder(t *testing.T) {
	const docs = 12
	fs := vfs.NewMem()
	o, db := reembedStore(t, fs, docs)
	graph, old := exported(t, db), nearest(t, db, "hub town")
	e, n := counting(nil)
	var last ReEmbedProgress
	steps := 0
	if err := db.ReEmbed(t.Context(), e, func(p ReEmbedProgress) {
		if got := nearest(t, db, "hub town"); got != old {
			t.Errorf("while it works a question finds\n%swant\n%s", got, old)
		}
		if p.Done < last.Done || p.Done > p.Total {
			t.Errorf("%+v after %+v", p, last)
		}
		last, steps = p, steps+1
	}); err != nil {
		t.Fatal(err)
	}
	c := db.store.Stats()
	if want := int(c.Entities + c.Relations + c.Chunks); int(n.Load()) != want || last.Done != want || last.Total != want || last.Texts != want || steps < 2 {
		t.Errorf("%d texts embedded, %d wanted, %d steps, the last %+v", int(n.Load()), want, steps, last)
	}

	// What is open goes on with what it has, and cannot write.
	if got := nearest(t, db, "hub town"); got != old {
		t.Errorf("after the change the open DB finds\n%swant\n%s", got, old)
	}
	if _, err := db.Insert(t.Context(), doc("late", "@e|Late|t|Too late.")); !errors.Is(err, ErrMismatch) {
		t.Errorf("Insert into what was overtaken: %v", err)
	}
	segments := func() []string {
		names, err := fs.List("store/seg")
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".gvs") })
	}
	before := segments()
	if len(before) < 2 {
		t.Fatalf("segments %q: the old ones, which are read, and the new one", before)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after := segments(); len(after) != 1 {
		t.Errorf("segments %q are left of %q", after, before)
	}
	if db, err := Open("store", o); !errors.Is(err, ErrMismatch) {
		t.Errorf("Open with the old embedder: %v", err)
		_ = db.Close()
	}

	o.Embedder = e
	db = opened(t, "store", o)
	if id := db.Identity(); id.Embedder != "other words" || id.Dim != 64 || id.Tokenizer != "chars4" {
		t.Errorf("%+v", id)
	}
	asked := int(n.Load())
	sound(t, db)
	if got := exported(t, db); got != graph {
		t.Error("the graph changed")
	}
	fresh := rebuilt(t, o, docs)
	for _, q := range []string{"hub town", "road", "what a says"} {
		if got, want := nearest(t, db, q), nearest(t, fresh, q); got != want {
			t.Errorf("%s: found\n%swant\n%s", q, got, want)
		}
	}
	if n, err := db.store.StaleCount(); err != nil || n != 0 {
		t.Errorf("%d stale, %v", n, err)
	}
	if int(n.Load()) < asked {
		t.Error("the counter went back")
	}
	inserted(t, db, doc("late", "@e|Late|t|In time."))
	sound(t, db)
}

// A crash in the middle costs no vector twice, and leaves the old ones.
func TestReEmbedGoesOnAfterACrash(t *testing.T) {
	const docs = 12
	fs := vfs.NewCrashableMem()
	o, db := reembedStore(t, fs, docs)
	old := nearest(t, db, "hub town")
	c := db.store.Stats()
	total := int(c.Entities + c.Relations + c.Chunks)
	e, n := counting(func(texts int) bool { return texts > 2*o.stagePage })
	if err := db.ReEmbed(t.Context(), e, nil); err == nil || int(n.Load()) != 2*o.stagePage || int(n.Load()) >= total {
		t.Fatalf("%v after %d texts", err, int(n.Load()))
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	o.Storage.FS = crashed
	db, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := nearest(t, db, "hub town"); got != old {
		t.Errorf("after the crash a question finds\n%swant\n%s", got, old)
	}
	again, m := counting(nil)
	if err := db.ReEmbed(t.Context(), again, nil); err != nil {
		t.Fatal(err)
	}
	if int(n.Load())+int(m.Load()) != total {
		t.Errorf("%d and %d texts embedded for %d vectors", int(n.Load()), int(m.Load()), total)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.Embedder = again
	db = opened(t, "store", o)
	sound(t, db)
	if n, err := db.store.StaleCount(); err != nil || n != 0 {
		t.Errorf("%d stale, %v", n, err)
	}
}

// Vectors that were staged for one embedder are of no use to another.
func TestStagedVectorsOfAnotherEmbedderAreDropped(t *testing.T) {
	o, db := reembedStore(t, vfs.NewMem(), 3)
	down, _ := counting(nil)
	boom := errors.New("no more")
	calls := 0
	down.hook = func(_ []string, vecs [][]float32) ([][]float32, error) { return vecs, nil }
	if err := db.store.BeginReembed(format.Identity{Embedder: "other words", Dim: 64}); err != nil {
		t.Fatal(err)
	}
	if err := db.store.EachUnstaged(t.Context(), 2, func(list []graphstore.Unstaged) error {
		if calls++; calls > 1 {
			return boom
		}
		return db.stage(t.Context(), down, 64, list)
	}); err != boom {
		t.Fatal(err)
	}
	third := &words{name: "third", dim: 32}
	if err := db.ReEmbed(t.Context(), third, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.Embedder = third
	sound(t, opened(t, "store", o))
}

// What is written while vectors are made is not lost: its own vectors are made
// in time, or it is stale.
func TestWritesDuringReEmbed(t *testing.T) {
	o, db := reembedStore(t, vfs.NewMem(), 4)
	e, _ := counting(nil)
	round := 0
	if err := db.ReEmbed(t.Context(), e, func(p ReEmbedProgress) {
		if round++; round > 12 {
			return
		}
		commitHub(t, db, 100+round)
	}); err != nil {
		t.Fatal(err)
	}
	graph := exported(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.Embedder = e
	db = opened(t, "store", o)
	sound(t, db)
	if exported(t, db) != graph || !strings.Contains(graph, "said by doc 101") {
		t.Error("the graph changed")
	}
	if err := db.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := db.store.StaleCount(); err != nil || n != 0 {
		t.Errorf("%d stale, %v", n, err)
	}
}

// Whatever the moment of a crash while the embedder is changed, the store is
// the old one or the new one as a whole.
func TestACrashWhileTheEmbedderIsChanged(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var armed atomic.Bool
	var clones []*vfs.MemFS
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpRename, errorfs.OpCreate, errorfs.OpRemove:
			if armed.Load() && len(clones) < 30 {
				clones = append(clones, mem.CrashClone(vfs.CrashCloneCfg{}))
			}
		}
		return nil
	}))
	o, db := reembedStore(t, fs, 6)
	old := nearest(t, db, "hub town")
	e, _ := counting(nil)
	if err := db.ReEmbed(t.Context(), e, func(p ReEmbedProgress) { armed.Store(p.Done == p.Total) }); err != nil {
		t.Fatal(err)
	}
	armed.Store(false)
	clones = append(clones, mem.CrashClone(vfs.CrashCloneCfg{}))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, clone := range slices.Backward(clones) {
		o.Storage.FS = clone
		o.Embedder = &words{}
		db, err := Open("store", o)
		name := "old"
		if errors.Is(err, ErrMismatch) {
			o.Embedder, name = e, "new"
			db, err = Open("store", o)
		}
		if err != nil {
			t.Fatalf("clone %d: %v", i, err)
		}
		seen[name]++
		sound(t, db)
		if n, err := db.store.StaleCount(); err != nil || n != 0 {
			t.Errorf("clone %d, %s: %d stale, %v", i, name, n, err)
		}
		if name == "old" && nearest(t, db, "hub town") != old {
			t.Errorf("clone %d: the old store finds something else", i)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if seen["old"] == 0 || seen["new"] == 0 {
		t.Errorf("stores seen: %v", seen)
	}
}

// The DB that is left behind has its old vectors no longer on disk, and is sound.
func TestCheckAfterReEmbed(t *testing.T) {
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db, corpus(12)...)
	if err := db.ReEmbed(t.Context(), &words{name: "other", dim: wordsDim / 2}, nil); err != nil {
		t.Fatal(err)
	}
	sound(t, db)
}
