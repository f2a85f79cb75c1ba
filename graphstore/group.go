package graphstore

import (
	"slices"

	"github.com/lightctl/lightrag/format"
)

// overlays are what a curation does to overlays, so that what follows from it
// can be derived before it is written.
type overlays struct {
	aliases   map[string]string // name -> root; "" = none
	overrides map[ownerText]*format.Override
	dropped   map[format.OwnerFragment]struct{} // stored fragments that go
	links     []link
}

// ownerText names a root as the key of an override does.
type ownerText struct {
	kind Kind
	name string
}

// link puts a raw owner that exists under another root.
type link struct {
	kind   Kind
	raw    uint32
	pair   [2]EntityID // of a relation
	linked bool        // from holds
	from   format.Member
	to     *change
}

// text names c as the key of an override does.
func (c *change) text() ownerText {
	if c.kind == format.KindEntity {
		return ownerText{c.kind, c.name}
	}
	return ownerText{c.kind, format.PairName(c.src, c.tgt)}
}

// root returns the name that stands for an entity.
func (d *deriver) root(name string) (string, error) {
	if d.pending != nil {
		if root, ok := d.pending.aliases[name]; ok {
			if root == "" {
				return name, nil
			}
			return root, nil
		}
	}
	if d.n.Aliases == 0 {
		return name, nil
	}
	root, ok, err := d.rows.alias(name)
	if !ok {
		root = name
	}
	return root, err
}

// override returns what is curated of c's root.
func (d *deriver) override(c *change) (format.Override, error) {
	return d.overrideOf(c.text())
}

func (d *deriver) overrideOf(owner ownerText) (format.Override, error) {
	if d.pending != nil {
		if o, ok := d.pending.overrides[owner]; ok {
			if o == nil {
				return format.Override{}, nil
			}
			return *o, nil
		}
	}
	if d.n.Overrides == 0 {
		return format.Override{}, nil
	}
	o, _, err := d.rows.override(owner.kind, owner.name)
	return o, err
}

// applyOverride puts the curated values into a record.
func applyOverride(rec *format.Record, o *format.Override) {
	if rec.Curated = o.Mask; o.Mask == 0 {
		return
	}
	if o.Mask&format.FieldType != 0 {
		rec.Type = o.Type
	}
	if o.Mask&format.FieldDescription != 0 {
		rec.Description = o.Description
	}
	if o.Mask&format.FieldKeywords != 0 {
		rec.Keywords = o.Keywords
	}
	if o.Mask&format.FieldWeight != 0 {
		rec.Weight = o.Weight
	}
}

// roots makes the changes of the contribution's raw owners: one per root.
func (p *plan) roots(d *deriver, byOwner map[uint64]*change) error {
	block := make([]change, len(p.adds))
	overlaid := d.n.Aliases > 0 || d.pending != nil && len(d.pending.aliases) > 0
	byName := make(map[ownerText]*change)
	for i, w := range p.adds {
		c := &block[i]
		*c = change{kind: w.kind, name: w.name, src: w.src, tgt: w.tgt}
		if w.kind == format.KindRelation {
			c.ends = [2]*change{w.ends[0].root, w.ends[1].root}
		}
		if overlaid {
			if err := d.rename(c); err != nil {
				return err
			}
			if same := byName[c.text()]; same != nil {
				c = same
			} else {
				byName[c.text()] = c
			}
		}
		w.root = c
		if c.raws = append(c.raws, w); len(c.raws) > 1 {
			if err := d.resolveRaw(w); err != nil {
				return err
			}
			c.add = append(slices.Clip(c.add), w.add...)
			continue
		}
		c.add = w.add
		if err := d.resolve(c); err != nil {
			return err
		}
		if err := d.resolveRaw(w); err != nil {
			return err
		}
		p.changes = append(p.changes, c)
		if c.hidden {
			byOwner[hiddenKey(c.hiddenOf)] = c
		} else if !c.fresh {
			byOwner[ownerKey(c.kind, c.owner)] = c
		}
	}
	for _, c := range p.changes {
		if len(c.raws) > 1 {
			slices.SortStableFunc(c.add, func(a, b addition) int { return a.key.Compare(b.key) })
		}
	}
	return nil
}

// hiddenKey is ownerKey of the hidden relations of an entity.
func hiddenKey(of EntityID) uint64 { return 0xff<<32 | uint64(of) }

// rename gives c, which is named like a raw owner, the names of its root.
func (d *deriver) rename(c *change) (err error) {
	if c.kind == format.KindEntity {
		c.name, err = d.root(c.name)
		return err
	}
	c.src, c.tgt = c.ends[0].name, c.ends[1].name
	if c.src > c.tgt {
		c.src, c.tgt = c.tgt, c.src
		c.ends[0], c.ends[1] = c.ends[1], c.ends[0]
	}
	c.hidden = c.src == c.tgt
	return nil
}

// resolveRaw finds out whether a raw owner exists, after its root.
func (d *deriver) resolveRaw(w *raw) error {
	if w.own() {
		w.id, w.fresh = w.root.owner, w.root.rawless
		return nil
	}
	w.id, w.fresh = 0, true
	if w.kind == format.KindEntity {
		id, ok, err := d.rows.entity(w.name)
		w.id, w.fresh = uint32(id), !ok
		return err
	}
	if w.ends[0].fresh || w.ends[1].fresh {
		return nil
	}
	pair := w.pair()
	id, ok, err := d.rows.pair(pair[0], pair[1])
	w.id, w.fresh = uint32(id), !ok
	return err
}

// rootOf returns the change of a raw owner's root, which it adds to the plan
// if need be.
func (p *plan) rootOf(d *deriver, kind Kind, raw uint32, byOwner map[uint64]*change) (*change, error) {
	root, hidden := raw, false
	if !d.live(kind, raw) {
		m, ok, err := d.rows.member(kind, raw)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, corruptf("it contributes to %s %d, which does not exist", kind, raw)
		}
		root, hidden = m.Root, m.Hidden
	}
	key := ownerKey(kind, root)
	if hidden {
		key = hiddenKey(EntityID(root))
	}
	if c := byOwner[key]; c != nil {
		return c, nil
	}
	var c *change
	if hidden {
		name := d.cols.EntityName(EntityID(root))
		c = &change{kind: kind, src: name, tgt: name, hidden: true, hiddenOf: EntityID(root)}
	} else if c = d.existing(kind, root); c == nil {
		return nil, corruptf("%s %d belongs to %d, which does not exist", kind, raw, root)
	}
	byOwner[key] = c
	p.changes = append(p.changes, c)
	return c, nil
}
