package graphstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// Delete removes documents and everything that only they contributed, in one
// step. What is left is what would be there had they never been seen, except
// that vectors and summaries of owners whose text changed are stale until they
// are re-made; a summary that covers words of a deleted document is gone.
// Unknown documents are reported and are no error.
func (s *Store) Delete(ctx context.Context, docs []DocID, o DeleteOptions) (DeleteInfo, error) {
	info, err := s.delete(ctx, docs, o)
	return info, opError("delete", fmt.Sprintf("%d documents", len(docs)), err)
}

func (s *Store) delete(ctx context.Context, docs []DocID, o DeleteOptions) (info DeleteInfo, err error) {
	if err := s.writable(); err != nil {
		return info, err
	}
	p, unknown, err := s.planDelete(ctx, docs)
	if err != nil {
		return info, err
	}
	seq, err := s.write(func(tx *txn) error {
		if err := p.update(ctx, s, tx.base, tx.rows); err != nil {
			return err
		}
		info = DeleteInfo{Unknown: unknown, Chunks: len(p.gone)}
		out, err := tx.plan(p)
		if err != nil {
			return err
		}
		info.Entities, info.Relations, info.Stale = out.goneEntities, out.goneRelations, out.stale
		info.Changed = len(p.changes) - out.goneEntities - out.goneRelations
		for i := range p.removed {
			info.Deleted = append(info.Deleted, p.removed[i].id)
		}
		if o.Answers {
			if info.Answers, err = tx.dropAnswers(p); err != nil {
				return err
			}
		}
		return tx.removeDocuments(p)
	})
	if err != nil {
		return DeleteInfo{}, err
	}
	info.Seq = seq
	return info, nil
}

// planDelete works a delete out on the newest published view.
func (s *Store) planDelete(ctx context.Context, docs []DocID) (p *plan, unknown []DocID, err error) {
	st, err := s.acquire()
	if err != nil {
		return nil, nil, err
	}
	defer st.release()
	r := newRows(st.snap)
	defer r.close()
	docs = slices.Clone(docs)
	slices.Sort(docs)
	docs = slices.Compact(docs)
	var known []DocID
	for _, doc := range docs {
		_, ok, err := r.document(doc)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			known = append(known, doc)
		} else {
			unknown = append(unknown, doc)
		}
	}
	p = &plan{}
	return p, unknown, p.build(ctx, s, st, r, known)
}

// dropAnswers deletes the cached answers that the chunks that go were made
// from.
func (tx *txn) dropAnswers(p *plan) (n int, err error) {
	seen := make(map[[32]byte]struct{})
	for i := range p.gone {
		for _, h := range p.gone[i].row.CacheKeys {
			if _, twice := seen[h]; twice {
				continue
			}
			seen[h] = struct{}{}
			key := format.AppendAnswerKey(nil, h)
			ok, err := tx.rows.get(key, func([]byte) error { return nil })
			if err != nil {
				return n, err
			}
			if ok {
				n++
			}
			if err := tx.del(key); err != nil { // it may be on its way
				return n, err
			}
		}
	}
	return n, nil
}
