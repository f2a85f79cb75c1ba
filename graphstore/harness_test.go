package graphstore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

const testDim = 4

// memorySink keeps every vector it is told.
type memorySink struct {
	mu   sync.Mutex
	rows [4][]sinkRow
}

type sinkRow struct {
	owner, version uint32
	vec            []float32
}

func (m *memorySink) Append(kind Kind, owner, version uint32, vec []float32) (uint32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[kind] = append(m.rows[kind], sinkRow{owner, version, append([]float32(nil), vec...)})
	return uint32(len(m.rows[kind]) - 1), nil
}

func (m *memorySink) Bound(kind Kind) uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint32(len(m.rows[kind]))
}

// row returns what a slot holds.
func (m *memorySink) row(kind Kind, slot uint32) sinkRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[kind][slot]
}

// embed is the embedder of the tests: a function of the text.
func embed(text string) []float32 {
	h := TextHash(text)
	return []float32{1, float32(h & 0xff), float32(h >> 8 & 0xff), float32(h >> 16 & 0xff)}
}

func testOptions(fs vfs.FS) (Options, *memorySink) {
	sink := new(memorySink)
	return Options{
		FS: fs, CacheBytes: 1 << 20, MemTableBytes: 1 << 20,
		Identity: format.Identity{Embedder: "test", Dim: testDim, Tokenizer: "runes"},
		Terms:    words{"words-1"},
		Vectors:  func(format.Identity, IndexFiles) (VectorSink, error) { return sink, nil },
	}, sink
}

// opened opens a store on fs and closes it when the test ends.
func opened(t testing.TB, fs vfs.FS, edit func(*Options)) (*Store, *memorySink) {
	t.Helper()
	o, sink := testOptions(fs)
	if edit != nil {
		edit(&o)
	}
	s, err := Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, sink
}

// testDoc is a document as tests write it down: records per chunk.
type testDoc struct {
	id      string
	chunks  []testChunk
	replace bool
}

type testChunk struct {
	order     uint32
	entities  []EntityFragment   // Key.Pass and Key.Index set, the rest filled in
	relations []RelationFragment // likewise
	prose     string             // the text; "" = one made of the rest
}

func (d *testDoc) text(i int) string {
	if p := d.chunks[i].prose; p != "" {
		return p
	}
	return fmt.Sprintf("text of chunk %d of %+v", i, d.chunks[i])
}

func (d *testDoc) newDocument() NewDocument {
	n := NewDocument{ID: d.id, Path: d.id + ".txt", Hash: sha256.Sum256(fmt.Append(nil, d.id, d.chunks)), Replace: d.replace}
	for i := range d.chunks {
		n.Chunks = append(n.Chunks, NewChunk{Order: d.chunks[i].order, Text: d.text(i), Tokens: 3})
	}
	return n
}

// contribution fills in ids and keys.
func (d *testDoc) contribution(doc DocID, chunks []Chunk) Contribution {
	c := Contribution{Doc: doc}
	for _, stored := range chunks {
		for i := range d.chunks {
			tc := &d.chunks[i]
			if tc.order != stored.Order {
				continue
			}
			c.Chunks = append(c.Chunks, ChunkContribution{ID: stored.ID, Order: tc.order, Vector: embed(stored.Text)})
			for _, e := range tc.entities {
				e.Chunk, e.Key.Doc, e.Key.Order = stored.ID, doc, tc.order
				c.Entities = append(c.Entities, e)
			}
			for _, r := range tc.relations {
				r.Chunk, r.Key.Doc, r.Key.Order = stored.ID, doc, tc.order
				c.Relations = append(c.Relations, r)
			}
		}
	}
	return c
}

// register registers one document that must be new.
func register(t tb, s *Store, d *testDoc) DocID {
	t.Helper()
	res, err := s.Register(context.Background(), []NewDocument{d.newDocument()})
	if err != nil {
		t.Fatal(err)
	}
	if res[0].Status != Registered {
		t.Fatalf("document %q: %s", d.id, res[0].Status)
	}
	return res[0].Doc
}

// prepared prepares a registered document and embeds new roots.
func prepared(s *Store, d *testDoc, doc DocID) (*Prepared, error) {
	return preparedAll(s, map[DocID]*testDoc{doc: d}, doc)
}

// preparedAll prepares registered documents of waiting, to be committed in one step.
func preparedAll(s *Store, waiting map[DocID]*testDoc, docs ...DocID) (*Prepared, error) {
	v, err := s.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	list := make([]Contribution, len(docs))
	for i, doc := range docs {
		chunks, err := v.DocumentChunks(doc)
		if err != nil {
			return nil, err
		}
		list[i] = waiting[doc].contribution(doc, chunks)
	}
	p, err := s.Prepare(context.Background(), list...)
	if err != nil {
		return nil, err
	}
	for _, root := range p.Roots() {
		if root.New {
			root.Vector = embed(root.Text)
		}
	}
	return p, nil
}

func commit(t tb, s *Store, d *testDoc, doc DocID) CommitInfo {
	t.Helper()
	p, err := prepared(s, d, doc)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Commit(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func insert(t tb, s *Store, d *testDoc) DocID {
	t.Helper()
	doc := register(t, s, d)
	commit(t, s, d, doc)
	return doc
}

// summarised is the summariser of the tests: a function of its input.
func summarised(j *SummaryJob) string {
	h := sha256.New()
	for _, text := range j.Texts {
		fmt.Fprintf(h, "%q", text)
	}
	return fmt.Sprintf("summary of %d texts %x", len(j.Texts), h.Sum(nil)[:6])
}

// refreshAll re-makes everything that is stale.
func refreshAll(t tb, s *Store) {
	t.Helper()
	for round := 0; ; round++ {
		list, err := s.Stale(7)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			return
		}
		if round > 1000 {
			t.Fatalf("still stale after %d rounds: %+v", round, list[0])
		}
		var done []Refreshed
		for i := range list {
			r := &list[i]
			d := Refreshed{Kind: r.Kind, Owner: r.Owner, TextHash: r.TextHash}
			if r.NeedVector {
				d.Vector = embed(r.Text)
			}
			for _, j := range r.Summaries {
				d.Summaries = append(d.Summaries, DoneSummary{Job: j, Text: summarised(&j)})
			}
			if d.Vector == nil && d.Summaries == nil {
				t.Fatalf("stale for no reason: %+v", *r)
			}
			done = append(done, d)
		}
		info, err := s.Refresh(context.Background(), done)
		if err != nil {
			t.Fatal(err)
		}
		if info.Applied == 0 {
			t.Fatalf("nothing applied: %+v of %+v", info, done[0])
		}
	}
}

// checked fails the test if Check finds anything.
func checked(t tb, s *Store) {
	t.Helper()
	found, err := s.Check(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range found {
		if i < 10 {
			t.Error(f)
		}
	}
	if len(found) > 0 {
		t.FailNow()
	}
	if s.opts.Terms != nil {
		postingsMatch(t, s, s.opts.Terms)
	}
}

// vectorsMatch fails if an owner's slot does not hold the vector of its text.
func vectorsMatch(t tb, s *Store, sink *memorySink) {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for id := range v.Entities() {
		rec, err := v.EntityRecords([]EntityID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		slot, ok := v.Slot(format.KindEntity, uint32(id))
		if !ok || slot >= v.Bound(format.KindEntity) {
			t.Fatalf("entity %q: slot %d, %v, bound %d", v.EntityName(id), slot, ok, v.Bound(format.KindEntity))
		}
		row := sink.row(format.KindEntity, slot)
		want := embed(EntityText(v.EntityName(id), rec[0].Description))
		if row.owner != uint32(id) || row.version != rec[0].VectorVersion || fmt.Sprint(row.vec) != fmt.Sprint(want) {
			t.Fatalf("entity %q: slot holds %+v, want version %d %v", v.EntityName(id), row, rec[0].VectorVersion, want)
		}
	}
}

func e(index uint16, name, typ, desc string) EntityFragment {
	return EntityFragment{Name: name, Key: FragmentKey{Index: index}, Type: typ, Description: desc}
}

func r(index uint16, a, b, desc string, weight int64, kw ...string) RelationFragment {
	return RelationFragment{Src: a, Tgt: b, Key: FragmentKey{Index: index}, Description: desc, Keywords: kw, Weight: weight}
}

// tb is what the helpers need of a test; rapid's has it too.
type tb interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
	FailNow()
}
