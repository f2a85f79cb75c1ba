package engine

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// FormatVersion is the version of the formats that this build writes.
const FormatVersion = graphstore.FormatVersion

// Stats describes an open DB. Sizes are in bytes.
type Stats struct {
	Counts
	Statuses map[DocumentStatus]int `json:"statuses"`
	Identity Identity               `json:"identity"`
	Model    string                 `json:"model"`
	Offline  bool                   `json:"offline"` // extraction and answers are the offline pair's
	Models   Models                 `json:"models"`  // that made the store, and that answers

	Commit uint64 `json:"commit"` // sequence of the newest visible commit
	Stale  uint64 `json:"stale"`  // roots whose vector or summary is to be re-made

	Disk  DiskStats             `json:"disk"`
	Index map[string]IndexStats `json:"index"` // by kind
	Views ViewStats             `json:"views"`

	CachedAnswers int                  `json:"cached_answers"`
	Ledger        map[string]llm.Usage `json:"ledger"`  // calls and tokens by task, over the life of the store
	Queries       QueryCosts           `json:"queries"` // of it, what questions cost
}

// DiskStats is what the store takes on disk and in its caches.
type DiskStats struct {
	StoreBytes    uint64 `json:"store_bytes"` // rows, log included; segments come on top
	WALBytes      uint64 `json:"wal_bytes"`
	SegmentBytes  uint64 `json:"segment_bytes"`
	Segments      int    `json:"segments"`
	BufferedBytes uint64 `json:"buffered_vector_bytes"`
	// PostingsBytes is what of StoreBytes lexical matching takes, and
	// PostingsWritten what commits have written for it since the DB was opened.
	PostingsBytes   uint64 `json:"postings_bytes"`
	PostingsWritten uint64 `json:"postings_written_bytes"`
	CacheBytes      int64  `json:"cache_bytes"`
	MemTableBytes   uint64 `json:"memtable_bytes"`
}

// IndexStats describes the vector index of one kind.
type IndexStats struct {
	Vectors  uint32 `json:"vectors"` // slots in use and dead
	Linked   uint32 `json:"linked"`  // of them in the graph; the others are scanned
	Dead     uint32 `json:"dead"`    // of them not found any more
	Rebuilt  bool   `json:"rebuilt"` // the index file could not be used when the store was opened
	Exact    bool   `json:"exact"`   // so few that every search scans them all
	RowBytes uint64 `json:"row_bytes"`
}

// ViewStats describes open views.
type ViewStats struct {
	Open   int    `json:"open"`
	Oldest uint64 `json:"oldest_commit"`
}

// Stats returns counts, sizes and the token ledger.
func (db *DB) Stats() (*Stats, error) {
	if err := db.begin(false); err != nil {
		return nil, err
	}
	defer db.end()
	g := db.store.Stats()
	s := &Stats{
		Counts: Counts{
			Documents: g.Documents, Chunks: g.Chunks, Entities: g.Entities, Relations: g.Relations, Fragments: g.Fragments,
		},
		Statuses: make(map[DocumentStatus]int),
		Identity: db.Identity(),
		Model:    db.opts.Completer.Model(),
		Offline:  db.offline,
		Models:   db.Models(),
		Commit:   g.Seq,
		Stale:    g.Stale,
		Disk: DiskStats{
			StoreBytes: g.DiskBytes, WALBytes: g.WALBytes, SegmentBytes: g.SegmentBytes, Segments: g.Segments,
			PostingsBytes: g.PostingsBytes, PostingsWritten: g.PostingsWritten,
			BufferedBytes: g.BufferedBytes, CacheBytes: g.CacheBytes, MemTableBytes: g.MemTableBytes,
		},
		Index:  db.index.stats(),
		Views:  ViewStats{Open: g.Views, Oldest: g.OldestView},
		Ledger: db.Ledger(), Queries: db.QueryCosts(),
	}
	answers, err := db.store.AnswerStats()
	if err != nil {
		return nil, fmt.Errorf("lightrag: stats: %w", within(err))
	}
	s.CachedAnswers = int(answers.Answers)
	docs, err := db.Documents()
	if err != nil {
		return nil, err
	}
	for i := range docs {
		s.Statuses[docs[i].Status]++
	}
	return s, nil
}

func (x *vectorIndex) stats() map[string]IndexStats {
	out := make(map[string]IndexStats, indexKinds)
	for i, k := range x.kinds {
		n := k.graph.Bound()
		out[graphstore.Kind(i+1).String()] = IndexStats{
			Vectors: n, Linked: k.graph.Mark(), Dead: k.graph.Dead(), Rebuilt: k.rebuilt, Exact: n <= x.exact, RowBytes: uint64(n) * uint64(x.dim) * 4,
		}
	}
	return out
}

// Finding is one thing that Check found wrong.
type Finding = graphstore.Finding

// Check recomputes what the store derives and compares; with deep it also
// reads every block of every table and vector segment, and compares postings with
// texts. It reports what it finds and changes nothing.
func (db *DB) Check(ctx context.Context, deep bool) ([]Finding, error) {
	if err := db.begin(false); err != nil {
		return nil, err
	}
	defer db.end()
	f, err := db.store.Check(ctx, deep)
	if err != nil {
		return f, fmt.Errorf("lightrag: check: %w", within(err))
	}
	return f, nil
}

// CacheStats describes the cache of model answers.
type CacheStats struct {
	Answers int    `json:"answers"`
	Bytes   uint64 `json:"bytes"`
}

// CacheStats returns the size of the answer cache.
func (db *DB) CacheStats() (CacheStats, error) {
	if err := db.begin(false); err != nil {
		return CacheStats{}, err
	}
	defer db.end()
	a, err := db.store.AnswerStats()
	return CacheStats{Answers: int(a.Answers), Bytes: a.Bytes}, err
}

// ClearCache removes all cached answers. What was made from them stays, but
// making it again will cost model calls.
func (db *DB) ClearCache() error {
	if err := db.begin(true); err != nil {
		return err
	}
	defer db.end()
	return db.store.ClearAnswers()
}
