package graphstore

import (
	"github.com/lightctl/lightrag/format"
)

// verify compares what was counted with what the last commit counted.
func (ld *loaded) verify() error {
	for _, c := range [...]struct {
		what      string
		have, was uint64
	}{
		{"documents", ld.seen.Documents, ld.n.Documents},
		{"chunks", ld.seen.Chunks, ld.n.Chunks},
		{"entities", ld.seen.Entities, ld.n.Entities},
		{"relations", ld.seen.Relations, ld.n.Relations},
		{"fragments", ld.seen.Fragments, ld.n.Fragments},
		{"segments", ld.seen.Segments, ld.n.Segments},
		{"names", ld.seen.Names, ld.n.Names},
		{"pairs", ld.seen.Pairs, ld.n.Pairs},
		{"aliases", ld.seen.Aliases, ld.n.Aliases},
		{"overrides", ld.seen.Overrides, ld.n.Overrides},
		{"members", ld.seen.Members, ld.n.Members},
		{"changes", ld.seen.Changes, ld.n.Changes},
	} {
		if c.have != c.was {
			return corruptf("%d %s, the last commit counted %d: rows are missing or were rolled back", c.have, c.what, c.was)
		}
	}
	if ld.seen.Sum != ld.n.Sum {
		return corruptf("sum of all rows is %016x, the last commit had %016x: rows are missing or were rolled back", ld.seen.Sum, ld.n.Sum)
	}
	return nil
}

// loadVectors tells the sink every live vector.
func (s *Store) loadVectors(ld *loaded) error {
	if s.sink == nil {
		return nil
	}
	want := len(ld.versions)
	err := s.db.LoadVectors(func(kind Kind, owner, version uint32, vec []float32) error {
		key := ownerKey(kind, owner)
		if v, ok := ld.versions[key]; !ok || v != version {
			return nil
		}
		if len(vec) != int(s.ident.Dim) {
			return corruptf("vector of %s %d has dimension %d, the store %d", kind, owner, len(vec), s.ident.Dim)
		}
		delete(ld.versions, key) // the second copy of a vector is not told again
		slot, err := s.sink.Append(kind, owner, version, vec)
		if err != nil {
			return err
		}
		switch kind {
		case format.KindEntity:
			ld.cols.SetEntitySlot(EntityID(owner), slot)
		case format.KindRelation:
			ld.cols.SetRelationSlot(RelationID(owner), slot)
		case format.KindChunk:
			ld.cols.SetChunkSlot(ChunkID(owner), slot)
		}
		return nil
	})
	if err == nil && len(ld.versions) > 0 {
		s.log.Warn("vectors are missing", "missing", len(ld.versions), "wanted", want)
	}
	return err
}
