package graphstore

import (
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lightctl/lightrag/format"
)

// strays looks for rows whose owner does not exist.
func (c *checker) strays() error {
	owned := map[format.Table]func(key []byte) (Kind, uint32, error){
		format.TableAggregates: format.DecodeAggregateKey,
		format.TableRecords:    format.DecodeRecordKey,
		format.TableStale:      format.DecodeStaleKey,
		format.TableSummaries: func(key []byte) (Kind, uint32, error) {
			kind, owner, _, _, err := format.DecodeSummaryKey(key)
			return kind, owner, err
		},
		format.TableFragments: func(key []byte) (Kind, uint32, error) {
			kind, owner, _, err := format.DecodeFragmentKey(key)
			return kind, owner, err
		},
		format.TableDescriptions: func(key []byte) (Kind, uint32, error) {
			kind, owner, _, _, err := format.DecodeDescriptionKey(key)
			return kind, owner, err
		},
	}
	for t, decode := range owned {
		lower, _ := format.TableBounds(t)
		if err := c.r.scan(lower, func(key, _ []byte) (bool, error) {
			kind, owner, err := decode(key)
			if err != nil {
				return false, err
			}
			_, member, err := c.r.member(kind, owner)
			if err != nil {
				return false, err
			}
			if c.d.live(kind, owner) || member && (t == format.TableFragments || t == format.TableDescriptions) || kind == format.KindChunk && t == format.TableStale && c.st.cols.ChunkLive(ChunkID(owner)) {
				return true, nil
			}
			return true, c.bad(fmt.Sprintf("%s of %s %d", t, kind, owner), "no such owner")
		}); err != nil {
			return err
		}
	}
	lower, _ := format.TableBounds(format.TableNames)
	return c.r.scan(lower, func(key, value []byte) (bool, error) {
		name, err := format.DecodeNameKey(key)
		if err != nil {
			return false, err
		}
		id, err := format.DecodeEntityID(value)
		if err != nil {
			return false, err
		}
		stored, err := c.r.entityName(id)
		if err != nil {
			return true, c.bad(fmt.Sprintf("name %q", name), "%w", err)
		}
		_, member, err := c.r.member(format.KindEntity, uint32(id))
		if err != nil {
			return false, err
		}
		live := c.st.cols.EntityLive(id)
		if stored != name || live == member || live && c.st.cols.EntityName(id) != name {
			return true, c.bad(fmt.Sprintf("name %q", name), "leads to entity %d, %q", id, stored)
		}
		return true, nil
	})
}

// adjacency compares the shards with the columns.
func (c *checker) adjacency() error {
	set := roaring.New()
	total := 0
	lower, _ := format.TableBounds(format.TableAdjacency)
	if err := c.r.scan(lower, func(key, value []byte) (bool, error) {
		id, shard, err := format.DecodeAdjacencyKey(key)
		if err != nil {
			return false, err
		}
		if err := format.DecodeAdjacency(value, set); err != nil {
			return false, err
		}
		row := fmt.Sprintf("adjacency of entity %d, shard %d", id, shard)
		want := roaring.New()
		for _, n := range c.st.cols.Neighbors(id) {
			if uint32(n.Entity)>>16 == uint32(shard) {
				want.Add(uint32(n.Entity) & 0xffff)
			}
		}
		total += int(set.GetCardinality())
		if set.IsEmpty() || !set.Equals(want) {
			return true, c.bad(row, "%v, relations give %v", set.ToArray(), want.ToArray())
		}
		return true, nil
	}); err != nil {
		return err
	}
	if want := 2 * int(c.st.n.Relations); total != want {
		return c.bad("adjacency", "%d neighbours, relations give %d", total, want)
	}
	return nil
}

// chunks checks the visible chunks.
func (c *checker) chunks() error {
	n := 0
	for id := range c.st.cols.Chunks() {
		n++
		row, _, ok, err := c.r.chunkRow(id)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("chunk %d", id)
		text, there, err := c.r.chunk(row.Doc, row.Order)
		if err != nil {
			return err
		}
		doc, order := c.st.cols.ChunkPlace(id)
		if !ok || !there || text.ID != id || row.Doc != doc || row.Order != order {
			if err := c.bad(name, "row %+v, columns %d, %d, text of chunk %d", row, doc, order, text.ID); err != nil {
				return err
			}
			continue
		}
		if tokens := uint32(c.s.measure.ChunkLine(text.Text)); row.LineTokens != tokens || c.st.cols.LineTokens(format.KindChunk, uint32(id)) != tokens {
			if err := c.bad(name, "%d tokens, the text has %d", row.LineTokens, tokens); err != nil {
				return err
			}
		}
		stale, _, err := c.r.stale(format.KindChunk, uint32(id))
		if err != nil {
			return err
		}
		_, has := c.st.cols.Slot(format.KindChunk, uint32(id))
		if stale.Vector != (c.s.ident.Dim > 0 && row.VectorVersion == 0) || has != (c.s.sink != nil && row.VectorVersion != 0) {
			if err := c.bad(name, "vector version %d, slot %v, stale %v", row.VectorVersion, has, stale.Vector); err != nil {
				return err
			}
		}
		c.document(doc).chunks++
	}
	if n != int(c.st.n.Chunks) {
		return c.bad("chunks", "%d in the columns, %d counted", n, c.st.n.Chunks)
	}
	return nil
}

// allDocuments checks the rows of documents against what the graph holds.
func (c *checker) allDocuments() error {
	lower, _ := format.TableBounds(format.TableDocuments)
	if err := c.r.scan(lower, func(key, value []byte) (bool, error) {
		doc, err := format.DecodeDocumentKey(key)
		if err != nil {
			return false, err
		}
		d := c.document(doc)
		d.known = true
		return true, format.DecodeDocument(value, &d.row)
	}); err != nil {
		return err
	}
	named := make(map[DocID]string)
	lower, _ = format.TableBounds(format.TableDocumentNames)
	if err := c.r.scan(lower, func(key, value []byte) (bool, error) {
		name, err := format.DecodeDocumentNameKey(key)
		if err != nil {
			return false, err
		}
		doc, err := format.DecodeDocID(value)
		if err != nil {
			return false, err
		}
		named[doc] = name
		if d := c.documents[doc]; d == nil || !d.known || d.row.ID != name {
			return true, c.bad(fmt.Sprintf("document name %q", name), "leads to document %d", doc)
		}
		return true, nil
	}); err != nil {
		return err
	}
	lower, _ = format.TableBounds(format.TableChunks)
	if err := c.r.scan(lower, func(key, _ []byte) (bool, error) {
		doc, order, err := format.DecodeChunkKey(key)
		if err != nil {
			return false, err
		}
		d := c.document(doc)
		d.texts++
		if !d.known {
			return true, c.bad(fmt.Sprintf("text of chunk %d of document %d", order, doc), "no such document")
		}
		return true, nil
	}); err != nil {
		return err
	}
	if err := c.ownerRows(); err != nil {
		return err
	}
	for doc, d := range c.documents {
		if err := c.oneDocument(doc, d, named); err != nil {
			return err
		}
	}
	return nil
}

// ownerRows compares the owner rows with the fragments.
func (c *checker) ownerRows() error {
	lower, _ := format.TableBounds(format.TableOwners)
	return c.r.scan(lower, func(key, value []byte) (bool, error) {
		doc, err := format.DecodeOwnersKey(key)
		if err != nil {
			return false, err
		}
		var o format.DocumentOwners
		if err := format.DecodeDocumentOwners(value, &o); err != nil {
			return false, err
		}
		d := c.document(doc)
		d.committed = true
		for i, of := range o.Fragments {
			if i == 0 || of.Kind != o.Fragments[i-1].Kind || of.Owner != o.Fragments[i-1].Owner {
				if of.Kind == format.KindEntity {
					d.entities++
				} else {
					d.relations++
				}
			}
		}
		slices.SortFunc(d.fragments, compareOwnerFragments)
		if !slices.Equal(d.fragments, o.Fragments) {
			return true, c.bad(fmt.Sprintf("owners of document %d", doc), "%d fragments, the graph has %d, or others", len(o.Fragments), len(d.fragments))
		}
		return true, nil
	})
}

func (c *checker) oneDocument(doc DocID, d *documentCheck, named map[DocID]string) error {
	row := fmt.Sprintf("document %d", doc)
	switch {
	case !d.known:
		return c.bad(row, "%d fragments and %d chunks of it, but no row", len(d.fragments), d.chunks)
	case !d.committed && (len(d.fragments) > 0 || d.chunks > 0):
		return c.bad(row, "%d fragments and %d chunks of it, but no owners row", len(d.fragments), d.chunks)
	case d.committed && (d.row.Entities != d.entities || d.row.Relations != d.relations):
		return c.bad(row, "counts %d entities and %d relations, contributes to %d and %d", d.row.Entities, d.row.Relations, d.entities, d.relations)
	case int(d.row.Chunks) != d.texts:
		return c.bad(row, "counts %d chunks, has %d", d.row.Chunks, d.texts)
	case d.row.Status == format.StatusProcessed && !d.committed:
		return c.bad(row, "processed, but no owners row")
	case named[doc] == "" && d.committed:
		return c.bad(row, "committed, but nothing names it")
	}
	return nil
}

// vectors looks for the vector of every owner that names one.
func (c *checker) vectors(deep bool) error {
	missing := c.versions
	found := func(kind Kind, owner, version uint32) {
		if missing[ownerKey(kind, owner)] == version {
			delete(missing, ownerKey(kind, owner))
		}
	}
	if !deep {
		if len(c.s.db.Segments()) > 0 {
			return nil
		}
	}
	if err := c.s.db.LoadVectors(func(kind Kind, owner, version uint32, vec []float32) error {
		if c.s.ident.Dim != uint32(len(vec)) && !c.overtaken() {
			return c.bad(fmt.Sprintf("vector %d of %s %d", version, kind, owner), "dimension %d", len(vec))
		}
		found(kind, owner, version)
		return c.ctx.Err()
	}); err != nil {
		return err
	}
	if len(missing) == 0 || c.overtaken() {
		return nil
	}
	// What a later commit replaced may be gone by now.
	newest, err := c.s.acquire()
	if err != nil {
		return err
	}
	defer newest.release()
	r := newRows(newest.snap)
	defer r.close()
	for key, version := range missing {
		kind, owner := Kind(key>>32), uint32(key)
		now, err := r.vectorVersion(kind, owner)
		if err != nil {
			return err
		}
		if now == version {
			if err := c.bad(fmt.Sprintf("vector %d of %s %d", version, kind, owner), "missing"); err != nil {
				return err
			}
		}
	}
	return nil
}

// overtaken says whether the embedder was changed: the newest vectors are then
// those of the store to come.
func (c *checker) overtaken() bool {
	c.s.mu.Lock() // under which they are committed and it is noted
	defer c.s.mu.Unlock()
	return c.s.overtaken.Load() != nil
}
