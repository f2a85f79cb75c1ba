package engine

import (
	"fmt"
	"time"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// NewEntity is an entity to be created.
type NewEntity struct {
	Name        string
	Type        string // empty = UNKNOWN until a document gives one
	Description string
}

// NewRelation is a relation to be created, between Src and Tgt in any order.
type NewRelation struct {
	Src, Tgt    string
	Description string
	Keywords    []string
	Weight      float64 // 0 = 1
}

// Field names a value of an entity or a relation that can be curated.
type Field string

const (
	FieldType        Field = "type"
	FieldDescription Field = "description"
	FieldKeywords    Field = "keywords"
	FieldWeight      Field = "weight"
)

var fieldNames = [...]struct {
	field Field
	bit   format.Fields
}{
	{FieldType, format.FieldType}, {FieldDescription, format.FieldDescription},
	{FieldKeywords, format.FieldKeywords}, {FieldWeight, format.FieldWeight},
}

// curatedFields lists the fields of a set.
func curatedFields(set format.Fields) []Field {
	var out []Field
	for _, f := range fieldNames {
		if set&f.bit != 0 {
			out = append(out, f.field)
		}
	}
	return out
}

// EntityEdit says what of an entity is curated from now on; nil leaves a field
// as it is. Reset takes curated values away again, so that documents decide.
type EntityEdit struct {
	Type        *string
	Description *string
	Reset       []Field // FieldType, FieldDescription
}

// RelationEdit is EntityEdit for a relation.
type RelationEdit struct {
	Description *string
	Keywords    *[]string
	Weight      *float64
	Reset       []Field // FieldDescription, FieldKeywords, FieldWeight
}

// MergeStrategy says how a merge settles a field, from the values of the
// target, if it exists, and then of the sources.
type MergeStrategy string

const (
	// MergeDerive lets documents decide: what they say of all names is united.
	// Values curated before are kept.
	MergeDerive    MergeStrategy = ""
	MergeKeepFirst MergeStrategy = "keep_first"
	MergeKeepLast  MergeStrategy = "keep_last"
	// MergeConcatenate joins the distinct descriptions with <SEP>. That is what
	// MergeDerive does as well, and documents go on deciding.
	MergeConcatenate MergeStrategy = "concatenate"
	// MergeJoinUnique is another name of it.
	MergeJoinUnique MergeStrategy = "join_unique"
)

func (s MergeStrategy) strategy() (graphstore.Strategy, error) {
	switch s {
	case MergeDerive, MergeConcatenate, MergeJoinUnique:
		return graphstore.Derive, nil
	case MergeKeepFirst:
		return graphstore.KeepFirst, nil
	case MergeKeepLast:
		return graphstore.KeepLast, nil
	}
	return 0, fmt.Errorf("%w: merge strategy %q is none of keep_first, keep_last, concatenate, join_unique", ErrInvalid, s)
}

// MergeOptions says what the merged entity shows. A field with a strategy
// that is kept or set is curated from then on: it stays as it is when documents
// go.
type MergeOptions struct {
	TypeBy        MergeStrategy
	DescriptionBy MergeStrategy
	Type          *string
	Description   *string
}

// CurationReport says what a change did.
type CurationReport struct {
	Change   uint32            // its id for Undo; 0: there was nothing to change
	Resolved map[string]string // names that were given and are aliases -> the entities they lead to
	Entity   *Entity           // what was made or changed, as it is now
	Relation *Relation
	Gone     Counts // entities and relations that are gone, or one with another
	Stale    int    // owners whose vector or summary is still to be made
}

// Change is one entry of the history of curation.
type Change struct {
	ID      uint32     `json:"id"`
	Kind    string     `json:"kind"` // create, edit, rename, merge, delete
	Of      string     `json:"of"`   // entity, relation
	Names   []string   `json:"names"`
	Made    time.Time  `json:"made"`
	Undone  *time.Time `json:"undone,omitempty"`
	CanUndo bool       `json:"can_undo"` // unless a later change builds upon it
}
