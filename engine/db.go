package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

// DB is an open store: graph, vectors, passages, and the models that fill and
// question them. All methods are safe for concurrent use.
type DB struct {
	opts    Options
	store   *graphstore.Store
	index   *vectorIndex
	tok     llm.Tokenizer
	cost    measure
	offline bool // the completer is the offline one: fast, deterministic, not worth a cache
	ledger  ledger
	prompt  atomic.Pointer[promptFrame] // of the last query
	scopes  scopes
	aliases atomic.Pointer[aliasKeys] // of the last query

	resolver resolver // of Options.ResolveEntities

	window window

	progress sync.Mutex // one Options.Progress call at a time

	calls      chan struct{} // model calls for documents in flight
	refreshing chan struct{} // held by the one refresher
	// unrefreshed counts the chunks that runs have committed since all that was
	// stale was refreshed.
	unrefreshed atomic.Int64

	mu      sync.Mutex
	claims  map[format.DocID]*claim
	backlog bool // there may be unfinished documents that nobody has claimed
	closed  atomic.Bool

	reembedded atomic.Bool // the store on the disk is that of another embedder

	active sync.WaitGroup // running calls

	closing sync.Mutex // one Close at a time
	stopped bool       // the index is saved and takes no more links
}

// Open opens the store in dir, creating it unless told otherwise. A directory
// belongs to one DB at a time: a second Open is ErrLocked.
func Open(dir string, o Options) (*DB, error) {
	keep := graphstore.Kept{
		MaxSources: o.MaxSources == 0, SummaryFragments: o.SummaryFragments == 0, SummaryTokens: o.SummaryTokens == 0,
	}
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("lightrag: open %s: %w", dir, within(err))
	}
	db := &DB{
		opts:       o,
		calls:      make(chan struct{}, o.Concurrency),
		refreshing: make(chan struct{}, 1),
		claims:     make(map[format.DocID]*claim),
		resolver:   resolver{busy: make(chan struct{}, 1)},
		backlog:    true, // of earlier processes
	}
	db.window.size = o.ContextWindow
	_, db.offline = o.Completer.(*offline.Completer)

	info := o.Embedder.Info()
	tokenizer := o.Tokenizer
	if tokenizer == "" {
		tokenizer = defaultTokenizer
	}
	index := newVectorIndex(o.Logger, o.exactBelow, o.saveEvery)
	index.fresh = o.freshIndex
	store, err := graphstore.Open(dir, graphstore.Options{
		FS:     o.Storage.FS,
		Logger: o.Logger,
		Identity: format.Identity{
			Embedder: info.Name, Dim: uint32(info.Dim), Checksum: info.Checksum, Tokenizer: tokenizer,
		},
		AnyTokenizer:  o.Tokenizer == "",
		ReadOnly:      o.ReadOnly,
		MustExist:     o.MustExist,
		CacheBytes:    o.Storage.CacheBytes,
		MemTableBytes: o.Storage.MemTableBytes,
		SealBytes:     o.Storage.SealBytes,
		Keep:          keep,
		MaxSources:    o.MaxSources,
		Summary: graphstore.SummaryPolicy{
			Fragments: o.SummaryFragments, Tokens: o.SummaryTokens, Join: o.SummaryTokens, Model: o.Completer.Model(),
		},
		Terms: lexical.Analyzer{}, RebuildTerms: o.freshIndex,
		Measure: func(id format.Identity) (graphstore.Measurer, error) {
			tok, err := llm.NewTokenizer(id.Tokenizer)
			if err != nil {
				return nil, err
			}
			db.tok, db.cost = tok, newMeasure(tok)
			return db.cost, nil
		},
		Vectors: func(id format.Identity, files graphstore.IndexFiles) (graphstore.VectorSink, error) {
			return index, index.open(int(id.Dim), files)
		},
		Now: o.now,
	})
	if err != nil {
		var m *MismatchError
		if errors.As(err, &m) && m.Field != "tokenizer" {
			err = fmt.Errorf("%w; DB.ReEmbed gives a store another embedder", err)
		}
		return nil, err // which says that dir could not be opened
	}
	db.store, db.index = store, index
	if b, ok, err := store.Meta(ledgerMeta); err == nil && ok {
		err = db.ledger.load(b)
		if err != nil {
			o.Logger.Warn("lightrag: the token ledger cannot be read and starts again", "error", err)
		}
	}
	if !o.ReadOnly {
		db.ledger.flush = db.flushLedger
	}
	index.start(store)
	return db, nil
}

const defaultTokenizer = "o200k"

// Close waits for running writes, saves the index and closes the store. Views
// must be closed before: while some are open, Close waits a few seconds for
// them, then returns an error and can be called again. Otherwise it is
// idempotent.
func (db *DB) Close() error {
	db.mu.Lock()
	db.closed.Store(true)
	db.mu.Unlock()
	db.active.Wait()
	db.closing.Lock()
	defer db.closing.Unlock()
	var err error
	if !db.stopped {
		db.stopped = true
		err = db.stop()
	}
	return errors.Join(err, db.store.Close())
}

// stop saves what only this DB knows.
func (db *DB) stop() error {
	err := db.saveLedger()
	if errors.Is(err, ErrFailed) || db.reembedded.Load() { // Health has said so already; ReEmbed saved it
		err = nil
	}
	db.index.stop()
	if db.reembedded.Load() { // the index is that of vectors that are gone
		if serr := db.index.remove(); serr != nil {
			db.opts.Logger.Warn("lightrag: an index file of the old vectors was not removed", "error", serr)
		}
	} else if !db.opts.ReadOnly && db.store.Health() == nil {
		if serr := db.index.save(); serr != nil { // it is derived: the next Open rebuilds it
			db.opts.Logger.Warn("lightrag: the vector index was not saved", "error", serr)
		}
	}
	return err
}

// begin registers a call; end must follow.
func (db *DB) begin(write bool) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed.Load():
		return fmt.Errorf("lightrag: %w", ErrClosed)
	case write && db.opts.ReadOnly:
		return fmt.Errorf("lightrag: %w", ErrReadOnly)
	}
	db.active.Add(1)
	return nil
}

func (db *DB) end() { db.active.Done() }

// Identity returns what was fixed when the store was created.
func (db *DB) Identity() Identity {
	id := db.store.Identity()
	return Identity{Embedder: id.Embedder, Dim: int(id.Dim), Checksum: id.Checksum, Tokenizer: id.Tokenizer}
}

// Identity is what is fixed when a store is created.
type Identity struct {
	Embedder  string `json:"embedder"`
	Dim       int    `json:"dim"`
	Checksum  string `json:"checksum,omitempty"`
	Tokenizer string `json:"tokenizer"`
}

// Health returns nil, or why the store refuses writes until it is reopened.
func (db *DB) Health() error { return db.store.Health() }

// Offline reports whether extraction and answers come from the offline pair.
func (db *DB) Offline() bool { return db.offline }
