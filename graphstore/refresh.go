package graphstore

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/format"
)

// Stale lists owners of the newest published view whose vector or summaries
// are to be re-made, at most max of them (max <= 0: all). Summaries come first: while
// one is missing, an owner that has a vector keeps it, because the text to
// embed will change again.
func (s *Store) Stale(max int) ([]StaleRoot, error) { return s.StaleFrom(0, 0, max) }

// StaleFrom is Stale from an owner on, in the order of kind and owner.
func (s *Store) StaleFrom(kind Kind, owner uint32, max int) ([]StaleRoot, error) {
	var out []StaleRoot
	st, err := s.acquire()
	if err == nil {
		defer st.release()
		r := newRows(st.snap)
		d := s.deriver(st, r, nil)
		lower, _ := format.TableBounds(format.TableStale)
		err = r.scanFrom(format.AppendStaleKey(nil, kind, owner), lower, func(key, value []byte) (bool, error) {
			kind, owner, err := format.DecodeStaleKey(key)
			if err != nil {
				return false, err
			}
			var stale format.Stale
			if err := format.DecodeStale(value, &stale); err != nil {
				return false, err
			}
			root, err := d.staleRoot(kind, owner, stale)
			if err != nil {
				return false, err
			}
			out = append(out, root)
			return max <= 0 || len(out) < max, nil
		})
		if e := r.close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, opError("list", "stale owners", err)
	}
	return out, nil
}

// staleRoot works out what an owner lacks.
func (d *deriver) staleRoot(kind Kind, owner uint32, stale format.Stale) (StaleRoot, error) {
	root := StaleRoot{Kind: kind, Owner: owner, NeedVector: stale.Vector}
	if kind == format.KindChunk {
		text, err := d.chunkText(ChunkID(owner))
		root.Text, root.TextHash = text, TextHash(text)
		return root, err
	}
	c := d.existing(kind, owner)
	if c == nil {
		return root, corruptf("stale %s %d does not exist", kind, owner)
	}
	c.force = stale.Summary
	if err := d.renew(c); err != nil {
		return root, err
	}
	root.Seq = c.agg.LastSeq
	root.Text, root.TextHash, root.Summaries = c.next.text, c.next.rec.TextHash, c.next.jobs
	root.NeedVector = stale.Vector && (!stale.Summary || c.rec.VectorVersion == 0)
	return root, nil
}

// chunkText reads the text of a visible chunk.
func (d *deriver) chunkText(id ChunkID) (string, error) {
	doc, order := d.cols.ChunkPlace(id)
	text, ok, err := d.rows.chunk(doc, order)
	if err == nil && (!ok || text.ID != id) {
		err = corruptf("chunk %d has no text", id)
	}
	return text.Text, err
}

// Refresh stores re-made vectors and summaries in one commit. What a later
// change has overtaken, because the text or the input is another one by now,
// is counted and dropped. The errors of vectors are those of Prepare.
func (s *Store) Refresh(ctx context.Context, list []Refreshed) (RefreshInfo, error) {
	info, err := s.refresh(ctx, list)
	return info, opError("refresh", fmt.Sprintf("%d owners", len(list)), err)
}

func (s *Store) refresh(ctx context.Context, list []Refreshed) (info RefreshInfo, err error) {
	given := 0
	for i := range list {
		r := &list[i]
		given += len(r.Summaries)
		if r.Vector == nil {
			continue
		}
		given++
		if err := s.checkVector(r.Vector); err != nil {
			return info, fmt.Errorf("vector of %s %d: %w", r.Kind, r.Owner, err)
		}
	}
	if err := s.writable(); err != nil {
		return info, err
	}
	p, chunks, err := s.planRefresh(ctx, list)
	if err != nil {
		return info, err
	}
	_, err = s.write(func(tx *txn) error {
		if err := p.update(ctx, s, tx.base, tx.rows); err != nil {
			return err
		}
		out, err := tx.plan(p)
		if err != nil {
			return err
		}
		info.Applied = out.vectors
		for _, c := range p.changes {
			info.Applied += len(c.next.newSummary)
		}
		for i := range chunks {
			ok, err := tx.refreshChunk(&chunks[i])
			if err != nil {
				return err
			}
			if ok {
				info.Applied++
			}
		}
		return nil
	})
	if err != nil {
		return RefreshInfo{}, err
	}
	info.Superseded = given - info.Applied
	return info, nil
}

// planRefresh works a refresh out on the newest published view. Vectors of
// chunks, whose texts never change, are returned apart.
func (s *Store) planRefresh(ctx context.Context, list []Refreshed) (*plan, []Refreshed, error) {
	st, err := s.acquire()
	if err != nil {
		return nil, nil, err
	}
	defer st.release()
	r := newRows(st.snap)
	defer r.close()
	d := s.deriver(st, r, nil)
	p := &plan{}
	var chunks []Refreshed
	byOwner := make(map[uint64]*change, len(list))
	for i := range list {
		r := &list[i]
		if r.Kind == format.KindChunk {
			if !st.cols.ChunkLive(ChunkID(r.Owner)) {
				continue
			}
			text, err := d.chunkText(ChunkID(r.Owner))
			if err != nil {
				return nil, nil, err
			}
			if r.Vector != nil && r.TextHash == TextHash(text) {
				chunks = append(chunks, *r)
			}
			continue
		}
		c := byOwner[ownerKey(r.Kind, r.Owner)]
		if c == nil {
			if c = d.existing(r.Kind, r.Owner); c == nil {
				continue
			}
			byOwner[ownerKey(r.Kind, r.Owner)] = c
			p.renewed = append(p.renewed, c)
		}
		c.summaries = append(c.summaries, r.Summaries...)
		if r.Vector != nil {
			c.vector, c.vectorOf, c.outdated = r.Vector, r.TextHash, r.Outdated
		}
	}
	return p, chunks, p.build(ctx, s, st, r, nil)
}

// refreshChunk stores the vector of a chunk that still lacks one.
func (tx *txn) refreshChunk(r *Refreshed) (bool, error) {
	row, sum, ok, err := tx.rows.chunkRow(ChunkID(r.Owner))
	if err != nil || !ok || row.VectorVersion != 0 {
		return false, err
	}
	version, slot, err := tx.vector(format.KindChunk, r.Owner, r.Vector)
	if err != nil {
		return false, err
	}
	if tx.s.sink != nil {
		tx.cols.SetChunkSlot(ChunkID(r.Owner), slot)
	}
	if err := tx.setStale(format.KindChunk, r.Owner, format.Stale{Vector: true}, format.Stale{}); err != nil {
		return false, err
	}
	row.VectorVersion = version
	tx.touch(format.KindChunk, r.Owner)
	tx.key = format.AppendChunkRowKey(tx.key[:0], ChunkID(r.Owner))
	tx.value = format.AppendChunkRow(tx.value[:0], &row)
	return true, tx.setSummed(tx.key, tx.value, sum)
}
