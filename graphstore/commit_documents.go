package graphstore

import (
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
)

// documentsCommitted writes the rows of the documents and chunks of a commit,
// and returns what each contribution of list, which are those of p, adds to.
func (tx *txn) documentsCommitted(p *plan, list []Contribution) ([]Contributed, error) {
	if err := tx.removeDocuments(p); err != nil {
		return nil, err
	}
	for i := range p.chunks {
		if err := tx.addChunk(&p.chunks[i]); err != nil {
			return nil, err
		}
	}
	out := make([]Contributed, len(list))
	for i, owners := range p.contributed(out) {
		if err := tx.documentCommitted(&p.docs[i], &list[i], &out[i], &owners); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (tx *txn) documentCommitted(d *plannedDoc, c *Contribution, n *Contributed, owners *format.DocumentOwners) error {
	tx.key = format.AppendOwnersKey(tx.key[:0], d.id)
	tx.value = format.AppendDocumentOwners(tx.value[:0], owners)
	if err := tx.set(tx.key, tx.value); err != nil {
		return err
	}
	row := d.row
	row.Entities, row.Relations = uint32(n.Entities), uint32(n.Relations)
	row.Status, row.Error = format.StatusProcessed, ""
	row.Generation++
	row.Malformed, row.Failed = c.Malformed, c.Failed
	c.Usage.add(&row)
	row.Updated = tx.s.opts.Now().Unix()
	return tx.setDocument(d.id, &row, &d.row)
}

// contributed lists the fragments of each document that comes, by raw owner, and
// counts these in n.
func (p *plan) contributed(n []Contributed) []format.DocumentOwners {
	at := make(map[DocID]int, len(p.docs))
	for i := range p.docs {
		at[p.docs[i].id] = i
	}
	out := make([]format.DocumentOwners, len(p.docs))
	for _, w := range p.adds {
		last := DocID(0)
		for i := range w.add {
			key := w.add[i].key
			doc := at[key.Doc]
			out[doc].Fragments = append(out[doc].Fragments, format.OwnerFragment{Kind: w.kind, Owner: w.id, Key: key})
			switch {
			case key.Doc == last:
			case w.kind == format.KindEntity:
				n[doc].Entities++
			default:
				n[doc].Relations++
			}
			last = key.Doc
		}
	}
	return out
}

// addChunk makes a chunk visible.
func (tx *txn) addChunk(c *chunkAddition) error {
	row := c.row
	col := columns.ChunkRow{Doc: row.Doc, Order: row.Order, LineTokens: row.LineTokens}
	if c.vector != nil {
		version, slot, err := tx.vector(format.KindChunk, uint32(c.id), c.vector)
		if err != nil {
			return err
		}
		row.VectorVersion = version
		col.Slot, col.HasSlot = slot, tx.s.sink != nil
	}
	if err := tx.setStale(format.KindChunk, uint32(c.id), format.Stale{}, chunkStaleness(&row, tx.s.ident.Dim > 0)); err != nil {
		return err
	}
	tx.touch(format.KindChunk, uint32(c.id))
	tx.cols.AddChunk(c.id, col)
	tx.index(format.KindChunk, uint32(c.id), c.terms)
	tx.n.Chunks++
	tx.key = format.AppendChunkRowKey(tx.key[:0], c.id)
	tx.value = format.AppendChunkRow(tx.value[:0], &row)
	return tx.setSummed(tx.key, tx.value, 0)
}

// removeDocuments deletes the rows of the documents and chunks that go.
func (tx *txn) removeDocuments(p *plan) error {
	for i := range p.gone {
		g := &p.gone[i]
		stale := chunkStaleness(&g.row, tx.s.ident.Dim > 0)
		if err := tx.setStale(format.KindChunk, uint32(g.id), stale, format.Stale{}); err != nil {
			return err
		}
		tx.touch(format.KindChunk, uint32(g.id))
		tx.cols.DropChunk(g.id)
		tx.n.Chunks--
		tx.n.Sum -= g.sum
		if err := tx.del(format.AppendChunkRowKey(tx.key[:0], g.id)); err != nil {
			return err
		}
		if err := tx.unindexChunk(g.id, &g.row); err != nil {
			return err
		}
	}
	for i := range p.removed {
		rd := &p.removed[i]
		if rd.committed {
			if err := tx.del(format.AppendOwnersKey(tx.key[:0], rd.id)); err != nil {
				return err
			}
		}
		if rd.keepRow {
			continue
		}
		if err := tx.dropDocument(rd.id, &rd.row); err != nil {
			return err
		}
		if err := tx.rename(rd.row.ID, rd.id, p.heir(rd.row.ID)); err != nil {
			return err
		}
	}
	return nil
}

// rename settles whom an id names when the document gone goes: its successor
// now committed, the one that is still pending, or nobody.
func (tx *txn) rename(id string, gone, committed DocID) error {
	heir := tx.replacement(id)
	if heir == gone {
		tx.setReplacement(id, 0)
		return nil // the id names the document that was to be replaced
	}
	named, err := tx.documentByName(id)
	if err != nil || named != gone {
		return err
	}
	if committed != 0 {
		heir = committed
	}
	tx.setReplacement(id, 0)
	return tx.setName(id, heir)
}
