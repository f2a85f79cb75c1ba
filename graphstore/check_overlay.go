package graphstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// rawEnds returns the raw ends of a raw relation.
func (d *deriver) rawEnds(id RelationID) ([2]EntityID, error) {
	if d.cols.RelationLive(id) {
		a, b := d.cols.Ends(id)
		return [2]EntityID{a, b}, nil
	}
	m, ok, err := d.rows.member(format.KindRelation, uint32(id))
	if err == nil && !ok {
		err = corruptf("relation %d does not exist", id)
	}
	return [2]EntityID{m.Lo, m.Hi}, err
}

// curatedFragment checks a fragment that a person made.
func (c *checker) curatedFragment(row string, raw uint32, key FragmentKey, f *format.Fragment) error {
	change, ok, err := c.r.history(key.Order)
	if err != nil {
		return err
	}
	if !ok || !change.Made || change.Undone != 0 || f.Chunk != 0 || f.Class == format.ClassExtracted {
		return c.bad(row, "fragment %+v of raw owner %d: change %+v did not make it", key, raw, change)
	}
	return nil
}

// overlays checks aliases, overrides, members and groups, and the relations
// that have no root.
func (c *checker) overlays() error {
	for _, step := range []func() error{c.aliases, c.aliasNames, c.overrides, c.members, c.groups, c.history} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) table(t format.Table, fn func(key, value []byte) error) error {
	lower, _ := format.TableBounds(t)
	return c.r.scan(lower, func(key, value []byte) (bool, error) { return true, fn(key, value) })
}

// get says whether a row exists, apart from the table's iterator.
func (c *checker) get(key []byte) (bool, error) {
	return c.r.get(key, func([]byte) error { return nil })
}

func (c *checker) aliases() error {
	return c.table(format.TableAliases, func(key, value []byte) error {
		name, err := format.DecodeAliasKey(key)
		if err != nil {
			return err
		}
		root, row := string(value), fmt.Sprintf("alias %q", name)
		if aliased, err := c.get(format.AppendAliasKey(nil, root)); err != nil {
			return err
		} else if aliased || root == name {
			return c.bad(row, "leads to %q, which is an alias", root)
		}
		listed, err := c.get(format.AppendAliasNameKey(nil, root, name))
		if err == nil && !listed {
			err = c.bad(row, "is not listed under %q", root)
		}
		return err
	})
}

func (c *checker) aliasNames() error {
	n := uint64(0)
	if err := c.table(format.TableAliasNames, func(key, _ []byte) error {
		n++
		_, _, err := format.DecodeAliasNameKey(key)
		return err
	}); err != nil {
		return err
	}
	if n != c.st.n.Aliases {
		return c.bad("alias names", "%d, there are %d aliases", n, c.st.n.Aliases)
	}
	return nil
}

func (c *checker) overrides() error {
	return c.table(format.TableOverrides, func(key, value []byte) error {
		kind, owner, err := format.DecodeOverrideKey(key)
		if err != nil {
			return err
		}
		var o format.Override
		if err := format.DecodeOverride(value, &o); err != nil {
			return err
		}
		row := fmt.Sprintf("override of %s %q", kind, owner)
		if o.Mask == 0 {
			return c.bad(row, "holds nothing")
		}
		if kind != format.KindRelation {
			return nil
		}
		a, b, ok := strings.Cut(owner, "\x00")
		if !ok || a == b {
			return c.bad(row, "not a pair")
		}
		same := false
		if _, err := c.r.get(format.AppendOverrideKey(nil, kind, format.PairName(b, a)), func(other []byte) error {
			same = string(other) == string(value)
			return nil
		}); err != nil {
			return err
		}
		if !same {
			return c.bad(row, "differs from that of the reversed pair")
		}
		return nil
	})
}

// members checks that every raw owner belongs where its names lead.
func (c *checker) members() error {
	type row struct {
		kind Kind
		raw  uint32
		format.Member
	}
	var rows []row // read first: the table's iterator is used below
	if err := c.table(format.TableMembers, func(key, value []byte) (err error) {
		var m row
		if m.kind, m.raw, err = format.DecodeMemberKey(key); err == nil {
			err = format.DecodeMember(value, &m.Member)
		}
		rows = append(rows, m)
		return err
	}); err != nil {
		return err
	}
	for i := range rows {
		if err := c.member(rows[i].kind, rows[i].raw, rows[i].Member); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) member(kind Kind, raw uint32, m format.Member) error {
	row := fmt.Sprintf("raw %s %d", kind, raw)
	if has, err := c.r.hasFragments(kind, raw, func(FragmentKey) bool { return true }); err != nil {
		return err
	} else if !has || c.d.live(kind, raw) {
		if err := c.bad(row, "belongs to %d, has fragments: %v, is a root: %v", m.Root, has, c.d.live(kind, raw)); err != nil {
			return err
		}
	}
	if listed, err := c.get(format.AppendGroupKey(nil, groupKind(kind, &m), m.Root, raw)); err != nil {
		return err
	} else if !listed {
		if err := c.bad(row, "is not listed under %d", m.Root); err != nil {
			return err
		}
	}
	if kind == format.KindEntity {
		name, err := c.r.entityName(EntityID(raw))
		if err != nil {
			return err
		}
		root, err := c.d.root(name)
		if err == nil && (m.Hidden || c.st.cols.EntityName(EntityID(m.Root)) != root) {
			err = c.bad(row, "%q belongs to %q, not to %q", name, root, c.st.cols.EntityName(EntityID(m.Root)))
		}
		return err
	}
	return c.relationMember(row, raw, &m)
}

func (c *checker) relationMember(row string, raw uint32, m *format.Member) error {
	id, ok, err := c.r.pair(m.Lo, m.Hi)
	if err != nil {
		return err
	}
	if !ok || uint32(id) != raw {
		return c.bad(row, "its pair %d, %d leads to %d", m.Lo, m.Hi, id)
	}
	var roots [2]EntityID
	for i, end := range [2]EntityID{m.Lo, m.Hi} {
		if roots[i] = end; !c.d.live(format.KindEntity, uint32(end)) {
			e, ok, err := c.r.member(format.KindEntity, uint32(end))
			if err != nil {
				return err
			}
			if !ok {
				return c.bad(row, "its end %d does not exist", end)
			}
			roots[i] = EntityID(e.Root)
		}
	}
	if m.Hidden {
		if roots[0] != roots[1] || roots[0] != EntityID(m.Root) {
			return c.bad(row, "hidden under %d, its ends belong to %v", m.Root, roots)
		}
		return c.hiddenFragments(row, raw)
	}
	if a, b := c.st.cols.Ends(RelationID(m.Root)); roots != [2]EntityID{a, b} && roots != [2]EntityID{b, a} {
		return c.bad(row, "belongs to relation %d of %d and %d, its ends to %v", m.Root, a, b, roots)
	}
	return nil
}

// hiddenFragments books the fragments of a relation without a root.
func (c *checker) hiddenFragments(row string, raw uint32) error {
	uses := make(map[use]struct{})
	ch := &change{kind: format.KindRelation, stored: []uint32{raw}}
	if err := c.r.groupFragments(ch.kind, ch.stored, func(_ uint32, key FragmentKey, f *format.Fragment) (bool, error) {
		if f.Description != "" {
			uses[use{raw, descriptionHash(f.Description), key}] = struct{}{}
		}
		if key.Doc == 0 {
			return true, c.curatedFragment(row, raw, key, f)
		}
		d := c.document(key.Doc)
		d.fragments = append(d.fragments, format.OwnerFragment{Kind: ch.kind, Owner: raw, Key: key})
		return true, nil
	}); err != nil {
		return err
	}
	return c.descriptions(row, ch, uses)
}

func (c *checker) groups() error {
	n := uint64(0)
	if err := c.table(format.TableGroups, func(key, _ []byte) error {
		n++
		_, _, _, err := format.DecodeGroupKey(key)
		return err
	}); err != nil {
		return err
	}
	if n != c.st.n.Members {
		return c.bad("groups", "%d rows, there are %d members", n, c.st.n.Members)
	}
	return nil
}

// history checks that the newest change of each alias and override is what
// holds.
func (c *checker) history() error {
	return c.table(format.TableHistory, func(key, value []byte) error {
		id, err := format.DecodeHistoryKey(key)
		if err != nil {
			return err
		}
		var ch format.Change
		if err := format.DecodeChange(value, &ch); err != nil {
			return err
		}
		if id == 0 || id >= c.st.n.NextChange || !slices.IsSorted(ch.Writes) {
			return c.bad(fmt.Sprintf("change %d", id), "beyond the counters, or not in order")
		}
		return nil
	})
}
