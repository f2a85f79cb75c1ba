package fuzz

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/engine"
)

// tb is what the machine needs of a test; rapid's has it too.
type tb interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// machine is a store, the model of it, and the disk it is on.
type machine struct {
	tb
	src    source
	disk   *vfs.MemFS
	db     *engine.DB
	model  state
	serial int
	before func() // called before every model call
	rng    *rand.Rand
}

func newMachine(t tb, src source) *machine {
	m := &machine{tb: t, src: src, disk: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(uint64(src.pick(256)), 1))}
	m.open()
	return m
}

func options() engine.Options {
	return engine.Options{
		Completer: copier{}, Embedder: bag{}, Tokenizer: "chars4", SummaryFragments: -1, Gleaning: -1, Concurrency: 2,
		MaxSources: -1, // the model does not cut, and a quick machine makes hubs of more than 200 sources
		// Segments are written after every few documents.
		Storage: engine.Storage{CacheBytes: 1 << 20, MemTableBytes: 1 << 20, SealBytes: 4096},
	}
}

func (m *machine) open() {
	m.Helper()
	o := options()
	o.Completer = copier{func() {
		if m.before != nil {
			m.before()
		}
	}}
	o.Storage.FS, o.Logger = m.disk, slog.New(slog.DiscardHandler)
	db, err := engine.Open("store", o)
	if err != nil {
		m.Fatalf("open: %v", err)
	}
	m.db = db
}

func (m *machine) close() {
	if err := m.db.Close(); err != nil {
		m.Errorf("close: %v", err)
	}
}

// step does one thing and compares everything.
func (m *machine) step() {
	m.Helper()
	actions := [...]func(){m.insert, m.insert, m.replace, m.remove, m.again, m.query, m.reopen, m.crash, m.crashInside}
	actions[m.src.pick(len(actions))]()
	m.compare()
}

func (m *machine) compare() {
	m.Helper()
	got, err := stored(m.db)
	if err != nil {
		m.Fatalf("export: %v", err)
	}
	if want := m.model.lines(); !slices.Equal(got, want) {
		m.Fatalf("the store holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	v := m.db.View()
	c := v.Counts()
	v.Close()
	entities, relations := m.model.graph()
	if c.Documents != uint64(len(m.model)) || c.Chunks != c.Documents || c.Entities != uint64(len(entities)) || c.Relations != uint64(len(relations)) {
		m.Fatalf("counts %+v, want %d documents, %d entities, %d relations", c, len(m.model), len(entities), len(relations))
	}
	if err := sound(m.db); err != nil {
		m.Fatalf("%v", err)
	}
	m.query()
}

// fresh draws one to three new documents.
func (m *machine) fresh() (docs []document) {
	for range 1 + m.src.pick(3) {
		m.serial++
		docs = append(docs, draw(m.src, fmt.Sprint("doc ", m.serial), m.serial))
	}
	return docs
}

// put inserts documents with Replace and wants them all processed.
func (m *machine) put(docs []document) error {
	m.Helper()
	in := make([]engine.Document, len(docs))
	for i := range docs {
		in[i] = engine.Document{ID: docs[i].id, Text: docs[i].text(), Replace: true}
	}
	rep, err := m.db.Insert(context.Background(), in...)
	if err != nil {
		return err
	}
	if n := rep.Count(engine.StatusProcessed); n != len(docs) || rep.Stale != 0 {
		return fmt.Errorf("%d of %d processed, %d stale: %+v", n, len(docs), rep.Stale, rep.Documents)
	}
	return nil
}

func (m *machine) insert() {
	m.Helper()
	m.putAll(m.fresh())
}

func (m *machine) putAll(docs []document) {
	m.Helper()
	if err := m.put(docs); err != nil {
		m.Fatalf("insert: %v", err)
	}
	for _, d := range docs {
		m.model = m.model.with(d)
	}
}

func (m *machine) replace() {
	m.Helper()
	if len(m.model) == 0 {
		return
	}
	m.serial++
	m.putAll([]document{draw(m.src, m.model[m.src.pick(len(m.model))].id, m.serial)})
}

func (m *machine) remove() {
	m.Helper()
	ids := []string{"nobody"}
	for range 1 + m.src.pick(3) {
		if len(m.model) > 0 {
			ids = append(ids, m.model[m.src.pick(len(m.model))].id)
		}
	}
	rep, err := m.db.DeleteDocuments(context.Background(), ids...)
	if err != nil || rep.Stale != 0 || len(rep.NotFound) != 1 {
		m.Fatalf("delete: %v %+v", err, rep)
	}
	m.model = m.model.without(ids...)
}

// again inserts what is there already.
func (m *machine) again() {
	m.Helper()
	if len(m.model) == 0 {
		return
	}
	d := m.model[m.src.pick(len(m.model))]
	rep, err := m.db.Insert(context.Background(),
		engine.Document{ID: d.id, Text: d.text()},
		engine.Document{ID: "copy", Text: d.text()})
	if err != nil || rep.Documents[0].Status != engine.StatusUnchanged || rep.Documents[1].Original != d.id {
		m.Fatalf("insert again: %v %+v", err, rep)
	}
	rep, err = m.db.Insert(context.Background(), engine.Document{ID: d.id, Text: "Another text."})
	if err != nil || rep.Documents[0].Status != engine.StatusConflict {
		m.Fatalf("insert another text: %v %+v", err, rep)
	}
}

// query compares a vector search with brute force.
func (m *machine) query() {
	m.Helper()
	text := fmt.Sprintf("Name %d beta river %d", m.src.pick(9), m.src.pick(4))
	const k = 5
	r, err := m.db.Retrieve(context.Background(), engine.Query{
		Text: text, Mode: engine.Local, LowLevel: []string{text}, TopK: k, CosineThreshold: -1, Match: engine.MatchVectors,
	})
	if err != nil {
		m.Fatalf("retrieve: %v", err)
	}
	scores, best := m.model.nearest(text)
	if len(r.Entities) != min(k, len(best)) {
		m.Fatalf("%d entities found of %d", len(r.Entities), len(best))
	}
	for i, e := range r.Entities {
		want, ok := scores[e.Name]
		if !ok || abs(float64(e.Score)-want) > 1e-4 || abs(best[i]-want) > 1e-4 {
			m.Fatalf("hit %d is %s with %v; its cosine is %v, the best of that rank %v", i, e.Name, e.Score, want, best[i])
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }

func (m *machine) reopen() {
	m.Helper()
	m.close()
	m.open()
}

// cut is the disk after a power cut: what was not synced is lost, all of it or
// a random half.
func (m *machine) cut() *vfs.MemFS {
	return m.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * m.rng.IntN(2), RNG: m.rng})
}

// crash cuts the power between two operations: nothing may be missing.
func (m *machine) crash() {
	m.Helper()
	after := m.cut()
	m.close()
	m.disk = after
	m.open()
}

// crashInside cuts the power while documents are being indexed. They were
// accepted before the first model call, so resuming must finish them.
func (m *machine) crashInside() {
	m.Helper()
	docs := m.fresh()
	at := m.src.pick(len(docs))
	var after *vfs.MemFS
	calls := make(chan int, 1)
	calls <- 0
	m.before = func() {
		n := <-calls
		if n == at {
			after = m.cut()
		}
		calls <- n + 1
	}
	err := m.put(docs)
	m.before = nil
	if err != nil || after == nil {
		m.Fatalf("insert: %v", errors.Join(err, errors.New("no power cut")))
	}
	m.close()
	m.disk = after
	m.open()
	if rep, err := m.db.Resume(context.Background()); err != nil || rep.Stale != 0 {
		m.Fatalf("resume: %v %+v", err, rep)
	}
	for _, d := range docs {
		m.model = m.model.with(d)
	}
}

// sound checks a store.
func sound(db *engine.DB) error {
	found, err := db.Check(context.Background(), true)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("check: %v", found)
	}
	return err
}
