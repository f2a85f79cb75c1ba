package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
)

// saga is a store that lives through a random sequence of everything that can
// be done to documents and to the graph, beside a plain account of it: what
// each passage still says, and under which name each name shows.
type saga struct {
	t     *testing.T
	rng   *rand.Rand
	o     Options
	db    *DB
	down  bool // the embedder
	mute  bool // the model, for summaries
	docs  map[string][]passage
	root  map[string]string // name -> shown name, where they differ
	log   []string
	made  int
	undos []uint32 // changes that stand, but for deletions
}

// passage is a chunk: its text, and the lines of it that still count.
type passage struct {
	text  string
	lines []string
}

func newSaga(t *testing.T, seed uint64, sources, summaries int) *saga {
	s := &saga{t: t, rng: rand.New(rand.NewPCG(seed, 11)), docs: make(map[string][]passage), root: make(map[string]string)}
	m := &fakeModel{hook: func(_ context.Context, req *llm.Request) (llm.Response, bool, error) {
		if s.mute && req.Task == llm.TaskSummary {
			return llm.Response{}, false, fmt.Errorf("no summary: %w", llm.ErrUnavailable)
		}
		return llm.Response{}, false, nil
	}}
	s.o = testOptions(m)
	s.o.SummaryFragments, s.o.MaxSources = summaries, sources
	s.o.Embedder = &words{hook: func(texts []string, vecs [][]float32) ([][]float32, error) {
		if s.down {
			return nil, fmt.Errorf("no embedder: %w", llm.ErrUnavailable)
		}
		return byNumber(texts, vecs)
	}}
	s.db = s.open()
	return s
}

func (s *saga) open() *DB {
	db, err := Open("store", s.o)
	if err != nil {
		s.fail("open: %v", err)
	}
	return db
}

func (s *saga) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(s.log, "\n"))
}

func (s *saga) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

const sagaNames = 7

func (s *saga) name() string { return fmt.Sprint("Name", s.rng.IntN(sagaNames)) }

// byNumber gives a passage the vector of its number, whatever else it says: the
// passages that are nearest to a question are chosen from many, and must be the
// same ones in a store of what is left of their texts. No two have one score.
func byNumber(texts []string, vecs [][]float32) ([][]float32, error) {
	for i, text := range texts {
		var n int
		if _, err := fmt.Sscanf(text, "Passage %d.", &n); err != nil {
			continue
		}
		_, f := math.Modf(float64(n) * math.Phi)
		v := wordVector("everything", len(vecs[i])) // see the function of that name
		for j := range v {
			v[j] *= float32(f)
		}
		v[0] += float32(1 - f)
		vecs[i] = v
	}
	return vecs, nil
}

// passage makes a chunk in which the ends of all relations are described too.
func (s *saga) passage() passage {
	s.made++
	p := passage{text: fmt.Sprintf("Passage %d.\n", s.made)}
	names := make(map[string]bool)
	for range 2 + s.rng.IntN(3) {
		names[s.name()] = true
	}
	list := slices.Sorted(maps.Keys(names))
	for _, n := range list {
		p.lines = append(p.lines, fmt.Sprintf("@e|%s|type%d|Saying %d.", n, s.rng.IntN(3), s.rng.IntN(2*s.made)))
	}
	for i, a := range list {
		for _, b := range list[i+1:] {
			if s.rng.IntN(2) == 0 {
				p.lines = append(p.lines, fmt.Sprintf("@r|%s|%s|key%d|Relation %d.", b, a, s.rng.IntN(4), s.rng.IntN(2*s.made)))
			}
		}
	}
	p.text += strings.Join(p.lines, "\n")
	return p
}

func (s *saga) document(id string, list []passage) Document {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.text)
	}
	return chunksOf(id, texts...)
}

// insert inserts new documents and replaces others, some at once.
func (s *saga) insert() {
	ids := make(map[string]Document)
	for range 1 + s.rng.IntN(3) {
		id := fmt.Sprint("d", s.rng.IntN(6))
		if _, twice := ids[id]; twice {
			continue
		}
		var list []passage
		old := s.docs[id]
		for range 1 + s.rng.IntN(2) {
			p := s.passage()
			if len(old) > 0 && s.rng.IntN(2) == 0 {
				p = old[s.rng.IntN(len(old))]
				if slices.ContainsFunc(list, func(q passage) bool { return q.text == p.text }) {
					p = s.passage()
				}
			}
			list = append(list, p)
		}
		d := s.document(id, list)
		d.Replace = true
		ids[id], s.docs[id] = d, list
	}
	s.note("insert %v", slices.Sorted(maps.Keys(ids)))
	s.down, s.mute = false, s.rng.IntN(3) == 0
	var wg sync.WaitGroup
	for _, d := range ids {
		wg.Go(func() {
			rep, err := s.db.Insert(context.Background(), d)
			if err != nil && !errors.Is(err, llm.ErrUnavailable) {
				s.t.Errorf("insert %s: %v", d.ID, err)
			} else if st := rep.Documents[0].Status; st != StatusProcessed && st != StatusUnchanged {
				s.t.Errorf("insert %s: %s %v", d.ID, st, rep.Documents[0].Err)
			}
		})
	}
	wg.Wait()
}

func (s *saga) remove() {
	if len(s.docs) == 0 {
		return
	}
	ids := slices.Sorted(maps.Keys(s.docs))
	id := ids[s.rng.IntN(len(ids))]
	delete(s.docs, id)
	s.note("remove %s", id)
	if _, err := s.db.DeleteDocuments(context.Background(), id); err != nil {
		s.fail("%v", err)
	}
}

func (s *saga) of(name string) string {
	if r, ok := s.root[name]; ok {
		return r
	}
	return name
}

// lead makes all names of some roots lead to another one.
func (s *saga) lead(to string, from ...string) {
	for _, r := range from {
		for n := range s.group(r) {
			if n == to {
				delete(s.root, n)
			} else {
				s.root[n] = to
			}
		}
	}
}

func (s *saga) group(root string) map[string]bool {
	out := map[string]bool{root: true}
	for n, r := range s.root {
		if r == root {
			out[n] = true
		}
	}
	return out
}

// did books a change, if it was made. It says whether it was.
func (s *saga) did(rep *CurationReport, err error, format string, args ...any) bool {
	s.t.Helper()
	s.note(format+" -> %+v, %v", append(args, rep, err)...)
	if err != nil {
		if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrInvalid) {
			s.fail("%v", err)
		}
		return false
	}
	if rep.Change == 0 {
		return false
	}
	s.undos = append(s.undos, rep.Change)
	return true
}

func (s *saga) curate(values bool) {
	ctx := context.Background()
	a, b := s.name(), s.name()
	switch k := s.rng.IntN(12); {
	case k < 4:
		list := []string{a}
		if s.rng.IntN(3) == 0 {
			list = append(list, s.name())
		}
		if s.rng.IntN(6) == 0 {
			b = fmt.Sprint("Name", sagaNames+s.rng.IntN(2))
		}
		o := MergeOptions{}
		if values && s.rng.IntN(3) == 0 {
			o.DescriptionBy, o.TypeBy = MergeKeepLast, MergeKeepFirst
		}
		rep, err := s.db.MergeEntities(ctx, list, b, o)
		if s.did(rep, err, "merge %v into %s", list, b) {
			var roots []string
			for _, n := range list {
				roots = append(roots, s.of(n))
			}
			to := s.of(b)
			s.lead(to, slices.DeleteFunc(roots, func(r string) bool { return r == to })...)
		}
	case k < 6:
		rep, err := s.db.RenameEntity(ctx, a, b, false)
		from := s.of(a)
		if s.did(rep, err, "rename %s to %s", a, b) {
			s.lead(b, from)
		}
	case k < 8 && values:
		rep, err := s.db.EditEntity(ctx, a, EntityEdit{Description: ptr(fmt.Sprint("By hand ", s.rng.IntN(5)))})
		s.did(rep, err, "edit %s", a)
	case k < 9 && values:
		w := float64(s.rng.IntN(4))
		rep, err := s.db.EditRelation(ctx, a, b, RelationEdit{Weight: &w})
		s.did(rep, err, "edit %s - %s", a, b)
	case k < 10 && values:
		rep, err := s.db.CreateEntity(ctx, NewEntity{Name: a, Description: "Made."})
		s.did(rep, err, "create %s", a)
	case k < 11 && values:
		rep, err := s.db.CreateRelation(ctx, NewRelation{Src: a, Tgt: b, Description: "Made too."})
		s.did(rep, err, "create %s - %s", a, b)
	default:
		if len(s.undos) == 0 {
			return
		}
		s.undo(s.rng.IntN(len(s.undos)))
	}
}

// undo takes a change back. What later changes may have been built upon is
// known to the store alone: the account follows it.
func (s *saga) undo(i int) bool {
	id := s.undos[i]
	_, err := s.db.Undo(context.Background(), id)
	s.note("undo %d -> %v", id, err)
	if errors.Is(err, ErrInvalid) {
		return false
	}
	if err != nil {
		s.fail("%v", err)
	}
	s.undos = slices.Delete(s.undos, i, i+1)
	s.reread()
	return true
}

// reread takes the names from the store.
func (s *saga) reread() {
	v := s.db.View()
	defer v.Close()
	o, err := v.v.Overlays()
	if err != nil {
		s.fail("%v", err)
	}
	clear(s.root)
	for _, a := range o.Aliases {
		s.root[a.Name] = a.Root
	}
}

func (s *saga) deleteGraph() {
	ctx := context.Background()
	if s.rng.IntN(2) == 0 {
		a := s.name()
		group := s.group(s.of(a))
		_, err := s.db.DeleteEntities(ctx, a)
		s.note("delete %s -> %v", a, err)
		if err != nil {
			return
		}
		s.forget(func(f []string) bool { return group[f[1]] || f[0] == "@r" && group[f[2]] })
		for n := range group {
			delete(s.root, n)
		}
		return
	}
	a, b := s.name(), s.name()
	x, y := s.group(s.of(a)), s.group(s.of(b))
	_, err := s.db.DeleteRelations(ctx, [2]string{a, b})
	s.note("delete %s - %s -> %v", a, b, err)
	if err == nil {
		s.forget(func(f []string) bool { return f[0] == "@r" && (x[f[1]] && y[f[2]] || y[f[1]] && x[f[2]]) })
	}
}

func (s *saga) forget(goes func(fields []string) bool) {
	for id, list := range s.docs {
		next := slices.Clone(list)
		for i := range next {
			next[i].lines = slices.DeleteFunc(slices.Clone(next[i].lines), func(l string) bool { return goes(strings.Split(l, "|")) })
		}
		s.docs[id] = next
	}
}

// told is what documents say, under the names that show.
func (s *saga) told(allowed func(id string) bool) []Document {
	v, err := s.db.store.View()
	if err != nil {
		s.fail("%v", err)
	}
	defer v.Close()
	var out []Document
	if err := v.Documents(func(_ format.DocID, row format.Document) error {
		if !allowed(row.ID) {
			return nil
		}
		d := Document{ID: row.ID, Path: row.ID + ".md"}
		for i, p := range s.docs[row.ID] {
			text, _, _ := strings.Cut(p.text, "\n")
			for _, l := range p.lines {
				f := strings.Split(l, "|")
				f[1] = s.of(f[1])
				if f[0] == "@r" {
					if f[2] = s.of(f[2]); f[1] == f[2] {
						continue
					}
				}
				text += "\n" + strings.Join(f, "|")
			}
			d.Chunks = append(d.Chunks, Chunk{Order: i, Content: text})
		}
		out = append(out, d)
		return nil
	}); err != nil {
		s.fail("%v", err)
	}
	return out
}

// plainExport is the export of the graph without what tells that it is curated.
func (s *saga) plainExport(db *DB) string {
	v := db.View()
	defer v.Close()
	var b strings.Builder
	if err := v.Entities(func(e *Entity) error {
		fmt.Fprintf(&b, "%s|%s|%s|%q|%v|%d|%v\n", e.Name, e.Type, e.Description, e.Fragments, e.Sources, e.Degree, e.Pending)
		return nil
	}); err != nil {
		s.fail("%v", err)
	}
	if err := v.Relations(func(r *Relation) error {
		fmt.Fprintf(&b, "%s - %s|%v|%v|%s|%q|%v|%v\n", r.Src, r.Tgt, r.Weight, r.Keywords, r.Description, r.Fragments, r.Sources, r.Pending)
		return nil
	}); err != nil {
		s.fail("%v", err)
	}
	return b.String()
}

func (s *saga) fresh(docs []Document) *DB {
	o := s.o
	o.Storage.FS, o.Embedder = vfs.NewMem(), &words{hook: byNumber}
	db, err := Open("fresh", o)
	if err != nil {
		s.fail("%v", err)
	}
	for _, d := range docs {
		if rep, err := db.Insert(context.Background(), d); err != nil || rep.Documents[0].Status != StatusProcessed {
			s.fail("%+v, %v", rep, err)
		}
	}
	return db
}

// check settles what is stale and compares with a store made of what is told.
func (s *saga) check(plain bool) {
	s.t.Helper()
	ctx := context.Background()
	s.down, s.mute = false, false
	if err := s.db.Refresh(ctx); err != nil {
		s.fail("refresh: %v", err)
	}
	if n, err := s.db.store.StaleCount(); err != nil || n != 0 {
		s.fail("%d stale, %v", n, err)
	}
	found, err := s.db.Check(ctx, true)
	if err != nil || len(found) != 0 {
		s.fail("check: %v %v", found, err)
	}
	if !plain {
		return
	}
	all := s.fresh(s.told(func(string) bool { return true }))
	defer all.Close()
	if got, want := s.plainExport(s.db), s.plainExport(all); got != want {
		s.fail("shows\n%s\nwant\n%s", got, want)
	}
	allowed := make(map[string]bool)
	var ids []string
	for id := range s.docs {
		if s.rng.IntN(2) == 0 {
			allowed[id] = true
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	o := s.o
	s.o.SummaryFragments = -1
	only := s.fresh(s.told(func(id string) bool { return allowed[id] }))
	s.o = o
	defer only.Close()
	sameUnderFilter(s.t, s.db, only, ids)
	if s.t.Failed() {
		s.fail("under the filter %v", ids)
	}
}

// exchange makes another store of the full export, and looks whether it is the same.
func (s *saga) exchange() {
	o := s.o
	o.Storage.FS = vfs.NewMem()
	want := fullExportOf(s.t, s.db)
	if _, err := ImportJSONL(context.Background(), "other", strings.NewReader(want), o); err != nil {
		s.fail("import: %v", err)
	}
	db, err := Open("other", o)
	if err != nil {
		s.fail("%v", err)
	}
	if got := fullExportOf(s.t, db); got != want {
		s.fail("full export of the imported store\n%s\nwant\n%s", got, want)
	}
	if s.rng.IntN(2) == 0 { // go on with it
		if err := s.db.Close(); err != nil {
			s.fail("%v", err)
		}
		if err := db.Close(); err != nil {
			s.fail("%v", err)
		}
		s.note("go on with the imported store")
		s.o = o
		if err := o.Storage.FS.Rename("other", "store"); err != nil {
			s.fail("%v", err)
		}
		s.db = s.open()
		return
	}
	db.Close()
}

func (s *saga) reopen() {
	s.note("reopen")
	if err := s.db.Close(); err != nil {
		s.fail("%v", err)
	}
	s.db = s.open()
}

func (s *saga) reembed() {
	s.note("re-embed")
	if err := s.db.ReEmbed(context.Background(), s.o.Embedder, nil); err != nil {
		s.fail("re-embed: %v", err)
	}
	s.reopen()
}

// run lives through n steps, some with the models down. values: with curated values, which no plain
// account is made of.
func (s *saga) run(n int, values, deletions bool) {
	s.insert()
	for range n {
		s.down, s.mute = s.rng.IntN(5) == 0, s.rng.IntN(4) == 0
		switch k := s.rng.IntN(20); {
		case k < 5:
			s.insert()
		case k < 7:
			s.remove()
		case k < 8 && deletions:
			s.deleteGraph()
		case k < 9:
			s.reopen()
		case k < 10:
			s.down = false
			if s.rng.IntN(4) == 0 {
				s.reembed()
			}
		case k < 11:
			s.check(!values)
			s.exchange()
		default:
			s.curate(values)
		}
		if s.t.Failed() {
			s.fail("failed")
		}
	}
	s.check(!values)
	s.exchange()
	if deletions {
		return
	}
	// All changes undone, the newest first, leave what the documents say.
	s.note("undo all")
	for i := len(s.undos) - 1; i >= 0; i-- {
		if !s.undo(i) {
			s.fail("change %d cannot be undone", s.undos[i])
		}
	}
	if len(s.root) != 0 {
		s.fail("aliases are left: %v", s.root)
	}
	s.check(true)
}

// LIGHTRAG_STRESS is for how many seconds to go on with further seeds. One of
// them alone is -run 'TestACuratedStoreIsOneOfWhatIsLeft/^50$' with a second;
// documents that are inserted at once get their ids in any order, so that a seed
// is not the same run every time.
func TestACuratedStoreIsOneOfWhatIsLeft(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("LIGHTRAG_STRESS"))
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	for seed := uint64(0); seed < 6 || time.Now().Before(until); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSaga(t, seed, []int{0, 3}[seed%2], []int{-1, 3}[seed/2%2])
			defer func() { s.db.Close() }()
			s.run(25, seed%3 == 0, seed%3 == 1)
		})
		if t.Failed() {
			return
		}
	}
}
