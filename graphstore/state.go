package graphstore

import (
	"sync/atomic"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// state is what one commit made: the columns, the snapshot of the rows, and
// the counters, all of one sequence number. It is immutable but for its
// reference count, which starts at one for the store itself. The snapshot is
// closed when the last reference goes.
type state struct {
	s        *Store
	seq      uint64
	n        format.Counters
	cols     *columns.Columns
	snap     *durable.Snapshot
	bounds   [4]uint32 // slots per kind
	stale    uint64    // owners in the stale table
	buffered uint64    // bytes of vectors that are in no segment

	refs atomic.Int64

	// Publication: a state waits for the one that it was built on.
	prev   *state
	done   chan struct{} // closed when the state is published or dropped
	failed bool          // set before done is closed
}

// acquire returns the newest published state with one more reference. The
// count is never raised from zero: then the state has just been replaced, and
// the next look finds its successor.
func (s *Store) acquire() (*state, error) {
	for {
		st := s.current.Load()
		if st == nil {
			return nil, ErrClosed
		}
		if st.hold() {
			return st, nil
		}
	}
}

// hold adds a reference, unless there is none left.
func (st *state) hold() bool {
	for {
		n := st.refs.Load()
		if n == 0 {
			return false
		}
		if st.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives one reference back.
func (st *state) release() {
	if st.refs.Add(-1) == 0 {
		st.snap.Close()
		st.s.forget(st)
	}
}

// remember and forget keep the set of states that hold a snapshot.
func (s *Store) remember(st *state) {
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	s.live[st] = struct{}{}
}

func (s *Store) forget(st *state) {
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	delete(s.live, st)
	if len(s.live) == 0 && s.drained != nil {
		close(s.drained)
		s.drained = nil
	}
}

// readers counts the references that views and running reads hold, and finds
// the oldest state that is held by one.
func (s *Store) readers() (n int, oldest uint64, states int) {
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	current := s.current.Load()
	for st := range s.live {
		refs := int(st.refs.Load())
		if st == current {
			refs-- // the store's own
		}
		if refs > 0 && (n == 0 || st.seq < oldest) {
			oldest = st.seq
		}
		n += max(refs, 0)
	}
	return n, oldest, len(s.live)
}
