package hnsw

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lightctl/lightrag/hnsw/simd"
	"pgregory.net/rapid"
)

func newTestIndex(t testing.TB, dim int, o Options) *Index {
	t.Helper()
	ix, err := New(dim, o)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func savedIndex(t testing.TB, ix *Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ix.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadIndex(p []byte) (*Index, error) { return Load(bytes.NewReader(p), int64(len(p))) }

func filled(t testing.TB, rows [][]float32, o Options) *Index {
	t.Helper()
	ix := newTestIndex(t, len(rows[0]), o)
	ids := make([]uint64, len(rows))
	for i := range ids {
		ids[i] = uint64(i) + 1<<40
	}
	if err := ix.AddBatch(ids, rows); err != nil {
		t.Fatal(err)
	}
	return ix
}

// model is an Index written down: ids with their vectors.
type model map[uint64][]float32

func unit(v []float32) []float32 {
	u := make([]float32, len(v))
	simd.Scale(u, v, simd.Norm(v))
	return u
}

func (m model) add(id uint64, v []float32) { m[id] = unit(v) }

func (m model) remove(id uint64) bool {
	_, ok := m[id]
	delete(m, id)
	return ok
}

// search returns all that are eligible, in order.
func (m model) search(q []float32, ok func(uint64) bool) []Result {
	u := unit(q)
	var out []Result
	for id, row := range m {
		if ok == nil || ok(id) {
			out = append(out, Result{id, max(-1, min(1, simd.Dot(u, row)))})
		}
	}
	slices.SortFunc(out, byScoreThenID)
	return out
}

func byScoreThenID(a, b Result) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// first says whether got are k of all, the best ones: which of equally good ones is not decided.
func first(got, all []Result, k int) bool {
	if len(got) != min(k, len(all)) || !slices.IsSortedFunc(got, byScoreThenID) {
		return false
	}
	for i, r := range got {
		if r.Score != all[i].Score || !slices.Contains(all, r) || i > 0 && r == got[i-1] {
			return false
		}
	}
	return true
}

// Coordinates are small whole numbers: many vectors are equal, opposite or equally near.
func vectors(dim int) *rapid.Generator[[]float32] {
	return rapid.Custom(func(t *rapid.T) []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rapid.IntRange(-2, 2).Draw(t, "x"))
		}
		if slices.Max(v) == 0 && slices.Min(v) == 0 {
			v[0] = 1
		}
		return v
	})
}

// The index is told to walk whenever it can. On so few vectors ef exceeds their number, so that even a walk is
// exact if every vector is reachable.
func TestIndexAgreesWithItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const dim = 3
		o := Options{M: rapid.IntRange(2, 5).Draw(t, "m"), EfConstruction: 10, ExactBelow: -1,
			Seed: rapid.Uint64().Draw(t, "seed"), Workers: rapid.IntRange(1, 2).Draw(t, "workers")}
		ix, err := New(dim, o)
		if err != nil {
			t.Fatal(err)
		}
		m := model{}
		ids, vecs := rapid.Uint64Range(0, 25), vectors(dim)
		check := func(t *rapid.T, k int, got []Result, want []Result, err error) {
			if err != nil {
				t.Fatal(err)
			}
			if !first(got, want, k) {
				t.Fatalf("k %d: %v\nwant the first of %v", k, got, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				id, v := ids.Draw(t, "id"), vecs.Draw(t, "v")
				m.add(id, v)
				if err := ix.Add(id, v); err != nil {
					t.Fatal(err)
				}
			},
			"batch": func(t *rapid.T) {
				batch := rapid.SliceOfN(ids, 0, 12).Draw(t, "ids")
				rows := make([][]float32, len(batch))
				for i, id := range batch {
					rows[i] = vecs.Draw(t, "v")
					m.add(id, rows[i])
				}
				if err := ix.AddBatch(batch, rows); err != nil {
					t.Fatal(err)
				}
			},
			"delete": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				if got, want := ix.Delete(id), m.remove(id); got != want {
					t.Fatalf("delete %d: %v, want %v", id, got, want)
				}
			},
			"search": func(t *rapid.T) {
				ix.cur.g.Repair()
				q, k := vecs.Draw(t, "q"), rapid.IntRange(0, 40).Draw(t, "k")
				o := IndexSearchOptions{Ef: 200, Exact: rapid.Bool().Draw(t, "exact")}
				got, err := ix.Search(q, k, o)
				check(t, k, got, m.search(q, nil), err)
			},
			"filtered": func(t *rapid.T) {
				ix.cur.g.Repair()
				q, k := vecs.Draw(t, "q"), rapid.IntRange(0, 40).Draw(t, "k")
				allow := roaring64.BitmapOf(rapid.SliceOfN(rapid.Uint64Range(0, 40), 0, 20).Draw(t, "allow")...)
				o := IndexSearchOptions{Ef: 200, Allow: allow}
				if rapid.Bool().Draw(t, "call") {
					o.Allow, o.Accept = nil, allow.Contains
				}
				got, err := ix.Search(q, k, o)
				check(t, k, got, m.search(q, allow.Contains), err)
			},
			"compact": func(t *rapid.T) {
				if err := ix.Compact(context.Background()); err != nil {
					t.Fatal(err)
				}
			},
			"consolidate": func(t *rapid.T) {
				g := ix.cur.g
				if _, err := g.Consolidate(context.Background()); err != nil {
					t.Fatal(err)
				}
				if g.Mark() > 0 && unreachable(g) != 0 {
					t.Fatalf("%d unreachable", unreachable(g))
				}
			},
			"reload": func(t *rapid.T) {
				var b bytes.Buffer
				if err := ix.Save(&b); err != nil {
					t.Fatal(err)
				}
				if ix, err = loadIndex(b.Bytes()); err != nil {
					t.Fatal(err)
				}
				var again bytes.Buffer
				if err := ix.Save(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
					t.Fatalf("saving what was loaded gives other bytes (%v)", err)
				}
			},
			"": func(t *rapid.T) {
				if ix.Len() != len(m) {
					t.Fatalf("length %d, want %d", ix.Len(), len(m))
				}
				id := ids.Draw(t, "has")
				if _, want := m[id]; ix.Has(id) != want {
					t.Fatalf("has %d: %v", id, !want)
				}
			},
		})
	})
}

func TestBatchIsCheckedBeforeAnythingIsAdded(t *testing.T) {
	ix := newTestIndex(t, 2, Options{})
	err := ix.AddBatch([]uint64{1, 2}, [][]float32{{1, 2}, {0, 0}})
	if !errors.Is(err, ErrZeroVector) || ix.Len() != 0 {
		t.Errorf("%v, length %d", err, ix.Len())
	}
	if err := ix.AddBatch([]uint64{1}, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("one id, no vector: %v", err)
	}
	if err := ix.Add(1, []float32{1}); !errors.Is(err, ErrDimension) {
		t.Errorf("one element: %v", err)
	}
}

// coder/hnsw#10, USearch#445: delete all, then add.
func TestDeleteAllThenAdd(t *testing.T) {
	rows := clusters(1, 200, 8)
	ix := filled(t, rows, Options{ExactBelow: -1})
	for round := range 3 {
		for i := range rows {
			if !ix.Delete(uint64(i) + 1<<40) {
				t.Fatalf("round %d: %d is not there", round, i)
			}
			if got, err := ix.Search(rows[0], 300, IndexSearchOptions{}); err != nil || len(got) != len(rows)-1-i {
				t.Fatalf("round %d: %d results, %v", round, len(got), err)
			}
		}
		if s := ix.Stats(); s.Slots != 0 || ix.Len() != 0 {
			t.Fatalf("round %d: %+v", round, s)
		}
		for i, v := range rows {
			if err := ix.Add(uint64(i)+1<<40, v); err != nil {
				t.Fatal(err)
			}
		}
		for i, v := range rows {
			if got, err := ix.Search(v, 1, IndexSearchOptions{}); err != nil || got[0].ID != uint64(i)+1<<40 {
				t.Fatalf("round %d: %d finds %v, %v", round, i, got, err)
			}
		}
	}
}

// USearch#399: replacing the first entry hid all others. hnswlib PR#487: two vectors under one label.
func TestReplacingEverythingManyTimes(t *testing.T) {
	rows := clusters(2, 300, 8)
	ix := filled(t, rows, Options{ExactBelow: -1, M: 4, EfConstruction: 20})
	for round := range 5 {
		for i := range rows {
			rows[i] = clusters(uint64(100*round+i), 1, 8)[0]
			if err := ix.Add(uint64(i)+1<<40, rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ix.Search(rows[0], 1000, IndexSearchOptions{})
		if err != nil || len(got) != 300 {
			t.Fatalf("%d results, %v", len(got), err)
		}
		seen := map[uint64]bool{}
		for _, r := range got {
			if seen[r.ID] {
				t.Fatalf("id %d twice", r.ID)
			}
			seen[r.ID] = true
		}
	}
	if err := ix.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := ix.Stats(); s.Slots != 300 || s.Dead != 0 || s.Linked != 300 {
		t.Errorf("after compaction: %+v", s)
	}
	for i, v := range rows {
		if got, err := ix.Search(v, 1, IndexSearchOptions{}); err != nil || got[0].ID != uint64(i)+1<<40 {
			t.Fatalf("%d finds %v, %v", i, got, err)
		}
	}
}

// ruvnet/RuVector#930: deleting the entry left a result without an id.
func TestDeletingTheEntry(t *testing.T) {
	rows := clusters(3, 500, 8)
	ix := filled(t, rows, Options{ExactBelow: -1})
	for range 20 {
		entry := uint64(uint32(ix.cur.g.entry.Load())) + 1<<40
		deleted := ix.Delete(entry)
		got, err := ix.Search(rows[entry-1<<40], 500, IndexSearchOptions{})
		if err != nil || len(got) != ix.Len() {
			t.Fatalf("%d results of %d, %v", len(got), ix.Len(), err)
		}
		for _, r := range got {
			if r.ID == entry || r.ID < 1<<40 {
				t.Fatalf("result %v", r)
			}
		}
		if !deleted {
			break
		}
	}
}

func TestCompactCanBeCancelled(t *testing.T) {
	rows := clusters(4, 400, 8)
	ix := filled(t, rows, Options{})
	ix.Delete(1 << 40)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := ix.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if s := ix.Stats(); s.Slots != 400 || s.Dead != 1 || ix.Len() != 399 {
		t.Errorf("%+v", s)
	}
}

func TestCompactGivesBackWhatItLeaves(t *testing.T) {
	rows := clusters(4, 3000, 64)
	ix := filled(t, rows, Options{EfConstruction: 10})
	for i := range 1000 {
		ix.Delete(uint64(i) + 1<<40)
	}
	// Who is inside keeps what there is until it has gone.
	it, err := ix.Iterate(rows[2000], IndexSearchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := ix.cur.g.memory
	compact := func() {
		t.Helper()
		if err := ix.Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
		if s := ix.Stats(); s.Dead != 0 || s.Slots != ix.Len() {
			t.Fatalf("%+v", s)
		}
	}
	compact()
	if raceEnabled || m.rows.Moves() {
		t.Skip("memory is the garbage collector's here")
	}
	if got, _ := it.Next(10, nil); len(got) != 10 || got[0].ID != 2000+1<<40 || len(m.rows.Slice()) == 0 {
		t.Fatalf("an iterator from before yields %v, of %d elements", got, len(m.rows.Slice()))
	}
	it.Close()
	m = ix.cur.g.memory
	ix.Delete(2000 + 1<<40)
	compact()
	if rows, codes, links := len(m.rows.Slice()), len(m.codes.Slice()), len(m.links.Slice()); rows+codes+links != 0 {
		t.Errorf("%d elements of rows, %d of codes and %d of links are left", rows, codes, links)
	}
	if r, err := ix.Search(rows[2500], 1, IndexSearchOptions{}); err != nil || len(r) != 1 || r[0].ID != 2500+1<<40 {
		t.Errorf("%v, %v", r, err)
	}
}

// Deleting the last vector gives back what there was, unless somebody is inside: he goes on, and nobody waits for him.
func TestDeletingTheLastGivesBackWhatItLeaves(t *testing.T) {
	rows := clusters(4, 2, 64)
	for _, inside := range []bool{false, true} {
		ix := filled(t, rows[:1], Options{})
		m := ix.cur.g.memory
		var it *IndexIterator
		if inside {
			var err error
			if it, err = ix.Iterate(rows[0], IndexSearchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if !ix.Delete(1<<40) || ix.Len() != 0 {
			t.Fatalf("%d left", ix.Len())
		}
		if !raceEnabled && !m.rows.Moves() {
			if (len(m.links.Slice()) > 0) != inside {
				t.Errorf("somebody inside: %v; %d links are left", inside, len(m.links.Slice()))
			}
			// In plain Go an index has no codes that could be left.
			if codesFromDim <= 64 && (len(m.codes.Slice()) > 0) != inside {
				t.Errorf("somebody inside: %v; %d bytes of codes are left", inside, len(m.codes.Slice()))
			}
		}
		if inside {
			if got, err := it.Next(5, nil); err != nil || len(got) != 1 || got[0].ID != 1<<40 {
				t.Errorf("an iterator from before yields %v, %v", got, err)
			}
			it.Close()
		}
		if err := ix.Add(7, rows[1]); err != nil || !ix.Has(7) {
			t.Errorf("afterwards: %v", err)
		}
	}
}

func TestIndexFiltersOnALargeIndex(t *testing.T) {
	rows := clusters(5, 4000, 16)
	ix := filled(t, rows, Options{ExactBelow: -1, EfConstruction: 60, Workers: 2})
	for i := range 400 { // some replaced
		if err := ix.Add(uint64(i*7)+1<<40, rows[i*7+1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []uint64{2, 40, 1000} {
		allow := roaring64.New()
		for id := uint64(1 << 40); id < 1<<40+4000; id += step {
			allow.Add(id)
		}
		for _, o := range []IndexSearchOptions{{Allow: allow}, {Accept: allow.Contains}} {
			sum := 0.0
			for _, q := range clusters(6, 30, 16) {
				want, _ := ix.Search(q, 10, IndexSearchOptions{Accept: allow.Contains, Exact: true})
				got, err := ix.Search(q, 10, o)
				if err != nil || len(got) != min(10, int(allow.GetCardinality())) {
					t.Fatalf("step %d: %d results, %v", step, len(got), err)
				}
				for _, r := range got {
					if !allow.Contains(r.ID) {
						t.Fatalf("step %d: id %d is not allowed", step, r.ID)
					}
					if slices.Contains(want, r) {
						sum++
					}
				}
			}
			if sum < 0.95*30*float64(min(10, int(allow.GetCardinality()))) {
				t.Errorf("step %d: %v right", step, sum)
			}
		}
	}
}

func TestIndexMinScore(t *testing.T) {
	ix := filled(t, [][]float32{{1, 0}, {1, 1}, {0, 1}, {-1, 0}}, Options{})
	got, err := ix.Search([]float32{1, 0}, 4, IndexSearchOptions{MinScore: 0.5, HasMinScore: true})
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func ExampleIndex() {
	ix, err := New(3, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	words := map[uint64][]float32{1: {1, 0, 0.1}, 2: {0.9, 0.1, 0}, 3: {0, 1, 0}}
	for _, id := range []uint64{1, 2, 3} {
		if err := ix.Add(id, words[id]); err != nil {
			fmt.Println(err)
			return
		}
	}
	ix.Delete(1)
	got, err := ix.Search([]float32{1, 0, 0}, 1, IndexSearchOptions{})
	fmt.Println(got[0].ID, err)
	// Output: 2 <nil>
}

// Whoever gives memory back at once waits for those who read it, of whatever kind they are.
func TestNobodyReadsWhatCompactCloseAndTheLastDeleteGiveBack(t *testing.T) {
	const n, dim = 400, 64
	rows := twinned(8, n, dim)
	path := filepath.Join(t.TempDir(), "index.hnsw")
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i)
	}
	made := newTestIndex(t, dim, Options{M: 3, EfConstruction: 8, ExactBelow: -1, Workers: 2})
	if err := errors.Join(made.AddBatch(ids, rows), made.SaveFile(path)); err != nil {
		t.Fatal(err)
	}
	rounds := 40
	if raceEnabled {
		rounds = 8
	}
	var current atomic.Pointer[Index]
	current.Store(made)
	var finished atomic.Bool
	writer := func() error {
		defer finished.Store(true)
		r := rand.New(rand.NewPCG(1, 8))
		for round := range rounds {
			ix := current.Load()
			for range 1 + r.IntN(n/4) {
				ix.Delete(r.Uint64N(n))
			}
			if err := ix.Compact(context.Background()); err != nil {
				return err
			}
			switch round % 4 {
			case 0:
				for _, id := range ids {
					ix.Delete(id)
				}
				if ix.Len() != 0 {
					return fmt.Errorf("%d are left", ix.Len())
				}
			case 1:
				opened, err := Open(path, OpenOptions{})
				if err != nil {
					return err
				}
				current.Store(opened)
				if err := ix.Close(); err != nil {
					return err
				}
				continue
			}
			if err := ix.AddBatch(ids, rows); err != nil {
				return err
			}
		}
		return nil
	}
	known := func(q []float32, results []Result) error {
		u := unit(q)
		for _, x := range results {
			if want := makeRank(simd.Dot(u, unit(rows[x.ID])), 0).score(); x.Score != want {
				return fmt.Errorf("id %d: score %v, want %v", x.ID, x.Score, want)
			}
		}
		return nil
	}
	unlessClosed := func(err error) error {
		if errors.Is(err, ErrClosed) {
			return nil
		}
		return err
	}
	searcher := func() error {
		r := rand.New(rand.NewPCG(2, 8))
		for !finished.Load() {
			ix, q := current.Load(), rows[r.IntN(n)]
			o := IndexSearchOptions{Exact: r.IntN(2) == 0}
			results, err := ix.Search(q, 1+r.IntN(2*n), o)
			if err := errors.Join(unlessClosed(err), known(q, results)); err != nil {
				return err
			}
			it, err := ix.Iterate(q, o)
			if err != nil {
				if unlessClosed(err) != nil {
					return err
				}
				continue
			}
			for range 3 {
				results, err := it.Next(30, nil)
				if err := errors.Join(err, known(q, results)); err != nil {
					return err
				}
			}
			it.Close()
		}
		return nil
	}
	others := func() error {
		for i := uint64(0); !finished.Load(); i++ {
			ix := current.Load()
			s := ix.Stats()
			if ix.Has(i%n) && s.Slots > 4*n {
				return fmt.Errorf("%+v", s)
			}
			if i%4 == 0 {
				if err := errors.Join(unlessClosed(ix.Save(io.Discard)), unlessClosed(ix.Verify())); err != nil {
					return err
				}
			}
			runtime.GC()
		}
		return nil
	}
	race(t, writer, searcher, searcher, others)
}
