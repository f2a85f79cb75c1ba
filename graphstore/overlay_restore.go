package graphstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// RestoreOverlays puts back what View.Overlays read of another store, in one
// step, with the ids that changes had: undo works as it did there. The store
// must hold no entity and nothing that was curated; documents that are
// committed afterwards show as they did. What was created by hand is stale
// until it is refreshed. The error matches ErrInvalid if the store is not
// empty, or if o does not fit together.
func (s *Store) RestoreOverlays(ctx context.Context, o *Overlays) error {
	err := ctx.Err()
	if err == nil {
		_, err = s.write(func(tx *txn) error { return tx.restore(ctx, o) })
	}
	return opError("restore", "overlays", err)
}

func (tx *txn) restore(ctx context.Context, o *Overlays) error {
	n := &tx.n
	if n.Names+n.Pairs+n.Aliases+n.Overrides+n.Changes != 0 {
		return invalidf("the store is not empty")
	}
	tx.overlaid = true
	p := &plan{base: tx.base.seq, made: tx.base.n, overlay: &overlays{
		aliases: make(map[string]string), overrides: make(map[ownerText]*format.Override),
	}}
	if err := tx.restoreAliases(o, p.overlay); err != nil {
		return err
	}
	if err := tx.restoreOverrides(o, p.overlay); err != nil {
		return err
	}
	if err := tx.restoreHistory(o); err != nil {
		return err
	}
	var err error
	if p.adds, err = curatedRaws(o); err != nil {
		return err
	}
	d := tx.s.deriver(tx.base, tx.rows, nil)
	d.pending = p.overlay
	if err := p.roots(d, make(map[uint64]*change)); err != nil {
		return err
	}
	if err := p.derive(ctx, d); err != nil {
		return err
	}
	_, err = tx.plan(p)
	return err
}

func (tx *txn) restoreAliases(o *Overlays, ov *overlays) error {
	for _, a := range o.Aliases {
		if err := cmp.Or(checkName(a.Name), checkName(a.Root)); err != nil {
			return err
		}
		if ov.aliases[a.Name] != "" {
			return invalidf("two aliases %q", a.Name)
		}
		ov.aliases[a.Name] = a.Root
		if err := tx.setAlias(format.AliasEdit{Name: a.Name, After: a.Root}); err != nil {
			return err
		}
	}
	for name, root := range ov.aliases {
		if ov.aliases[root] != "" || root == name {
			return invalidf("alias %q leads to %q, which is an alias", name, root)
		}
	}
	return nil
}

func (tx *txn) restoreOverrides(o *Overlays, ov *overlays) error {
	for i := range o.Overrides {
		v := &o.Overrides[i]
		owner := ownerText{v.Kind, v.Name}
		if v.Kind == format.KindRelation {
			if err := cmp.Or(checkName(v.Src), checkName(v.Tgt)); err != nil {
				return err
			}
			owner.name = ordered(v.Src, v.Tgt)
		} else if err := checkName(v.Name); err != nil {
			return err
		}
		if _, twice := ov.overrides[owner]; twice || v.Mask == 0 || v.Kind == format.KindRelation && v.Src == v.Tgt {
			return invalidf("override of %q%q%q", v.Name, v.Src, v.Tgt)
		}
		row := v.Override
		row.Keywords = keywords(v.Keywords)
		ov.overrides[owner] = &row
		if err := tx.setOverride(format.OverrideEdit{
			Kind: v.Kind, Owner: owner.name, After: string(format.AppendOverride(nil, &row)),
		}); err != nil {
			return err
		}
	}
	return nil
}

func (tx *txn) restoreHistory(o *Overlays) error {
	seen := make(map[uint32]struct{}, len(o.Changes))
	tx.n.NextChange = max(o.Next, 1)
	for i := range o.Changes {
		c := &o.Changes[i]
		if _, twice := seen[c.ID]; twice || c.ID == 0 || c.ID >= tx.n.NextChange || len(c.Names) == 0 || !slices.IsSorted(c.Writes) || !slices.IsSorted(c.Reads) {
			return invalidf("change %d", c.ID)
		}
		seen[c.ID] = struct{}{}
		if err := tx.setChange(c.ID, &c.Change, nil); err != nil {
			return err
		}
	}
	for i := range o.Curated {
		if _, ok := seen[o.Curated[i].Change]; !ok {
			return invalidf("no change %d has made a fragment", o.Curated[i].Change)
		}
	}
	return nil
}

// curatedRaws groups what was created by hand by raw owner.
func curatedRaws(o *Overlays) ([]*raw, error) {
	g := &gatherer{entities: make(map[string]*raw), relations: make(map[[2]string]*raw)}
	for i := range o.Curated {
		c := &o.Curated[i]
		f := addition{fragment: fragment{key: FragmentKey{Order: c.Change}, Fragment: format.Fragment{
			Class: format.ClassCurated, Type: c.Type, Description: c.Text, Keywords: keywords(c.Keyword), Weight: c.Weight,
		}}}
		if c.Of == format.KindEntity {
			if err := checkName(c.Name); err != nil {
				return nil, err
			}
			w := g.entity(c.Name)
			w.add = append(w.add, f)
			continue
		}
		if err := cmp.Or(checkName(c.Src), checkName(c.Tgt)); err != nil {
			return nil, err
		}
		if c.Src == c.Tgt || c.Weight < 0 {
			return nil, invalidf("relation of %q and %q, weight %d", c.Src, c.Tgt, c.Weight)
		}
		rel := g.relation(c.Src, c.Tgt)
		rel.add = append(rel.add, f)
		for _, end := range rel.ends {
			end.add = append(end.add, addition{via: rel, text: c.Text, fragment: fragment{
				key: f.key, Fragment: format.Fragment{Class: format.ClassImplied},
			}})
		}
	}
	return g.sorted()
}
