package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// TypeCount is a type and how many entities have it.
type TypeCount struct {
	Type     string
	Entities int
}

// Types returns the types that entities have, the most frequent first. It reads
// every entity.
func (v *View) Types() ([]TypeCount, error) {
	if v.err != nil {
		return nil, v.err
	}
	return v.typesOf(slices.Collect(v.v.Entities()))
}

// typesOf is Types of some entities.
func (v *View) typesOf(ids []format.EntityID) ([]TypeCount, error) {
	count := make(map[string]int)
	var recs []format.Record
	for page := range slices.Chunk(ids, 1024) {
		var err error
		if recs, err = v.v.EntityRecords(page, recs[:0]); err != nil {
			return nil, fmt.Errorf("lightrag: types of entities: %w", within(err))
		}
		for i := range recs {
			count[recs[i].Type]++
		}
	}
	out := make([]TypeCount, 0, len(count))
	for t, n := range count {
		out = append(out, TypeCount{t, n})
	}
	slices.SortFunc(out, func(a, b TypeCount) int {
		return cmp.Or(cmp.Compare(b.Entities, a.Entities), cmp.Compare(a.Type, b.Type))
	})
	return out, nil
}
