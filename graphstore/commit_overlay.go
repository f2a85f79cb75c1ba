package graphstore

import (
	"slices"

	"github.com/lightctl/lightrag/format"
)

// curated writes the rows of a curation but for those of owners, and returns
// the id of the change.
func (tx *txn) curated(c *curator) (uint32, error) {
	tx.overlaid = true
	for _, e := range c.change.Aliases {
		if err := tx.setAlias(e); err != nil {
			return 0, err
		}
	}
	for _, e := range c.change.Overrides {
		if err := tx.setOverride(e); err != nil {
			return 0, err
		}
	}
	for doc, e := range c.docs {
		if err := tx.editDocument(doc, e); err != nil {
			return 0, err
		}
	}
	now := tx.s.opts.Now().Unix()
	if c.undone == 0 {
		row := c.change
		row.Created = now
		tx.n.NextChange++
		return c.id, tx.setChange(c.id, &row, nil)
	}
	old, ok, err := tx.rows.history(c.undone)
	if err == nil && !ok {
		err = corruptf("change %d is gone", c.undone)
	}
	if err != nil {
		return 0, err
	}
	row := old
	row.Undone = now
	return c.undone, tx.setChange(c.undone, &row, &old)
}

// setChange writes a row of the history; old is its former row.
func (tx *txn) setChange(id uint32, row, old *format.Change) error {
	was := uint64(0)
	tx.key = format.AppendHistoryKey(tx.key[:0], id)
	if old != nil {
		was = rowSum(tx.key, format.AppendChange(nil, old))
	} else {
		tx.n.Changes++
	}
	tx.value = format.AppendChange(tx.value[:0], row)
	return tx.setSummed(tx.key, tx.value, was)
}

// links puts raw owners under other roots.
func (tx *txn) links(list []link) error {
	for i := range list {
		l := &list[i]
		if l.linked {
			if err := tx.unlink(l.kind, l.raw, &l.from); err != nil {
				return err
			}
		}
		m := format.Member{Root: l.to.owner, Lo: min(l.pair[0], l.pair[1]), Hi: max(l.pair[0], l.pair[1])}
		if l.to.hidden {
			m.Root, m.Hidden = l.to.ends[0].owner, true
		} else if l.to.owner == l.raw {
			continue
		}
		if err := tx.link(l.kind, l.raw, &m); err != nil {
			return err
		}
	}
	return nil
}

func (tx *txn) setAlias(e format.AliasEdit) error {
	tx.key = format.AppendAliasKey(tx.key[:0], e.Name)
	if e.Before != "" {
		tx.n.Aliases--
		tx.n.Sum -= rowSum(tx.key, []byte(e.Before))
		if err := tx.del(format.AppendAliasNameKey(nil, e.Before, e.Name)); err != nil {
			return err
		}
	}
	if e.After == "" {
		return tx.del(tx.key)
	}
	tx.n.Aliases++
	if err := tx.setSummed(tx.key, []byte(e.After), 0); err != nil {
		return err
	}
	return tx.set(format.AppendAliasNameKey(nil, e.After, e.Name), nil)
}

func (tx *txn) setOverride(e format.OverrideEdit) error {
	owners := []string{e.Owner}
	if e.Kind == format.KindRelation {
		owners = append(owners, reversed(e.Owner))
	}
	for _, owner := range owners {
		tx.key = format.AppendOverrideKey(tx.key[:0], e.Kind, owner)
		if e.Before != "" {
			tx.n.Overrides--
			tx.n.Sum -= rowSum(tx.key, []byte(e.Before))
		}
		if e.After == "" {
			if err := tx.del(tx.key); err != nil {
				return err
			}
			continue
		}
		tx.n.Overrides++
		if err := tx.setSummed(tx.key, []byte(e.After), 0); err != nil {
			return err
		}
	}
	return nil
}

// editDocument brings the rows of a document up to date with fragments of it
// that a person has deleted.
func (tx *txn) editDocument(doc DocID, e *documentEdit) error {
	o, ok, err := tx.rows.owners(doc)
	if err != nil {
		return err
	}
	old, known, err := tx.rows.document(doc)
	if err != nil {
		return err
	}
	if !ok || !known {
		return corruptf("document %d has fragments, but no rows", doc)
	}
	list := slices.DeleteFunc(o.Fragments, func(f format.OwnerFragment) bool {
		_, gone := e.drop[f]
		return gone
	})
	o.Fragments = append(list, e.add...)
	slices.SortFunc(o.Fragments, compareOwnerFragments)
	row := old
	row.Entities, row.Relations = 0, 0
	for i, f := range o.Fragments {
		switch {
		case i > 0 && f.Kind == o.Fragments[i-1].Kind && f.Owner == o.Fragments[i-1].Owner:
		case f.Kind == format.KindEntity:
			row.Entities++
		default:
			row.Relations++
		}
	}
	tx.key = format.AppendOwnersKey(tx.key[:0], doc)
	tx.value = format.AppendDocumentOwners(tx.value[:0], &o)
	if err := tx.set(tx.key, tx.value); err != nil {
		return err
	}
	return tx.setDocument(doc, &row, &old)
}
