package hnsw

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
)

// Neither a batch nor the number of workers is to be seen in a graph.
func TestABatchIsAppendedAsOneAfterTheOther(t *testing.T) {
	const n, dim = 900, 64
	o := Options{ExactBelow: -1, Seed: 5, EfConstruction: 20}
	rows := clusters(301, n, dim)
	want := newTestGraph(t, dim, o)
	appendAll(t, want, rows)
	linkAll(t, want)
	for _, workers := range []int{0, 1, 3, 50} {
		g := newTestGraph(t, dim, o)
		for from, n := range []int{600, 0, 1, 299} {
			first, err := g.AppendBatch(rows[g.Bound():][:n], workers)
			if err != nil || int(first) != []int{0, 600, 600, 601}[from] {
				t.Fatalf("%d workers, batch %d: first slot %d, %v", workers, from, first, err)
			}
		}
		linkAll(t, g)
		for slot := range uint32(n) {
			if !sameBits(g.Row(slot), want.Row(slot)) {
				t.Fatalf("%d workers: row %d differs", workers, slot)
			}
		}
		var got, expected bytes.Buffer
		if err := errors.Join(g.Save(&got, nil), want.Save(&expected, nil)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), expected.Bytes()) {
			t.Errorf("%d workers: another graph", workers)
		}
	}
}

func sameBits(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// One bad vector, the first of several, refuses the batch.
func TestABatchIsAppendedAsAWholeOrNotAtAll(t *testing.T) {
	const n, dim = 1000, 8
	rows := clusters(302, n, dim)
	rows[600], rows[998] = make([]float32, dim), []float32{1}
	for _, workers := range []int{1, 4} {
		g := newTestGraph(t, dim, Options{})
		_, err := g.AppendBatch(rows, workers)
		if !errors.Is(err, ErrZeroVector) || !strings.Contains(err.Error(), "vector 600:") || g.Bound() != 0 {
			t.Errorf("%d workers: %v, %d slots", workers, err, g.Bound())
		}
		ix := newTestIndex(t, dim, Options{Workers: workers})
		ids := make([]uint64, n)
		for i := range ids {
			ids[i] = uint64(i) + 7000
		}
		if err := ix.AddBatch(ids, rows); !errors.Is(err, ErrZeroVector) || !strings.Contains(err.Error(), "add 7600:") || ix.Len() != 0 {
			t.Errorf("%d workers: %v, %d ids", workers, err, ix.Len())
		}
	}
}

// All slots of a batch appear at once, with their rows and codes.
func TestABatchIsAppendedBesideSearches(t *testing.T) {
	const n, dim, batch = 6000, 64, 1500
	rows := clusters(303, n, dim)
	g := newTestGraph(t, dim, Options{ExactBelow: -1})
	var done atomic.Bool
	writer := func() error {
		defer done.Store(true)
		for from := 0; from < n; from += batch {
			if _, err := g.AppendBatch(rows[from:from+batch], 3); err != nil {
				return err
			}
		}
		return nil
	}
	searcher := func() error {
		for i := 0; !done.Load() || i < 10; i++ {
			bound := g.Bound()
			if bound%batch != 0 {
				return fmt.Errorf("%d slots are part of a batch", bound)
			}
			if bound == 0 {
				continue
			}
			at := uint32(i*37) % bound
			hits, err := g.Search(rows[at], 1, SearchOptions{}, nil)
			if err != nil || len(hits) != 1 || hits[0].Slot != at {
				return fmt.Errorf("row %d of %d: %v, %v", at, bound, hits, err)
			}
		}
		return nil
	}
	race(t, writer, searcher, searcher)
}
