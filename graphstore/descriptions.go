package graphstore

import (
	"github.com/lightctl/lightrag/format"
)

// FormatVersion is the version of the formats that this build writes.
const FormatVersion = int(format.FormatVersion)

// Descriptions returns the distinct descriptions of an owner in the order in
// which a record joins them. Unlike the record it is never cut by MaxSources.
func (v *View) Descriptions(kind Kind, owner uint32) ([]string, error) {
	col := collector{max: -1}
	err := v.Fragments(kind, owner, func(key FragmentKey, f *format.Fragment) error {
		col.add(key, f, false)
		return nil
	})
	if err != nil {
		return nil, err
	}
	col.flush()
	if !col.extracted && col.implied.Class != 0 {
		f, err := v.ImpliedBy(&col.implied.Fragment, col.implied.key)
		if err != nil || f.Description == "" {
			return nil, err
		}
		return []string{f.Description}, nil
	}
	out := make([]string, len(col.items))
	for i, it := range col.items {
		out[i] = it.text
	}
	return out, nil
}

// ImpliedBy returns the fragment of the relation that an implied fragment of an
// entity comes from, which has the same key; an empty one if that relation was
// deleted by a person.
func (v *View) ImpliedBy(implied *format.Fragment, key FragmentKey) (f format.Fragment, err error) {
	if implied.Relation == 0 {
		return f, nil
	}
	err = v.read("read the relation that implies an entity", func(r *rows) error {
		var ok bool
		if f, ok, err = r.fragment(format.KindRelation, uint32(implied.Relation), key); err == nil && !ok {
			err = corruptf("relation %d has no fragment %+v", implied.Relation, key)
		}
		return err
	})
	return f, err
}

// SetChunkVector gives a chunk of the contribution its vector. A chunk without
// one becomes stale. It returns false for a chunk that is not part of it.
func (p *Prepared) SetChunkVector(id ChunkID, vec []float32) bool {
	if p.chunkAt == nil {
		p.chunkAt = make(map[ChunkID]int, len(p.plan.chunks))
		for i := range p.plan.chunks {
			p.chunkAt[p.plan.chunks[i].id] = i
		}
	}
	i, ok := p.chunkAt[id]
	if ok {
		p.plan.chunks[i].vector = vec
	}
	return ok
}

// StaleCount returns the number of owners of the newest published view whose
// vector or summaries are to be re-made.
func (s *Store) StaleCount() (int, error) {
	st, err := s.acquire()
	if err != nil {
		return 0, err
	}
	defer st.release()
	return int(st.stale), nil
}
