package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// filterFragments is the number of allowed descriptions that stand for an
// owner which documents outside the filter describe as well.
const filterFragments = 8

// filter limits a search to documents and entity types. What an owner shows
// under it is derived from allowed fragments only: no word of another
// document passes. A nil filter lets everything through unchanged.
//
// It is used by one search. Records are derived when they are first needed.
type filter struct {
	view  *graphstore.View
	cost  measure
	docs  map[format.DocID]struct{} // nil = all
	types map[string]struct{}       // nil = all

	owners  [2]*roaring.Bitmap // entities, relations of docs; nil = all
	derived map[ownerKey]*format.Record
	err     error
}

type ownerKey struct {
	kind  format.Kind
	owner uint32
}

func newFilter(view *graphstore.View, q *Query, cost measure) (*filter, error) {
	if len(q.Documents) == 0 && len(q.EntityTypes) == 0 {
		return nil, nil
	}
	f := &filter{view: view, cost: cost, derived: make(map[ownerKey]*format.Record)}
	if len(q.Documents) > 0 {
		f.docs = make(map[format.DocID]struct{}, len(q.Documents))
		f.owners = [2]*roaring.Bitmap{roaring.New(), roaring.New()}
		for _, id := range q.Documents {
			doc, _, ok, err := view.FindDocument(id)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, fmt.Errorf("%w: document %q of the filter", ErrNotFound, id)
			}
			if _, dup := f.docs[doc]; dup {
				continue
			}
			f.docs[doc] = struct{}{}
			owners, err := view.DocumentOwners(doc)
			if err != nil {
				return nil, err
			}
			for i := range owners.Fragments {
				o := &owners.Fragments[i]
				if o.Kind == format.KindEntity || o.Kind == format.KindRelation {
					f.owners[o.Kind-1].Add(o.Owner)
				}
			}
		}
	}
	if len(q.EntityTypes) > 0 {
		f.types = make(map[string]struct{}, len(q.EntityTypes))
		for _, t := range q.EntityTypes {
			if n, ok := llm.NormalizeType(t); ok {
				t = n
			}
			if strings.EqualFold(t, "UNKNOWN") {
				t = "UNKNOWN"
			}
			f.types[t] = struct{}{}
		}
	}
	return f, nil
}

// allow returns the test for owners of a kind, nil when all may pass.
func (f *filter) allow(kind format.Kind) func(owner uint32) bool {
	if f == nil {
		return nil
	}
	switch kind {
	case format.KindEntity:
		return func(o uint32) bool { return f.entity(format.EntityID(o)) }
	case format.KindRelation:
		return func(o uint32) bool { return f.relation(format.RelationID(o)) }
	}
	return func(o uint32) bool { return f.chunk(format.ChunkID(o)) }
}

func (f *filter) entity(id format.EntityID) bool {
	if f == nil {
		return true
	}
	if f.docs != nil && !f.owners[format.KindEntity-1].Contains(uint32(id)) {
		return false
	}
	if f.types == nil {
		return true
	}
	rec := f.record(format.KindEntity, uint32(id))
	if rec == nil {
		return false
	}
	_, ok := f.types[rec.Type]
	return ok
}

func (f *filter) relation(id format.RelationID) bool {
	if f == nil {
		return true
	}
	if f.docs != nil && !f.owners[format.KindRelation-1].Contains(uint32(id)) {
		return false
	}
	if f.types == nil {
		return true
	}
	a, b := f.view.Ends(id)
	return f.entity(a) && f.entity(b)
}

func (f *filter) chunk(id format.ChunkID) bool {
	if f == nil || f.docs == nil {
		return true
	}
	doc, _ := f.view.ChunkPlace(id)
	_, ok := f.docs[doc]
	return ok
}

// chunks returns the allowed ones of an owner's sources.
func (f *filter) chunks(ids []format.ChunkID) []format.ChunkID {
	if f == nil || f.docs == nil {
		return ids
	}
	out := make([]format.ChunkID, 0, len(ids))
	for _, id := range ids {
		if f.chunk(id) {
			out = append(out, id)
		}
	}
	return out
}

// mixed reports whether the owner's record may hold words of documents that
// the filter keeps out.
func (f *filter) mixed(kind format.Kind, owner uint32) bool {
	if f == nil || f.docs == nil {
		return false
	}
	doc, sole := f.view.Sole(kind, owner)
	if !sole {
		return true
	}
	_, ok := f.docs[doc]
	return !ok
}

func (f *filter) weight(id format.RelationID) (int64, bool) {
	if !f.mixed(format.KindRelation, uint32(id)) {
		return 0, false
	}
	if rec := f.record(format.KindRelation, uint32(id)); rec != nil {
		return rec.Weight, true
	}
	return 0, true
}

func (f *filter) lineTokens(kind format.Kind, owner uint32) (int, bool) {
	if !f.mixed(kind, owner) {
		return 0, false
	}
	if rec := f.record(kind, owner); rec != nil {
		return int(rec.LineTokens), true
	}
	return 0, true
}

// override replaces what rec says by what the allowed documents say.
func (f *filter) override(kind format.Kind, owner uint32, rec *format.Record) {
	if !f.mixed(kind, owner) {
		return
	}
	if d := f.record(kind, owner); d != nil {
		rec.Type, rec.Description, rec.Keywords, rec.Weight = d.Type, d.Description, d.Keywords, d.Weight
	} else {
		rec.Type, rec.Description, rec.Keywords, rec.Weight = "", "", nil, 0
	}
}

// record returns the owner's record under the filter, nil after an error.
func (f *filter) record(kind format.Kind, owner uint32) *format.Record {
	key := ownerKey{kind, owner}
	if rec, ok := f.derived[key]; ok {
		return rec
	}
	rec, err := f.derive(kind, owner)
	if err != nil {
		f.err = err
		rec = nil
	}
	f.derived[key] = rec
	return rec
}

func (f *filter) derive(kind format.Kind, owner uint32) (*format.Record, error) {
	if !f.mixed(kind, owner) {
		var recs []format.Record
		var err error
		if kind == format.KindEntity {
			recs, err = f.view.EntityRecords([]format.EntityID{format.EntityID(owner)}, nil)
		} else {
			recs, err = f.view.RelationRecords([]format.RelationID{format.RelationID(owner)}, nil)
		}
		if err != nil {
			return nil, err
		}
		return &recs[0], nil
	}

	rec := &format.Record{}
	votes := make(map[string]int)
	var order []string // types by first fragment
	keywords := make(map[string]struct{})
	var texts []string
	var implied format.RelationID
	hasImplied := false
	err := f.view.Fragments(kind, owner, func(key format.FragmentKey, fr *format.Fragment) error {
		if _, ok := f.docs[key.Doc]; !ok {
			return nil
		}
		if fr.Class == format.ClassImplied && !hasImplied {
			implied, hasImplied = fr.Relation, true
		}
		if fr.Type != "" {
			if votes[fr.Type]++; votes[fr.Type] == 1 {
				order = append(order, fr.Type)
			}
		}
		if fr.Description != "" && len(texts) < filterFragments && !slices.Contains(texts, fr.Description) {
			texts = append(texts, fr.Description)
		}
		for _, k := range fr.Keywords {
			keywords[k] = struct{}{}
		}
		rec.Weight += fr.Weight
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range order {
		if rec.Type == "" || votes[t] > votes[rec.Type] {
			rec.Type = t
		}
	}
	if kind == format.KindEntity && rec.Type == "" {
		rec.Type = "UNKNOWN"
	}
	if len(texts) == 0 && hasImplied {
		err := f.view.Fragments(format.KindRelation, uint32(implied), func(key format.FragmentKey, fr *format.Fragment) error {
			if _, ok := f.docs[key.Doc]; ok && len(texts) == 0 && fr.Description != "" {
				texts = append(texts, fr.Description)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	rec.Description = strings.Join(texts, "<SEP>")
	for k := range keywords {
		rec.Keywords = append(rec.Keywords, k)
	}
	slices.Sort(rec.Keywords)
	if kind == format.KindEntity {
		rec.LineTokens = uint32(f.cost.EntityLine(f.view.EntityName(format.EntityID(owner)), rec.Type, rec.Description))
	} else {
		a, b := f.view.Ends(format.RelationID(owner))
		rec.LineTokens = uint32(f.cost.RelationLine(f.view.EntityName(a), f.view.EntityName(b), rec.Description))
	}
	return rec, nil
}

// failed returns the first error met while deriving.
func (f *filter) failed() error {
	if f == nil {
		return nil
	}
	return f.err
}
