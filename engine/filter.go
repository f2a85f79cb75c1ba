package engine

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// filterFragments is the number of descriptions that stand for an owner in a
// query that is limited to documents.
const filterFragments = 8

// excerptBlock is how many excerpts are read at a time where it is not known
// how many will be needed.
const excerptBlock = 64

// filter limits one search to documents and entity types. What an owner shows
// under documents is derived from their fragments alone: no word of another
// document passes, and no summary is shown, so that the result is that of a
// store without the other documents. A nil filter lets everything through
// unchanged.
type filter struct {
	*scope
	view    *graphstore.View
	derived [2]map[uint32]*graphstore.Excerpt // by kind and owner; those that were needed
	err     error
}

func (db *DB) newFilter(view *graphstore.View, q *Query) (*filter, error) {
	if len(q.Documents) == 0 && len(q.EntityTypes) == 0 {
		return nil, nil
	}
	s, err := db.scopes.get(view, q.Documents, q.EntityTypes)
	if err != nil {
		return nil, err
	}
	return &filter{scope: s, view: view}, nil
}

// byDocuments reports whether texts are those of some documents only.
func (f *filter) byDocuments() bool { return f != nil && f.docs != nil }

// documents returns the scope if it is one of documents, else nil.
func (f *filter) documents() *scope {
	if f.byDocuments() {
		return f.scope
	}
	return nil
}

// accept returns the test that owners of a kind must pass besides that their
// vectors are among those of the scope; nil when there is none.
func (f *filter) accept(kind format.Kind) func(owner uint32) bool {
	switch {
	case f == nil || f.types == nil:
	case kind == format.KindEntity:
		return func(o uint32) bool { return f.entity(format.EntityID(o)) }
	case kind == format.KindRelation:
		return func(o uint32) bool { return f.relation(format.RelationID(o)) }
	}
	return nil
}

// among returns the slots of the vectors that the documents allow, nil for all.
func (f *filter) among(kind format.Kind) *roaring.Bitmap {
	if f == nil {
		return nil
	}
	return f.vectors(f.view, kind)
}

func (f *filter) entity(id format.EntityID) bool {
	if f == nil {
		return true
	}
	return f.has(format.KindEntity, uint32(id)) && (f.types == nil || f.typed(id))
}

// typed reports whether the entity has a wanted type: the one that the allowed
// documents give it.
func (f *filter) typed(id format.EntityID) bool {
	now := f.view.EntityType(id)
	name := ""
	if f.docs != nil {
		if _, sole := f.view.Sole(format.KindEntity, uint32(id)); !sole {
			name = f.excerpt(format.KindEntity, uint32(id)).Type
		}
	}
	if name == "" && now == graphstore.ManyTypes {
		rec, err := f.view.EntityRecords([]format.EntityID{id}, nil)
		if err != nil {
			f.err = err
			return false
		}
		name = rec[0].Type
	}
	return slices.ContainsFunc(f.types, func(t typeWanted) bool {
		if name != "" {
			return t.name == name
		}
		return t.id == now
	})
}

func (f *filter) relation(id format.RelationID) bool {
	if f == nil {
		return true
	}
	if !f.has(format.KindRelation, uint32(id)) {
		return false
	}
	if f.types == nil {
		return true
	}
	a, b := f.view.Ends(id)
	return f.entity(a) && f.entity(b)
}

// excerpt returns what the allowed documents say about an owner.
func (f *filter) excerpt(kind format.Kind, owner uint32) *graphstore.Excerpt {
	if x := f.derived[kind-1][owner]; x != nil {
		return x
	}
	f.read(kind, []uint32{owner})
	return f.derived[kind-1][owner]
}

// read derives the excerpts of owners that are not derived yet.
func (f *filter) read(kind format.Kind, owners []uint32) {
	have := f.derived[kind-1]
	if have == nil {
		have = make(map[uint32]*graphstore.Excerpt, len(owners))
		f.derived[kind-1] = have
	}
	missing := owners[:0:0]
	for _, o := range owners {
		if have[o] == nil {
			missing = append(missing, o)
		}
	}
	if len(missing) == 0 {
		return
	}
	found, err := f.view.Excerpts(kind, missing, f.docs, filterFragments)
	if err != nil {
		f.err = err
		found = make([]graphstore.Excerpt, len(missing))
	}
	for i, o := range missing {
		have[o] = &found[i]
	}
}

// excerptOf is excerpt for the i-th of a ranked list; it reads ahead.
func excerptOf[ID ~uint32](f *filter, kind format.Kind, list []ranked[ID], i int) *graphstore.Excerpt {
	if f.derived[kind-1][uint32(list[i].id)] == nil {
		block := list[i:min(i+excerptBlock, len(list))]
		owners := make([]uint32, len(block))
		for j, r := range block {
			owners[j] = uint32(r.id)
		}
		f.read(kind, owners)
	}
	return f.excerpt(kind, uint32(list[i].id))
}

// weigh gives edges the weights that the allowed documents give them.
func (f *filter) weigh(edges []edge) {
	if !f.byDocuments() {
		return
	}
	var mixed []uint32
	for i := range edges {
		if _, sole := f.view.Sole(format.KindRelation, uint32(edges[i].id)); !sole {
			mixed = append(mixed, uint32(edges[i].id))
		}
	}
	f.read(format.KindRelation, mixed)
	for i := range edges {
		if x := f.derived[format.KindRelation-1][uint32(edges[i].id)]; x != nil {
			edges[i].weight = x.Weight
		}
	}
}

// failed returns the first error met while reading.
func (f *filter) failed() error {
	if f == nil {
		return nil
	}
	return f.err
}
