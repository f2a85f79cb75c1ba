package graphstore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// These methods of a view read from its snapshot.

// read runs fn on the view's rows and names the operation in its error.
func (v *View) read(op string, fn func(r *rows) error) error {
	r, err := v.reader()
	if err == nil {
		err = fn(r)
		if e := r.close(); err == nil {
			err = e
		}
	}
	return opError(op, "", err)
}

// FindEntity looks an entity up by its normalised name, or by one of its
// aliases.
func (v *View) FindEntity(name string) (id EntityID, ok bool, err error) {
	err = v.read("find entity", func(r *rows) error {
		if v.st.n.Aliases > 0 {
			root, aliased, err := r.alias(name)
			if err != nil {
				return err
			}
			if aliased {
				name = root
			}
		}
		r.key = format.AppendNameKey(r.key[:0], name)
		ok, err = r.get(r.key, func(b []byte) (err error) { id, err = format.DecodeEntityID(b); return err })
		return err
	})
	return id, ok, err
}

// FindPair looks the relation of two entities up, in either order.
func (v *View) FindPair(a, b EntityID) (id RelationID, ok bool, err error) {
	if a == b {
		return 0, false, nil
	}
	err = v.read("find relation", func(r *rows) error {
		r.key = format.AppendPairKey(r.key[:0], a, b)
		ok, err = r.get(r.key, func(b []byte) (err error) { id, err = format.DecodeRelationID(b); return err })
		return err
	})
	return id, ok, err
}

// FindRelation looks the relation of two names up, in either order.
func (v *View) FindRelation(a, b string) (RelationID, bool, error) {
	x, ok, err := v.FindEntity(a)
	if err != nil || !ok {
		return 0, false, err
	}
	y, ok, err := v.FindEntity(b)
	if err != nil || !ok {
		return 0, false, err
	}
	return v.FindPair(x, y)
}

// EntityRecords appends the records of ids to dst, in the order of ids. The
// error matches ErrNotFound if one of them does not exist.
func (v *View) EntityRecords(ids []EntityID, dst []format.Record) ([]format.Record, error) {
	return readRecords(v, format.KindEntity, ids, dst)
}

// RelationRecords appends the records of ids to dst, in the order of ids. The
// error matches ErrNotFound if one of them does not exist.
func (v *View) RelationRecords(ids []RelationID, dst []format.Record) ([]format.Record, error) {
	return readRecords(v, format.KindRelation, ids, dst)
}

// readRecords reads records with one iterator that only moves forward.
func readRecords[ID ~uint32](v *View, kind Kind, ids []ID, dst []format.Record) ([]format.Record, error) {
	base := len(dst)
	dst = append(dst, make([]format.Record, len(ids))...)
	err := v.read("read "+kind.String()+" records", func(r *rows) error {
		return forward(ids, func(i int) error {
			r.key = format.AppendRecordKey(r.key[:0], kind, uint32(ids[i]))
			ok, err := r.seek(r.key, func(b []byte) error { return format.DecodeRecord(b, &dst[base+i]) })
			if err == nil && !ok {
				err = fmt.Errorf("%s %d: %w", kind, ids[i], ErrNotFound)
			}
			return err
		})
	})
	if err != nil {
		return dst[:base], err
	}
	return dst, nil
}

// forward calls fn for the indices of ids by ascending id.
func forward[ID ~uint32](ids []ID, fn func(i int) error) error {
	if slices.IsSorted(ids) {
		for i := range ids {
			if err := fn(i); err != nil {
				return err
			}
		}
		return nil
	}
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	for _, i := range order {
		if err := fn(i); err != nil {
			return err
		}
	}
	return nil
}

// Chunks appends chunks to dst, in the order of ids. The error matches
// ErrNotFound if one of them is not visible.
func (v *View) Chunks(ids []ChunkID, dst []Chunk) ([]Chunk, error) {
	base := len(dst)
	dst = append(dst, make([]Chunk, len(ids))...)
	err := v.read("read chunks", func(r *rows) error {
		docs := make(map[DocID]format.Document)
		return forward(ids, func(i int) error {
			if !v.ChunkLive(ids[i]) {
				return fmt.Errorf("chunk %d: %w", ids[i], ErrNotFound)
			}
			doc, order := v.ChunkPlace(ids[i])
			row, ok := docs[doc]
			if !ok {
				var err error
				if row, ok, err = r.document(doc); err != nil {
					return err
				}
				if !ok {
					return corruptf("chunk %d belongs to document %d, which does not exist", ids[i], doc)
				}
				docs[doc] = row
			}
			text, ok, err := r.chunk(doc, order)
			if err != nil {
				return err
			}
			if !ok {
				return corruptf("chunk %d has no text", ids[i])
			}
			dst[base+i], err = r.fullChunk(doc, order, &row, &text)
			return err
		})
	})
	if err != nil {
		return dst[:base], err
	}
	return dst, nil
}

// fullChunk puts a chunk together; keywords are there once it is visible.
func (r *rows) fullChunk(doc DocID, order uint32, row *format.Document, text *format.Chunk) (Chunk, error) {
	c := Chunk{ID: text.ID, Doc: doc, Order: order, DocID: row.ID, Path: text.Path, Text: text.Text, Tokens: text.Tokens}
	if c.Path == "" {
		c.Path = row.Path
	}
	visible, _, _, err := r.chunkRow(text.ID)
	c.Keywords, c.Failure = visible.Keywords, visible.Failure
	return c, err
}

// Document returns the row of a document. The error matches ErrNotFound.
func (v *View) Document(doc DocID) (row format.Document, err error) {
	err = v.read(fmt.Sprintf("read document %d", doc), func(r *rows) error {
		var ok bool
		if row, ok, err = r.document(doc); err == nil && !ok {
			err = ErrNotFound
		}
		return err
	})
	return row, err
}

// FindDocument looks a document up by the caller's id. Of a document that is
// being replaced it finds the one that is still in the graph.
func (v *View) FindDocument(id string) (doc DocID, row format.Document, ok bool, err error) {
	err = v.read(fmt.Sprintf("find document %q", id), func(r *rows) error {
		if doc, ok, err = r.documentByName(id); err != nil || !ok {
			return err
		}
		var there bool
		if row, there, err = r.document(doc); err == nil && !there {
			err = corruptf("document %d has a name but no row", doc)
		}
		return err
	})
	return doc, row, ok && err == nil, err
}

// Documents calls fn for every document of any status, in DocID order, until
// it returns an error, which is returned as it is.
func (v *View) Documents(fn func(DocID, format.Document) error) error {
	var stop error
	err := v.read("list documents", func(r *rows) error {
		lower, _ := format.TableBounds(format.TableDocuments)
		return r.scan(lower, func(key, value []byte) (bool, error) {
			doc, err := format.DecodeDocumentKey(key)
			if err != nil {
				return false, err
			}
			var row format.Document
			if err := format.DecodeDocument(value, &row); err != nil {
				return false, err
			}
			stop = fn(doc, row)
			return stop == nil, nil
		})
	})
	if stop != nil {
		return stop
	}
	return err
}

// DocumentChunks returns the chunks of a document by order, also of one that
// is not committed. The error matches ErrNotFound.
func (v *View) DocumentChunks(doc DocID) (out []Chunk, err error) {
	err = v.read(fmt.Sprintf("read chunks of document %d", doc), func(r *rows) error {
		row, ok, err := r.document(doc)
		if err != nil {
			return err
		}
		if !ok {
			return ErrNotFound
		}
		return r.chunksOf(doc, func(order uint32, text *format.Chunk) error {
			c, err := r.fullChunk(doc, order, &row, text)
			out = append(out, c)
			return err
		})
	})
	return out, err
}

// DocumentOwners returns the fragments that a committed document contributed,
// by the raw owners that have them; nothing for one that is not. DocumentRoots
// says to which records they go.
func (v *View) DocumentOwners(doc DocID) (o format.DocumentOwners, err error) {
	err = v.read(fmt.Sprintf("read owners of document %d", doc), func(r *rows) error {
		o, _, err = r.owners(doc)
		return err
	})
	return o, err
}

// DocumentRoots calls fn for every root that a committed document contributes
// to: entities, then relations. Relations that a merge has hidden have none.
func (v *View) DocumentRoots(doc DocID, fn func(kind Kind, root uint32)) error {
	return v.read(fmt.Sprintf("read roots of document %d", doc), func(r *rows) error {
		o, _, err := r.owners(doc)
		if err != nil {
			return err
		}
		seen := make(map[uint64]struct{})
		for i := range o.Fragments {
			f := &o.Fragments[i]
			if i > 0 && f.Kind == o.Fragments[i-1].Kind && f.Owner == o.Fragments[i-1].Owner {
				continue
			}
			root := f.Owner
			if v.st.n.Members > 0 {
				m, ok, err := r.member(f.Kind, f.Owner)
				if err != nil {
					return err
				}
				if m.Hidden {
					continue
				}
				if ok {
					root = m.Root
				}
			}
			if _, twice := seen[ownerKey(f.Kind, root)]; !twice {
				seen[ownerKey(f.Kind, root)] = struct{}{}
				fn(f.Kind, root)
			}
		}
		return nil
	})
}

// Fragments calls fn for all fragments of a root in canonical order, until it
// returns an error, which is returned as it is. Those of document 0 were made
// by hand. The fragment is lent.
func (v *View) Fragments(kind Kind, owner uint32, fn func(FragmentKey, *format.Fragment) error) error {
	var stop error
	err := v.read(fmt.Sprintf("read fragments of %s %d", kind, owner), func(r *rows) error {
		group, err := v.st.group(r, kind, owner)
		if err != nil {
			return err
		}
		return r.groupFragments(kind, group, func(_ uint32, key FragmentKey, f *format.Fragment) (bool, error) {
			stop = fn(key, f)
			return stop == nil, nil
		})
	})
	if stop != nil {
		return stop
	}
	return err
}

// AllSources returns every chunk that the owner comes from, by document and
// chunk order.
func (v *View) AllSources(kind Kind, owner uint32) (out []ChunkID, err error) {
	err = v.Fragments(kind, owner, func(key FragmentKey, f *format.Fragment) error {
		if n := len(out); key.Doc != 0 && (n == 0 || out[n-1] != f.Chunk) {
			out = append(out, f.Chunk)
		}
		return nil
	})
	return out, err
}

// group lists the raw owners of a root, itself first.
func (st *state) group(r *rows, kind Kind, root uint32) ([]uint32, error) {
	group := []uint32{root}
	if st.n.Members == 0 {
		return group, nil
	}
	others, err := r.group(kind, root)
	return append(group, others...), err
}
