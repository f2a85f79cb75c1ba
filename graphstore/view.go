package graphstore

import (
	"iter"

	"github.com/lightctl/lightrag/format"
)

// Seq returns the sequence number of the commit that the view shows.
func (v *View) Seq() uint64 { return v.st.seq }

// Counts returns the numbers of rows of the view.
func (v *View) Counts() Counts { return v.st.counts() }

func (st *state) counts() Counts {
	n := &st.n
	return Counts{Documents: n.Documents, Chunks: n.Chunks, Entities: n.Entities, Relations: n.Relations, Fragments: n.Fragments}
}

// Bound returns how many vector slots of the kind existed when the view was
// made; every slot that the view names is below it.
func (v *View) Bound(kind Kind) uint32 {
	if int(kind) < len(v.st.bounds) {
		return v.st.bounds[kind]
	}
	return 0
}

// EntityName returns the name of a live entity, "" for any other id. The
// string is borrowed from the store's memory; clone it to keep it for long.
func (v *View) EntityName(id EntityID) string { return v.st.cols.EntityName(id) }

// EntityLive reports whether the entity exists.
func (v *View) EntityLive(id EntityID) bool { return v.st.cols.EntityLive(id) }

// RelationLive reports whether the relation exists.
func (v *View) RelationLive(id RelationID) bool { return v.st.cols.RelationLive(id) }

// ChunkLive reports whether the chunk belongs to a committed document.
func (v *View) ChunkLive(id ChunkID) bool { return v.st.cols.ChunkLive(id) }

// Degree returns the number of relations of an entity.
func (v *View) Degree(id EntityID) int { return v.st.cols.Degree(id) }

// Neighbors returns the relations of an entity, in the order of the names at
// their other ends by code point. The slice is borrowed: it must not be
// changed.
func (v *View) Neighbors(id EntityID) []Neighbor { return v.st.cols.Neighbors(id) }

// Ends returns the entities of a relation; the name of a is smaller by code
// point than that of b.
func (v *View) Ends(id RelationID) (a, b EntityID) { return v.st.cols.Ends(id) }

// Weight returns the weight of a relation in 1/format.WeightScale.
func (v *View) Weight(id RelationID) int64 { return v.st.cols.Weight(id) }

// LineTokens returns the tokens of the owner's context line.
func (v *View) LineTokens(kind Kind, owner uint32) int {
	return int(v.st.cols.LineTokens(kind, owner))
}

// Sources returns the chunks that the owner comes from, at most
// Options.MaxSources of them, by document and chunk order. The slice is
// borrowed.
func (v *View) Sources(kind Kind, owner uint32) []ChunkID {
	switch kind {
	case format.KindEntity:
		return v.st.cols.EntitySources(EntityID(owner))
	case format.KindRelation:
		return v.st.cols.RelationSources(RelationID(owner))
	}
	return nil
}

// Mentions returns the entities that have the chunk among their Sources, by
// ascending id. The slice is borrowed.
func (v *View) Mentions(id ChunkID) []EntityID { return v.st.cols.Mentions(id) }

// Slot returns the slot of the owner's vector, false if it has none.
func (v *View) Slot(kind Kind, owner uint32) (uint32, bool) { return v.st.cols.Slot(kind, owner) }

// Sole returns the only document that an owner comes from, false if there are
// several.
func (v *View) Sole(kind Kind, owner uint32) (DocID, bool) { return v.st.cols.Sole(kind, owner) }

// ChunkPlace returns the document of a chunk and the chunk's order in it.
func (v *View) ChunkPlace(id ChunkID) (DocID, uint32) { return v.st.cols.ChunkPlace(id) }

// Entities yields the entities by ascending id.
func (v *View) Entities() iter.Seq[EntityID] { return v.st.cols.Entities() }

// Relations yields the relations by ascending id.
func (v *View) Relations() iter.Seq[RelationID] { return v.st.cols.Relations() }

// ChunkIDs yields the chunks of committed documents by ascending id.
func (v *View) ChunkIDs() iter.Seq[ChunkID] { return v.st.cols.Chunks() }
