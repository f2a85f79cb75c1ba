package graphstore

import (
	"bytes"
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// CompactOptions says what goes besides what was deleted.
type CompactOptions struct {
	// Answers drops the cached answers that no chunk in the graph was made from.
	// They may quote documents that were deleted; but those of documents that
	// are not finished are paid for again.
	Answers bool
}

// CompactInfo counts what Compact took out.
type CompactInfo struct {
	Terms   int // rows of postings of terms that occur in no text any more
	Answers int
	Vectors int // in segments, of owners that are gone or have a newer one
}

// Compact rewrites the files without what was deleted or replaced, in time and
// room on the disk in proportion to the store. Readers and writers go on
// meanwhile; what older views show stays as long as they are open, and segments
// that were rewritten until Close, which cuts it short. An interrupted run loses
// nothing, and the next one goes on.
func (s *Store) Compact(ctx context.Context, o CompactOptions) (info CompactInfo, err error) {
	err = s.compact(ctx, o, &info)
	return info, opError("compact", s.dir, err)
}

func (s *Store) compact(ctx context.Context, o CompactOptions, info *CompactInfo) (err error) {
	if err := s.enter(); err != nil { // for segments are published while the store closes, too
		return err
	}
	defer s.writers.Done()
	if info.Terms, err = s.purgePostings(ctx); err != nil {
		return err
	}
	if o.Answers {
		if info.Answers, err = s.dropUnnamedAnswers(ctx); err != nil {
			return err
		}
	}
	if err := s.sealVectors(); err != nil { // which drops buffered ones that nothing names
		return err
	}
	if info.Vectors, err = s.compactSegments(ctx); err != nil {
		return err
	}
	return s.db.Compact(ctx)
}

const purgeBatch = 4096 // rows per commit

// purgePostings deletes the rows of terms that occur in no text any more.
// Readers never see such a term; but its row, without owners, stays until then,
// because whoever takes the term out of a text does not read who else has it.
func (s *Store) purgePostings(ctx context.Context) (deleted int, err error) {
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
	return deleted, nil
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

// dropUnnamedAnswers deletes the cached answers that no chunk row names.
func (s *Store) dropUnnamedAnswers(ctx context.Context) (dropped int, err error) {
	named := make(map[[32]byte]struct{})
	var unnamed [][32]byte
	err = s.withNewest(func(r *rows) error {
		var row format.ChunkRow
		if err := r.table(format.TableChunkRows, func(_, value []byte) error {
			if err := format.DecodeChunkRow(value, &row); err != nil {
				return err
			}
			for _, key := range row.CacheKeys {
				named[key] = struct{}{}
			}
			return ctx.Err()
		}); err != nil {
			return err
		}
		return r.table(format.TableAnswers, func(key, _ []byte) error {
			hash, err := format.DecodeAnswerKey(key)
			if err != nil {
				return err
			}
			if _, ok := named[hash]; !ok {
				unnamed = append(unnamed, hash)
			}
			return ctx.Err()
		})
	})
	if err != nil || len(unnamed) == 0 {
		return 0, err
	}
	return len(unnamed), s.DeleteAnswers(unnamed...)
}

// compactSegments rewrites every segment that holds vectors which are no
// owner's any more.
func (s *Store) compactSegments(ctx context.Context) (dropped int, err error) {
	s.sealer.run.Lock()
	defer s.sealer.run.Unlock()
	st, err := s.acquire()
	if err != nil {
		return 0, err
	}
	defer st.release()
	r := newRows(st.snap)
	defer r.close()
	live := func(kind Kind, owner, version uint32) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		now, err := r.vectorVersion(kind, owner)
		return now == version, err
	}
	for _, seg := range s.db.Segments() {
		if err := s.writable(); err != nil { // Close need not wait for all of them
			return dropped, err
		}
		n, err := s.db.CompactSegment(seg, live, s.publishSegments)
		if err != nil {
			return dropped, err
		}
		dropped += n
	}
	return dropped, nil
}

// publishSegments commits a batch that leaves so many segments more.
func (s *Store) publishSegments(b *pebble.Batch, more int) error {
	return s.changeBatch(b, func(tx *txn) { tx.n.Segments += uint64(more) })
}
