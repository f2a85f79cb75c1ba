package graphstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

const closeWait = 5 * time.Second

// Open opens the store in dir, or creates it. The error matches ErrNotFound
// (MustExist, ReadOnly), ErrLocked, ErrMismatch, ErrCorrupt, ErrTooNew,
// ErrDiskFull or ErrInvalid. A store that was not closed cleanly is verified
// before anything in it is modified. If MaxSources or Summary are not what the
// store was written with, everything derived is derived anew; if Terms has
// another name, so are all postings. Both take time in proportion to the store.
func Open(dir string, o Options) (*Store, error) {
	s, err := open(dir, o)
	if err != nil {
		return nil, opError("open store", dir, err)
	}
	return s, nil
}

func open(dir string, o Options) (_ *Store, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Store{
		opts: o, log: o.Logger, dir: dir, wait: closeWait,
		touched: make(map[uint64]uint64), live: make(map[*state]struct{}),
	}
	var verified *loaded
	s.db, err = durable.Open(dir, durable.Options{
		FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, MustExist: o.MustExist,
		CacheBytes: o.CacheBytes, MemTableBytes: o.MemTableBytes,
		Verify: func(r durable.Reader) (err error) {
			verified, err = s.load(r)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	st, err := s.start(verified)
	if err != nil {
		if st != nil {
			st.snap.Close()
		}
		return nil, errors.Join(err, s.db.Close(format.Counters{}))
	}
	s.newest = st
	s.remember(st)
	s.current.Store(st)
	if err := s.adopt(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// adopt brings what is derived in line with the options.
func (s *Store) adopt() error {
	anew, err := s.adoptPostings()
	if err == nil {
		err = s.rederive()
	}
	if err == nil && anew {
		err = s.indexAll()
	}
	return err
}

// start settles the identity, loads the columns and the vectors, and makes the
// first state. verified is what was loaded before the store was opened for
// writing, nil if nothing was. A state that comes with an error is to be given
// up.
func (s *Store) start(verified *loaded) (*state, error) {
	if err := errors.Join(s.identify(), s.adoptDerivation()); err != nil {
		return nil, err
	}
	var err error
	if s.measure = Measurer(runeMeasurer{}); s.opts.Measure != nil {
		if s.measure, err = s.opts.Measure(s.ident); err != nil {
			return nil, err
		}
	}
	if s.opts.Vectors != nil {
		if s.sink, err = s.opts.Vectors(s.ident, s.indexFiles()); err != nil {
			return nil, err
		}
	}
	st := &state{s: s, snap: s.db.Snapshot(), done: make(chan struct{})}
	close(st.done)
	st.refs.Store(1)
	ld := verified
	if ld == nil || ld.max != s.opts.MaxSources {
		if ld, err = s.load(st.snap); err != nil {
			return st, err
		}
	}
	if err := s.loadVectors(ld); err != nil {
		return st, err
	}
	st.n, st.seq, st.stale, st.buffered = ld.n, ld.n.Commit, ld.stale, ld.buffered
	st.cols = ld.cols.Done()
	if err := ld.cols.Err(); err != nil {
		return st, errors.Join(err, ErrCorrupt)
	}
	if s.sink != nil {
		for kind := 1; kind < len(st.bounds); kind++ {
			st.bounds[kind] = s.sink.Bound(Kind(kind))
		}
	}
	s.hashes, s.twins, s.replacing = ld.hashes, ld.twins, ld.replacing
	s.touchedFrom = st.seq
	return st, nil
}

// identify reads the identity of the store, or gives a new one its own.
func (s *Store) identify() error {
	snap := s.db.Snapshot()
	defer snap.Close()
	r := newRows(snap)
	key := format.AppendMetaKey(nil, metaIdentity)
	found, err := r.get(key, func(b []byte) error { return format.DecodeIdentity(b, &s.ident) })
	if err != nil {
		return err
	}
	if found {
		want := s.opts.Identity
		if s.opts.AnyTokenizer {
			want.Tokenizer = ""
		}
		return sameIdentity(s.ident, want)
	}
	if used, err := r.any(); err != nil || used {
		return errors.Join(err, corruptf("store has no identity"))
	}
	s.ident = s.opts.Identity
	if s.opts.ReadOnly {
		return nil
	}
	if s.ident.Created == 0 {
		s.ident.Created = s.opts.Now().Unix()
	}
	b := s.db.NewBatch()
	n := newCounters()
	if err := errors.Join(
		b.Set(key, format.AppendIdentity(nil, &s.ident), nil),
		b.Set(format.AppendMetaKey(nil, metaCounters), format.AppendCounters(nil, &n), nil),
	); err != nil {
		return errors.Join(err, b.Close())
	}
	if err := s.db.Commit(b); err != nil {
		return err
	}
	return s.db.Flush()
}

// newCounters are those of an empty store. Ids start at 1.
func newCounters() format.Counters {
	return format.Counters{NextDoc: 1, NextChunk: 1, NextEntity: 1, NextRelation: 1, NextVersion: 1, NextChange: 1}
}

// any says whether a store holds documents or entities.
func (r *rows) any() (used bool, err error) {
	for _, t := range [...]format.Table{format.TableDocuments, format.TableEntityNames} {
		lower, _ := format.TableBounds(t)
		if err := r.scan(lower, func(_, _ []byte) (bool, error) { used = true; return false, nil }); err != nil {
			return false, errors.Join(err, r.close())
		}
	}
	return used, r.close()
}

// sameIdentity compares what is stored with what is wanted; fields that are
// not wanted do not matter.
func sameIdentity(have, want format.Identity) error {
	for _, f := range [...]struct{ field, have, want string }{
		{"embedder", have.Embedder, want.Embedder},
		{"dimension", number(have.Dim), number(want.Dim)},
		{"embedder checksum", have.Checksum, want.Checksum},
		{"tokenizer", have.Tokenizer, want.Tokenizer},
	} {
		if f.want != "" && f.want != f.have {
			return &MismatchError{Field: f.field, Have: f.have, Want: f.want}
		}
	}
	return nil
}

func number(n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// Close waits for running commits and, for a few seconds, for views to be
// closed; then it flushes, closes and seals the store. If views are still open
// it returns an error that names their number, nothing is closed, and Close
// can be called again; the store takes no new views or commits meanwhile.
// Otherwise it is idempotent.
func (s *Store) Close() error {
	return opError("close store", s.dir, s.close())
}

func (s *Store) close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.ended {
		return s.endErr
	}
	s.mu.Lock()
	first := !s.closed.Swap(true)
	s.mu.Unlock()
	s.sealer.group.Wait()
	s.writers.Wait()
	if first {
		s.lastSeal()
		s.handles.Store(nil)
		if st := s.current.Swap(nil); st != nil {
			st.release()
		}
	}
	if err := s.drain(); err != nil {
		return err
	}
	s.ended = true
	n := s.newest.n
	if next := s.overtaken.Load(); next != nil {
		n = next.n
	}
	s.endErr = s.db.Close(n)
	return s.endErr
}

// drain waits until no state is held.
func (s *Store) drain() error {
	s.liveMu.Lock()
	if len(s.live) == 0 {
		s.liveMu.Unlock()
		return nil
	}
	if s.drained == nil {
		s.drained = make(chan struct{})
	}
	drained := s.drained
	s.liveMu.Unlock()
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case <-drained:
		return nil
	case <-timer.C:
		n, oldest, _ := s.readers()
		return fmt.Errorf("%d views are still open, the oldest of commit %d", n, oldest)
	}
}
