package graphstore

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// Overlays are what people decided: aliases, by which a raw owner belongs to
// another root than its own name says, and overrides of derived values. They
// are kept by name and are no part of what documents say. Member and group
// rows follow from aliases and raw owners: they spare looking names up.

// alias returns the root that a name leads to, if it is not its own.
func (r *rows) alias(name string) (root string, ok bool, err error) {
	r.key = format.AppendAliasKey(r.key[:0], name)
	ok, err = r.seek(r.key, func(b []byte) error { root = string(b); return nil })
	return root, ok, err
}

// aliases lists the names that lead to a root, in order.
func (r *rows) aliases(root string) (names []string, err error) {
	err = r.scan(format.AppendAliasNamePrefix(nil, root), func(key, _ []byte) (bool, error) {
		_, name, err := format.DecodeAliasNameKey(key)
		names = append(names, name)
		return true, err
	})
	return names, err
}

func (r *rows) override(kind Kind, owner string) (o format.Override, ok bool, err error) {
	r.key = format.AppendOverrideKey(r.key[:0], kind, owner)
	ok, err = r.seek(r.key, func(b []byte) error { return format.DecodeOverride(b, &o) })
	return o, ok, err
}

// member says where a raw owner belongs that is not its own root.
func (r *rows) member(kind Kind, raw uint32) (m format.Member, ok bool, err error) {
	r.key = format.AppendMemberKey(r.key[:0], kind, raw)
	ok, err = r.seek(r.key, func(b []byte) error { return format.DecodeMember(b, &m) })
	return m, ok, err
}

// group lists the raw owners of a root other than itself; under
// format.HiddenKind, the hidden relations of an entity.
func (r *rows) group(kind Kind, root uint32) (raws []uint32, err error) {
	err = r.scan(format.AppendGroupPrefix(nil, kind, root), func(key, _ []byte) (bool, error) {
		_, _, raw, err := format.DecodeGroupKey(key)
		raws = append(raws, raw)
		return true, err
	})
	return raws, err
}

// entityName reads the name of a raw entity, which must exist.
func (r *rows) entityName(id EntityID) (name string, err error) {
	r.key = format.AppendEntityNameKey(r.key[:0], id)
	ok, err := r.seek(r.key, func(b []byte) error { name = string(b); return nil })
	if err == nil && !ok {
		err = corruptf("entity %d has no name", id)
	}
	return name, err
}

func (r *rows) history(id uint32) (c format.Change, ok bool, err error) {
	r.key = format.AppendHistoryKey(r.key[:0], id)
	ok, err = r.get(r.key, func(b []byte) error { return format.DecodeChange(b, &c) })
	return c, ok, err
}

// cursor reads the fragments of one raw owner beside those of others.
type cursor struct {
	it  *pebble.Iterator
	raw uint32
	key FragmentKey
	f   format.Fragment
}

func (c *cursor) read() (err error) {
	if _, _, c.key, err = format.DecodeFragmentKey(c.it.Key()); err != nil {
		return err
	}
	value, err := c.it.ValueAndErr()
	if err != nil {
		return err
	}
	c.f.Keywords = nil
	return format.DecodeFragment(value, &c.f)
}

// groupFragments calls fn for the stored fragments of several raw owners of
// one root in canonical order, until it returns false. The fragment is reused;
// its strings are not.
func (r *rows) groupFragments(kind Kind, raws []uint32, fn func(raw uint32, key FragmentKey, f *format.Fragment) (bool, error)) (err error) {
	if len(raws) == 0 {
		return nil
	}
	if len(raws) == 1 {
		return r.fragments(kind, raws[0], func(key FragmentKey, f *format.Fragment) (bool, error) { return fn(raws[0], key, f) })
	}
	var open []*cursor
	defer func() {
		for _, c := range open {
			if e := c.it.Close(); err == nil {
				err = e
			}
		}
	}()
	live := make([]*cursor, 0, len(raws))
	for _, raw := range raws {
		prefix := format.AppendFragmentPrefix(nil, kind, raw)
		it, err := r.r.NewIter(prefix, format.PrefixEnd(prefix))
		if err != nil {
			return err
		}
		c := &cursor{it: it, raw: raw}
		open = append(open, c)
		if !it.First() {
			if err := it.Error(); err != nil {
				return err
			}
			continue
		}
		if err := c.read(); err != nil {
			return err
		}
		live = append(live, c)
	}
	for len(live) > 0 {
		at := 0
		for i := 1; i < len(live); i++ {
			if live[i].key.Compare(live[at].key) < 0 {
				at = i
			}
		}
		c := live[at]
		if more, err := fn(c.raw, c.key, &c.f); err != nil || !more {
			return err
		}
		if !c.it.Next() {
			if err := c.it.Error(); err != nil {
				return err
			}
			live = append(live[:at], live[at+1:]...)
			continue
		}
		if err := c.read(); err != nil {
			return err
		}
	}
	return nil
}

// hasFragments says whether a raw owner has a stored fragment for which keep
// is true.
func (r *rows) hasFragments(kind Kind, raw uint32, keep func(FragmentKey) bool) (has bool, err error) {
	err = r.scan(format.AppendFragmentPrefix(nil, kind, raw), func(key, _ []byte) (bool, error) {
		_, _, at, err := format.DecodeFragmentKey(key)
		has = err == nil && keep(at)
		return !has, err
	})
	return has, err
}
