package durable

import (
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// mergerName is written into every file: a database that was made with another
// merger is not opened.
const mergerName = "lightrag.postings"

// postingsMerger makes one row of the edits of a term, so that a change of
// postings is written without reading them. It never fails: an error here would
// end every compaction that meets it, and with them the store, for one row.
// Bytes that are no postings become a row that says so to whoever reads it.
//
// A row without owners stays, until it is deleted like any other: Pebble could
// drop it (DeletableValueMerger), but its compactions bring back the row below
// when the oldest operand is one that Set wrote (v2.1.7, internal/compact).
func postingsMerger() *pebble.Merger {
	pool := new(sync.Pool)
	return &pebble.Merger{
		Name: mergerName,
		Merge: func(_, value []byte) (pebble.ValueMerger, error) {
			m, ok := pool.Get().(*merge)
			if !ok {
				m = &merge{pool: pool}
			}
			m.Newer(value)
			return m, nil
		},
	}
}

// merge implements pebble.ValueMerger, and is the closer of its result.
type merge struct {
	format.PostingsMerge
	out  []byte
	pool *sync.Pool
}

func (m *merge) MergeNewer(value []byte) error {
	m.Newer(value)
	return nil
}

func (m *merge) MergeOlder(value []byte) error {
	m.Older(value)
	return nil
}

func (m *merge) Finish(base bool) ([]byte, io.Closer, error) {
	m.out = m.Append(m.out[:0], base)
	return m.out, m, nil
}

// Close takes the result back.
func (m *merge) Close() error {
	m.pool.Put(m)
	return nil
}
