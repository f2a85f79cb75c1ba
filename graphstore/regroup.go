package graphstore

import (
	"maps"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// regrouping works out what becomes of roots when aliases change: which raw
// owners go from which root to which, which roots come and go, and where the
// relations of the moved entities belong. What it costs depends on the
// entities that move, what they are related to, and where they go.
type regrouping struct {
	*curator
	carry   carrier                // what becomes of overrides
	raws    map[EntityID]*movedRaw // of all roots that lose or gain one
	roots   map[string]*change     // those roots, by name
	targets map[string]*relationGroup
	sources map[RelationID]*relationGroup
}

// movedRaw is a raw entity and its root before and after.
type movedRaw struct {
	id       EntityID
	from, to string
	fromID   uint32
}

// carrier settles the overrides of roots that are made of others. It is asked
// for every root of the new order that consists of roots of the old one with
// overrides among them; target is the one that was there before, 0 if none
// was.
type carrier func(owner ownerText, kind Kind, target uint32, others []uint32) error

// regroup works out the changes that follow from the aliases of the plan.
func (c *curator) regroup(carry carrier) error {
	if len(c.change.Aliases) == 0 {
		return nil
	}
	g := &regrouping{curator: c, carry: carry, raws: make(map[EntityID]*movedRaw), roots: make(map[string]*change),
		targets: make(map[string]*relationGroup), sources: make(map[RelationID]*relationGroup)}
	names := make(map[string]struct{})
	for _, e := range c.change.Aliases {
		for _, root := range [...]string{e.Before, e.After} {
			if root == "" {
				root = e.Name
			}
			names[root] = struct{}{}
		}
	}
	affected := sortedKeys(names)
	for _, root := range affected {
		if err := g.readRoot(root); err != nil {
			return err
		}
	}
	for _, root := range affected {
		if err := g.entity(root); err != nil {
			return err
		}
	}
	for _, raw := range slices.Sorted(maps.Keys(g.raws)) {
		if m := g.raws[raw]; m.from != m.to {
			c.p.overlay.links = append(c.p.overlay.links, link{
				kind: format.KindEntity, raw: uint32(raw), linked: uint32(raw) != m.fromID,
				from: format.Member{Root: m.fromID}, to: g.roots[m.to],
			})
		}
	}
	return g.relations()
}

// readRoot reads the raw owners of a root as it is.
func (g *regrouping) readRoot(name string) error {
	id, ok, err := g.r.entity(name)
	if err != nil || !ok || !g.st.cols.EntityLive(id) {
		return err
	}
	group, err := g.st.group(g.r, format.KindEntity, uint32(id))
	if err != nil {
		return err
	}
	for _, raw := range group {
		m := &movedRaw{id: EntityID(raw), from: name, fromID: uint32(id), to: name}
		own := name
		if EntityID(raw) == id {
			has, err := g.hasFragments(format.KindEntity, raw)
			if err != nil {
				return err
			}
			if !has {
				continue
			}
		} else if own, err = g.r.entityName(EntityID(raw)); err != nil {
			return err
		}
		if m.to, err = g.d.root(own); err != nil {
			return err
		}
		g.raws[m.id] = m
	}
	return nil
}

func (c *curator) hasFragments(kind Kind, raw uint32) (bool, error) {
	return c.r.hasFragments(kind, raw, func(FragmentKey) bool { return true })
}

// entity makes the change of a root that loses or gains raw owners.
func (g *regrouping) entity(name string) error {
	ch := &change{kind: format.KindEntity, name: name, regroup: true, force: true}
	id, has, err := g.r.entity(name)
	if err != nil {
		return err
	}
	live := has && g.st.cols.EntityLive(id)
	if has {
		ch.owner = uint32(id)
	}
	ch.fresh, ch.rawless = !live, !has
	from := make(map[uint32]struct{})
	moved := false
	for _, raw := range slices.Sorted(maps.Keys(g.raws)) {
		m := g.raws[raw]
		if m.to == name {
			ch.stored = append(ch.stored, uint32(raw))
			from[m.fromID] = struct{}{}
		}
		moved = moved || m.from != m.to && (m.from == name || m.to == name)
		if m.id == id && has {
			ch.keepRaw = true
		}
	}
	switch {
	case live && !moved: // it stays as it is
		g.roots[name] = &change{kind: format.KindEntity, name: name, owner: ch.owner}
		return nil
	case !live && len(ch.stored) == 0:
		return nil // nobody is there
	}
	ch.inherit = slices.Sorted(maps.Keys(from))
	g.roots[name] = ch
	g.p.changes = append(g.p.changes, ch)
	if len(ch.stored) == 0 || g.carry == nil {
		return nil
	}
	target := uint32(0)
	if live {
		target = ch.owner
	}
	if delete(from, target); len(from) == 0 {
		return nil
	}
	return g.carry(ch.text(), ch.kind, target, slices.Sorted(maps.Keys(from)))
}

// rootChange returns the root that an entity of that name is after the change.
func (g *regrouping) rootChange(name string) (*change, error) {
	if ch := g.roots[name]; ch != nil {
		return ch, nil
	}
	id, ok, err := g.r.entity(name)
	if err == nil && (!ok || !g.st.cols.EntityLive(id)) {
		err = corruptf("entity %q has relations and does not exist", name)
	}
	ch := &change{kind: format.KindEntity, name: name, owner: uint32(id)}
	g.roots[name] = ch
	return ch, err
}

// rootAfter names the root of a raw entity after the change.
func (g *regrouping) rootAfter(raw EntityID) (string, error) {
	if m := g.raws[raw]; m != nil {
		return m.to, nil
	}
	if g.st.cols.EntityLive(raw) {
		return g.st.cols.EntityName(raw), nil
	}
	m, ok, err := g.r.member(format.KindEntity, uint32(raw))
	if err == nil && !ok {
		err = corruptf("entity %d does not exist", raw)
	}
	return g.st.cols.EntityName(EntityID(m.Root)), err
}
