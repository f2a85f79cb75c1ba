package graphstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// Names of rows of the meta table.
const (
	metaCounters = "counters"
	metaIdentity = "identity"
	metaPolicy   = "policy"
	metaUser     = "u/" // prefix of the names given to SetMeta
)

// txn is one change of the store while it is being built, under the writer's
// lock: a batch, the next columns, and the next counters.
type txn struct {
	s     *Store
	base  *state
	rows  *rows
	batch *pebble.Batch
	cols  *columns.Builder
	n     format.Counters
	next  *state

	touched []uint64
	hashes  map[[32]byte]DocID        // changes of Store.hashes; 0 removes
	twins   map[[32]byte][]DocID      // changes of Store.twins; empty removes
	replace map[string]DocID          // changes of Store.replacing; 0 removes
	named   map[string]DocID          // changes of the document names; 0 removes
	added   map[DocID]format.Document // rows of documents that this change made
	key     []byte
	value   []byte
	dirty   bool

	postings     postingEdits
	postingBytes uint64 // of the rows that were written

	overlaid bool // overlays change: plans made before are worked out anew
}

// write builds one change with op, makes it durable and publishes it. It
// returns when the change is published, or has failed. If op writes nothing,
// nothing is published, and it returns when what op saw is.
func (s *Store) write(op func(tx *txn) error) (seq uint64, err error) {
	return s.change(false, op)
}

// change is write; closing says that the change is part of closing the store.
func (s *Store) change(closing bool, op func(tx *txn) error) (seq uint64, err error) {
	s.mu.Lock()
	if err := s.writable(); err != nil && !(closing && errors.Is(err, ErrClosed)) {
		s.mu.Unlock()
		return 0, err
	}
	if !s.newest.hold() {
		s.mu.Unlock()
		return 0, errors.Join(ErrFailed, s.db.Health())
	}
	tx := s.begin()
	defer tx.base.release()
	if err = op(tx); err == nil {
		err = tx.writePostings()
	}
	if e := tx.rows.close(); err == nil {
		err = e
	}
	if err == nil {
		err = tx.cols.Err()
	}
	if err != nil || !tx.dirty {
		tx.cols.Discard()
		s.mu.Unlock()
		if err = errors.Join(err, tx.batch.Close()); err == nil {
			err = s.published(tx.base)
		}
		return tx.base.seq, err
	}
	next, err := tx.apply()
	if err == nil {
		s.writers.Add(1)
	}
	s.mu.Unlock()
	if err != nil {
		return 0, errors.Join(err, tx.batch.Close())
	}
	defer s.writers.Done()
	if err := s.publish(next, tx.batch); err != nil {
		return 0, err
	}
	s.maybeSeal(next.buffered)
	return next.seq, nil
}

// begin starts a change on the newest state, published or not.
func (s *Store) begin() *txn {
	base := s.newest
	tx := &txn{
		s: s, base: base, rows: newRows(base.snap), batch: s.db.NewBatch(), cols: base.cols.Edit(), n: base.n,
		next: &state{s: s, seq: base.seq + 1, bounds: base.bounds, stale: base.stale, buffered: base.buffered,
			prev: base, done: make(chan struct{})},
	}
	tx.n.Commit = tx.next.seq
	tx.next.refs.Store(1)
	return tx
}

// apply makes the change visible to whoever builds on it, but to no reader.
func (tx *txn) apply() (*state, error) {
	s, next := tx.s, tx.next
	tx.key = format.AppendMetaKey(tx.key[:0], metaCounters)
	tx.value = format.AppendCounters(tx.value[:0], &tx.n)
	if err := tx.set(tx.key, tx.value); err != nil {
		tx.cols.Discard()
		return nil, err
	}
	if err := s.db.Apply(tx.batch); err != nil {
		tx.cols.Discard()
		return nil, err
	}
	next.snap = s.db.Snapshot()
	next.n, next.cols = tx.n, tx.cols.Done()
	if s.sink != nil {
		for kind := range next.bounds {
			if kind > 0 {
				next.bounds[kind] = s.sink.Bound(Kind(kind))
			}
		}
	}
	s.remember(next)
	s.newest = next
	s.postingBytes.Add(tx.postingBytes)
	s.noteTouched(tx.touched, next.seq)
	if tx.overlaid {
		s.overlaid = next.seq
	}
	for h, doc := range tx.hashes {
		if doc == 0 {
			delete(s.hashes, h)
		} else {
			s.hashes[h] = doc
		}
	}
	for h, docs := range tx.twins {
		if len(docs) == 0 {
			delete(s.twins, h)
		} else {
			s.twins[h] = docs
		}
	}
	for id, doc := range tx.replace {
		if doc == 0 {
			delete(s.replacing, id)
		} else {
			s.replacing[id] = doc
		}
	}
	return next, nil
}

// publish waits until next is durable and then, in sequence order, shows it to
// readers. After a failure next is dropped and the store takes no more writes.
func (s *Store) publish(next *state, batch *pebble.Batch) error {
	err := s.db.SyncWait(batch)
	if e := batch.Close(); e != nil && err == nil {
		s.log.Warn("closing a batch", "error", e)
	}
	if e := s.published(next.prev); err == nil {
		err = e
	}
	next.prev = nil
	if err != nil {
		s.db.Fail(err)
		next.failed = true
		close(next.done)
		next.release()
		return err
	}
	old := s.current.Swap(next)
	s.handles.Store(nil)
	close(next.done)
	old.release()
	return nil
}

// published waits until readers can see st, or says why they never will.
func (s *Store) published(st *state) error {
	<-st.done
	if !st.failed {
		return nil
	}
	if err := s.db.Health(); err != nil {
		return err
	}
	return fmt.Errorf("an earlier commit was lost: %w", ErrFailed)
}

// noteTouched remembers who was written by the commit seq, for plans that were
// made before it. The memory is bounded: plans that are older than what is
// remembered are worked out anew.
func (s *Store) noteTouched(owners []uint64, seq uint64) {
	if len(s.touched)+len(owners) > maxTouched {
		clear(s.touched)
		s.touchedFrom = seq - 1
	}
	for _, o := range owners {
		s.touched[o] = seq
	}
}

const maxTouched = 1 << 17

// touch notes that an owner (or, with kind 0, a document) is written.
func (tx *txn) touch(kind Kind, owner uint32) { tx.touched = append(tx.touched, ownerKey(kind, owner)) }

func (tx *txn) set(key, value []byte) error {
	tx.dirty = true
	return tx.batch.Set(key, value, nil)
}

func (tx *txn) del(key []byte) error {
	tx.dirty = true
	return tx.batch.Delete(key, nil)
}

// setSummed writes a row that counts by value; old is what its former value
// counted for, 0 if there was none.
func (tx *txn) setSummed(key, value []byte, old uint64) error {
	tx.n.Sum += rowSum(key, value) - old
	return tx.set(key, value)
}

// setDocument writes the row of a document; old is its former row.
func (tx *txn) setDocument(doc DocID, row, old *format.Document) error {
	was := uint64(0)
	tx.key = format.AppendDocumentKey(tx.key[:0], doc)
	if old != nil {
		was = rowSum(tx.key, format.AppendDocument(nil, old))
	} else {
		tx.n.Documents++
	}
	tx.touch(0, uint32(doc))
	tx.value = format.AppendDocument(tx.value[:0], row)
	return tx.setSummed(tx.key, tx.value, was)
}

// dropDocument deletes the row of a document and the texts of its chunks, and
// forgets its hash. What its contribution made is the business of a plan.
func (tx *txn) dropDocument(doc DocID, row *format.Document) error {
	tx.key = format.AppendDocumentKey(tx.key[:0], doc)
	tx.n.Sum -= rowSum(tx.key, format.AppendDocument(nil, row))
	tx.n.Documents--
	tx.touch(0, uint32(doc))
	if err := tx.del(tx.key); err != nil {
		return err
	}
	tx.dropHash(row.Hash, doc)
	return tx.rows.scan(format.AppendChunkPrefix(nil, doc), func(key, _ []byte) (bool, error) {
		return true, tx.del(key)
	})
}

// replacement returns the pending document that is to replace the one of that
// id, 0 if none.
func (tx *txn) replacement(id string) DocID {
	if doc, ok := tx.replace[id]; ok {
		return doc
	}
	return tx.s.replacing[id]
}

func (tx *txn) setReplacement(id string, doc DocID) {
	if tx.replace == nil {
		tx.replace = make(map[string]DocID)
	}
	tx.replace[id] = doc
}

// documentByName finds the document of an id, as this change leaves it.
func (tx *txn) documentByName(id string) (DocID, error) {
	if doc, ok := tx.named[id]; ok {
		return doc, nil
	}
	doc, _, err := tx.rows.documentByName(id)
	return doc, err
}

// setName makes doc the document of an id; 0 takes the id away.
func (tx *txn) setName(id string, doc DocID) error {
	if tx.named == nil {
		tx.named = make(map[string]DocID)
	}
	tx.named[id] = doc
	tx.key = format.AppendDocumentNameKey(tx.key[:0], id)
	if doc == 0 {
		return tx.del(tx.key)
	}
	return tx.set(tx.key, format.AppendDocID(nil, doc))
}

// vector makes a vector durable and tells the sink.
func (tx *txn) vector(kind Kind, owner uint32, vec []float32) (version, slot uint32, err error) {
	version = tx.n.NextVersion
	v := format.BufferedVector{Kind: kind, Owner: owner, Version: version, Vector: vec}
	if err := tx.s.db.BufferVector(tx.batch, tx.n.NextBuffered, &v); err != nil {
		return 0, 0, err
	}
	tx.n.NextVersion++
	tx.n.NextBuffered++
	tx.next.buffered += uint64(4 * len(vec))
	if tx.s.sink != nil {
		if slot, err = tx.s.sink.Append(kind, owner, version, vec); err != nil {
			return 0, 0, fmt.Errorf("vector of %s %d: %w", kind, owner, err)
		}
	}
	return version, slot, nil
}

// setStale brings the stale row of an owner from old to now.
func (tx *txn) setStale(kind Kind, owner uint32, old, now format.Stale) error {
	if old == now {
		return nil
	}
	none := format.Stale{}
	tx.key = format.AppendStaleKey(tx.key[:0], kind, owner)
	if old == none {
		tx.next.stale++
	}
	if now == none {
		tx.next.stale--
		return tx.del(tx.key)
	}
	tx.value = format.AppendStale(tx.value[:0], &now)
	return tx.set(tx.key, tx.value)
}
