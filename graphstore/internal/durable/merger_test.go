package durable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

func postingsKey(term string) []byte {
	return format.AppendPostingsKey(nil, format.KindEntity, term, 0)
}

// mergeRaw merges bytes into the row of a term.
func mergeRaw(t testing.TB, d *DB, term string, value []byte) {
	t.Helper()
	b := d.NewBatch()
	if err := errors.Join(b.Merge(postingsKey(term), value, nil), d.Commit(b)); err != nil {
		t.Fatal(err)
	}
}

func mergeEdit(t testing.TB, d *DB, term string, list ...format.Posting) {
	t.Helper()
	value, err := format.AppendPostings(nil, list)
	if err != nil {
		t.Fatal(err)
	}
	mergeRaw(t, d, term, value)
}

// readPostings reads all rows through an iterator, forwards and backwards.
func readPostings(t testing.TB, r Reader) map[string]map[uint32]uint8 {
	t.Helper()
	it, err := r.NewIter(format.TableBounds(format.TablePostings))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	out := make(map[string]map[uint32]uint8)
	var forwards, backwards []string
	for ok := it.First(); ok; ok = it.Next() {
		_, term, shard, err := format.DecodePostingsKey(it.Key())
		if err != nil {
			t.Fatal(err)
		}
		owners, counts, err := format.DecodePostings(nil, nil, shard, it.Value())
		if err != nil {
			t.Fatal(err)
		}
		row := make(map[uint32]uint8)
		for i := range owners {
			row[owners[i]] = counts[i]
		}
		if len(row) > 0 {
			out[string(term)] = row
		}
		forwards = append(forwards, fmt.Sprintf("%x %x", it.Key(), it.Value()))
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		backwards = append(backwards, fmt.Sprintf("%x %x", it.Key(), it.Value()))
	}
	slices.Reverse(backwards)
	if err := it.Error(); err != nil || !slices.Equal(forwards, backwards) {
		t.Fatalf("%v: %d rows forwards, %d backwards", err, len(forwards), len(backwards))
	}
	return out
}

func compact(t testing.TB, d *DB) {
	t.Helper()
	if err := d.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestPostingsThroughTheTree writes edits at random, with snapshots, flushes
// and compactions in between, and compares what is read with a map.
func TestPostingsThroughTheTree(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		mem := vfs.NewMem()
		d := mustOpen(t, mem, "store", Options{MemTableBytes: 1 << 20})
		now := make(map[string]map[uint32]uint8)
		type old struct {
			snap *Snapshot
			want string
		}
		var snaps []old
		check := func(r Reader, want string) {
			t.Helper()
			if got := fmt.Sprint(readPostings(t, r)); got != want {
				t.Fatalf("seed %d: %s, want %s", seed, got, want)
			}
		}
		for step := range 600 {
			term := string(rune('a' + rng.IntN(4)))
			var list []format.Posting
			for owner := range uint32(6) {
				if rng.IntN(3) == 0 {
					count := uint8(rng.IntN(4))
					if step%100 > 80 {
						count = 0 // rows that vanish
					}
					list = append(list, format.Posting{Owner: owner, Count: count})
				}
			}
			if len(list) > 0 {
				mergeEdit(t, d, term, list...)
				if now[term] == nil {
					now[term] = make(map[uint32]uint8)
				}
				for _, p := range list {
					if now[term][p.Owner] = p.Count; p.Count == 0 {
						delete(now[term], p.Owner)
					}
				}
				if len(now[term]) == 0 {
					delete(now, term)
				}
			}
			switch rng.IntN(30) {
			case 0, 1:
				if err := d.Flush(); err != nil {
					t.Fatal(err)
				}
			case 2:
				compact(t, d)
			case 3:
				snaps = append(snaps, old{d.Snapshot(), fmt.Sprint(now)})
			case 4:
				if len(snaps) > 0 {
					i := rng.IntN(len(snaps))
					check(snaps[i].snap, snaps[i].want)
					snaps[i].snap.Close()
					snaps = slices.Delete(snaps, i, i+1)
				}
			case 5:
				if step%5 == 0 {
					b := d.NewBatch()
					lower, upper := format.TableBounds(format.TablePostings)
					if err := errors.Join(b.DeleteRange(lower, upper, nil), d.Commit(b)); err != nil {
						t.Fatal(err)
					}
					now = make(map[string]map[uint32]uint8)
				}
			}
			check(d, fmt.Sprint(now))
		}
		for _, s := range snaps {
			check(s.snap, s.want)
			s.snap.Close()
		}
		compact(t, d)
		check(d, fmt.Sprint(now))
		mustClose(t, d)
		d = mustOpen(t, mem, "store", Options{})
		check(d, fmt.Sprint(now))
		mustClose(t, d)
	}
}

// TestDeletedPostingsLeaveTheDisk: a compaction forgets terms whose row was
// deleted.
func TestDeletedPostingsLeaveTheDisk(t *testing.T) {
	mem := vfs.NewMem()
	d := mustOpen(t, mem, "store", Options{})
	mergeEdit(t, d, "kept", format.Posting{Owner: 1, Count: 1})
	mergeEdit(t, d, "secretword", format.Posting{Owner: 1, Count: 1}, format.Posting{Owner: 2, Count: 1})
	compact(t, d)
	mergeEdit(t, d, "secretword", format.Posting{Owner: 1, Count: 0})
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	b := d.NewBatch()
	if err := errors.Join(b.Delete(postingsKey("secretword"), nil), d.Commit(b)); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(readPostings(t, d))); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("read before the compaction: %q", got)
	}
	compact(t, d)
	mustClose(t, d)
	for path, content := range files(t, mem, "store") {
		if strings.HasSuffix(path, ".sst") && strings.Contains(content, "secretword") {
			t.Errorf("%s still has the term", path)
		}
	}
}

// TestDamagedPostingsDoNotStopCompactions: bytes that are no postings cost the
// row of their term, and nothing else.
func TestDamagedPostingsDoNotStopCompactions(t *testing.T) {
	d := mustOpen(t, vfs.NewMem(), "store", Options{})
	defer mustClose(t, d)
	mergeEdit(t, d, "damaged", format.Posting{Owner: 1, Count: 1})
	mergeEdit(t, d, "sound", format.Posting{Owner: 1, Count: 1})
	mergeRaw(t, d, "damaged", []byte{1, 2, 3})
	mergeEdit(t, d, "damaged", format.Posting{Owner: 2, Count: 1})
	for round := range 3 {
		_, _, err := decodeRow(t, d, "damaged")
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("round %d: %v", round, err)
		}
		if owners, _, err := decodeRow(t, d, "sound"); err != nil || !slices.Equal(owners, []uint32{1}) {
			t.Errorf("round %d: %v, %v", round, owners, err)
		}
		compact(t, d)
		if err := d.Health(); err != nil {
			t.Fatal(err)
		}
	}
	b := d.NewBatch()
	lower, upper := format.TableBounds(format.TablePostings)
	if err := errors.Join(b.DeleteRange(lower, upper, nil), d.Commit(b)); err != nil {
		t.Fatal(err)
	}
	mergeEdit(t, d, "damaged", format.Posting{Owner: 2, Count: 1})
	compact(t, d)
	if owners, _, err := decodeRow(t, d, "damaged"); err != nil || !slices.Equal(owners, []uint32{2}) {
		t.Errorf("made anew: %v, %v", owners, err)
	}
}

func decodeRow(t testing.TB, d *DB, term string) ([]uint32, []uint8, error) {
	t.Helper()
	value, closer, err := d.Get(postingsKey(term))
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	return format.DecodePostings(nil, nil, 0, value)
}

// TestAStoreWithoutPostingsIsRefused opens what an older version made.
func TestAStoreWithoutPostingsIsRefused(t *testing.T) {
	mem := sealedStore(t, 4)
	if err := mem.Remove("store/SEAL"); err != nil {
		t.Fatal(err)
	}
	if err := mem.RemoveAll("store/kv"); err != nil {
		t.Fatal(err)
	}
	kv, err := pebble.Open("store/kv", &pebble.Options{FS: mem, FormatMajorVersion: formatMajorVersion})
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open("store", Options{FS: mem})
	if want := "store version 1 is older than 2"; !errors.Is(err, ErrInvalid) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
