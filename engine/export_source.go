package engine

import (
	"slices"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// maxPaths bounds how many chunks an export remembers the paths of.
const maxPaths = 1 << 16

// files returns the distinct paths of the chunks that an owner comes from, by
// document, then chunk. A document without a path gives none.
func (r *reader) files(kind format.Kind, owner uint32) ([]string, error) {
	ids, err := r.v.AllSources(kind, owner)
	if err != nil {
		return nil, err
	}
	var missing []format.ChunkID
	for _, id := range ids {
		if _, ok := r.paths[id]; !ok {
			missing = append(missing, id)
		}
	}
	if r.paths == nil || len(r.paths)+len(missing) > maxPaths {
		r.paths, missing = make(map[format.ChunkID]string), ids
	}
	for page := range slices.Chunk(missing, 64) { // their texts are read with them
		rows, err := r.v.Chunks(page, make([]graphstore.Chunk, 0, len(page)))
		if err != nil {
			return nil, err
		}
		for i := range rows {
			r.paths[page[i]] = rows[i].Path
		}
	}
	var out []string
	seen := make(map[string]bool, 4)
	for _, id := range ids {
		if p := r.paths[id]; p != "" && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out, nil
}

// inPlain calls entity for every entity in name order, then relation for every
// relation by source and target, with the paths that each comes from. Either
// may be nil.
func (v *View) inPlain(entity func(*Entity, []string) error, relation func(*Relation, []string) error) error {
	if v.err != nil {
		return v.err
	}
	r := newReader(v.v)
	order := v.entityOrder()
	for _, id := range order {
		if entity == nil {
			break
		}
		e, err := r.entity(id)
		if err != nil {
			return err
		}
		paths, err := r.files(format.KindEntity, uint32(id))
		if err != nil {
			return err
		}
		if err := entity(e, paths); err != nil {
			return err
		}
	}
	if relation == nil {
		return nil
	}
	return v.eachRelation(order, func(id format.RelationID) error {
		e, err := r.relation(id)
		if err != nil {
			return err
		}
		paths, err := r.files(format.KindRelation, uint32(id))
		if err != nil {
			return err
		}
		return relation(e, paths)
	})
}

// eachRelation calls fn for every relation by source, then target: those of
// each entity, in name order, with the neighbours whose names come later.
func (v *View) eachRelation(order []format.EntityID, fn func(format.RelationID) error) error {
	for _, id := range order {
		name := v.v.EntityName(id)
		for _, nb := range v.v.Neighbors(id) {
			if v.v.EntityName(nb.Entity) < name {
				continue
			}
			if err := fn(nb.Relation); err != nil {
				return err
			}
		}
	}
	return nil
}
