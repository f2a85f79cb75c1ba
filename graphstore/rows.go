package graphstore

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// rows reads the rows of one state of the store. It keeps one iterator per
// table, so that sorted look-ups share their work. It is used by one goroutine
// and must be closed before its reader.
type rows struct {
	r     durable.Reader
	iters map[format.Table]*pebble.Iterator
	key   []byte
}

func newRows(r durable.Reader) *rows { return &rows{r: r} }

// close ends the iterators and returns the first error any of them met.
func (r *rows) close() error {
	var first error
	for _, it := range r.iters {
		if err := it.Close(); err != nil && first == nil {
			first = err
		}
	}
	r.iters = nil
	return first
}

// get decodes the value of key, if it is there.
func (r *rows) get(key []byte, decode func([]byte) error) (bool, error) {
	value, closer, err := r.r.Get(key)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer closer.Close()
	return true, decode(value)
}

// iter returns the shared iterator over a table.
func (r *rows) iter(t format.Table) (*pebble.Iterator, error) {
	if it := r.iters[t]; it != nil {
		return it, nil
	}
	it, err := r.r.NewIter(format.TableBounds(t))
	if err != nil {
		return nil, err
	}
	if r.iters == nil {
		r.iters = make(map[format.Table]*pebble.Iterator, 4)
	}
	r.iters[t] = it
	return it, nil
}

// scan calls fn for the rows whose keys begin with prefix, in order, until it
// returns false. Keys and values are only lent.
func (r *rows) scan(prefix []byte, fn func(key, value []byte) (bool, error)) error {
	return r.scanFrom(prefix, prefix, fn)
}

// scanFrom is scan from the key start on.
func (r *rows) scanFrom(start, prefix []byte, fn func(key, value []byte) (bool, error)) error {
	it, err := r.iter(format.Table(prefix[0]))
	if err != nil {
		return err
	}
	for ok := it.SeekGE(start); ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if more, err := fn(it.Key(), value); err != nil || !more {
			return err
		}
	}
	return it.Error()
}

// seek finds key through the table's iterator: cheaper than get when keys are
// asked for in order.
func (r *rows) seek(key []byte, decode func([]byte) error) (bool, error) {
	it, err := r.iter(format.Table(key[0]))
	if err != nil {
		return false, err
	}
	if !it.SeekGE(key) {
		return false, it.Error()
	}
	if !bytes.Equal(it.Key(), key) {
		return false, nil
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return false, err
	}
	return true, decode(value)
}

func (r *rows) document(doc DocID) (d format.Document, ok bool, err error) {
	r.key = format.AppendDocumentKey(r.key[:0], doc)
	ok, err = r.get(r.key, func(b []byte) error { return format.DecodeDocument(b, &d) })
	return d, ok, err
}

func (r *rows) documentByName(id string) (doc DocID, ok bool, err error) {
	r.key = format.AppendDocumentNameKey(r.key[:0], id)
	ok, err = r.get(r.key, func(b []byte) (err error) { doc, err = format.DecodeDocID(b); return err })
	return doc, ok, err
}

func (r *rows) owners(doc DocID) (o format.DocumentOwners, ok bool, err error) {
	r.key = format.AppendOwnersKey(r.key[:0], doc)
	ok, err = r.get(r.key, func(b []byte) error { return format.DecodeDocumentOwners(b, &o) })
	return o, ok, err
}

func (r *rows) entity(name string) (id EntityID, ok bool, err error) {
	r.key = format.AppendNameKey(r.key[:0], name)
	ok, err = r.seek(r.key, func(b []byte) (err error) { id, err = format.DecodeEntityID(b); return err })
	return id, ok, err
}

func (r *rows) pair(a, b EntityID) (id RelationID, ok bool, err error) {
	r.key = format.AppendPairKey(r.key[:0], a, b)
	ok, err = r.seek(r.key, func(b []byte) (err error) { id, err = format.DecodeRelationID(b); return err })
	return id, ok, err
}

func (r *rows) fragment(kind Kind, owner uint32, key FragmentKey) (f format.Fragment, ok bool, err error) {
	r.key = format.AppendFragmentKey(r.key[:0], kind, owner, key)
	ok, err = r.seek(r.key, func(b []byte) error { return format.DecodeFragment(b, &f) })
	return f, ok, err
}

func (r *rows) aggregate(kind Kind, owner uint32) (a format.Aggregate, ok bool, err error) {
	r.key = format.AppendAggregateKey(r.key[:0], kind, owner)
	ok, err = r.seek(r.key, func(b []byte) error { return format.DecodeAggregate(b, &a) })
	return a, ok, err
}

// record also returns the row's share of the counters' sum.
func (r *rows) record(kind Kind, owner uint32) (rec format.Record, sum uint64, ok bool, err error) {
	r.key = format.AppendRecordKey(r.key[:0], kind, owner)
	ok, err = r.seek(r.key, func(b []byte) error {
		sum = rowSum(r.key, b)
		return format.DecodeRecord(b, &rec)
	})
	return rec, sum, ok, err
}

func (r *rows) stale(kind Kind, owner uint32) (s format.Stale, ok bool, err error) {
	r.key = format.AppendStaleKey(r.key[:0], kind, owner)
	ok, err = r.seek(r.key, func(b []byte) error { return format.DecodeStale(b, &s) })
	return s, ok, err
}

func (r *rows) chunkRow(id ChunkID) (c format.ChunkRow, sum uint64, ok bool, err error) {
	r.key = format.AppendChunkRowKey(r.key[:0], id)
	ok, err = r.seek(r.key, func(b []byte) error {
		sum = rowSum(r.key, b)
		return format.DecodeChunkRow(b, &c)
	})
	return c, sum, ok, err
}

func (r *rows) chunk(doc DocID, order uint32) (c format.Chunk, ok bool, err error) {
	r.key = format.AppendChunkKey(r.key[:0], doc, order)
	ok, err = r.seek(r.key, func(b []byte) error { return format.DecodeChunk(b, &c) })
	return c, ok, err
}

// chunksOf calls fn for the chunks of a document, by order.
func (r *rows) chunksOf(doc DocID, fn func(order uint32, c *format.Chunk) error) error {
	return r.scan(format.AppendChunkPrefix(nil, doc), func(key, value []byte) (bool, error) {
		_, order, err := format.DecodeChunkKey(key)
		if err != nil {
			return false, err
		}
		var c format.Chunk
		if err := format.DecodeChunk(value, &c); err != nil {
			return false, err
		}
		return true, fn(order, &c)
	})
}

// fragments calls fn for the stored fragments of an owner in canonical order,
// until it returns false. The fragment is reused; its strings are not.
func (r *rows) fragments(kind Kind, owner uint32, fn func(FragmentKey, *format.Fragment) (bool, error)) error {
	var f format.Fragment
	return r.scan(format.AppendFragmentPrefix(nil, kind, owner), func(key, value []byte) (bool, error) {
		_, _, at, err := format.DecodeFragmentKey(key)
		if err != nil {
			return false, err
		}
		f.Keywords = nil
		if err := format.DecodeFragment(value, &f); err != nil {
			return false, err
		}
		return fn(at, &f)
	})
}

// lastFragment returns the canonically last stored fragment's key for which
// keep is true.
func (r *rows) lastFragment(kind Kind, owner uint32, keep func(FragmentKey) bool) (last FragmentKey, ok bool, err error) {
	it, err := r.iter(format.TableFragments)
	if err != nil {
		return last, false, err
	}
	prefix := format.AppendFragmentPrefix(nil, kind, owner)
	for ok := it.SeekLT(format.PrefixEnd(prefix)); ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Prev() {
		_, _, key, err := format.DecodeFragmentKey(it.Key())
		if err != nil {
			return last, false, err
		}
		if keep(key) {
			return key, true, nil
		}
	}
	return last, false, it.Error()
}
