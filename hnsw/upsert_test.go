package hnsw

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// moved returns a unit vector whose cosine with the unit vector v is c.
func moved(r *rand.Rand, v []float32, c float64) []float32 {
	side := gaussian(r, len(v), nil, 1)
	var along, n float64
	for i := range v {
		along += float64(side[i]) * float64(v[i])
	}
	for i := range v {
		side[i] -= float32(along) * v[i]
		n += float64(side[i]) * float64(side[i])
	}
	for i := range v {
		side[i] = float32(c)*v[i] + float32(math.Sqrt((1-c*c)/n))*side[i]
	}
	return unit(side)
}

// indexRecall is recall@10 against an exact search.
func indexRecall(t testing.TB, ix *Index, queries [][]float32, ef int) float64 {
	t.Helper()
	found, total := 0, 0
	for _, q := range queries {
		want, err := ix.Search(q, 10, IndexSearchOptions{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ix.Search(q, 10, IndexSearchOptions{Ef: ef})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d results, want %d, %v", len(got), len(want), err)
		}
		for _, r := range got {
			if r.Score >= want[len(want)-1].Score {
				found++
			}
		}
		total += len(want)
	}
	return float64(found) / float64(total)
}

// USearch#399, hnswlib PR#487. The same few vectors are replaced again and again, as counters and summaries are.
func TestManyUpsertsOfTheSameVectors(t *testing.T) {
	const n, dim, hot, rounds = 4000, 64, 20, 100
	rows := clusters(60, n, dim)
	for i := range rows {
		rows[i] = unit(rows[i])
	}
	base := slices.Clone(rows[:hot])
	ix := filled(t, rows, Options{ExactBelow: -1, Workers: 2})
	r := rand.New(rand.NewPCG(61, 61))
	most := 0
	for range rounds {
		for i := range base {
			rows[i] = moved(r, base[i], 0.97)
			if err := ix.Add(uint64(i)+1<<40, rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		most = max(most, int(ix.cur.g.Bound()))
	}
	if most > n+n/10 {
		t.Errorf("%d slots for %d vectors", most, n)
	}
	var near [][]float32
	for i := range base {
		near = append(near, moved(r, rows[i], 0.8), moved(r, rows[i], 0.8), moved(r, rows[i], 0.8))
	}
	fresh := filled(t, rows, Options{ExactBelow: -1, Workers: 2})
	for name, queries := range map[string][][]float32{"near": near, "anywhere": clusters(62, 100, dim)} {
		got, want := indexRecall(t, ix, queries, 32), indexRecall(t, fresh, queries, 32)
		t.Logf("%s: recall %.4f, built anew %.4f", name, got, want)
		if got < want-0.02 {
			t.Errorf("%s: recall %.4f, built anew %.4f", name, got, want)
		}
	}
	consolidate(t, ix.cur.g)
	if s := ix.Stats(); s.Live != n || s.Dead != s.Slots-n || s.Free != s.Dead || s.Unreachable != 0 {
		t.Errorf("%+v", s)
	}
	before := ix.cur.g.Bound()
	if err := ix.Add(1<<40, rows[0]); err != nil || ix.cur.version.Load() == 0 {
		t.Fatal(err)
	}
	if v := ix.Stats(); v.Dead != int(before)-n {
		t.Errorf("adding what is there changed something: %+v", v)
	}
}

func TestDeletingHalfAndAddingItAgain(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
	const n, dim = 4000, 64
	rows := clusters(63, n, dim)
	ix := filled(t, rows, Options{ExactBelow: -1, EfConstruction: 100})
	r := rand.New(rand.NewPCG(64, 64))
	order := r.Perm(n)[:n/2]
	for _, i := range order {
		if !ix.Delete(uint64(i) + 1<<40) {
			t.Fatalf("%d is not there", i)
		}
	}
	if s := ix.Stats(); s.Live != n/2 || s.Free < n/4 {
		t.Errorf("%+v", s)
	}
	for _, i := range order {
		if err := ix.Add(uint64(i)+1<<40, rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	s := ix.Stats()
	if s.Live != n || s.Slots > n+n/10 {
		t.Errorf("%+v", s)
	}
	queries := clusters(65, 200, dim)
	fresh := filled(t, rows, Options{ExactBelow: -1, EfConstruction: 100})
	got, want := indexRecall(t, ix, queries, 40), indexRecall(t, fresh, queries, 40)
	t.Logf("recall %.4f, built anew %.4f, %+v", got, want, s)
	if got < 0.98*want {
		t.Errorf("recall %.4f, built anew %.4f", got, want)
	}
	ix.cur.g.Repair()
	checkShape(t, ix.cur.g)
	if lost := unreachable(ix.cur.g); lost != 0 {
		t.Errorf("%d unreachable", lost)
	}
}

// With M 2, every other slot reaches an upper layer, and many an heir a higher one than whom it replaces.
func TestHeirsThatReachHigherAreLinkedOnEveryLayer(t *testing.T) {
	const n, dim = 300, 64
	rows := clusters(68, n, dim)
	ix := filled(t, rows, Options{ExactBelow: -1, M: 2, EfConstruction: 20})
	r := rand.New(rand.NewPCG(69, 69))
	for range 5 {
		for i, v := range rows {
			if err := ix.Add(uint64(i)+1<<40, moved(r, unit(v), 0.97)); err != nil {
				t.Fatal(err)
			}
		}
		checkShape(t, ix.cur.g)
	}
}

// Vectors say who they are and of which version: every one that a search returns was its id's at that time, each id is
// returned once, and those of a batch come together.
func TestSlotsAreUsedAgainBesideSearches(t *testing.T) {
	const n, dim, batch = 120, 8, 4
	vec := func(id, version int) []float32 {
		r := rand.New(rand.NewPCG(uint64(id), uint64(version)))
		return gaussian(r, dim, nil, 1)
	}
	ix := newTestIndex(t, dim, Options{ExactBelow: -1, M: 4, EfConstruction: 16})
	var first, last [n / batch]atomic.Int64 // versions of a group: begun, and finished
	write := func(group, version int) error {
		var ids []uint64
		var vecs [][]float32
		for i := range batch {
			ids = append(ids, uint64(group*batch+i))
			vecs = append(vecs, vec(group*batch+i, version))
		}
		first[group].Store(int64(version))
		if err := ix.AddBatch(ids, vecs); err != nil {
			return err
		}
		last[group].Store(int64(version))
		return nil
	}
	for group := range n / batch {
		if err := write(group, 1); err != nil {
			t.Fatal(err)
		}
	}
	var finished atomic.Bool
	var versions [n / batch]int
	writer := func() error {
		defer finished.Store(true)
		r := rand.New(rand.NewPCG(66, 66))
		for i := range 1500 {
			group := r.IntN(n / batch)
			versions[group]++
			if err := write(group, versions[group]+1); err != nil {
				return err
			}
			if i%300 == 299 {
				if _, err := ix.cur.g.Consolidate(context.Background()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	reader := func(seed uint64, exact bool) func() error {
		return func() error {
			r := rand.New(rand.NewPCG(seed, 67))
			q := gaussian(r, dim, nil, 1)
			for !finished.Load() {
				var from [n / batch]int64
				for g := range from {
					from[g] = last[g].Load()
				}
				got, err := ix.Search(q, n+5, IndexSearchOptions{Exact: exact})
				if err != nil || len(got) != n {
					return fmt.Errorf("%d results, %w", len(got), err)
				}
				seen := map[int]int64{}
				for _, hit := range got {
					group := int(hit.ID) / batch
					to, version := first[group].Load(), int64(0)
					for v := from[group]; v <= to && version == 0; v++ {
						if s := oneScore(q, vec(int(hit.ID), int(v))); s == hit.Score {
							version = v
						}
					}
					if version == 0 {
						return fmt.Errorf("id %d: score %v is of none of versions %d to %d", hit.ID, hit.Score, from[group], to)
					}
					if v, ok := seen[group]; ok && v != version {
						return fmt.Errorf("group %d: versions %d and %d", group, v, version)
					}
					seen[group] = version
				}
				slices.SortFunc(got, func(a, b Result) int { return int(a.ID) - int(b.ID) })
				for i, hit := range got {
					if hit.ID != uint64(i) {
						return fmt.Errorf("id %d in place %d", hit.ID, i)
					}
				}
			}
			return nil
		}
	}
	race(t, writer, reader(1, false), reader(2, true))
	// How many slots it took depends on how long searches were kept from ending. From now on there are none.
	var bounds [2]uint32
	for i, rounds := range []int{3, 20} {
		for range rounds {
			for group := range n / batch {
				versions[group]++
				if err := write(group, versions[group]+1); err != nil {
					t.Fatal(err)
				}
			}
		}
		bounds[i] = ix.cur.g.Bound()
	}
	if bounds[1] > bounds[0]+n/10 {
		t.Errorf("%d slots for %d vectors, %d after replacing all of them 20 times", bounds[0], n, bounds[1])
	}
}

// oneScore is the score that a search for q gives v.
func oneScore(q, v []float32) float32 {
	g, err := NewGraph(len(v), Options{})
	if err != nil {
		return 0
	}
	if _, err = g.Append(v); err != nil {
		return 0
	}
	return g.Score(0, unit(q))
}

func BenchmarkUpsert(b *testing.B) {
	g, queries := benchGraph()
	rows := make([][]float32, g.Bound())
	for i := range rows {
		rows[i] = g.Row(uint32(i))
	}
	const hot = 50
	for _, c := range []float64{0.97, 0.5} {
		b.Run(fmt.Sprintf("cosine=%v", c), func(b *testing.B) {
			ix := filled(b, rows, Options{Workers: 2})
			r := rand.New(rand.NewPCG(1, 1))
			next := make([][]float32, 1000)
			for i := range next {
				next[i] = moved(r, rows[i%hot], c)
			}
			start := threadTime(b)
			i := 0
			for b.Loop() {
				if err := ix.Add(uint64(i%hot)+1<<40, next[i%len(next)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(threadTime(b)-start)/float64(b.N)/1000, "cpu-us")
			b.ReportMetric(float64(ix.cur.g.Bound())/float64(len(rows)), "slots/vector")
			b.ReportMetric(indexRecall(b, ix, queries[:100], 64), "recall@10")
		})
	}
}

// BenchmarkDelete deletes and adds by turns, so that the index stays as large.
func BenchmarkDelete(b *testing.B) {
	g, _ := benchGraph()
	rows := make([][]float32, g.Bound())
	for i := range rows {
		rows[i] = g.Row(uint32(i))
	}
	ix := filled(b, rows, Options{Workers: 2})
	r := rand.New(rand.NewPCG(2, 2))
	var deleting float64
	for b.Loop() {
		i := r.IntN(len(rows))
		start := threadTime(b)
		ix.Delete(uint64(i) + 1<<40)
		deleting += float64(threadTime(b) - start)
		if err := ix.Add(uint64(i)+1<<40, rows[i]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(deleting/float64(b.N)/1000, "cpu-us/delete")
}

func BenchmarkConsolidate(b *testing.B) {
	for _, share := range []float64{0.06, 0.5} {
		b.Run(fmt.Sprintf("dead=%v", share), func(b *testing.B) {
			rows := clusters(3, 5000, 384)
			taken := 0
			for b.Loop() {
				b.StopTimer()
				g := built(b, rows, Options{})
				killRandom(g, 1, share)
				b.StartTimer()
				n, err := g.Consolidate(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				taken += n
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(taken), "us/dead")
		})
	}
}
