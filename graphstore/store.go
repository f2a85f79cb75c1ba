package graphstore

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// Store is an open store. Its methods may be called from any goroutine.
type Store struct {
	opts    Options
	log     *slog.Logger
	dir     string
	db      *durable.DB
	ident   format.Identity
	measure Measurer
	sink    VectorSink // nil: nobody wants vectors
	types   entityTypes
	terms   *lexer // nil: there are no postings, or they are being made

	current atomic.Pointer[state] // newest published state; nil when closed
	closed  atomic.Bool
	handles atomic.Pointer[handles]

	// mu is the writer's lock. It is held while a change is built and applied,
	// never while anybody waits for the disk.
	mu          sync.Mutex
	newest      *state            // applied, published or about to be
	touched     map[uint64]uint64 // owner -> sequence of its last change, if that is after touchedFrom
	touchedFrom uint64
	overlaid    uint64               // sequence of the last change of overlays
	hashes      map[[32]byte]DocID   // text -> document
	twins       map[[32]byte][]DocID // text -> further documents that hold it
	replacing   map[string]DocID     // id -> pending document with its new text
	hot         editCounts
	whole       format.PostingsMerge
	writers     sync.WaitGroup // changes that are applied and not yet published

	liveMu  sync.Mutex
	live    map[*state]struct{}
	drained chan struct{} // closed when live is empty

	postingBytes atomic.Uint64 // of the rows of postings that were written

	overtaken atomic.Pointer[successor] // set when the embedder was changed; nothing is written after

	sealer  sealer
	closing sync.Mutex // one Close at a time
	ended   bool
	endErr  error
	wait    time.Duration // how long Close waits for readers
}

// Identity returns what was fixed when the store was created.
func (s *Store) Identity() format.Identity { return s.ident }

// Health returns nil, or the sticky failure after which the store takes no
// more writes; it matches ErrFailed.
func (s *Store) Health() error { return s.db.Health() }

// writable says why the store takes no writes; under s.mu the answer stands.
func (s *Store) writable() error {
	switch {
	case s.opts.ReadOnly:
		return ErrReadOnly
	case s.closed.Load():
		return ErrClosed
	}
	if next := s.overtaken.Load(); next != nil {
		return next.err()
	}
	return s.db.Health()
}

// enter makes Close wait for a writer that does not take s.mu, until it calls
// s.writers.Done.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.writable()
	if err == nil {
		s.writers.Add(1)
	}
	return err
}
