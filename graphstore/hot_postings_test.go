package graphstore

import (
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

// TestCommonTermsAreWrittenAsAWhole makes many small commits of one term: a
// reader must not meet them all, nor miss one.
func TestCommonTermsAreWrittenAsAWhole(t *testing.T) {
	s, _ := opened(t, vfs.NewMem(), nil)
	want := make(map[uint32]int)
	sets := 0
	for i := range 5 * hotEdits {
		owner := uint32(i*37) % 300
		count := uint8((i + i/300) % 3) // not that of the last time
		if want[owner] = int(count); count == 0 {
			delete(want, owner)
		}
		if _, err := s.write(func(tx *txn) error {
			tx.index(format.KindChunk, owner, []termEdit{{"common", 1, count}})
			if err := tx.writePostings(); err != nil {
				return err
			}
			for r := tx.batch.Reader(); ; {
				kind, _, _, ok, err := r.Next()
				if err != nil || !ok {
					return err
				}
				if kind == pebble.InternalKeyKindSet {
					sets++
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 || i > 4*hotEdits {
			withView(t, s, func(v *View) {
				lists, err := v.Postings(format.KindChunk, []string{"common"}, nil)
				if err != nil || !maps.Equal(postingMap(lists[0]), want) {
					t.Fatalf("after %d commits: %v, want %v, %v", i+1, lists[0], want, err)
				}
			})
		}
	}
	if sets != 5 {
		t.Errorf("written as a whole %d times", sets)
	}
}
