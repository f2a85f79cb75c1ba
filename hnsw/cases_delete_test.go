package hnsw_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/hnsw"
)

// unum-cloud/USearch#399: replacing the vector that was added first hid all others.
func TestReplacingTheFirstHidesNoOther(t *testing.T) {
	rows := mixture(1, 400, 8)
	ix := newIndex(t, 8, walking)
	for id, v := range rows {
		add(t, ix, id, v)
	}
	for _, v := range mixture(2, 30, 8) {
		rows[0] = v
		add(t, ix, 0, v)
		if _, recall := find(t, ix, rows, v, 400, hnsw.IndexSearchOptions{}); recall != 1 {
			t.Fatalf("recall %v", recall)
		}
	}
	if away := lost(t, ix, rows, 64); len(away) > 0 {
		t.Errorf("not found: %v", away)
	}
}

// unum-cloud/USearch#445: after all was deleted and added anew, results had wrong keys. coder/hnsw#10: the first
// addition after the last deletion was a nil dereference.
func TestAnIndexEmptiedByDeletionsIsAsNew(t *testing.T) {
	for _, o := range []hnsw.Options{walking, {}} {
		ix := newIndex(t, 8, o)
		for round := range 3 {
			n := 150 + 50*round
			rows := mixture(uint64(3+round), n, 8)
			for id, v := range rows {
				add(t, ix, id, v)
			}
			if away := lost(t, ix, rows, 64); len(away) > 0 {
				t.Fatalf("round %d: not found: %v", round, away)
			}
			q := rows[n/2]
			for i := range n {
				remove(t, ix, rows, (i*7+round)%n) // n is no multiple of 7
			}
			if got, err := ix.Search(q, 5, hnsw.IndexSearchOptions{}); err != nil || len(got) != 0 || ix.Len() != 0 {
				t.Fatalf("round %d: %v, %v, length %d", round, got, err, ix.Len())
			}
			if ix.Delete(3) || ix.Has(3) {
				t.Fatalf("round %d: id 3 is still there", round)
			}
		}
	}
}

// coder/hnsw#13: a node that a higher layer still pointed to was gone, and the next search panicked. With M 2 half of
// the nodes are on higher layers.
func TestDeletionsLeaveNoLayerPointingNowhere(t *testing.T) {
	rows := mixture(6, 500, 8)
	ix := newIndex(t, 8, hnsw.Options{ExactBelow: -1, M: 2, EfConstruction: 20})
	r := random(7)
	for step := range 1500 {
		id := r.IntN(len(rows))
		if ix.Has(uint64(id)) {
			if !ix.Delete(uint64(id)) {
				t.Fatal(id)
			}
		} else {
			add(t, ix, id, rows[id])
		}
		if step%50 == 0 {
			now := slices.Clone(rows)
			for id := range now {
				if !ix.Has(uint64(id)) {
					now[id] = nil
				}
			}
			find(t, ix, now, rows[id], 600, hnsw.IndexSearchOptions{})
			find(t, ix, now, rows[id], 5, hnsw.IndexSearchOptions{Ef: 5})
		}
	}
}

// ruvnet/RuVector#930: after the entry was deleted there was a result with an empty id. Whichever vector the entry
// is, its turn comes.
func TestDeletingOneAfterTheOtherNeverLeavesAPhantom(t *testing.T) {
	rows := mixture(8, 200, 8)
	ix := indexOf(t, rows, walking)
	for id, v := range slices.Clone(rows) {
		remove(t, ix, rows, id)
		if _, recall := find(t, ix, rows, v, 205, hnsw.IndexSearchOptions{}); recall != 1 {
			t.Fatalf("after %d: recall %v", id, recall)
		}
		find(t, ix, rows, v, 1, hnsw.IndexSearchOptions{Ef: 1})
	}
}

// pgvector/pgvector#244, #239: ef was used up by dead tuples, and nothing was left to return. Here nearly all that
// is near the queries dies. Recall is to be that of an index of those alone that are left, but for 0.05.
func TestTheDeadDoNotUseUpEf(t *testing.T) {
	for name, reload := range map[string]bool{"deleted": false, "deleted, saved and loaded": true} {
		rows, queries := split(9, 3000, 20, 16)
		ix := indexOf(t, rows, walking)
		for _, q := range queries {
			got, err := ix.Search(q, 100, hnsw.IndexSearchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range got {
				remove(t, ix, rows, int(r.ID))
			}
		}
		if reload {
			ix = loaded(t, saved(t, ix))
		}
		got := meanRecall(t, ix, rows, queries, 10, hnsw.IndexSearchOptions{Ef: 10})
		want := meanRecall(t, indexOf(t, rows, walking), rows, queries, 10, hnsw.IndexSearchOptions{Ef: 10})
		t.Logf("%s: recall@10 with ef 10 %.4f, %.4f without the dead, %d live", name, got, want, ix.Len())
		if got < want-0.05 {
			t.Errorf("%s: recall@10 with ef 10 is %.4f, %.4f without the dead", name, got, want)
		}
	}
}

// nmslib/hnswlib PR#487: a slot that was used again, under a label that was there, left two vectors with one label.
func TestAnIdIsThereOnceHoweverOftenItIsReplaced(t *testing.T) {
	r := random(10)
	fresh := mixture(11, 2000, 8)
	rows := make([][]float32, 40)
	ix := newIndex(t, 8, walking)
	for step, v := range fresh {
		id := r.IntN(len(rows))
		switch {
		case step%3 == 2 && rows[id] != nil:
			remove(t, ix, rows, id)
		case step%5 == 4: // the later vector of a batch stays
			if err := ix.AddBatch([]uint64{uint64(id), uint64(id)}, [][]float32{fresh[0], v}); err != nil {
				t.Fatal(err)
			}
			rows[id] = v
		default:
			add(t, ix, id, v)
			rows[id] = v
		}
		if step%500 == 250 {
			if err := ix.Compact(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if step%20 == 0 {
			find(t, ix, rows, v, 50, hnsw.IndexSearchOptions{})
			find(t, ix, rows, v, 50, hnsw.IndexSearchOptions{Exact: true})
		}
	}
	want := 0
	for _, v := range rows {
		if v != nil {
			want++
		}
	}
	if ix.Len() != want {
		t.Errorf("length %d, want %d", ix.Len(), want)
	}
}

// weaviate/weaviate PR#13031: an entry that was dead and had no node stopped the clean-up for ever, behind a recover.
// Everything that was there first dies, the entry of any layer with it.
func TestCleaningUpAfterTheEntryDiedComesToAnEnd(t *testing.T) {
	rows := append(mixture(12, 600, 8), mixture(13, 60, 8)...)
	for _, reload := range []bool{false, true} {
		rows := slices.Clone(rows)
		ix := indexOf(t, rows, walking)
		for id := range 600 {
			remove(t, ix, rows, id)
		}
		if reload {
			ix = loaded(t, saved(t, ix))
		}
		if away := lost(t, ix, rows, 64); len(away) > 0 {
			t.Errorf("before: not found: %v", away)
		}
		if err := ix.Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
		if s := ix.Stats(); s.Slots != 60 || s.Dead != 0 || s.Linked != 60 || s.Layers == 0 {
			t.Errorf("after: %+v", s)
		}
		if _, recall := find(t, ix, rows, rows[600], 100, hnsw.IndexSearchOptions{}); recall != 1 {
			t.Errorf("after: recall %v", recall)
		}
		add(t, ix, 0, mixture(14, 1, 8)[0])
		if ix.Len() != 61 {
			t.Errorf("length %d", ix.Len())
		}
	}
}
