package offline

import (
	"cmp"
	"slices"
)

// fit drops what a text has no room for, so that a collection of short passages
// comes to no more entities and relations, per MB, than its length allows. list is
// ordered by evidence; what is left of it is ordered by entities.
func (x *extraction) fit(list []relation) []relation {
	list = x.strongest(list)
	x.fill(list)
	list = slices.DeleteFunc(list, func(r relation) bool { return !x.entities[r.a].selected || !x.entities[r.b].selected })
	slices.SortFunc(list, func(a, b relation) int {
		return cmp.Or(cmp.Compare(x.entities[a.a].order, x.entities[b.a].order), cmp.Compare(x.entities[a.b].order, x.entities[b.b].order))
	})
	return list
}

// length is that of the text in bytes of a language in an alphabet.
func (x *extraction) length() int {
	if x.lang >= chinese {
		return 3 * x.bytes
	}
	return x.bytes
}

// strongest keeps as many relations as a text of that length may have. A pair that meets
// once is one while one of the two has no other: more of a sentence is in its
// description anyway.
func (x *extraction) strongest(list []relation) []relation {
	met := make(map[int32]bool, 2*len(list))
	kept := list[:0]
	for _, r := range list {
		if met[r.a] && met[r.b] && r.sents == 1 && r.text == "" && x.lang < chinese || x.sideBySide(&r) {
			continue
		}
		met[r.a], met[r.b] = true, true
		kept = append(kept, r)
	}
	return kept[:min(len(kept), max(2, x.length()/85), len(met), maxRows-maxEntities-1)]
}

// sideBySide reports whether nothing but one sentence speaks for a relation, and
// that says nothing of the two.
func (x *extraction) sideBySide(r *relation) bool {
	return r.sents == 1 && !r.said && r.text == "" && x.lang < chinese
}

// fill drops entities of little evidence, a phrase met once and a name met once
// that has neither type nor relation, but for as many as fill up a text that
// names little.
func (x *extraction) fill(list []relation) {
	related := make(map[int32]bool, 2*len(list))
	for i := range list {
		related[list[i].a], related[list[i].b] = true, true
	}
	few := 5 + x.length()/800
	for _, id := range x.ranked() {
		e := &x.entities[id]
		if !e.selected {
			continue
		}
		if few--; few < 0 && (e.weak || !related[id] && e.kind == kindName && e.mentions == 1 && e.typ() == typeConcept) {
			e.selected = false
		}
	}
}
