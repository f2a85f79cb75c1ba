package graphstore

import (
	"context"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// A store changes its embedder in two steps. Vectors of the new one are staged:
// written ahead, one row per owner, seen by nobody, found again after a crash.
// Then one batch gives the store its new identity and every owner its new
// vector. Until then everything goes on with the old vectors.

// metaTarget is the identity that staged vectors are for.
const metaTarget = "reembed"

// Unstaged is an owner without a staged vector of its text.
type Unstaged struct {
	Kind     Kind
	Owner    uint32
	Text     string // to embed
	TextHash uint64
}

// Staged is a vector of the new embedder.
type Staged struct {
	Kind     Kind
	Owner    uint32
	TextHash uint64
	Vector   []float32
}

// BeginReembed makes ready to stage vectors of another embedder. Those that an
// earlier, unfinished attempt staged for the same one are kept; those for any
// other are dropped. Only Embedder, Dim and Checksum of the identity count.
func (s *Store) BeginReembed(target format.Identity) error {
	if target.Dim == 0 || target.Dim > math.MaxUint16 {
		return opError("change embedder to", target.Embedder, invalidf("dimension %d", target.Dim))
	}
	was, ok, err := s.target()
	if err == nil && (!ok || was.Embedder != target.Embedder || was.Dim != target.Dim || was.Checksum != target.Checksum) {
		target.Tokenizer, target.Created = "", 0
		err = s.writeSmall(func(b *pebble.Batch) error {
			lower, upper := format.TableBounds(format.TableStaged)
			if err := b.DeleteRange(lower, upper, nil); err != nil {
				return err
			}
			return b.Set(format.AppendMetaKey(nil, metaTarget), format.AppendIdentity(nil, &target), nil)
		})
	}
	return opError("change embedder to", target.Embedder, err)
}

func (s *Store) target() (id format.Identity, ok bool, err error) {
	ok, err = s.small(format.AppendMetaKey(nil, metaTarget), func(b []byte) error { return format.DecodeIdentity(b, &id) })
	return id, ok, err
}

// EachUnstaged calls fn with the owners of the newest published view that have
// no staged vector of their text, at most page at a time, until it returns an
// error, which is returned as it is.
func (s *Store) EachUnstaged(ctx context.Context, page int, fn func([]Unstaged) error) error {
	st, err := s.acquire()
	if err != nil {
		return opError("list", "owners to embed", err)
	}
	defer st.release()
	r := newRows(st.snap)
	defer r.close()
	newest := s.db.Snapshot() // staged vectors are no part of a state
	defer newest.Close()
	ahead := newRows(newest)
	defer ahead.close()
	d := s.deriver(st, r, nil)
	var list []Unstaged
	var staged format.StagedVector
	var stop error
	flush := func() bool {
		if len(list) > 0 {
			stop = fn(list)
			list = nil
		}
		return stop == nil
	}
	add := func(kind Kind, owner uint32) bool {
		if err = ctx.Err(); err != nil {
			return false
		}
		var root StaleRoot
		if root, err = d.staleRoot(kind, owner, format.Stale{Vector: true}); err != nil {
			return false
		}
		ahead.key = format.AppendStagedKey(ahead.key[:0], kind, owner)
		var ok bool
		if ok, err = ahead.get(ahead.key, func(b []byte) error { return format.DecodeStagedVector(b, &staged) }); err != nil {
			return false
		}
		if ok && staged.TextHash == root.TextHash {
			return true
		}
		list = append(list, Unstaged{kind, owner, root.Text, root.TextHash})
		return len(list) < page || flush()
	}
	each := func() {
		for id := range st.cols.Entities() {
			if !add(format.KindEntity, uint32(id)) {
				return
			}
		}
		for id := range st.cols.Relations() {
			if !add(format.KindRelation, uint32(id)) {
				return
			}
		}
		for id := range st.cols.Chunks() {
			if !add(format.KindChunk, uint32(id)) {
				return
			}
		}
		flush()
	}
	each()
	if stop != nil {
		return stop
	}
	return opError("list", "owners to embed", err)
}

// Stage makes vectors of the new embedder durable. The error matches
// ErrMismatch for one of another dimension and ErrInvalid for one that cannot
// be compared, or when no change of the embedder has begun.
func (s *Store) Stage(list []Staged) error {
	target, ok, err := s.target()
	if err == nil && !ok {
		err = invalidf("no change of the embedder has begun")
	}
	if err != nil {
		return opError("stage", fmt.Sprintf("%d vectors", len(list)), err)
	}
	for i := range list {
		if err := checkVector(list[i].Vector, int(target.Dim)); err != nil {
			return opError("stage", fmt.Sprintf("vector of %s %d", list[i].Kind, list[i].Owner), err)
		}
	}
	err = s.writeSmall(func(b *pebble.Batch) error {
		var key, value []byte
		for i := range list {
			v := &list[i]
			key = format.AppendStagedKey(key[:0], v.Kind, v.Owner)
			value = format.AppendStagedVector(value[:0], &format.StagedVector{TextHash: v.TextHash, Vector: v.Vector})
			if err := b.Set(key, value, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return opError("stage", fmt.Sprintf("%d vectors", len(list)), err)
}
