package graphstore

import (
	"bytes"
	"errors"
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore/internal/columns"
	"github.com/lightctl/lightrag/graphstore/internal/durable"
)

// loaded is what is read of a store when it opens.
type loaded struct {
	n         format.Counters
	cols      *columns.Loader
	versions  map[uint64]uint32 // owner -> version of its vector
	hashes    map[[32]byte]DocID
	twins     map[[32]byte][]DocID
	replacing map[string]DocID
	stale     uint64
	buffered  uint64
	max       int // MaxSources that the sources were cut to
	types     *entityTypes

	seen   format.Counters // what was counted
	places map[uint64]ChunkID

	members map[uint64]format.Member // raw owner -> where it belongs
	groups  map[uint64]*groupLoad    // root that has members
}

// groupLoad gathers the sources of a root that other raw owners belong to.
type groupLoad struct {
	rec    format.Record
	found  bool     // the record
	places []uint64 // document and order of the fragments
}

// load reads the columns from r and verifies the counters.
func (s *Store) load(r durable.Reader) (*loaded, error) {
	ld := &loaded{
		max: s.opts.MaxSources, types: &s.types, cols: columns.NewLoader(), versions: make(map[uint64]uint32),
		hashes: make(map[[32]byte]DocID), twins: make(map[[32]byte][]DocID), replacing: make(map[string]DocID), places: make(map[uint64]ChunkID),
		members: make(map[uint64]format.Member), groups: make(map[uint64]*groupLoad),
	}
	rows := newRows(r)
	err := ld.read(s, rows)
	if e := rows.close(); err == nil {
		err = e
	}
	ld.places, ld.members, ld.groups = nil, nil, nil
	if err != nil {
		return nil, err
	}
	return ld, nil
}

func (ld *loaded) read(s *Store, r *rows) error {
	found, err := r.get(format.AppendMetaKey(nil, metaCounters), func(b []byte) error { return format.DecodeCounters(b, &ld.n) })
	if err != nil {
		return err
	}
	if !found {
		if used, err := r.any(); err != nil || used {
			return errors.Join(err, corruptf("store has no counters"))
		}
		ld.n = newCounters()
		return nil
	}
	if ld.n.NextChange == 0 {
		return corruptf("store was made by a development version that had no overlays; make it anew")
	}
	for _, step := range []func(*rows) error{ld.documents, ld.chunks, ld.overlays, ld.names, ld.pairs} {
		if err := step(r); err != nil {
			return err
		}
	}
	if err := ld.owners(r, s.opts.MaxSources); err != nil {
		return err
	}
	if err := ld.others(r); err != nil {
		return err
	}
	return ld.verify()
}

// each calls fn for every row of a table and adds it to the sum.
func (ld *loaded) each(r *rows, t format.Table, count *uint64, fn func(key, value []byte) error) error {
	lower, _ := format.TableBounds(t)
	counts, _ := summed(t)
	return r.scan(lower, func(key, value []byte) (bool, error) {
		if counts {
			ld.seen.Sum += rowSum(key, value)
		}
		*count++
		return true, fn(key, value)
	})
}

func (ld *loaded) documents(r *rows) error {
	var pending []DocID
	ids := make(map[DocID]string)
	err := ld.each(r, format.TableDocuments, &ld.seen.Documents, func(key, value []byte) error {
		doc, err := format.DecodeDocumentKey(key)
		if err != nil {
			return err
		}
		var row format.Document
		if err := format.DecodeDocument(value, &row); err != nil {
			return err
		}
		if doc >= ld.n.NextDoc {
			return corruptf("document %d is beyond the counters", doc)
		}
		if _, held := ld.hashes[row.Hash]; held {
			ld.twins[row.Hash] = append(ld.twins[row.Hash], doc)
		} else {
			ld.hashes[row.Hash] = doc
		}
		if row.Status != format.StatusProcessed {
			pending = append(pending, doc)
			ids[doc] = row.ID
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, doc := range pending {
		named, ok, err := r.documentByName(ids[doc])
		if err != nil {
			return err
		}
		if !ok {
			return corruptf("document %d has no name row", doc)
		}
		if named != doc {
			ld.replacing[ids[doc]] = doc
		}
	}
	return nil
}

func (ld *loaded) chunks(r *rows) error {
	return ld.each(r, format.TableChunkRows, &ld.seen.Chunks, func(key, value []byte) error {
		id, err := format.DecodeChunkRowKey(key)
		if err != nil {
			return err
		}
		var row format.ChunkRow
		if err := format.DecodeChunkRow(value, &row); err != nil {
			return err
		}
		ld.cols.AddChunk(id, columns.ChunkRow{Doc: row.Doc, Order: row.Order, LineTokens: row.LineTokens})
		ld.places[uint64(row.Doc)<<32|uint64(row.Order)] = id
		if row.VectorVersion != 0 {
			ld.versions[ownerKey(format.KindChunk, uint32(id))] = row.VectorVersion
		}
		return nil
	})
}

func (ld *loaded) names(r *rows) error {
	return ld.each(r, format.TableEntityNames, &ld.seen.Names, func(key, value []byte) error {
		id, err := format.DecodeEntityNameKey(key)
		if _, ok := ld.members[ownerKey(format.KindEntity, uint32(id))]; !ok {
			ld.cols.AddEntity(id, string(value))
		}
		return err
	})
}

func (ld *loaded) pairs(r *rows) error {
	return ld.each(r, format.TablePairs, &ld.seen.Pairs, func(key, value []byte) error {
		lo, hi, err := format.DecodePairKey(key)
		if err != nil {
			return err
		}
		id, err := format.DecodeRelationID(value)
		if _, ok := ld.members[ownerKey(format.KindRelation, uint32(id))]; !ok {
			ld.cols.AddRelation(id, lo, hi)
		}
		return err
	})
}

// overlays reads where raw owners belong and counts what was curated.
func (ld *loaded) overlays(r *rows) error {
	ignore := func(_, _ []byte) error { return nil }
	for t, count := range map[format.Table]*uint64{
		format.TableAliases: &ld.seen.Aliases, format.TableOverrides: &ld.seen.Overrides, format.TableHistory: &ld.seen.Changes,
	} {
		if err := ld.each(r, t, count, ignore); err != nil {
			return err
		}
	}
	return ld.each(r, format.TableMembers, &ld.seen.Members, func(key, value []byte) error {
		kind, raw, err := format.DecodeMemberKey(key)
		if err != nil {
			return err
		}
		var m format.Member
		if err := format.DecodeMember(value, &m); err != nil {
			return err
		}
		ld.members[ownerKey(kind, raw)] = m
		if !m.Hidden {
			ld.groups[ownerKey(kind, m.Root)] = &groupLoad{}
		}
		return nil
	})
}

// owners reads records and fragment keys side by side: both are sorted by
// owner. A root that other raw owners belong to is set when all are read.
func (ld *loaded) owners(r *rows, max int) error {
	records, err := r.iter(format.TableRecords)
	if err != nil {
		return err
	}
	fragments, err := r.iter(format.TableFragments)
	if err != nil {
		return err
	}
	var rec format.Record
	var sources []ChunkID
	more := fragments.First()
	// others reads the fragments before a record: those of members.
	others := func(kind Kind, owner uint32) error {
		for ; more; more = fragments.Next() {
			k, raw, at, err := format.DecodeFragmentKey(fragments.Key())
			if err != nil {
				return err
			}
			if k == kind && raw >= owner || k > kind {
				return nil
			}
			m, ok := ld.members[ownerKey(k, raw)]
			if !ok {
				return corruptf("fragment of %s %d, which has no record and no root", k, raw)
			}
			ld.seen.Sum += keySum(fragments.Key())
			ld.seen.Fragments++
			if g := ld.groups[ownerKey(k, m.Root)]; !m.Hidden && g != nil {
				g.places = append(g.places, uint64(at.Doc)<<32|uint64(at.Order))
			}
		}
		return nil
	}
	for ok := records.First(); ok; ok = records.Next() {
		kind, owner, err := format.DecodeRecordKey(records.Key())
		if err != nil {
			return err
		}
		value, err := records.ValueAndErr()
		if err != nil {
			return err
		}
		if err := format.DecodeRecord(value, &rec); err != nil {
			return err
		}
		ld.seen.Sum += rowSum(records.Key(), value)
		if kind == format.KindEntity {
			ld.seen.Entities++
		} else {
			ld.seen.Relations++
		}
		if err := others(kind, owner); err != nil {
			return err
		}
		group := ld.groups[ownerKey(kind, owner)]
		prefix := format.AppendFragmentPrefix(nil, kind, owner)
		sources = sources[:0]
		last := uint64(0)
		n := 0
		for ; more && bytes.HasPrefix(fragments.Key(), prefix); more = fragments.Next() {
			_, _, at, err := format.DecodeFragmentKey(fragments.Key())
			if err != nil {
				return err
			}
			ld.seen.Sum += keySum(fragments.Key())
			ld.seen.Fragments++
			place := uint64(at.Doc)<<32 | uint64(at.Order)
			if group != nil {
				group.places = append(group.places, place)
				continue
			}
			if n++; at.Doc == 0 || len(sources) > 0 && place == last || max >= 0 && len(sources) >= max {
				continue
			}
			last = place
			id, ok := ld.places[place]
			if !ok {
				return corruptf("fragment of %s %d is of chunk %d of document %d, which is not visible", kind, owner, at.Order, at.Doc)
			}
			sources = append(sources, id)
		}
		if rec.VectorVersion != 0 {
			ld.versions[ownerKey(kind, owner)] = rec.VectorVersion
		}
		if group != nil {
			group.rec, group.found = rec, true
			group.rec.Keywords = nil
			continue
		}
		if n == 0 {
			if err := fragments.Error(); err != nil { // they end where the file is damaged
				return err
			}
			return corruptf("%s %d has a record and no fragment", kind, owner)
		}
		ld.setOwner(kind, owner, &rec, sources)
	}
	if err := others(^Kind(0), 0); err != nil {
		return err
	}
	if err := errors.Join(records.Error(), fragments.Error()); err != nil {
		return err
	}
	return ld.setGroups(max)
}

func (ld *loaded) setOwner(kind Kind, owner uint32, rec *format.Record, sources []ChunkID) {
	switch kind {
	case format.KindEntity:
		ld.cols.SetEntity(EntityID(owner), columns.EntityRow{
			Type: uint16(ld.types.id(rec.Type)), LineTokens: rec.LineTokens, Sole: rec.Sole, Sources: sources,
		})
	case format.KindRelation:
		ld.cols.SetRelation(RelationID(owner), columns.RelationRow{Weight: rec.Weight, LineTokens: rec.LineTokens, Sole: rec.Sole, Sources: sources})
	}
}

// setGroups sets the roots that other raw owners belong to.
func (ld *loaded) setGroups(max int) error {
	for key, g := range ld.groups {
		kind, owner := Kind(key>>32), uint32(key)
		if !g.found || len(g.places) == 0 {
			return corruptf("%s %d has members, but no record or no fragment", kind, owner)
		}
		slices.Sort(g.places)
		var sources []ChunkID
		for _, place := range slices.Compact(g.places) {
			if place>>32 == 0 {
				continue
			}
			if max >= 0 && len(sources) >= max {
				break
			}
			id, ok := ld.places[place]
			if !ok {
				return corruptf("fragment of %s %d is of chunk %d of document %d, which is not visible", kind, owner, uint32(place), place>>32)
			}
			sources = append(sources, id)
		}
		ld.setOwner(kind, owner, &g.rec, sources)
	}
	return nil
}

// others counts the rows that are not part of the columns.
func (ld *loaded) others(r *rows) error {
	var n uint64
	if err := ld.each(r, format.TableStale, &ld.stale, func(_, _ []byte) error { return nil }); err != nil {
		return err
	}
	if err := ld.each(r, format.TableSegments, &ld.seen.Segments, func(_, _ []byte) error { return nil }); err != nil {
		return err
	}
	return ld.each(r, format.TableBuffered, &n, func(_, value []byte) error {
		ld.buffered += uint64(len(value))
		return nil
	})
}
