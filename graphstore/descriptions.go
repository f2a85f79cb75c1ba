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
		col.add(key, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	col.flush()
	if !col.extracted && col.implied.Class != 0 {
		text := ""
		err := v.Fragments(format.KindRelation, uint32(col.implied.Relation), func(key FragmentKey, f *format.Fragment) error {
			if key == col.implied.key {
				text = f.Description
			}
			return nil
		})
		if err != nil || text == "" {
			return nil, err
		}
		return []string{text}, nil
	}
	out := make([]string, len(col.items))
	for i, it := range col.items {
		out[i] = it.text
	}
	return out, nil
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

// contributed counts the owners that a plan adds fragments to.
func (p *plan) contributed() (entities, relations int) {
	for _, c := range p.changes {
		if len(c.add) == 0 {
			continue
		}
		if c.kind == format.KindEntity {
			entities++
		} else {
			relations++
		}
	}
	return entities, relations
}
