package graphstore

import (
	"errors"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// sealer moves buffered vectors into segments, one run at a time.
type sealer struct {
	group   sync.WaitGroup
	run     sync.Mutex // held by the run
	busy    bool       // under Store.mu
	atLeast uint64     // under Store.mu: after a failure, the bytes that start the next run
}

// maybeSeal starts a run in the background when enough vectors are buffered.
func (s *Store) maybeSeal(buffered uint64) {
	if buffered < uint64(s.opts.SealBytes) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sealer.busy || buffered < s.sealer.atLeast || s.closed.Load() || s.overtaken.Load() != nil {
		return
	}
	s.sealer.busy = true
	s.sealer.group.Add(1)
	go func() {
		defer s.sealer.group.Done()
		err := s.sealVectors()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sealer.busy = false
		if s.sealer.atLeast = 0; err != nil {
			s.sealer.atLeast = buffered + uint64(s.opts.SealBytes)
			s.log.Warn("sealing vectors", "error", err)
		}
	}()
}

// lastSeal seals at Close what is worth a file of its own.
func (s *Store) lastSeal() {
	if s.opts.ReadOnly || s.db.Health() != nil || s.overtaken.Load() != nil || s.newest.buffered < uint64(s.opts.SealBytes)/16 {
		return
	}
	if err := s.sealVectors(); err != nil {
		s.log.Warn("sealing vectors", "error", err)
	}
}

// sealVectors writes the buffered vectors that still belong to their owners
// into one segment and drops the others.
func (s *Store) sealVectors() error {
	s.sealer.run.Lock()
	defer s.sealer.run.Unlock()
	if s.overtaken.Load() != nil { // nobody will read them
		return nil
	}
	s.mu.Lock()
	st := s.newest
	held := st.hold()
	s.mu.Unlock()
	if !held {
		return errors.Join(ErrFailed, s.db.Health())
	}
	defer st.release()
	if st.buffered == 0 {
		return nil
	}
	<-st.done
	if st.failed {
		return s.db.Health()
	}
	r := newRows(st.snap)
	defer r.close()
	var readErr error
	next, stop := iter.Pull(buffered(st, r, &readErr))
	defer stop()
	_, err := s.db.Seal(durable.SealOptions{
		Dim: int(s.ident.Dim), UpTo: st.n.NextBuffered,
		Finish: func(b *pebble.Batch, row *format.SegmentRow) error {
			if readErr != nil {
				return errors.Join(readErr, b.Close())
			}
			return s.finishSeal(b, row, st.buffered)
		},
	}, func() (kind Kind, owner, version uint32, vec []float32, ok bool) {
		v, ok := next()
		if !ok {
			return 0, 0, 0, nil, false
		}
		return v.Kind, v.Owner, v.Version, v.Vector, true
	})
	return errors.Join(readErr, err)
}

// buffered yields the live buffered vectors of a state.
func buffered(st *state, r *rows, failed *error) iter.Seq[*format.BufferedVector] {
	errStop := errors.New("stop")
	return func(yield func(*format.BufferedVector) bool) {
		err := durable.Buffered(st.snap, st.n.NextBuffered, func(_ uint64, v *format.BufferedVector) error {
			version, err := r.vectorVersion(v.Kind, v.Owner)
			if err != nil {
				return err
			}
			if version == v.Version && !yield(v) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			*failed = err
		}
	}
}

// vectorVersion returns the version of the owner's vector, 0 if it has none.
func (r *rows) vectorVersion(kind Kind, owner uint32) (uint32, error) {
	if kind == format.KindChunk {
		row, _, _, err := r.chunkRow(ChunkID(owner))
		return row.VectorVersion, err
	}
	rec, _, _, err := r.record(kind, owner)
	return rec.VectorVersion, err
}

// finishSeal commits the batch that publishes a segment.
func (s *Store) finishSeal(b *pebble.Batch, row *format.SegmentRow, bytes uint64) error {
	return s.changeBatch(b, func(tx *txn) {
		tx.next.buffered -= min(bytes, tx.next.buffered)
		if row != nil {
			tx.n.Segments++
		}
	})
}

// changeBatch is change with a batch that is made already, which it owns.
func (s *Store) changeBatch(b *pebble.Batch, op func(tx *txn)) error {
	adopted := false
	_, err := s.change(true, func(tx *txn) error {
		if err := tx.batch.Close(); err != nil {
			return err
		}
		tx.batch, tx.dirty, adopted = b, true, true
		op(tx)
		return nil
	})
	if !adopted {
		err = errors.Join(err, b.Close())
	}
	return err
}
