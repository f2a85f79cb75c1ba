package graphstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// Cached answers and small named values are not part of the graph: they are
// written and synced on their own, outside commits, and read in their newest
// state.

// Answer returns the cached answer of a key.
func (s *Store) Answer(key [32]byte) (a format.Answer, ok bool, err error) {
	ok, err = s.small(format.AppendAnswerKey(nil, key), func(b []byte) error { return format.DecodeAnswer(b, &a) })
	return a, ok, opError("read answer", fmt.Sprintf("%x", key[:8]), err)
}

// PutAnswer makes an answer durable. Many goroutines share one sync.
func (s *Store) PutAnswer(key [32]byte, a format.Answer) error {
	err := s.writeSmall(func(b *pebble.Batch) error {
		return b.Set(format.AppendAnswerKey(nil, key), format.AppendAnswer(nil, &a), nil)
	})
	return opError("store answer", fmt.Sprintf("%x", key[:8]), err)
}

// PutAnswers makes many answers durable with one sync; keys are parallel to
// answers.
func (s *Store) PutAnswers(keys [][32]byte, answers []format.Answer) error {
	err := s.writeSmall(func(b *pebble.Batch) error {
		for i := range keys {
			if err := b.Set(format.AppendAnswerKey(nil, keys[i]), format.AppendAnswer(nil, &answers[i]), nil); err != nil {
				return err
			}
		}
		return nil
	})
	return opError("store", fmt.Sprintf("%d answers", len(keys)), err)
}

// DeleteAnswers forgets answers; unknown keys are fine.
func (s *Store) DeleteAnswers(keys ...[32]byte) error {
	err := s.writeSmall(func(b *pebble.Batch) error {
		for _, key := range keys {
			if err := b.Delete(format.AppendAnswerKey(nil, key), nil); err != nil {
				return err
			}
		}
		return nil
	})
	return opError("delete", fmt.Sprintf("%d answers", len(keys)), err)
}

// ClearAnswers forgets all answers.
func (s *Store) ClearAnswers() error {
	err := s.writeSmall(func(b *pebble.Batch) error {
		lower, upper := format.TableBounds(format.TableAnswers)
		return b.DeleteRange(lower, upper, nil)
	})
	return opError("clear", "answers", err)
}

// AnswerStats scans the cache.
func (s *Store) AnswerStats() (st AnswerStats, err error) {
	err = s.withNewest(func(r *rows) error {
		lower, _ := format.TableBounds(format.TableAnswers)
		return r.scan(lower, func(_, value []byte) (bool, error) {
			st.Answers++
			st.Bytes += uint64(len(value))
			return true, nil
		})
	})
	return st, opError("read", "answer cache", err)
}

// Meta returns a value stored by SetMeta.
func (s *Store) Meta(name string) (value []byte, ok bool, err error) {
	ok, err = s.small(format.AppendMetaKey(nil, metaUser+name), func(b []byte) error {
		value = append([]byte{}, b...)
		return nil
	})
	return value, ok, opError("read meta", name, err)
}

// SetMeta makes a small named value durable; nil deletes it. The names are the
// caller's own.
func (s *Store) SetMeta(name string, value []byte) error {
	key := format.AppendMetaKey(nil, metaUser+name)
	err := s.writeSmall(func(b *pebble.Batch) error {
		if value == nil {
			return b.Delete(key, nil)
		}
		return b.Set(key, value, nil)
	})
	return opError("set meta", name, err)
}

// small reads one row of the newest state.
func (s *Store) small(key []byte, decode func([]byte) error) (ok bool, err error) {
	err = s.withNewest(func(r *rows) (err error) {
		ok, err = r.get(key, decode)
		return err
	})
	return ok, err
}

// withNewest reads what has been applied last.
func (s *Store) withNewest(fn func(r *rows) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	snap := s.db.Snapshot()
	defer snap.Close()
	r := newRows(snap)
	err := fn(r)
	if e := r.close(); err == nil {
		err = e
	}
	return err
}

// writeSmall commits rows that are not part of the graph.
func (s *Store) writeSmall(fill func(b *pebble.Batch) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.writers.Done()
	b := s.db.NewBatch()
	if err := fill(b); err != nil {
		return errors.Join(err, b.Close())
	}
	return s.db.Commit(b)
}
