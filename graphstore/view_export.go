package graphstore

import (
	"fmt"

	"github.com/lightctl/lightrag/format"
)

// What follows reads what a store can be made again from.

// Vector is the vector of one owner.
type Vector struct {
	Vector []float32 // nil: the owner has none
	// TextHash is that of the text it was made from; for a chunk 0. If it is
	// not the owner's, the owner is stale.
	TextHash uint64
}

// Identity returns what was fixed when the store was created.
func (v *View) Identity() format.Identity { return v.st.s.ident }

// Policy returns by which settings the records of the store are derived.
func (v *View) Policy() (maxSources int, summaries SummaryPolicy) {
	return v.st.s.opts.MaxSources, v.st.s.opts.Summary
}

// Vectors returns the vectors of owners, in their order, as the embedder gave
// them. It reads the segments through: ask for many at a time.
func (v *View) Vectors(kind Kind, owners []uint32) ([]Vector, error) {
	out := make([]Vector, len(owners))
	err := v.read(fmt.Sprintf("read vectors of %d owners of kind %s", len(owners), kind), func(r *rows) error {
		at := make(map[uint64]int, len(owners)) // owner and version
		err := forward(owners, func(i int) error {
			if kind == format.KindChunk {
				row, _, ok, err := r.chunkRow(ChunkID(owners[i]))
				if err == nil && ok && row.VectorVersion != 0 {
					at[uint64(owners[i])<<32|uint64(row.VectorVersion)] = i
				}
				return err
			}
			rec, _, ok, err := r.record(kind, owners[i])
			if err == nil && ok && rec.VectorVersion != 0 {
				at[uint64(owners[i])<<32|uint64(rec.VectorVersion)] = i
				out[i].TextHash = rec.VectorHash
			}
			return err
		})
		if err != nil || len(at) == 0 {
			return err
		}
		return v.st.s.db.ReadVectors(v.st.snap, func(k Kind, owner, version uint32) bool {
			i, ok := at[uint64(owner)<<32|uint64(version)]
			return ok && k == kind && out[i].Vector == nil
		}, func(_ Kind, owner, version uint32, vec []float32) error {
			out[at[uint64(owner)<<32|uint64(version)]].Vector = append([]float32(nil), vec...)
			return nil
		})
	})
	return out, err
}

// Summaries calls fn for the stored summaries of an owner, by level and first
// fragment, until it returns an error, which is returned as it is.
func (v *View) Summaries(kind Kind, owner uint32, fn func(level uint8, first FragmentKey, s *format.Summary) error) error {
	return v.each("read summaries", format.AppendSummaryPrefix(nil, kind, owner), func(key, value []byte) (stop, err error) {
		_, _, level, first, err := format.DecodeSummaryKey(key)
		if err != nil {
			return nil, err
		}
		var s format.Summary
		if err := format.DecodeSummary(value, &s); err != nil {
			return nil, err
		}
		return fn(level, first, &s), nil
	})
}

// DocumentFragment is one fragment of a document and the raw owner that the
// document named, whatever people have made of that name since.
type DocumentFragment struct {
	Kind     Kind
	Name     string // entity
	Src, Tgt string // relation, Src < Tgt by code point
	Key      FragmentKey
	Fragment format.Fragment
}

// DocumentFragments calls fn for what a document contributed, by kind, owner
// and key, until it returns an error, which is returned as it is. A document
// that is not committed contributed nothing.
func (v *View) DocumentFragments(doc DocID, fn func(f *DocumentFragment) error) error {
	var stop error
	err := v.read(fmt.Sprintf("read fragments of document %d", doc), func(r *rows) error {
		owners, _, err := r.owners(doc)
		if err != nil {
			return err
		}
		d := &deriver{rows: r, cols: v.st.cols}
		var f DocumentFragment
		for i, of := range owners.Fragments {
			if i == 0 || of.Kind != owners.Fragments[i-1].Kind || of.Owner != owners.Fragments[i-1].Owner {
				if err := d.nameRaw(&f, of.Kind, of.Owner); err != nil {
					return err
				}
			}
			var ok bool
			f.Key = of.Key
			f.Fragment, ok, err = r.fragment(of.Kind, of.Owner, of.Key)
			if err == nil && !ok {
				err = corruptf("document %d contributes a fragment to %s %d that does not exist", doc, of.Kind, of.Owner)
			}
			if err != nil {
				return err
			}
			if stop = fn(&f); stop != nil {
				return nil
			}
		}
		return nil
	})
	if stop != nil {
		return stop
	}
	return err
}

// nameRaw sets whom f is about.
func (d *deriver) nameRaw(f *DocumentFragment, kind Kind, raw uint32) (err error) {
	*f = DocumentFragment{Kind: kind}
	if kind == format.KindEntity {
		f.Name, err = d.rows.entityName(EntityID(raw))
		return err
	}
	ends, err := d.rawEnds(RelationID(raw))
	if err != nil {
		return err
	}
	if f.Src, err = d.rows.entityName(ends[0]); err != nil {
		return err
	}
	if f.Tgt, err = d.rows.entityName(ends[1]); f.Src > f.Tgt {
		f.Src, f.Tgt = f.Tgt, f.Src
	}
	return err
}

// ChunkRow returns what the commit of its document added to a chunk; ok is
// false if the chunk is not visible.
func (v *View) ChunkRow(id ChunkID) (row format.ChunkRow, ok bool, err error) {
	err = v.read(fmt.Sprintf("read chunk %d", id), func(r *rows) error {
		row, _, ok, err = r.chunkRow(id)
		return err
	})
	return row, ok, err
}

// DocumentTexts calls fn for the chunks of a document of any status, by order,
// until it returns an error, which is returned as it is. Unlike DocumentChunks
// it leaves the path of a chunk that has none of its own empty.
func (v *View) DocumentTexts(doc DocID, fn func(order uint32, c *format.Chunk) error) error {
	return v.each(fmt.Sprintf("read chunks of document %d", doc), format.AppendChunkPrefix(nil, doc), func(key, value []byte) (stop, err error) {
		_, order, err := format.DecodeChunkKey(key)
		if err != nil {
			return nil, err
		}
		var c format.Chunk
		if err := format.DecodeChunk(value, &c); err != nil {
			return nil, err
		}
		return fn(order, &c), nil
	})
}

// Answers calls fn for the cached answers by key until it returns an error,
// which is returned as it is.
func (v *View) Answers(fn func(key [32]byte, a *format.Answer) error) error {
	lower, _ := format.TableBounds(format.TableAnswers)
	return v.each("read cached answers", lower, func(key, value []byte) (stop, err error) {
		k, err := format.DecodeAnswerKey(key)
		if err != nil {
			return nil, err
		}
		var a format.Answer
		if err := format.DecodeAnswer(value, &a); err != nil {
			return nil, err
		}
		return fn(k, &a), nil
	})
}

// Metas calls fn for the values stored by SetMeta, by name, until it returns
// an error, which is returned as it is. The value is only lent.
func (v *View) Metas(fn func(name string, value []byte) error) error {
	prefix := format.AppendMetaKey(nil, metaUser)
	return v.each("read metas", prefix, func(key, value []byte) (stop, err error) {
		return fn(string(key[len(prefix):]), value), nil
	})
}

// each scans the rows of a prefix. fn returns the error of the caller's
// function apart from its own.
func (v *View) each(op string, prefix []byte, fn func(key, value []byte) (stop, err error)) error {
	var stop error
	err := v.read(op, func(r *rows) error {
		return r.scan(prefix, func(key, value []byte) (bool, error) {
			var err error
			stop, err = fn(key, value)
			return stop == nil && err == nil, err
		})
	})
	if stop != nil {
		return stop
	}
	return err
}
