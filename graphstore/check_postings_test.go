package graphstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lightctl/lightrag/format"
)

func TestCheckFindsWrongPostings(t *testing.T) {
	ctx := context.Background()
	for name, edit := range map[string]struct {
		term  string
		value []byte
		want  string
	}{
		"too many":    {"beta", edit(t, 1, 3), "entity 1 has it 3 times, its text 0 times"},
		"another":     {"alpha", edit(t, 1, 9), "entity 1 has it 9 times, its text 2 times"},
		"missing":     {"alpha", edit(t, 1, 0), "entity 1 has it 0 times, its text 2 times"},
		"no owner":    {"alpha", edit(t, 77, 1), "entity 77 has it 1 times, its text 0 times"},
		"other shard": {"alpha", edit(t, 4097, 1), "entity 4097 has it 1 times"},
		"damaged":     {"alpha", []byte{1, 1}, "corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t, vfs.NewMem(), nil)
			insert(t, s, oneChunk("a", "Alpha"))
			checked(t, s)
			shard := uint32(0)
			if name == "other shard" {
				shard = 1
			}
			if _, err := s.write(func(tx *txn) error {
				tx.dirty = true
				return tx.batch.Merge(format.AppendPostingsKey(nil, format.KindEntity, edit.term, shard), edit.value, nil)
			}); err != nil {
				t.Fatal(err)
			}
			found, err := s.Check(ctx, true)
			if err != nil || len(found) == 0 || !strings.Contains(fmt.Sprint(found), edit.want) {
				t.Errorf("%v, %v; want %q", found, err, edit.want)
			}
			if found, err := s.Check(ctx, false); err != nil || len(found) > 0 {
				t.Errorf("not deep: %v, %v", found, err)
			}
			v, err := s.View()
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			_, err = v.Postings(format.KindEntity, []string{edit.term}, nil)
			if damaged := name == "damaged"; errors.Is(err, ErrCorrupt) != damaged || (err != nil) != damaged {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

func edit(t testing.TB, owner uint32, count uint8) []byte {
	b, err := format.AppendPostings(nil, []format.Posting{{Owner: owner, Count: count}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
