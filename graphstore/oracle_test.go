package graphstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/format"
)

// oracle knows the live documents and works everything out from them, the
// slow way.
type oracle struct {
	max  int
	docs map[DocID]*testDoc

	// What people decided.
	aliases   map[string]string          // name -> root
	overrides map[string]format.Override // name, or pair
	made      []creation
}

// creation is a fragment that a person made.
type creation struct {
	change uint32
	names  []string // an entity, or the ends of a relation
	said   said
}

// root returns the entity that a name leads to.
func (o *oracle) root(name string) string {
	if r := o.aliases[name]; r != "" {
		return r
	}
	return name
}

// said is one fragment as the oracle sees it.
type said struct {
	key      FragmentKey
	implied  bool
	mention  bool // implied by nothing that is left
	typ      string
	desc     string // of an implied one: the relation's
	keywords []string
	weight   int64
}

// seen is everything that a reader can see of an owner, in one line per field.
type seen struct {
	Type, Description string
	Keywords          []string
	Weight            int64
	Sole              DocID
	Sources, All      []string
	Neighbors         []string
	Mentions          uint32
	Extracted         uint32
	Distinct          uint32
	LineTokens        int
	Curated           format.Fields
}

func pairName(a, b string) string {
	if a > b {
		a, b = b, a
	}
	return a + " -- " + b
}

// expect returns what is to be seen of every owner.
func (o *oracle) expect() map[string]*seen {
	ents := make(map[string][]said)
	rels := make(map[string][]said)
	neighbors := make(map[string]map[string]bool)
	for doc, d := range o.docs {
		for _, c := range d.chunks {
			at := func(k FragmentKey) FragmentKey { k.Doc, k.Order = doc, c.order; return k }
			extracted := make(map[string]bool)
			for _, f := range c.entities {
				extracted[f.Name] = true
				ents[f.Name] = append(ents[f.Name], said{key: at(f.Key), typ: f.Type, desc: f.Description, implied: f.Mention, mention: f.Mention})
			}
			first := make(map[string]said)
			for _, f := range c.relations {
				s := said{key: at(f.Key), desc: f.Description, keywords: f.Keywords, weight: f.Weight}
				rels[pairName(f.Src, f.Tgt)] = append(rels[pairName(f.Src, f.Tgt)], s)
				for _, n := range [][2]string{{f.Src, f.Tgt}, {f.Tgt, f.Src}} {
					if old, ok := first[n[0]]; !extracted[n[0]] && (!ok || s.key.Compare(old.key) < 0) {
						first[n[0]] = said{key: s.key, implied: true, desc: s.desc}
					}
				}
			}
			for name, s := range first {
				ents[name] = append(ents[name], s)
			}
		}
	}
	for _, m := range o.made {
		s := m.said
		s.key = FragmentKey{Order: m.change}
		if len(m.names) == 1 {
			ents[m.names[0]] = append(ents[m.names[0]], s)
			continue
		}
		pair := pairName(m.names[0], m.names[1])
		rels[pair] = append(rels[pair], s)
		for _, end := range m.names {
			ents[end] = append(ents[end], said{key: s.key, implied: true, desc: s.desc})
		}
	}
	ents, rels = o.united(ents, rels)
	for name := range rels {
		a, b, _ := strings.Cut(name, " -- ")
		for _, n := range [][2]string{{a, b}, {b, a}} {
			if neighbors[n[0]] == nil {
				neighbors[n[0]] = make(map[string]bool)
			}
			neighbors[n[0]][n[1]] = true
		}
	}
	out := make(map[string]*seen)
	for name, list := range ents {
		s := o.sum(list)
		s.Type = voted(list)
		o.curate(name, s)
		s.Neighbors = slices.Sorted(maps.Keys(neighbors[name]))
		s.LineTokens = runeMeasurer{}.EntityLine(name, s.Type, s.Description)
		out[name] = s
	}
	for name, list := range rels {
		s := o.sum(list)
		o.curate(name, s)
		a, b, _ := strings.Cut(name, " -- ")
		s.LineTokens = runeMeasurer{}.RelationLine(a, b, s.Description)
		out[name] = s
	}
	return out
}

// united puts what is said under the roots.
func (o *oracle) united(ents, rels map[string][]said) (map[string][]said, map[string][]said) {
	e, r := make(map[string][]said), make(map[string][]said)
	for name, list := range ents {
		e[o.root(name)] = append(e[o.root(name)], list...)
	}
	for name, list := range rels {
		a, b, _ := strings.Cut(name, " -- ")
		if a, b = o.root(a), o.root(b); a != b {
			r[pairName(a, b)] = append(r[pairName(a, b)], list...)
		}
	}
	return e, r
}

// curate applies an override.
func (o *oracle) curate(name string, s *seen) {
	v := o.overrides[name]
	s.Curated = v.Mask
	if v.Mask&format.FieldType != 0 {
		s.Type = v.Type
	}
	if v.Mask&format.FieldDescription != 0 {
		s.Description = v.Description
	}
	if v.Mask&format.FieldKeywords != 0 {
		s.Keywords = v.Keywords
	}
	if v.Mask&format.FieldWeight != 0 {
		s.Weight = v.Weight
	}
}

// voted counts the types; ties go to the one met first.
func voted(list []said) string {
	count := make(map[string]int)
	best := UnknownType
	for _, s := range list {
		if s.typ != "" {
			count[s.typ]++
		}
	}
	for _, s := range list { // sorted by sum
		if count[s.typ] > count[best] {
			best = s.typ
		}
	}
	return best
}

func place(k FragmentKey) string { return fmt.Sprintf("%d/%d", k.Doc, k.Order) }

// sum sorts list and works out what entities and relations have in common.
func (o *oracle) sum(list []said) *seen {
	slices.SortFunc(list, func(a, b said) int { return a.key.Compare(b.key) })
	s := &seen{Mentions: uint32(len(list))}
	several := false
	kw := make(map[string]bool)
	distinct := make(map[string]bool)
	var counted []said
	extracted := false
	for _, f := range list {
		if n := len(s.All); f.key.Doc != 0 && (n == 0 || s.All[n-1] != place(f.key)) {
			s.All = append(s.All, place(f.key))
		}
		if f.key.Doc != 0 {
			several = several || s.Sole != 0 && s.Sole != f.key.Doc
			s.Sole = f.key.Doc
		}
		s.Weight += f.weight
		for _, k := range f.keywords {
			kw[k] = true
		}
		if !f.implied {
			s.Extracted++
			if f.desc != "" {
				distinct[f.desc] = true
			}
		}
		if o.max < 0 || len(s.All) <= o.max {
			counted = append(counted, f)
			extracted = extracted || !f.implied
		}
	}
	if several {
		s.Sole = 0
	}
	if s.Keywords = slices.Sorted(maps.Keys(kw)); len(s.Keywords) == 0 {
		s.Keywords = nil
	}
	s.Distinct = uint32(len(distinct))
	s.Sources = s.All[:min(len(s.All), max(o.max, 0))]
	if o.max < 0 {
		s.Sources = s.All
	}
	if !extracted {
		if i := slices.IndexFunc(counted, func(f said) bool { return !f.mention }); i >= 0 {
			s.Description = counted[i].desc
		}
		return s
	}
	counted = slices.DeleteFunc(counted, func(f said) bool { return f.implied || f.desc == "" })
	slices.SortFunc(counted, func(a, b said) int {
		x, y := a.key, b.key
		x.Index, y.Index = 0, 0
		return cmp.Or(x.Compare(y), utf8.RuneCountInString(b.desc)-utf8.RuneCountInString(a.desc), int(a.key.Index)-int(b.key.Index))
	})
	var texts []string
	for _, f := range counted {
		if !slices.Contains(texts, f.desc) {
			texts = append(texts, f.desc)
		}
	}
	s.Description = strings.Join(texts, Separator)
	return s
}

// observe reads what a view shows of every owner.
func observe(t tb, v *View) map[string]*seen {
	t.Helper()
	out := make(map[string]*seen)
	rows := newRows(v.st.snap)
	defer rows.close()
	look := func(kind Kind, owner uint32, rec format.Record) *seen {
		agg, _, err := rows.aggregate(kind, owner)
		if err != nil {
			t.Fatal(err)
		}
		s := &seen{
			Type: rec.Type, Description: rec.Description, Keywords: rec.Keywords, Weight: rec.Weight,
			Curated: rec.Curated, Mentions: agg.Mentions, Extracted: agg.Extracted, Distinct: agg.Distinct, LineTokens: v.LineTokens(kind, owner),
		}
		s.Sole, _ = v.Sole(kind, owner)
		all, err := v.AllSources(kind, owner)
		if err != nil {
			t.Fatal(err)
		}
		named := func(ids []ChunkID) (list []string) {
			for _, id := range ids {
				doc, order := v.ChunkPlace(id)
				list = append(list, fmt.Sprintf("%d/%d", doc, order))
			}
			return list
		}
		s.All, s.Sources = named(all), named(v.Sources(kind, owner))
		return s
	}
	for id := range v.Entities() {
		recs, err := v.EntityRecords([]EntityID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := look(format.KindEntity, uint32(id), recs[0])
		for _, n := range v.Neighbors(id) {
			s.Neighbors = append(s.Neighbors, v.EntityName(n.Entity))
		}
		if v.Degree(id) != len(s.Neighbors) {
			t.Fatalf("degree %d of %d neighbours", v.Degree(id), len(s.Neighbors))
		}
		out[v.EntityName(id)] = s
	}
	for id := range v.Relations() {
		recs, err := v.RelationRecords([]RelationID{id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, b := v.Ends(id)
		s := look(format.KindRelation, uint32(id), recs[0])
		if v.Weight(id) != s.Weight {
			t.Fatalf("weight %d, record %d", v.Weight(id), s.Weight)
		}
		out[pairName(v.EntityName(a), v.EntityName(b))] = s
	}
	return out
}

// same compares two sights of the graph.
func same(t tb, have, want map[string]*seen) {
	t.Helper()
	for name, w := range want {
		h := have[name]
		if h == nil {
			t.Fatalf("%q is missing", name)
		}
		if a, b := fmt.Sprintf("%+v", *h), fmt.Sprintf("%+v", *w); a != b {
			t.Fatalf("%q\nis   %s\nwant %s", name, a, b)
		}
	}
	for name := range have {
		if want[name] == nil {
			t.Fatalf("%q should not be there: %+v", name, *have[name])
		}
	}
}

// matches compares the newest view with the oracle.
func (o *oracle) matches(t tb, s *Store) {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	same(t, observe(t, v), o.expect())
}
