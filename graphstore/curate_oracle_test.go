package graphstore

import (
	"maps"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// decision is what one curation did to the oracle, so that it can be undone.
type decision struct {
	id        uint32
	aliases   map[string][2]string // name -> before, after
	overrides map[string][2]format.Override
	made      bool
	deleted   bool
	undone    bool
}

func newDecision() *decision {
	return &decision{aliases: make(map[string][2]string), overrides: make(map[string][2]format.Override)}
}

func (o *oracle) setAlias(d *decision, name, root string) {
	if before := o.aliases[name]; before != root {
		d.aliases[name] = [2]string{before, root}
		o.putAlias(name, root)
	}
}

func (o *oracle) putAlias(name, root string) {
	if delete(o.aliases, name); root != "" {
		o.aliases[name] = root
	}
}

func (o *oracle) setOverride(d *decision, owner string, v format.Override) {
	d.overrides[owner] = [2]format.Override{o.overrides[owner], v}
	o.putOverride(owner, v)
}

func (o *oracle) putOverride(owner string, v format.Override) {
	if delete(o.overrides, owner); v.Mask != 0 {
		o.overrides[owner] = v
	}
}

// undo reverts a decision.
func (o *oracle) undo(d *decision) {
	for name, edit := range d.aliases {
		o.putAlias(name, edit[0])
	}
	for owner, edit := range d.overrides {
		o.putOverride(owner, edit[0])
	}
	if d.made {
		o.made = slices.DeleteFunc(o.made, func(m creation) bool { return m.change == d.id })
	}
	d.undone = true
}

// overlaps says whether a later decision certainly builds upon d.
func (d *decision) overlaps(later *decision) bool {
	for name := range d.aliases {
		if _, ok := later.aliases[name]; ok {
			return true
		}
	}
	for owner := range d.overrides {
		if _, ok := later.overrides[owner]; ok {
			return true
		}
	}
	return false
}

// group lists the names that lead to a root.
func (o *oracle) group(root string) map[string]bool {
	out := map[string]bool{root: true}
	for name, r := range o.aliases {
		if r == root {
			out[name] = true
		}
	}
	return out
}

// lead moves the names of the roots in from to another one.
func (o *oracle) lead(d *decision, from []string, to string) {
	for _, root := range from {
		for name := range o.group(root) {
			if name == to {
				o.setAlias(d, name, "")
			} else {
				o.setAlias(d, name, to)
			}
		}
	}
}

// merge makes from (roots) show as target; joined asks for joined
// descriptions.
func (o *oracle) merge(from []string, target string, joined bool) *decision {
	before := o.expect()
	d := newDecision()
	list := from
	if before[target] != nil {
		list = append([]string{target}, from...)
	}
	relations := make(map[string][]string) // new pair -> old ones that move
	for pair := range before {
		a, b, ok := strings.Cut(pair, " -- ")
		if !ok || !slices.Contains(from, a) && !slices.Contains(from, b) {
			continue
		}
		if slices.Contains(from, a) {
			a = target
		}
		if slices.Contains(from, b) {
			b = target
		}
		if a != b {
			relations[pairName(a, b)] = append(relations[pairName(a, b)], pair)
		}
	}
	old := maps.Clone(o.overrides)
	o.lead(d, from, target)
	o.unite(d, before, old, target, list, joined)
	for pair, parts := range relations {
		slices.Sort(parts)
		if before[pair] != nil {
			parts = append([]string{pair}, parts...)
		}
		o.unite(d, before, old, pair, parts, false)
	}
	return d
}

// unite makes the override of what consists of parts.
func (o *oracle) unite(d *decision, before map[string]*seen, old map[string]format.Override, owner string, parts []string, joined bool) {
	v := format.Override{}
	for _, p := range parts {
		v.Mask |= old[p].Mask
	}
	if len(parts) == 1 {
		v = old[parts[0]]
	} else {
		if joined {
			v.Mask |= format.FieldDescription
		}
		for _, p := range parts {
			s := before[p]
			if old[p].Mask&format.FieldType != 0 && v.Type == "" {
				v.Type = s.Type
			}
			if v.Mask&format.FieldDescription != 0 && s.Description != "" {
				for _, text := range strings.Split(s.Description, Separator) {
					if !slices.Contains(strings.Split(v.Description, Separator), text) {
						v.Description = strings.TrimPrefix(v.Description+Separator+text, Separator)
					}
				}
			}
			if v.Mask&format.FieldKeywords != 0 {
				v.Keywords = append(slices.Clone(v.Keywords), s.Keywords...)
			}
			if v.Mask&format.FieldWeight != 0 {
				v.Weight = max(v.Weight, s.Weight)
			}
		}
		slices.Sort(v.Keywords)
		if v.Keywords = slices.Compact(v.Keywords); len(v.Keywords) == 0 {
			v.Keywords = nil
		}
	}
	if v.Mask != 0 {
		o.setOverride(d, owner, v)
	}
}

// forget takes records out of all documents: those of entities for which
// entity is true, and the relations for which relation is.
func (o *oracle) forget(entity func(name string) bool, relation func(a, b string) bool) {
	for doc, d := range o.docs {
		c := *d
		c.chunks = nil
		for _, ch := range d.chunks {
			implied := make(map[string]FragmentKey)
			there := make(map[string]bool)
			note := func(name string, key FragmentKey) {
				if old, ok := implied[name]; !ok || key.Compare(old) < 0 {
					implied[name] = key
				}
			}
			for _, r := range ch.relations {
				note(r.Src, r.Key)
				note(r.Tgt, r.Key)
			}
			next := testChunk{order: ch.order}
			for _, e := range ch.entities {
				if there[e.Name] = true; !entity(e.Name) {
					next.entities = append(next.entities, e)
				}
			}
			for _, r := range ch.relations {
				if !relation(r.Src, r.Tgt) {
					next.relations = append(next.relations, r)
					there[r.Src], there[r.Tgt] = true, true
				}
			}
			for name, key := range implied {
				if !there[name] && !entity(name) {
					next.entities = append(next.entities, EntityFragment{Name: name, Key: FragmentKey{Pass: key.Pass, Index: key.Index}, Mention: true})
				}
			}
			c.chunks = append(c.chunks, next)
		}
		o.docs[doc] = &c
	}
	o.made = slices.DeleteFunc(o.made, func(m creation) bool {
		return len(m.names) == 1 && entity(m.names[0]) || len(m.names) == 2 && relation(m.names[0], m.names[1])
	})
}

// deleteEntity removes a root.
func (o *oracle) deleteEntity(root string) *decision {
	d := newDecision()
	d.deleted = true
	group := o.group(root)
	o.forget(func(name string) bool { return group[name] }, func(a, b string) bool { return group[a] || group[b] })
	for owner := range o.overrides {
		a, b, _ := strings.Cut(owner, " -- ")
		if group[a] || group[b] {
			o.setOverride(d, owner, format.Override{})
		}
	}
	for name := range group {
		o.setAlias(d, name, "")
	}
	return d
}

// deleteRelation removes a root pair.
func (o *oracle) deleteRelation(a, b string) *decision {
	d := newDecision()
	d.deleted = true
	x, y := o.group(a), o.group(b)
	of := func(a, b string) bool { return x[a] && y[b] || x[b] && y[a] }
	o.forget(func(string) bool { return false }, of)
	for owner := range o.overrides {
		if a, b, ok := strings.Cut(owner, " -- "); ok && of(a, b) {
			o.setOverride(d, owner, format.Override{})
		}
	}
	return d
}
