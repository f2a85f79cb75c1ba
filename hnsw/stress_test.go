package hnsw

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lightctl/lightrag/hnsw/simd"
)

// Writes of every kind, searches, iterators and reopened files beside one another: no id comes twice, every score is
// that of a vector the id has had, and in the end the graph is in shape. LIGHTRAG_STRESS is a number of seconds to go
// on for.
func TestEverythingBesideEverything(t *testing.T) {
	for _, dim := range []int{24, 64} { // without codes, and with them
		t.Run(fmt.Sprint(dim), func(t *testing.T) { stress(t, dim) })
	}
}

func stress(t *testing.T, dim int) {
	secs, _ := strconv.Atoi(os.Getenv("LIGHTRAG_STRESS"))
	most := int64(3000)
	if raceEnabled {
		most = 500
	}
	const n, vers = 700, 3
	base := clusters(1, n, dim)
	r0 := rand.New(rand.NewPCG(1, 2))
	var vecs [n][vers][]float32
	for i := range vecs {
		for v := range vers {
			vecs[i][v] = moved(r0, unit(base[i]), []float64{1, 0.95, 0.6}[v])
		}
	}
	for i := 0; i < 100; i++ { // copies
		vecs[i*3][0] = vecs[0][0]
		vecs[i*3][1] = vecs[0][1]
	}
	path := filepath.Join(t.TempDir(), "x")
	ix0 := newTestIndex(t, dim, Options{M: 2, EfConstruction: 30, ExactBelow: -1})
	for i := range n {
		if err := ix0.Add(uint64(i), vecs[i][r0.IntN(vers)]); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < n; i += 5 {
		ix0.Delete(uint64(i))
	}
	if err := ix0.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	var current atomic.Pointer[Index]
	first, err := Open(path, OpenOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	current.Store(first)
	var finished atomic.Bool
	seed := uint64(1)
	if secs > 0 {
		seed = uint64(time.Now().UnixNano())
	}
	end := time.Now().Add(time.Duration(secs) * time.Second)
	var ops, searches, its, reopened atomic.Int64
	writer := func() error {
		defer finished.Store(true)
		r := rand.New(rand.NewPCG(3, seed))
		for ops.Load() < most || time.Now().Before(end) {
			ix := current.Load()
			ops.Add(1)
			var err error
			switch x := r.IntN(1000); {
			case x < 500:
				i := r.IntN(n)
				err = ix.Add(uint64(i), vecs[i][r.IntN(vers)])
			case x < 900:
				ix.Delete(uint64(r.IntN(n)))
			case x < 980:
				var ids []uint64
				var vs [][]float32
				for range r.IntN(40) {
					i := r.IntN(n)
					ids, vs = append(ids, uint64(i)), append(vs, vecs[i][r.IntN(vers)])
				}
				err = ix.AddBatch(ids, vs)
			case x < 985:
				err = ix.SaveChanges()
			case x < 987:
				err = ix.SaveFile(path)
			case x < 989 && r.IntN(20) == 0:
				err = ix.Compact(context.Background())
			case x < 990:
				err = ix.Verify()
			case x < 992:
				if err = ix.SaveChanges(); err == nil {
					var next *Index
					if next, err = Open(path, OpenOptions{Workers: r.IntN(3), Verify: r.IntN(3) == 0}); err == nil {
						if a, b := ix.Len(), next.Len(); a != b {
							return fmt.Errorf("%d, reopened %d", a, b)
						}
						current.Store(next)
						reopened.Add(1)
						err = ix.Close()
					}
				}
			}
			if err != nil {
				return fmt.Errorf("writer: %w", err)
			}
		}
		return nil
	}
	check := func(q []float32, res []Result) error {
		u := unit(q)
		seen := map[uint64]bool{}
		for i, h := range res {
			if seen[h.ID] {
				return fmt.Errorf("id %d twice", h.ID)
			}
			seen[h.ID] = true
			if i > 0 && (res[i-1].Score < h.Score || res[i-1].Score == h.Score && res[i-1].ID > h.ID) {
				return fmt.Errorf("order")
			}
			ok := false
			for _, v := range vecs[h.ID] {
				if s := makeRank(simd.Dot(u, unit(v)), 0).score(); s == h.Score {
					ok = true
				}
			}
			if !ok {
				return fmt.Errorf("id %d: score %v", h.ID, h.Score)
			}
		}
		return nil
	}
	reader := func(reader uint64) func() error {
		return func() error {
			r := rand.New(rand.NewPCG(reader, seed))
			for !finished.Load() {
				ix := current.Load()
				q := vecs[r.IntN(n)][r.IntN(vers)]
				o := IndexSearchOptions{Exact: r.IntN(4) == 0}
				switch r.IntN(4) {
				case 0:
					o.Accept = func(id uint64) bool { return id%3 == 0 }
				case 1:
					o.Allow = roaring64.New()
					from := uint64(r.IntN(n))
					o.Allow.AddRange(from, from+uint64(r.IntN(n)))
				}
				if r.IntN(5) > 0 {
					k := 1 + r.IntN(30)
					res, err := ix.Search(q, k, o)
					if errors.Is(err, ErrClosed) {
						continue
					}
					if err == nil {
						err = check(q, res)
					}
					if err == nil && len(res) < k && o.Accept == nil && o.Allow == nil && ix.Len() > 200 {
						err = fmt.Errorf("%d of %d", len(res), k)
					}
					if err != nil {
						return fmt.Errorf("search: %w", err)
					}
					searches.Add(1)
					continue
				}
				it, err := ix.Iterate(q, o)
				if errors.Is(err, ErrClosed) {
					continue
				}
				if err != nil {
					return fmt.Errorf("iterate: %w", err)
				}
				seen := map[uint64]bool{}
				for range 1 + r.IntN(60) {
					res, err := it.Next(1+r.IntN(30), nil)
					if err == nil {
						err = check(q, res)
					}
					if err != nil {
						return fmt.Errorf("next: %w", err)
					}
					for _, h := range res {
						if seen[h.ID] {
							return fmt.Errorf("iterator: id %d twice", h.ID)
						}
						seen[h.ID] = true
					}
					if len(res) == 0 {
						break
					}
				}
				its.Add(1)
				if r.IntN(10) > 0 {
					it.Close()
				}
			}
			return nil
		}
	}
	race(t, writer, reader(1), reader(2), reader(3))
	ix := current.Load()
	ix.cur.g.Repair()
	checkShape(t, ix.cur.g)
	t.Log(seed, ops.Load(), searches.Load(), its.Load(), reopened.Load(), fmt.Sprintf("%+v", ix.Stats()))
}
