package graphstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// Strategy says how a merge settles one field of entities that become one.
type Strategy uint8

const (
	// Derive leaves the field to what documents say of all of them, unless it
	// is curated for one of them: then types keep the first curated one, and
	// descriptions are joined.
	Derive    Strategy = 0
	KeepFirst Strategy = 1 // the first that is not empty
	KeepLast  Strategy = 2 // the last that is not empty
	Join      Strategy = 3 // all distinct ones, joined by Separator
)

// Merge lets entities show as one. What documents say of any of them, now or
// later, is said of the target; their relations are the target's, parallel
// ones are united, and those among them are hidden. All their names lead to
// the target. Nothing is lost: undoing the merge parts them again.
//
// The target may be new. A source or target that is an alias stands for its
// root (CurationInfo.Resolved tells). The order of KeepFirst and KeepLast is
// that of the target, if it exists, and then of the sources. A field that is
// set by Type or Description, or settled by a strategy, is curated from then
// on. Curated values of relations that are united are kept: descriptions
// joined, keywords united, the greatest weight. A value that was settled like
// this stays as it is when documents go that it was made of; with Derive and
// nothing curated there is none.
//
// The error matches ErrNotFound for an unknown source, ErrInvalid if the
// sources and the target are one entity already.
type Merge struct {
	Sources []string
	Target  string

	TypeBy, DescriptionBy Strategy
	Type, Description     *string // set whatever the strategy
}

func (op Merge) curate(c *curator) error {
	target, targetID, live, err := c.entity(op.Target)
	if err != nil {
		return err
	}
	var sources []string
	var order []uint32
	for _, name := range op.Sources {
		root, id, err := c.mustEntity(name)
		if err != nil {
			return err
		}
		if root != target && !slices.Contains(sources, root) {
			sources, order = append(sources, root), append(order, uint32(id))
		}
	}
	if len(sources) == 0 {
		return invalidf("merge of %q into %q: they are one entity already", op.Sources, op.Target)
	}
	if live {
		order = append([]uint32{uint32(targetID)}, order...)
		c.read(identityToken(target))
	} else {
		c.wrote(identityToken(target))
	}
	c.change = format.Change{Kind: format.ChangeMerge, Of: format.KindEntity, Names: append(slices.Clone(sources), target)}
	c.info.Shown = []string{target}
	for _, root := range sources {
		if err := c.lead(root, target); err != nil {
			return err
		}
	}
	m := &merger{curator: c, target: target, order: order, op: &op}
	if err := c.regroup(m.carry); err != nil {
		return err
	}
	return m.settle()
}

// Rename gives an entity another name; the old one becomes an alias. Unless
// Merge is set, the error matches ErrExists if there is an entity, or an alias
// of another one, of the new name. An alias of the entity itself may become
// its name.
type Rename struct {
	From, To string
	Merge    bool // into the entity of that name, if there is one
}

func (op Rename) curate(c *curator) error {
	from, id, err := c.mustEntity(op.From)
	if err != nil {
		return err
	}
	to, _, live, err := c.entity(op.To)
	if err != nil {
		return err
	}
	switch {
	case from == op.To:
		c.change.Kind = format.ChangeRename
		c.info.Shown = []string{from}
		return nil
	case to == from: // one of its aliases
	case live || to != op.To:
		if op.Merge {
			return Merge{Sources: []string{from}, Target: op.To}.curate(c)
		}
		return fmt.Errorf("entity %q: %w", op.To, ErrExists)
	}
	delete(c.info.Resolved, op.To)
	c.change = format.Change{Kind: format.ChangeRename, Of: format.KindEntity, Names: []string{from, op.To}}
	c.wrote(identityToken(op.To))
	c.info.Shown = []string{op.To}
	if err := c.lead(from, op.To); err != nil {
		return err
	}
	m := &merger{curator: c, target: op.To, order: []uint32{uint32(id)}}
	return c.regroup(m.carry)
}

// lead makes a root and its aliases lead to another name.
func (c *curator) lead(root, to string) error {
	names, err := c.r.aliases(root)
	if err != nil {
		return err
	}
	for _, name := range append(names, root) {
		if name == to {
			err = c.setAlias(name, "")
		} else {
			err = c.setAlias(name, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// merger settles the overrides of what a merge or a rename makes.
type merger struct {
	*curator
	target string
	order  []uint32 // entities that become one
	op     *Merge   // nil: a rename
}

// shown is what a root shows before the merge.
type shown struct {
	owner    ownerText
	rec      format.Record
	override format.Override
}

func (m *merger) shown(kind Kind, id uint32) (s shown, err error) {
	s.owner = m.d.existing(kind, id).text()
	var ok bool
	s.rec, _, ok, err = m.r.record(kind, id)
	if err == nil && !ok {
		err = corruptf("%s %d has no record", kind, id)
	}
	if err != nil || m.d.n.Overrides == 0 {
		return s, err
	}
	s.override, _, err = m.r.override(kind, s.owner.name)
	return s, err
}

// carry is the carrier of a merge: it keeps what was curated.
func (m *merger) carry(owner ownerText, kind Kind, target uint32, others []uint32) error {
	if kind == format.KindEntity && m.op != nil {
		return nil // settle does
	}
	if m.d.n.Overrides == 0 {
		return nil
	}
	var list []shown
	if target != 0 {
		s, err := m.shown(kind, target)
		if err != nil {
			return err
		}
		list = append(list, s)
	}
	rest := make([]shown, 0, len(others))
	for _, id := range others {
		s, err := m.shown(kind, id)
		if err != nil {
			return err
		}
		rest = append(rest, s)
	}
	slices.SortFunc(rest, func(a, b shown) int { return strings.Compare(a.owner.name, b.owner.name) })
	return m.unite(owner, append(list, rest...), nil)
}

// settle lays down what is curated of the merged entity.
func (m *merger) settle() error {
	list := make([]shown, 0, len(m.order))
	for _, id := range m.order {
		s, err := m.shown(format.KindEntity, id)
		if err != nil {
			return err
		}
		list = append(list, s)
	}
	owner := ownerText{format.KindEntity, m.target}
	return m.unite(owner, list, m.op)
}

// unite makes the override of a root from those of the roots that it is made
// of.
func (m *merger) unite(owner ownerText, list []shown, op *Merge) error {
	curated := format.Fields(0)
	for i := range list {
		curated |= list[i].override.Mask
	}
	var typeBy, descriptionBy Strategy
	if op != nil {
		typeBy, descriptionBy = op.TypeBy, op.DescriptionBy
	}
	o := list[0].override
	if len(list) > 1 {
		o = format.Override{}
		m.uniteType(&o, list, typeBy)
		if by := descriptionBy; by != Derive || curated&format.FieldDescription != 0 {
			if by == Derive {
				by = Join
			}
			o.Description = choose(by, list, func(s *shown) string { return s.rec.Description })
			o.Mask |= format.FieldDescription
		}
		if curated&format.FieldKeywords != 0 {
			for i := range list {
				o.Keywords = append(o.Keywords, list[i].rec.Keywords...)
			}
			o.Keywords = keywords(o.Keywords)
			o.Mask |= format.FieldKeywords
		}
		if curated&format.FieldWeight != 0 {
			for i := range list {
				o.Weight = max(o.Weight, list[i].rec.Weight)
			}
			o.Mask |= format.FieldWeight
		}
		for i := range list {
			o.Copied |= o.Mask & (^list[i].override.Mask | list[i].override.Copied)
		}
	}
	if op != nil && op.Type != nil {
		setField(&o, format.FieldType)
		o.Type = *op.Type
	}
	if op != nil && op.Description != nil {
		setField(&o, format.FieldDescription)
		o.Description = *op.Description
	}
	if o.Mask == 0 {
		return nil
	}
	for i := range list {
		if list[i].override.Mask != 0 {
			m.read(overrideToken(list[i].owner))
		}
	}
	if owner.kind == format.KindEntity {
		if err := m.readGroups(list); err != nil {
			return err
		}
	}
	return m.setOverride(owner, o)
}

// readGroups notes that shown values were used: a change of any raw owner that
// they are made of is one that they build upon.
func (m *merger) readGroups(list []shown) error {
	for i := range list {
		names, err := m.r.aliases(list[i].owner.name)
		if err != nil {
			return err
		}
		for _, name := range append(names, list[i].owner.name) {
			m.read(identityToken(name))
		}
	}
	return nil
}

func (m *merger) uniteType(o *format.Override, list []shown, by Strategy) {
	value := ""
	if by != Derive {
		value = choose(by, list, func(s *shown) string {
			if s.rec.Type == UnknownType {
				return ""
			}
			return s.rec.Type
		})
		if value == "" {
			value = UnknownType
		}
	}
	for i := 0; i < len(list) && by == Derive && value == ""; i++ {
		if list[i].override.Mask&format.FieldType != 0 {
			value = list[i].override.Type
		}
	}
	if value != "" {
		o.Type, o.Mask = value, o.Mask|format.FieldType
	}
}

// choose settles one field.
func choose(by Strategy, list []shown, field func(*shown) string) string {
	var values []string
	for i := range list {
		if v := field(&list[i]); v != "" {
			values = append(values, v)
		}
	}
	switch {
	case len(values) == 0:
		return ""
	case by == KeepFirst:
		return values[0]
	case by == KeepLast:
		return values[len(values)-1]
	}
	var distinct []string
	for _, v := range values {
		for _, part := range strings.Split(v, Separator) {
			if !slices.Contains(distinct, part) {
				distinct = append(distinct, part)
			}
		}
	}
	return strings.Join(distinct, Separator)
}
