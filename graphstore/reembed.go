package graphstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// ReembedInfo says what FinishReembed did.
type ReembedInfo struct {
	Vectors int // that owners have now
	Stale   int // owners without one: their text changed after it was staged
}

// successor is the store that a change of the embedder leaves on the disk.
type successor struct {
	ident format.Identity
	n     format.Counters
}

// err is why a store that was overtaken takes no writes.
func (x *successor) err() error {
	return fmt.Errorf("the store was changed to the embedder %s; close it and open it with that one: %w", x.ident.Embedder, ErrMismatch)
}

// FinishReembed changes the store to the staged vectors, in one batch. From
// then on this Store is a view of the past: its readers go on with the old
// vectors, writes return ErrMismatch, and it is to be closed and opened with
// the new identity. After an error other than ErrFailed nothing has changed.
func (s *Store) FinishReembed(ctx context.Context) (ReembedInfo, error) {
	info, err := s.finishReembed(ctx)
	return info, opError("change", "embedder", err)
}

func (s *Store) finishReembed(ctx context.Context) (info ReembedInfo, err error) {
	target, ok, err := s.target()
	if err != nil {
		return info, err
	}
	if !ok {
		return info, invalidf("no change of the embedder has begun")
	}
	s.sealer.run.Lock() // nothing else moves vectors
	defer s.sealer.run.Unlock()
	staged, err := s.numberStaged(ctx)
	if err != nil {
		return info, err
	}
	var readErr error
	next, stop := iter.Pull(s.stagedVectors(staged, &readErr))
	defer stop()
	old := s.db.Segments()
	_, err = s.db.Seal(durable.SealOptions{
		Dim: int(target.Dim), UpTo: math.MaxUint64, // no old vector is of use any more
		Finish: func(b *pebble.Batch, row *format.SegmentRow) error {
			if err := errors.Join(readErr, ctx.Err()); err != nil {
				return errors.Join(err, b.Close())
			}
			var err error
			info, err = s.succeed(b, row, target, staged)
			return err
		},
	}, func() (kind Kind, owner, version uint32, vec []float32, ok bool) {
		v, ok := next()
		return v.Kind, v.Owner, v.Version, v.Vector, ok
	})
	if err == nil {
		s.db.Retire(old)
	}
	return info, errors.Join(readErr, err)
}

// stagedVersion is the version that a staged vector gets, and the text it is
// of.
type stagedVersion struct {
	version uint32
	hash    uint64
}

// numberStaged gives a version to the staged vector of every owner that exists.
func (s *Store) numberStaged(ctx context.Context) (map[uint64]stagedVersion, error) {
	st, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer st.release()
	out := make(map[uint64]stagedVersion)
	var order []uint64
	d := &deriver{cols: st.cols}
	err = s.withNewest(func(r *rows) error {
		return r.staged(func(kind Kind, owner uint32, v *format.StagedVector) (bool, error) {
			if d.live(kind, owner) || kind == format.KindChunk && st.cols.ChunkLive(ChunkID(owner)) {
				out[ownerKey(kind, owner)] = stagedVersion{hash: v.TextHash}
				order = append(order, ownerKey(kind, owner))
			}
			return true, ctx.Err()
		})
	})
	if err != nil {
		return nil, err
	}
	_, err = s.write(func(tx *txn) error {
		if uint64(tx.n.NextVersion)+uint64(len(order)) > math.MaxUint32 {
			return invalidf("no versions of vectors are left")
		}
		for i, key := range order {
			out[key] = stagedVersion{tx.n.NextVersion + uint32(i), out[key].hash}
		}
		tx.n.NextVersion += uint32(len(order))
		tx.dirty = true
		return nil
	})
	return out, err
}

// staged calls fn for each staged vector, which is lent, until it returns false.
func (r *rows) staged(fn func(kind Kind, owner uint32, v *format.StagedVector) (bool, error)) error {
	var v format.StagedVector
	lower, _ := format.TableBounds(format.TableStaged)
	return r.scan(lower, func(key, value []byte) (bool, error) {
		kind, owner, err := format.DecodeStagedKey(key)
		if err == nil {
			err = format.DecodeStagedVector(value, &v)
		}
		if err != nil {
			return false, err
		}
		return fn(kind, owner, &v)
	})
}

// stagedVectors yields the vectors that have a version. The vector is lent.
func (s *Store) stagedVectors(staged map[uint64]stagedVersion, failed *error) iter.Seq[format.BufferedVector] {
	return func(yield func(format.BufferedVector) bool) {
		*failed = s.withNewest(func(r *rows) error {
			return r.staged(func(kind Kind, owner uint32, v *format.StagedVector) (bool, error) {
				to, ok := staged[ownerKey(kind, owner)]
				if !ok || to.hash != v.TextHash {
					delete(staged, ownerKey(kind, owner)) // it was staged again meanwhile
					return true, nil
				}
				return yield(format.BufferedVector{Kind: kind, Owner: owner, Version: to.version, Vector: v.Vector}), nil
			})
		})
	}
}

// succeed commits the batch that makes the store its own successor. b has the
// row of the new segment and the end of the buffer.
func (s *Store) succeed(b *pebble.Batch, row *format.SegmentRow, target format.Identity, staged map[uint64]stagedVersion) (info ReembedInfo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return info, errors.Join(err, b.Close())
	}
	next := successor{ident: s.ident, n: s.newest.n}
	next.ident.Embedder, next.ident.Dim, next.ident.Checksum = target.Embedder, target.Dim, target.Checksum
	next.n.Commit++
	if next.n.Segments = 0; row != nil {
		next.n.Segments = 1
	}
	snap := s.db.Snapshot() // with what is applied and not published
	defer snap.Close()
	r := newRows(snap)
	w := successorWriter{b: b, r: r, n: &next.n, staged: staged}
	err = errors.Join(w.records(), w.chunks(), w.rest(&next), r.close())
	if err != nil {
		return info, errors.Join(err, b.Close())
	}
	if err := s.db.Commit(b); err != nil {
		return info, err
	}
	s.overtaken.Store(&next)
	return w.info, nil
}

// successorWriter rewrites the rows that name vectors.
type successorWriter struct {
	b      *pebble.Batch
	r      *rows
	n      *format.Counters
	staged map[uint64]stagedVersion
	info   ReembedInfo
	out    []byte
}

// set writes a row that counts by value in place of old.
func (w *successorWriter) set(key, old, value []byte) error {
	w.n.Sum += rowSum(key, value) - rowSum(key, old)
	return w.b.Set(key, value, nil)
}

// vector returns the version of the owner's vector of a text, 0 if there is
// none, and brings the owner's stale row up to date.
func (w *successorWriter) vector(kind Kind, owner uint32, hash uint64, summary bool) (version uint32, err error) {
	if to, ok := w.staged[ownerKey(kind, owner)]; ok && to.hash == hash {
		version = to.version
		w.info.Vectors++
	} else {
		w.info.Stale++
	}
	key := format.AppendStaleKey(nil, kind, owner)
	if now := (format.Stale{Vector: version == 0, Summary: summary}); now != (format.Stale{}) {
		return version, w.b.Set(key, format.AppendStale(nil, &now), nil)
	}
	return version, w.b.Delete(key, nil)
}

func (w *successorWriter) records() error {
	lower, _ := format.TableBounds(format.TableRecords)
	var rec format.Record
	return w.r.scan(lower, func(key, value []byte) (bool, error) {
		kind, owner, err := format.DecodeRecordKey(key)
		if err == nil {
			err = format.DecodeRecord(value, &rec)
		}
		if err != nil {
			return false, err
		}
		if rec.VectorVersion, err = w.vector(kind, owner, rec.TextHash, rec.Pending); err != nil {
			return false, err
		}
		if rec.VectorHash = 0; rec.VectorVersion != 0 {
			rec.VectorHash = rec.TextHash
		}
		w.out = format.AppendRecord(w.out[:0], &rec)
		return true, w.set(key, value, w.out)
	})
}

func (w *successorWriter) chunks() error {
	lower, _ := format.TableBounds(format.TableChunkRows)
	var row format.ChunkRow
	return w.r.scan(lower, func(key, value []byte) (bool, error) {
		id, err := format.DecodeChunkRowKey(key)
		if err == nil {
			err = format.DecodeChunkRow(value, &row)
		}
		if err != nil {
			return false, err
		}
		hash := w.staged[ownerKey(format.KindChunk, uint32(id))].hash // the text of a chunk never changes
		if row.VectorVersion, err = w.vector(format.KindChunk, uint32(id), hash, false); err != nil {
			return false, err
		}
		w.out = format.AppendChunkRow(w.out[:0], &row)
		return true, w.set(key, value, w.out)
	})
}

// rest ends the old segments and the staged vectors, and writes who the store
// is now.
func (w *successorWriter) rest(next *successor) error {
	lower, _ := format.TableBounds(format.TableSegments)
	err := w.r.scan(lower, func(key, _ []byte) (bool, error) { return true, w.b.Delete(key, nil) })
	lower, upper := format.TableBounds(format.TableStaged)
	return errors.Join(err,
		w.b.DeleteRange(lower, upper, nil),
		w.b.Delete(format.AppendMetaKey(nil, metaTarget), nil),
		w.b.Set(format.AppendMetaKey(nil, metaIdentity), format.AppendIdentity(nil, &next.ident), nil),
		w.b.Set(format.AppendMetaKey(nil, metaCounters), format.AppendCounters(nil, &next.n), nil),
	)
}
