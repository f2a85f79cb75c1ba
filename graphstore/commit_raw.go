package graphstore

import (
	"github.com/lightctl/lightrag/format"
)

// raws writes the rows of raw owners that come into being or lose their last
// fragment, but for those of roots.
func (tx *txn) raws(c *change) error {
	for _, w := range c.raws {
		if !w.fresh || w.own() {
			continue
		}
		m := format.Member{Root: c.owner}
		var pair [2]EntityID
		if c.kind == format.KindRelation {
			pair = w.pair()
			m.Lo, m.Hi = min(pair[0], pair[1]), max(pair[0], pair[1])
		}
		if c.hidden {
			m.Root, m.Hidden = uint32(c.hiddenOf), true
		}
		if err := tx.addRaw(c.kind, w.id, w.name, pair); err != nil {
			return err
		}
		if err := tx.link(c.kind, w.id, &m); err != nil {
			return err
		}
	}
	for i := range c.empty {
		e := &c.empty[i]
		if err := tx.unlink(c.kind, e.raw, &e.member); err != nil {
			return err
		}
		if err := tx.dropRaw(c.kind, e.raw, e.name, [2]EntityID{e.member.Lo, e.member.Hi}); err != nil {
			return err
		}
	}
	return nil
}

// addRaw writes the rows that say that a raw owner exists.
func (tx *txn) addRaw(kind Kind, id uint32, name string, pair [2]EntityID) error {
	if kind == format.KindEntity {
		tx.n.Names++
		tx.key = format.AppendNameKey(tx.key[:0], name)
		if err := tx.set(tx.key, format.AppendEntityID(nil, EntityID(id))); err != nil {
			return err
		}
		tx.key = format.AppendEntityNameKey(tx.key[:0], EntityID(id))
		return tx.setSummed(tx.key, []byte(name), 0)
	}
	tx.n.Pairs++
	tx.key = format.AppendPairKey(tx.key[:0], pair[0], pair[1])
	return tx.setSummed(tx.key, format.AppendRelationID(nil, RelationID(id)), 0)
}

// dropRaw deletes those rows.
func (tx *txn) dropRaw(kind Kind, id uint32, name string, pair [2]EntityID) error {
	if kind == format.KindEntity {
		tx.n.Names--
		if err := tx.del(format.AppendNameKey(tx.key[:0], name)); err != nil {
			return err
		}
		tx.key = format.AppendEntityNameKey(tx.key[:0], EntityID(id))
		tx.n.Sum -= rowSum(tx.key, []byte(name))
		return tx.del(tx.key)
	}
	tx.n.Pairs--
	tx.key = format.AppendPairKey(tx.key[:0], pair[0], pair[1])
	tx.n.Sum -= rowSum(tx.key, format.AppendRelationID(nil, RelationID(id)))
	return tx.del(tx.key)
}

// groupKind is the kind of the group key of a member.
func groupKind(kind Kind, m *format.Member) Kind {
	if m.Hidden {
		return format.HiddenKind
	}
	return kind
}

// link says that a raw owner, which is not linked, belongs to a root.
func (tx *txn) link(kind Kind, raw uint32, m *format.Member) error {
	tx.n.Members++
	tx.key = format.AppendGroupKey(tx.key[:0], groupKind(kind, m), m.Root, raw)
	if err := tx.set(tx.key, nil); err != nil {
		return err
	}
	tx.key = format.AppendMemberKey(tx.key[:0], kind, raw)
	tx.value = format.AppendMember(tx.value[:0], m)
	return tx.setSummed(tx.key, tx.value, 0)
}

// unlink takes that back.
func (tx *txn) unlink(kind Kind, raw uint32, m *format.Member) error {
	tx.n.Members--
	if err := tx.del(format.AppendGroupKey(tx.key[:0], groupKind(kind, m), m.Root, raw)); err != nil {
		return err
	}
	tx.key = format.AppendMemberKey(tx.key[:0], kind, raw)
	tx.n.Sum -= rowSum(tx.key, format.AppendMember(nil, m))
	return tx.del(tx.key)
}

// addOwner writes what makes a root of an owner, but for what is derived.
func (tx *txn) addOwner(c *change) error {
	if c.kind == format.KindEntity {
		tx.n.Entities++
	} else {
		tx.n.Relations++
	}
	if !c.rawless {
		return nil
	}
	return tx.addRaw(c.kind, c.owner, c.name, c.pair)
}

// dropOwner deletes what is derived of a root, and the raw owner of its name
// if that has no fragments.
func (tx *txn) dropOwner(c *change) error {
	if err := tx.setStale(c.kind, c.owner, c.stale, format.Stale{}); err != nil {
		return err
	}
	if err := tx.del(format.AppendAggregateKey(tx.key[:0], c.kind, c.owner)); err != nil {
		return err
	}
	tx.key = format.AppendRecordKey(tx.key[:0], c.kind, c.owner)
	tx.n.Sum -= c.recSum
	if err := tx.del(tx.key); err != nil {
		return err
	}
	tx.reindex(c)
	if c.kind == format.KindEntity {
		tx.n.Entities--
	} else {
		tx.n.Relations--
	}
	if c.keepRaw {
		return nil
	}
	return tx.dropRaw(c.kind, c.owner, c.name, c.pair)
}
