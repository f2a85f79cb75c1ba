package graphstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/lightctl/lightrag/format"
)

// curatedStore is a store and the oracle that goes with it.
type curatedStore struct {
	fs      vfs.FS
	limit   int
	s       *Store
	sink    *memorySink
	o       *oracle
	waiting map[DocID]*testDoc
	ids     map[string]DocID // committed
	done    []*decision      // by change
	serial  int
}

func (m *curatedStore) options() Options {
	var o Options
	o, m.sink = testOptions(m.fs)
	o.MaxSources = m.limit
	return o
}

func (m *curatedStore) open(t tb) {
	t.Helper()
	var err error
	if m.s, err = Open("store", m.options()); err != nil {
		t.Fatal(err)
	}
}

// committed books a document that was committed.
func (m *curatedStore) committed(doc DocID) {
	d := m.waiting[doc]
	delete(m.waiting, doc)
	if old, ok := m.ids[d.id]; ok {
		delete(m.o.docs, old)
	}
	m.o.docs[doc], m.ids[d.id] = d, doc
}

// name draws a name that may be anything: an entity, an alias, or nobody.
func (m *curatedStore) name(t *rapid.T) string {
	return rapid.SampledFrom([]string{"A", "B", "C", "D", "Érik", "Fé", "New", "Newer"}).Draw(t, "name")
}

// relation draws a relation that there is.
func (m *curatedStore) relation(t *rapid.T) (a, b string) {
	var pairs []string
	for name := range m.o.expect() {
		if strings.Contains(name, " -- ") {
			pairs = append(pairs, name)
		}
	}
	if len(pairs) == 0 {
		t.Skip()
	}
	slices.Sort(pairs)
	a, b, _ = strings.Cut(rapid.SampledFrom(pairs).Draw(t, "relation"), " -- ")
	if rapid.Bool().Draw(t, "reversed") {
		a, b = b, a
	}
	return a, b
}

// do runs op, which must fail as expected of the state it meets (nil: not at
// all), perhaps while a document is on its way, and books the decision.
func (m *curatedStore) do(t *rapid.T, op Curation, expected func() error, decide func(info CurationInfo) *decision) {
	ctx := context.Background()
	var late *Prepared
	var doc DocID
	if len(m.waiting) > 0 && rapid.Bool().Draw(t, "overtake a commit") {
		doc = rapid.SampledFrom(slices.Sorted(maps.Keys(m.waiting))).Draw(t, "document")
		var err error
		if late, err = prepared(m.s, m.waiting[doc], doc); err != nil {
			t.Fatal(err)
		}
	}
	p, err := m.s.PrepareCuration(ctx, op)
	var info CurationInfo
	if err == nil {
		if late != nil && rapid.Bool().Draw(t, "overtaken by it") {
			if _, err := m.s.Commit(ctx, late); err != nil {
				t.Fatal(err)
			}
			m.committed(doc)
			late = nil
		}
		for _, root := range p.Roots() {
			root.Vector = embed(root.Text)
		}
		info, err = m.s.CommitCuration(ctx, p)
	}
	want := expected()
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("%+v: %v, want %v", op, err, want)
	}
	if err == nil {
		d := decide(info)
		if d != nil {
			if d.id = info.Change; int(d.id) != len(m.done)+1 {
				t.Fatalf("%+v is change %d after %d", op, d.id, len(m.done))
			}
			m.done = append(m.done, d)
		}
	}
	if late != nil {
		checked(t, m.s)
		m.o.matches(t, m.s)
		if _, err := m.s.Commit(ctx, late); err != nil {
			t.Fatal(err)
		}
		m.committed(doc)
	}
}

// create, edit, rename, merge and delete are single steps of the machine.
func (m *curatedStore) create(t *rapid.T) {
	name := m.name(t)
	typ, text := types.Draw(t, "type"), texts.Draw(t, "text")
	m.do(t, CreateEntity{name, typ, text}, func() error {
		if m.o.expect()[name] != nil || m.o.aliases[name] != "" {
			return ErrExists
		}
		return nil
	}, func(info CurationInfo) *decision {
		m.o.made = append(m.o.made, creation{info.Change, []string{name}, said{typ: typ, desc: text}})
		return &decision{made: true}
	})
}

func (m *curatedStore) relate(t *rapid.T) {
	a, b := m.name(t), m.name(t)
	text, kw := texts.Draw(t, "text"), rapid.SliceOfN(labels, 0, 2).Draw(t, "keywords")
	x, y := m.o.root(a), m.o.root(b)
	m.do(t, CreateRelation{a, b, text, kw, 500_000}, func() error {
		before := m.o.expect()
		switch {
		case before[x] == nil || before[y] == nil:
			return ErrNotFound
		case x == y:
			return ErrInvalid
		case before[pairName(x, y)] != nil:
			return ErrExists
		}
		return nil
	}, func(info CurationInfo) *decision {
		m.o.made = append(m.o.made, creation{info.Change, []string{min(x, y), max(x, y)}, said{desc: text, keywords: kw, weight: 500_000}})
		return &decision{made: true}
	})
}

func (m *curatedStore) edit(t *rapid.T) {
	name := m.name(t)
	op := EditEntity{Name: name}
	root := m.o.root(name)
	v := m.o.overrides[root]
	if rapid.Bool().Draw(t, "type") {
		typ := rapid.SampledFrom([]string{"person", "curated"}).Draw(t, "type")
		op.Type, v.Type, v.Mask = &typ, typ, v.Mask|format.FieldType
	}
	if rapid.Bool().Draw(t, "description") {
		text := texts.Draw(t, "text")
		op.Description, v.Description, v.Mask = &text, text, v.Mask|format.FieldDescription
	} else if rapid.Bool().Draw(t, "reset") {
		op.Reset = format.FieldDescription
		clearFields(&v, op.Reset)
	}
	m.editing(t, op, root, v)
}

// must expects ErrNotFound unless the oracle has the owner.
func (m *curatedStore) must(owner string) func() error {
	return func() error {
		if m.o.expect()[owner] == nil {
			return ErrNotFound
		}
		return nil
	}
}

func (m *curatedStore) editing(t *rapid.T, op Curation, owner string, v format.Override) {
	m.do(t, op, m.must(owner), func(info CurationInfo) *decision {
		if info.Change == 0 {
			if a, b := fmt.Sprint(v), fmt.Sprint(m.o.overrides[owner]); a != b {
				t.Fatalf("nothing changed from %s to %s", a, b)
			}
			return nil
		}
		d := newDecision()
		m.o.setOverride(d, owner, v)
		return d
	})
}

func (m *curatedStore) editRelation(t *rapid.T) {
	a, b := m.relation(t)
	owner := pairName(a, b)
	v := m.o.overrides[owner]
	op := EditRelation{Src: a, Tgt: b}
	if rapid.Bool().Draw(t, "weight") {
		w := rapid.Int64Range(0, 3).Draw(t, "weight")
		op.Weight, v.Weight, v.Mask = &w, w, v.Mask|format.FieldWeight
	}
	if rapid.Bool().Draw(t, "keywords") {
		kw := []string{labels.Draw(t, "keyword")}
		op.Keywords, v.Keywords, v.Mask = &kw, kw, v.Mask|format.FieldKeywords
	} else {
		op.Reset = format.FieldKeywords
		clearFields(&v, op.Reset)
	}
	m.editing(t, op, owner, v)
}

func (m *curatedStore) rename(t *rapid.T) {
	from, to := m.name(t), m.name(t)
	root := m.o.root(from)
	if root == to {
		t.Skip()
	}
	m.do(t, Rename{From: from, To: to}, func() error {
		before := m.o.expect()
		switch {
		case before[root] == nil:
			return ErrNotFound
		case m.o.root(to) != root && (before[m.o.root(to)] != nil || m.o.aliases[to] != ""):
			return ErrExists
		}
		return nil
	}, func(CurationInfo) *decision { return m.o.merge([]string{root}, to, false) })
}

func (m *curatedStore) merge(t *rapid.T) {
	names := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return m.name(t) }), 1, 3).Draw(t, "sources")
	given := m.name(t)
	target := m.o.root(given)
	var from []string
	for _, name := range names {
		if root := m.o.root(name); root != target && !slices.Contains(from, root) {
			from = append(from, root)
		}
	}
	expected := func() error {
		for _, name := range names {
			if m.o.expect()[m.o.root(name)] == nil {
				return ErrNotFound
			}
		}
		if len(from) == 0 {
			return ErrInvalid
		}
		return nil
	}
	op := Merge{Sources: names, Target: given}
	if rapid.Bool().Draw(t, "join") {
		op.DescriptionBy = Join
	}
	m.do(t, op, expected, func(CurationInfo) *decision { return m.o.merge(from, target, op.DescriptionBy == Join) })
}

func (m *curatedStore) remove(t *rapid.T) {
	name := m.name(t)
	root := m.o.root(name)
	m.do(t, DeleteEntities{[]string{name}}, m.must(root), func(CurationInfo) *decision { return m.o.deleteEntity(root) })
}

func (m *curatedStore) unrelate(t *rapid.T) {
	a, b := m.relation(t)
	m.do(t, DeleteRelations{[][2]string{{a, b}}}, m.must(pairName(a, b)), func(CurationInfo) *decision { return m.o.deleteRelation(a, b) })
}

// undo takes a change back, or is refused for a reason.
func (m *curatedStore) undo(t *rapid.T) {
	if len(m.done) == 0 {
		t.Skip()
	}
	i := rapid.IntRange(0, len(m.done)-1).Draw(t, "change")
	d := m.done[i]
	later, builds := false, d.made && !slices.ContainsFunc(m.o.made, func(c creation) bool { return c.change == d.id })
	for _, l := range m.done[i+1:] {
		if !l.undone {
			later, builds = true, builds || d.overlaps(l)
		}
	}
	_, err := tryCurate(m.s, Undo{d.id})
	switch {
	case err == nil && (d.deleted || d.undone || builds):
		t.Fatalf("change %d was undone: %+v", d.id, d)
	case err != nil && (!errors.Is(err, ErrInvalid) || !d.deleted && !d.undone && !later):
		t.Fatalf("change %d: %v", d.id, err)
	case err == nil:
		m.o.undo(d)
	}
}

// rebuilt makes a store of the surviving documents and decisions alone.
func (m *curatedStore) rebuilt(t *rapid.T) {
	refreshAll(t, m.s)
	v, err := m.s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	overlays, err := v.Overlays()
	if err != nil {
		t.Fatal(err)
	}
	opts, _ := testOptions(vfs.NewMem())
	opts.MaxSources = m.limit
	s, err := Open("store", opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.RestoreOverlays(context.Background(), overlays); err != nil {
		t.Fatal(err)
	}
	checked(t, s)
	rank := make(map[DocID]DocID)
	back := make(map[DocID]*testDoc)
	for _, doc := range slices.Sorted(maps.Keys(m.o.docs)) {
		rank[doc] = register(t, s, m.o.docs[doc])
		back[rank[doc]] = m.o.docs[doc]
	}
	for _, doc := range rapid.Permutation(slices.Sorted(maps.Keys(back))).Draw(t, "order") {
		commit(t, s, back[doc], doc)
	}
	checked(t, s)
	refreshAll(t, s)
	want := observe(t, v)
	for _, o := range want {
		o.renumber(rank)
	}
	w, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	same(t, observe(t, w), want)
	again, err := w.Overlays()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprintf("%+v", *again), fmt.Sprintf("%+v", *overlays); a != b {
		t.Fatalf("overlays are\n%s\nwant\n%s", a, b)
	}
}

// renumber gives documents other numbers.
func (s *seen) renumber(rank map[DocID]DocID) {
	s.Sole = rank[s.Sole]
	for _, list := range []*[]string{&s.Sources, &s.All} {
		out := slices.Clone(*list)
		for i, at := range out {
			doc, order, _ := strings.Cut(at, "/")
			n, _ := strconv.Atoi(doc)
			out[i] = fmt.Sprintf("%d/%s", rank[DocID(n)], order)
		}
		*list = out
	}
}

// TestCurationDoesNotDependOnHistory runs random histories of documents that
// come and go and of people who curate what they say, and compares everything
// a reader sees with the oracle, and with a store that is built from what
// survives alone. LIGHTRAG_HISTORIES says how many.
func TestCurationDoesNotDependOnHistory(t *testing.T) {
	limit, n := 25, 0
	if s := os.Getenv("LIGHTRAG_HISTORIES"); s != "" {
		limit, _ = strconv.Atoi(s)
	}
	failed := false
	for done := false; !done; {
		t.Run("histories", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				if n++; n > limit && !failed { // there is no option for the number of checks
					done = true
					return
				}
				finished := false
				defer func() { failed = failed || !finished || t.Failed() }()
				curationHistory(t)
				finished = true
			})
		})
		done = done || failed
	}
}

func curationHistory(t *rapid.T) {
	m := &curatedStore{
		fs: vfs.NewMem(), limit: rapid.SampledFrom([]int{-1, 2, 5}).Draw(t, "max sources"),
		waiting: make(map[DocID]*testDoc), ids: make(map[string]DocID),
	}
	m.o = &oracle{max: m.limit, docs: make(map[DocID]*testDoc), aliases: make(map[string]string), overrides: make(map[string]format.Override)}
	m.open(t)
	defer func() {
		if err := m.s.Close(); err != nil {
			t.Error(err)
		}
	}()
	insertDoc := func(t *rapid.T) {
		m.serial++
		d := drawDoc(t, fmt.Sprintf("doc %d", m.serial))
		doc := register(t, m.s, d)
		m.waiting[doc] = d
		if rapid.Bool().Draw(t, "at once") {
			commit(t, m.s, d, doc)
			m.committed(doc)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"insert":  insertDoc,
		"insert ": insertDoc,
		"commit two": func(t *rapid.T) {
			if len(m.waiting) < 2 {
				t.Skip()
			}
			docs := slices.Sorted(maps.Keys(m.waiting))[:2]
			var ps []*Prepared
			for _, doc := range docs {
				p, err := prepared(m.s, m.waiting[doc], doc)
				if err != nil {
					t.Fatal(err)
				}
				ps = append(ps, p)
			}
			for i, doc := range docs {
				if _, err := m.s.Commit(context.Background(), ps[i]); err != nil {
					t.Fatal(err)
				}
				m.committed(doc)
			}
		},
		"replace": func(t *rapid.T) {
			if len(m.ids) == 0 {
				t.Skip()
			}
			d := drawDoc(t, rapid.SampledFrom(slices.Sorted(maps.Keys(m.ids))).Draw(t, "id"))
			for _, w := range m.waiting {
				if w.id == d.id {
					t.Skip()
				}
			}
			m.serial++
			d.replace = true
			d.chunks[0].entities = append(d.chunks[0].entities, e(99, fmt.Sprintf("N%d", m.serial), "", "new"))
			m.waiting[register(t, m.s, d)] = d
		},
		"delete": func(t *rapid.T) {
			if len(m.o.docs) == 0 {
				t.Skip()
			}
			doc := rapid.SampledFrom(slices.Sorted(maps.Keys(m.o.docs))).Draw(t, "document")
			if _, err := m.s.Delete(context.Background(), []DocID{doc}, DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			delete(m.ids, m.o.docs[doc].id)
			delete(m.o.docs, doc)
		},
		"create": m.create, "relate": m.relate, "edit": m.edit, "edit relation": m.editRelation, "rename": m.rename, "merge": m.merge,
		"merge ": m.merge, "remove": m.remove, "unrelate": m.unrelate, "undo": m.undo, "undo ": m.undo,
		"refresh": func(t *rapid.T) {
			refreshAll(t, m.s)
			vectorsMatch(t, m.s, m.sink)
		},
		"reopen": func(t *rapid.T) {
			if err := m.s.Close(); err != nil {
				t.Fatal(err)
			}
			m.open(t)
		},
		"": func(t *rapid.T) {
			checked(t, m.s)
			m.o.matches(t, m.s)
		},
	})
	m.rebuilt(t)
}
