package format

import (
	"cmp"
	"fmt"
)

// Dense ids, assigned in order of first appearance and never reused. They are
// distinct types so that a document can never be passed where a chunk is meant.
type (
	// DocID names a document.
	DocID uint32
	// ChunkID names one chunk of one document.
	ChunkID uint32
	// EntityID names a distinct normalised entity name.
	EntityID uint32
	// RelationID names an unordered pair of distinct entities.
	RelationID uint32
)

// Kind says what owns a fragment, a record or a vector. It is an open enum:
// unknown kinds are carried, not refused.
type Kind uint8

// The kinds known to this version.
const (
	KindEntity   Kind = 1
	KindRelation Kind = 2
	KindChunk    Kind = 3
)

// String returns the lower-case name used in messages and exports.
func (k Kind) String() string {
	switch k {
	case KindEntity:
		return "entity"
	case KindRelation:
		return "relation"
	case KindChunk:
		return "chunk"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Class says where a fragment comes from.
type Class uint8

const (
	// ClassExtracted is a record that a model wrote about the owner.
	ClassExtracted Class = 1
	// ClassImplied marks an entity that only appears as the endpoint of a
	// relation record of the chunk; it has no text of its own.
	ClassImplied Class = 2
	// ClassCurated is a record that a person wrote.
	ClassCurated Class = 3
)

// FragmentKey orders the contributions of all chunks: by document, chunk
// order, pass (0 first answer, 1 gleaning answer) and position of the record
// in that answer. Every "first", vote and tie in derived values uses it.
type FragmentKey struct {
	Doc   DocID
	Order uint32
	Pass  uint8
	Index uint16
}

// Compare returns -1, 0 or 1 as k is before, equal to or after o.
func (k FragmentKey) Compare(o FragmentKey) int {
	switch {
	case k.Doc != o.Doc:
		return cmp.Compare(k.Doc, o.Doc)
	case k.Order != o.Order:
		return cmp.Compare(k.Order, o.Order)
	case k.Pass != o.Pass:
		return cmp.Compare(k.Pass, o.Pass)
	}
	return cmp.Compare(k.Index, o.Index)
}
