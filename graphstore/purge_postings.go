package graphstore

import (
	"bytes"
	"context"

	"github.com/lightctl/lightrag/format"
)

const purgeBatch = 4096 // rows per commit

// PurgePostings erases from the disk the terms that occur in no text any more,
// and returns how many rows it deleted. Readers never see such a term; but its
// row, without owners, stays until then, because whoever takes the term out of
// a text does not read who else has it. What older views show stays on the disk
// as long as they are open.
func (s *Store) PurgePostings(ctx context.Context) (deleted int, err error) {
	deleted, err = s.purgePostings(ctx)
	return deleted, opError("purge", "postings", err)
}

func (s *Store) purgePostings(ctx context.Context) (deleted int, err error) {
	if err := s.writable(); err != nil {
		return 0, err
	}
	for from := []byte{byte(format.TablePostings)}; from != nil; {
		if err := ctx.Err(); err != nil {
			return deleted, err
		}
		n := 0
		if _, err := s.write(func(tx *txn) (err error) {
			from, n, err = tx.purgePostings(from)
			return err
		}); err != nil {
			return deleted, err
		}
		deleted += n
	}
	return deleted, s.db.CompactTable(ctx, format.TablePostings)
}

// purgePostings deletes rows without owners, at most purgeBatch of them and
// from a key on. next is where to go on, nil at the end.
func (tx *txn) purgePostings(from []byte) (next []byte, n int, err error) {
	var list PostingList
	err = tx.rows.scanFrom(from, []byte{byte(format.TablePostings)}, func(key, value []byte) (bool, error) {
		_, _, shard, err := format.DecodePostingsKey(key)
		if err != nil {
			return false, err
		}
		if list.Owners, list.Counts, err = format.DecodePostings(list.Owners[:0], list.Counts[:0], shard, value); err != nil || len(list.Owners) > 0 {
			return true, nil // who reads a damaged row is told
		}
		if n == purgeBatch {
			next = bytes.Clone(key)
			return false, nil
		}
		n++
		return true, tx.del(key)
	})
	return next, n, err
}
