package graphstore

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// metaTerms names the analyzer that the postings were made by. Empty: they are
// being made.
const metaTerms = "analyzer"

const indexBatch = 1024 // owners per commit

// adoptPostings decides what becomes of the postings that a store which opens
// has. If it takes other ones, they are gone afterwards, and anew says that
// indexAll is to make them; until it has, the store keeps none.
func (s *Store) adoptPostings() (anew bool, err error) {
	key := format.AppendMetaKey(nil, metaTerms)
	have, want := "", ""
	there, err := s.small(key, func(b []byte) error { have = string(b); return nil })
	if err != nil {
		return false, err
	}
	if s.opts.Terms != nil {
		if want = s.opts.Terms.Name(); want == "" {
			return false, invalidf("the analyzer of terms has no name")
		}
	}
	switch {
	case want == have && there == (want != "") && (!s.opts.RebuildTerms || s.opts.ReadOnly):
		if there {
			s.terms = newLexer(s.opts.Terms)
		}
		return false, nil
	case s.opts.ReadOnly:
		if want != "" {
			s.log.Warn("the postings are of another analyzer: there is no lexical matching", "have", have, "want", want)
		}
		return false, nil
	}
	if anew = want != "" && s.newest.cols.Counts() != (columns.Counts{}); anew && want != have {
		s.log.Info("another analyzer: making all postings anew", "have", have, "want", want)
	}
	err = s.writeSmall(func(b *pebble.Batch) error {
		if there || anew {
			lower, upper := format.TableBounds(format.TablePostings)
			if err := b.DeleteRange(lower, upper, nil); err != nil {
				return err
			}
		}
		switch {
		case want == "":
			return b.Delete(key, nil)
		case anew:
			return b.Set(key, nil, nil)
		}
		return b.Set(key, []byte(want), nil)
	})
	if err == nil && want != "" && !anew {
		s.terms = newLexer(s.opts.Terms)
	}
	return anew, err
}

// indexAll makes the postings of every owner. A crash in the middle is made
// good by the next opening.
func (s *Store) indexAll() error {
	s.terms = newLexer(s.opts.Terms)
	st := s.newest
	var list []uint64
	flush := func(last bool) error {
		_, err := s.write(func(tx *txn) error {
			d := s.deriver(tx.base, tx.rows, nil)
			for _, key := range list {
				kind, owner := Kind(key>>32), uint32(key)
				text, err := d.text(kind, owner)
				if err != nil {
					return err
				}
				tx.index(kind, owner, s.terms.edits("", text))
			}
			if last {
				return tx.set(format.AppendMetaKey(nil, metaTerms), []byte(s.opts.Terms.Name()))
			}
			return nil
		})
		list = list[:0]
		return err
	}
	err := st.eachOwner(func(kind Kind, owner uint32) error {
		if list = append(list, ownerKey(kind, owner)); len(list) < indexBatch {
			return nil
		}
		return flush(false)
	})
	if err != nil {
		return err
	}
	return flush(true)
}

// eachOwner calls fn for every owner that has a text, until it returns an
// error.
func (st *state) eachOwner(fn func(kind Kind, owner uint32) error) error {
	for id := range st.cols.Entities() {
		if err := fn(format.KindEntity, uint32(id)); err != nil {
			return err
		}
	}
	for id := range st.cols.Relations() {
		if err := fn(format.KindRelation, uint32(id)); err != nil {
			return err
		}
	}
	for id := range st.cols.Chunks() {
		if err := fn(format.KindChunk, uint32(id)); err != nil {
			return err
		}
	}
	return nil
}

// text reads the text to embed of an owner that exists.
func (d *deriver) text(kind Kind, owner uint32) (string, error) {
	if kind == format.KindChunk {
		return d.chunkText(ChunkID(owner))
	}
	rec, _, ok, err := d.rows.record(kind, owner)
	if err == nil && !ok {
		err = corruptf("%s %d has no record", kind, owner)
	}
	if err != nil {
		return "", err
	}
	return d.existing(kind, owner).textOf(&rec), nil
}
