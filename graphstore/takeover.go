package graphstore

import (
	"context"
	"fmt"

	"github.com/lightctl/lightrag/format"
)

// CommittedChunk is a chunk in the graph and everything extracted from it.
type CommittedChunk struct {
	Chunk
	CacheKeys [][32]byte
	Malformed uint32
	Entities  []EntityFragment // keys as stored
	Relations []RelationFragment
}

// CommittedChunks returns the chunks of a committed document in their order,
// with the fragments that were extracted from them, under the names of the
// records: merges and edits do not show. Nothing for a document that is not
// committed.
func (v *View) CommittedChunks(ctx context.Context, doc DocID) (out []CommittedChunk, err error) {
	err = v.read(fmt.Sprintf("read contribution of document %d", doc), func(r *rows) error {
		owners, ok, err := r.owners(doc)
		if err != nil || !ok {
			return err
		}
		row, ok, err := r.document(doc)
		if err != nil {
			return err
		}
		if !ok {
			return corruptf("document %d has a contribution but no row", doc)
		}
		at := make(map[uint32]int)
		var texts []format.Chunk
		var orders []uint32
		if err := r.chunksOf(doc, func(order uint32, text *format.Chunk) error {
			texts, orders = append(texts, *text), append(orders, order)
			return nil
		}); err != nil {
			return err
		}
		for i := range texts {
			if i%256 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			visible, _, ok, err := r.chunkRow(texts[i].ID)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			c := CommittedChunk{CacheKeys: visible.CacheKeys, Malformed: visible.Malformed}
			if c.Chunk, err = r.fullChunk(doc, orders[i], &row, &texts[i]); err != nil {
				return err
			}
			at[orders[i]] = len(out)
			out = append(out, c)
		}
		d := &deriver{rows: r, cols: v.st.cols}
		var named DocumentFragment // whom the fragments at hand are about
		owner := uint32(0)
		for i, of := range owners.Fragments {
			if i%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			f, ok, err := r.fragment(of.Kind, of.Owner, of.Key)
			if err != nil {
				return err
			}
			j, there := at[of.Key.Order]
			if !ok || !there {
				return corruptf("document %d contributes a fragment to %s %d that does not exist", doc, of.Kind, of.Owner)
			}
			if f.Class != format.ClassExtracted && (of.Kind != format.KindEntity || f.Relation != 0) {
				continue // follows from a relation
			}
			if of.Kind != named.Kind || of.Owner != owner {
				if err := d.nameRaw(&named, of.Kind, of.Owner); err != nil {
					return err
				}
				owner = of.Owner
			}
			c := &out[j]
			switch of.Kind {
			case format.KindEntity:
				c.Entities = append(c.Entities, EntityFragment{
					Mention: f.Class == format.ClassImplied,
					Name:    named.Name, Chunk: c.ID, Key: of.Key, Type: f.Type, Description: f.Description,
				})
			case format.KindRelation:
				c.Relations = append(c.Relations, RelationFragment{
					Src: named.Src, Tgt: named.Tgt, Chunk: c.ID, Key: of.Key,
					Description: f.Description, Keywords: f.Keywords, Weight: f.Weight,
				})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
