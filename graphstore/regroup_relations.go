package graphstore

import (
	"maps"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// relationGroup is a root of relations whose raw owners change.
type relationGroup struct {
	src, tgt string     // names of a new root
	owner    RelationID // of a root that is there, 0 if none is
	raws     []rawRelation
	leaving  int
	coming   []rawRelation
}

// rawRelation is a raw relation, and where it belongs.
type rawRelation struct {
	id     uint32
	pair   [2]EntityID
	linked bool
	from   format.Member
	root   RelationID // its root before; 0: hidden
	leaves bool
}

// relations moves the raw relations of the entities that move.
func (g *regrouping) relations() error {
	from := make(map[EntityID]struct{})
	for _, m := range g.raws {
		if m.from != m.to {
			from[EntityID(m.fromID)] = struct{}{}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(from)) {
		for _, nb := range g.st.cols.Neighbors(root) {
			if _, seen := g.sources[nb.Relation]; seen {
				continue
			}
			group, err := g.readRelation(nb.Relation)
			if err != nil {
				return err
			}
			for i := range group.raws {
				if err := g.place(group, &group.raws[i]); err != nil {
					return err
				}
			}
		}
		if err := g.hiddenRelations(root); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(g.sources)) {
		if group := g.sources[id]; group.leaving > 0 || len(group.coming) > 0 {
			if err := g.relationChange(group); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.targets)) {
		if group := g.targets[name]; group.owner == 0 {
			if err := g.relationChange(group); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRelation reads the raw owners of a root as it is.
func (g *regrouping) readRelation(id RelationID) (*relationGroup, error) {
	if group := g.sources[id]; group != nil {
		return group, nil
	}
	a, b := g.st.cols.Ends(id)
	group := &relationGroup{owner: id, src: g.st.cols.EntityName(a), tgt: g.st.cols.EntityName(b)}
	g.sources[id] = group
	own, err := g.hasFragments(format.KindRelation, uint32(id))
	if err != nil {
		return nil, err
	}
	if own {
		group.raws = append(group.raws, rawRelation{id: uint32(id), pair: [2]EntityID{a, b}, root: id})
	}
	if g.st.n.Members == 0 {
		return group, nil
	}
	members, err := g.r.group(format.KindRelation, uint32(id))
	if err != nil {
		return nil, err
	}
	for _, raw := range members {
		r, err := g.rawRelation(raw)
		if err != nil {
			return nil, err
		}
		r.root = id
		group.raws = append(group.raws, r)
	}
	return group, nil
}

func (g *regrouping) rawRelation(raw uint32) (rawRelation, error) {
	m, ok, err := g.r.member(format.KindRelation, raw)
	if err == nil && !ok {
		err = corruptf("relation %d is listed under a root and belongs to none", raw)
	}
	return rawRelation{id: raw, pair: [2]EntityID{m.Lo, m.Hi}, linked: true, from: m}, err
}

// hiddenRelations places the hidden relations of an entity that loses raw
// owners.
func (g *regrouping) hiddenRelations(of EntityID) error {
	if g.st.n.Members == 0 {
		return nil
	}
	raws, err := g.r.group(format.HiddenKind, uint32(of))
	if err != nil {
		return err
	}
	group := &relationGroup{}
	for _, raw := range raws {
		r, err := g.rawRelation(raw)
		if err != nil {
			return err
		}
		if err := g.place(group, &r); err != nil {
			return err
		}
	}
	return nil
}

// place moves a raw relation from its group to where it belongs, if that is
// another one.
func (g *regrouping) place(group *relationGroup, r *rawRelation) error {
	a, err := g.rootAfter(r.pair[0])
	if err != nil {
		return err
	}
	b, err := g.rootAfter(r.pair[1])
	if err != nil {
		return err
	}
	if a > b {
		a, b = b, a
	}
	l := link{kind: format.KindRelation, raw: r.id, pair: r.pair, linked: r.linked, from: r.from}
	switch {
	case a == b:
		if r.root == 0 && g.st.cols.EntityName(EntityID(r.from.Root)) == a {
			return nil
		}
		end, err := g.rootChange(a)
		if err != nil {
			return err
		}
		l.to = &change{kind: format.KindRelation, hidden: true, ends: [2]*change{end, end}}
	case r.root != 0 && group.src == a && group.tgt == b:
		return nil
	default:
		target, err := g.target(a, b)
		if err != nil {
			return err
		}
		target.coming = append(target.coming, *r)
	}
	r.leaves = true
	group.leaving++
	if l.to != nil {
		g.p.overlay.links = append(g.p.overlay.links, l)
	}
	return nil
}

// target returns the group of the relation of two roots, which may be new.
func (g *regrouping) target(a, b string) (*relationGroup, error) {
	name := format.PairName(a, b)
	if group := g.targets[name]; group != nil {
		return group, nil
	}
	x, err := g.rootChange(a)
	if err != nil {
		return nil, err
	}
	y, err := g.rootChange(b)
	if err != nil {
		return nil, err
	}
	group := &relationGroup{src: a, tgt: b}
	if !x.fresh && !y.fresh {
		if id, ok := related(g.st.cols, EntityID(x.owner), EntityID(y.owner)); ok {
			if group, err = g.readRelation(id); err != nil {
				return nil, err
			}
		}
	}
	g.targets[name] = group
	return group, nil
}

// relationChange makes the change of a root that loses or gains raw owners.
func (g *regrouping) relationChange(group *relationGroup) error {
	var ch *change
	others := make(map[uint32]struct{})
	if group.owner != 0 {
		ch = g.d.existing(format.KindRelation, uint32(group.owner))
	} else {
		x, err := g.rootChange(group.src)
		if err != nil {
			return err
		}
		y, err := g.rootChange(group.tgt)
		if err != nil {
			return err
		}
		ch = &change{kind: format.KindRelation, src: group.src, tgt: group.tgt, ends: [2]*change{x, y}, fresh: true, rawless: true}
		if !x.rawless && !y.rawless {
			id, ok, err := g.r.pair(EntityID(x.owner), EntityID(y.owner))
			if err != nil {
				return err
			}
			if ch.rawless = !ok; ok {
				ch.owner = uint32(id)
			}
		}
	}
	ch.regroup, ch.force = true, true
	for i := range group.raws {
		r := &group.raws[i]
		ch.keepRaw = ch.keepRaw || r.id == ch.owner
		if !r.leaves {
			ch.stored = append(ch.stored, r.id)
		}
	}
	for i := range group.coming {
		r := &group.coming[i]
		ch.stored = append(ch.stored, r.id)
		if r.root != 0 {
			others[uint32(r.root)] = struct{}{}
		}
		g.p.overlay.links = append(g.p.overlay.links, link{
			kind: format.KindRelation, raw: r.id, pair: r.pair, linked: r.linked, from: r.from, to: ch,
		})
	}
	ch.inherit = slices.Sorted(maps.Keys(others))
	g.p.changes = append(g.p.changes, ch)
	if g.carry == nil || len(ch.stored) == 0 {
		return nil
	}
	if delete(others, uint32(group.owner)); len(others) == 0 {
		return nil
	}
	return g.carry(ch.text(), ch.kind, uint32(group.owner), slices.Sorted(maps.Keys(others)))
}
