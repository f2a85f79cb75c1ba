package graphstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// Undo takes a change back: aliases and overrides are what they were before
// it, and what it created is gone. The error matches ErrNotFound for an
// unknown change, and ErrInvalid for a deletion, for a change that was undone
// before, and for one that a later change builds upon, which it names.
type Undo struct {
	Change uint32
}

func (op Undo) curate(c *curator) error {
	old, ok, err := c.r.history(op.Change)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("change %d: %w", op.Change, ErrNotFound)
	case old.Undone != 0:
		return invalidf("change %d was undone before", op.Change)
	case old.Kind == format.ChangeDelete:
		return invalidf("change %d is a deletion, which cannot be undone", op.Change)
	}
	if err := c.independent(op.Change, &old); err != nil {
		return err
	}
	c.undone = op.Change
	c.change = format.Change{Kind: old.Kind, Of: old.Of, Names: old.Names}
	for _, e := range old.Aliases {
		now, _, err := c.r.alias(e.Name)
		if err != nil {
			return err
		}
		if now != e.After {
			return corruptf("alias of %q is %q, change %d left %q", e.Name, now, op.Change, e.After)
		}
		if err := c.setAlias(e.Name, e.Before); err != nil {
			return err
		}
	}
	for _, e := range old.Overrides {
		var o format.Override
		if e.Before != "" {
			if err := format.DecodeOverride([]byte(e.Before), &o); err != nil {
				return err
			}
		}
		if err := c.setOverride(ownerText{e.Kind, e.Owner}, o); err != nil {
			return err
		}
	}
	if old.Made {
		if err := c.unmake(op.Change, &old); err != nil {
			return err
		}
	}
	if err := c.regroup(nil); err != nil {
		return err
	}
	return c.overridden()
}

// independent looks for a later change that stands and builds upon old.
func (c *curator) independent(id uint32, old *format.Change) error {
	var later uint32
	var by format.Change
	err := c.r.scanFrom(format.AppendHistoryKey(nil, id+1), []byte{byte(format.TableHistory)}, func(key, value []byte) (bool, error) {
		at, err := format.DecodeHistoryKey(key)
		if err != nil {
			return false, err
		}
		var ch format.Change
		if err := format.DecodeChange(value, &ch); err != nil {
			return false, err
		}
		if ch.Undone != 0 {
			return true, nil
		}
		for _, token := range old.Writes {
			_, reads := slices.BinarySearch(ch.Reads, token)
			_, writes := slices.BinarySearch(ch.Writes, token)
			if reads || writes {
				later, by = at, ch
				return false, nil
			}
		}
		return true, nil
	})
	if err == nil && later != 0 {
		err = invalidf("change %d cannot be undone: the later change %d (%s of %s) builds upon it", id, later, by.Kind, shownNames(&by))
	}
	return err
}

// shownNames writes the names of a change for a message.
func shownNames(ch *format.Change) string {
	out := make([]string, len(ch.Names))
	for i, name := range ch.Names {
		out[i] = fmt.Sprintf("%q", strings.ReplaceAll(name, "\x00", " -- "))
	}
	return strings.Join(out, ", ")
}

// unmake drops the fragments that a change has made.
func (c *curator) unmake(id uint32, old *format.Change) error {
	key := FragmentKey{Order: id}
	if old.Of == format.KindEntity {
		raw, ok, err := c.r.entity(old.Names[0])
		if err == nil && !ok {
			err = corruptf("entity %q of change %d is gone", old.Names[0], id)
		}
		if err != nil {
			return err
		}
		return c.drop(format.KindEntity, uint32(raw), key)
	}
	a, b, _ := strings.Cut(old.Names[0], "\x00")
	var ends [2]EntityID
	for i, name := range [2]string{a, b} {
		raw, ok, err := c.r.entity(name)
		if err == nil && !ok {
			err = corruptf("entity %q of change %d is gone", name, id)
		}
		if err != nil {
			return err
		}
		ends[i] = raw
		if err := c.drop(format.KindEntity, uint32(raw), key); err != nil {
			return err
		}
	}
	rel, ok, err := c.r.pair(ends[0], ends[1])
	if err == nil && !ok {
		err = corruptf("relation of change %d is gone", id)
	}
	if err != nil {
		return err
	}
	return c.drop(format.KindRelation, uint32(rel), key)
}

// drop takes a stored fragment from a raw owner.
func (c *curator) drop(kind Kind, raw uint32, key FragmentKey) error {
	ch, err := c.p.rootOf(c.d, kind, raw, c.byOwner)
	if err != nil {
		return err
	}
	f, ok, err := c.r.fragment(kind, raw, key)
	if err == nil && !ok {
		err = corruptf("%s %d has no fragment %+v", kind, raw, key)
	}
	if err != nil {
		return err
	}
	c.dropped(ch, fragment{key, raw, f})
	return nil
}

// dropped notes that a stored fragment goes.
func (c *curator) dropped(ch *change, f fragment) {
	ov := c.p.overlay
	if ov.dropped == nil {
		ov.dropped = make(map[format.OwnerFragment]struct{})
	}
	ov.dropped[format.OwnerFragment{Kind: ch.kind, Owner: f.raw, Key: f.key}] = struct{}{}
	ch.drop = append(ch.drop, f)
}

// overridden derives the existing roots anew whose overrides change.
func (c *curator) overridden() error {
	for _, e := range c.change.Overrides {
		owner := ownerText{e.Kind, e.Owner}
		if i := slices.IndexFunc(c.p.changes, func(ch *change) bool { return !ch.hidden && ch.text() == owner }); i >= 0 {
			c.p.changes[i].force = true
			continue
		}
		if e.Kind == format.KindEntity {
			id, ok, err := c.r.entity(e.Owner)
			if err != nil {
				return err
			}
			if ok && c.st.cols.EntityLive(id) {
				c.existing(e.Kind, uint32(id))
			}
			continue
		}
		a, b, _ := strings.Cut(e.Owner, "\x00")
		x, okX, err := c.r.entity(a)
		if err != nil {
			return err
		}
		y, okY, err := c.r.entity(b)
		if err != nil {
			return err
		}
		if !okX || !okY || !c.st.cols.EntityLive(x) || !c.st.cols.EntityLive(y) {
			continue
		}
		if id, ok := related(c.st.cols, x, y); ok {
			c.existing(e.Kind, uint32(id))
		}
	}
	return nil
}

// reversed names a pair in the other order.
func reversed(pair string) string { return format.PairName(pairTail(pair), pairHead(pair)) }

func pairHead(pair string) string { a, _, _ := strings.Cut(pair, "\x00"); return a }
func pairTail(pair string) string { _, b, _ := strings.Cut(pair, "\x00"); return b }
