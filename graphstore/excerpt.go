package graphstore

import (
	"bytes"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// Excerpt is what some documents alone say about an owner.
type Excerpt struct {
	Found       bool   // one of the documents says something
	Type        string // entities
	Description string
	Keywords    []string // relations; sorted
	Weight      int64    // relations; in 1/format.WeightScale
	LineTokens  int
	Sources     []ChunkID // by document and chunk order, at most Options.MaxSources
}

// Excerpts returns, for each owner, what its record would be in a store of
// these documents alone that makes no summaries and joins at most max distinct
// descriptions. docs must be sorted. It looks only at fragments of docs, however
// many others an owner has.
func (v *View) Excerpts(kind Kind, owners []uint32, docs []DocID, max int) ([]Excerpt, error) {
	out := make([]Excerpt, len(owners))
	if v.st.n.Changes > 0 { // what a person made is of no document, and everybody's
		docs = append([]DocID{0}, docs...)
	}
	err := v.read("read excerpts", func(r *rows) error {
		return forward(owners, func(i int) (err error) {
			out[i], err = v.excerpt(r, kind, owners[i], docs, max)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (v *View) excerpt(r *rows, kind Kind, owner uint32, docs []DocID, max int) (Excerpt, error) {
	s := v.st.s
	var x Excerpt
	var agg format.Aggregate
	var first []string // types as they are met
	col := collector{max: s.opts.MaxSources}
	group, err := v.st.group(r, kind, owner)
	if err != nil {
		return x, err
	}
	said := false
	err = r.fragmentsOf(kind, group, docs, func(key FragmentKey, f *format.Fragment) {
		said = said || key.Doc != 0
		addFragment(&agg, f)
		if votes(f) && !slices.Contains(first, f.Type) {
			first = append(first, f.Type)
		}
		col.add(key, f, false) // takes nothing beyond the last source that counts
	})
	if err != nil || !said {
		return x, err
	}
	col.flush()
	override, err := v.st.override(r, kind, owner)
	if err != nil {
		return x, err
	}
	override.Mask &^= override.Copied // that may be of other documents
	items := col.items
	if !col.extracted && col.implied.Class != 0 {
		f, ok, err := r.fragment(format.KindRelation, uint32(col.implied.Relation), col.implied.key)
		if err != nil {
			return x, err
		}
		if !ok {
			return x, corruptf("entity %d is implied by a fragment of relation %d that does not exist", owner, col.implied.Relation)
		}
		if items = nil; f.Description != "" {
			items = []item{{col.implied.key, f.Description}}
		}
	}
	x.Found, x.Sources = true, col.sources
	rec := format.Record{Type: UnknownType, Description: joined(items[:min(len(items), max)]), Weight: agg.Weight, Keywords: values(agg.Keywords)}
	if top := topTypes(agg.Types); len(top) > 0 {
		rec.Type = first[slices.IndexFunc(first, func(t string) bool { return slices.Contains(top, t) })]
	}
	applyOverride(&rec, &override)
	x.Description, x.Weight, x.Keywords = rec.Description, rec.Weight, rec.Keywords
	if kind != format.KindEntity {
		a, b := v.Ends(RelationID(owner))
		x.LineTokens = s.measure.RelationLine(v.EntityName(a), v.EntityName(b), x.Description)
		return x, nil
	}
	x.Type = rec.Type
	x.LineTokens = s.measure.EntityLine(v.EntityName(EntityID(owner)), x.Type, x.Description)
	return x, nil
}

// fragmentsOf calls fn for the fragments of the raw owners of a root that come
// from docs, in canonical order. It seeks over those of other documents.
func (r *rows) fragmentsOf(kind Kind, raws []uint32, docs []DocID, fn func(FragmentKey, *format.Fragment)) error {
	if len(raws) == 1 {
		return r.rawFragmentsOf(kind, raws[0], docs, fn)
	}
	var list []fragment
	for _, raw := range raws {
		if err := r.rawFragmentsOf(kind, raw, docs, func(key FragmentKey, f *format.Fragment) {
			list = append(list, fragment{key, raw, *f})
		}); err != nil {
			return err
		}
	}
	slices.SortStableFunc(list, func(a, b fragment) int { return a.key.Compare(b.key) })
	for i := range list {
		fn(list[i].key, &list[i].Fragment)
	}
	return nil
}

func (r *rows) rawFragmentsOf(kind Kind, owner uint32, docs []DocID, fn func(FragmentKey, *format.Fragment)) error {
	it, err := r.iter(format.TableFragments)
	if err != nil {
		return err
	}
	prefix := format.AppendFragmentPrefix(nil, kind, owner)
	var f format.Fragment
	for len(docs) > 0 {
		r.key = format.AppendFragmentKey(r.key[:0], kind, owner, FragmentKey{Doc: docs[0]})
		ok := it.SeekGE(r.key)
		for ; ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Next() {
			_, _, key, err := format.DecodeFragmentKey(it.Key())
			if err != nil {
				return err
			}
			if key.Doc != docs[0] {
				break
			}
			value, err := it.ValueAndErr()
			if err != nil {
				return err
			}
			f.Keywords = nil
			if err := format.DecodeFragment(value, &f); err != nil {
				return err
			}
			fn(key, &f)
		}
		if !ok || !bytes.HasPrefix(it.Key(), prefix) {
			return it.Error()
		}
		_, _, key, err := format.DecodeFragmentKey(it.Key())
		if err != nil {
			return err
		}
		next, _ := slices.BinarySearch(docs, key.Doc)
		docs = docs[next:]
	}
	return nil
}

// SaidBy reports whether one of docs, which must be sorted, contributes to the
// owner. It reads only where the columns do not know all sources of the owner.
func (v *View) SaidBy(kind Kind, owner uint32, docs []DocID) (bool, error) {
	if doc, sole := v.Sole(kind, owner); sole {
		_, ok := slices.BinarySearch(docs, doc)
		return ok, nil
	}
	sources := v.Sources(kind, owner)
	last := DocID(0)
	for _, c := range sources {
		if doc, _ := v.ChunkPlace(c); doc != last {
			if _, ok := slices.BinarySearch(docs, doc); ok {
				return true, nil
			}
			last = doc
		}
	}
	if max := v.st.s.opts.MaxSources; max < 0 || len(sources) < max {
		return false, nil
	}
	found := false
	rest, _ := slices.BinarySearch(docs, last) // sources are sorted by document
	err := v.read("look for documents", func(r *rows) error {
		group, err := v.st.group(r, kind, owner)
		if err != nil {
			return err
		}
		return r.fragmentsOf(kind, group, docs[rest:], func(FragmentKey, *format.Fragment) { found = true })
	})
	return found, err
}

// FindDocuments looks documents up by the caller's ids; unknown ones are 0.
func (v *View) FindDocuments(ids []string) ([]DocID, error) {
	out := make([]DocID, len(ids))
	err := v.read("find documents", func(r *rows) error {
		for i, id := range ids {
			doc, ok, err := r.documentByName(id)
			if err != nil {
				return err
			}
			if ok {
				out[i] = doc
			}
		}
		return nil
	})
	return out, err
}
