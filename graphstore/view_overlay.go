package graphstore

import (
	"fmt"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// Aliases lists the names that lead to an entity besides its own, in order.
func (v *View) Aliases(id EntityID) (names []string, err error) {
	if v.st.n.Aliases == 0 {
		return nil, nil
	}
	err = v.read(fmt.Sprintf("read aliases of entity %d", id), func(r *rows) error {
		names, err = r.aliases(v.st.cols.EntityName(id))
		return err
	})
	return names, err
}

// EachAlias calls fn with every alias and the name of its root, by alias, until
// it returns an error, which is returned as it is.
func (v *View) EachAlias(fn func(name, root string) error) error {
	if v.st.n.Aliases == 0 {
		return nil
	}
	return v.each("read aliases", []byte{byte(format.TableAliases)}, func(key, value []byte) (stop, err error) {
		name, err := format.DecodeAliasKey(key)
		if err != nil {
			return nil, err
		}
		return fn(name, string(value)), nil
	})
}

// override reads what is curated of a root.
func (st *state) override(r *rows, kind Kind, root uint32) (o format.Override, err error) {
	if st.n.Overrides == 0 {
		return o, nil
	}
	owner := (&deriver{cols: st.cols}).existing(kind, root).text()
	o, _, err = r.override(owner.kind, owner.name)
	return o, err
}

// Changes lists what people did to the graph, oldest first: by id.
func (v *View) Changes(fn func(id uint32, c *format.Change) error) error {
	var stop error
	err := v.read("list changes", func(r *rows) error {
		lower, _ := format.TableBounds(format.TableHistory)
		return r.scan(lower, func(key, value []byte) (bool, error) {
			id, err := format.DecodeHistoryKey(key)
			if err != nil {
				return false, err
			}
			var c format.Change
			if err := format.DecodeChange(value, &c); err != nil {
				return false, err
			}
			stop = fn(id, &c)
			return stop == nil, nil
		})
	})
	if stop != nil {
		return stop
	}
	return err
}

// Curated is a fragment that a person made.
type Curated struct {
	Change  uint32 // the change that made it
	Of      Kind
	Name    string // entity
	Src     string // relation, Src < Tgt
	Tgt     string
	Type    string
	Text    string
	Keyword []string
	Weight  int64
}

// OwnerOverride is an override and whom it is for.
type OwnerOverride struct {
	Kind     Kind
	Name     string // entity
	Src, Tgt string // relation, Src < Tgt by code point
	format.Override
}

// Overlays are everything that people decided, as it is stored: what an export
// carries besides documents so that an import makes an equal store.
type Overlays struct {
	Aliases   []Alias // by name
	Overrides []OwnerOverride
	Curated   []Curated // by change
	Changes   []NumberedChange
	Next      uint32 // id of the next change
}

// Alias says to which root a name leads.
type Alias struct{ Name, Root string }

// NumberedChange is a row of the history.
type NumberedChange struct {
	ID uint32
	format.Change
}

// Overlays reads everything that people decided. RestoreOverlays puts it back.
// What a deletion took from documents is no part of it: that is in their
// fragments (EntityFragment.Mention).
func (v *View) Overlays() (*Overlays, error) {
	o := &Overlays{Next: v.st.n.NextChange}
	err := v.read("read overlays", func(r *rows) error {
		if err := r.table(format.TableAliases, func(key, value []byte) error {
			name, err := format.DecodeAliasKey(key)
			o.Aliases = append(o.Aliases, Alias{name, string(value)})
			return err
		}); err != nil {
			return err
		}
		if err := r.table(format.TableOverrides, func(key, value []byte) error {
			kind, owner, err := format.DecodeOverrideKey(key)
			if err != nil {
				return err
			}
			v := OwnerOverride{Kind: kind, Name: owner}
			if kind == format.KindRelation {
				if v.Name, v.Src, v.Tgt = "", pairHead(owner), pairTail(owner); v.Src > v.Tgt {
					return nil // its mirror
				}
			}
			err = format.DecodeOverride(value, &v.Override)
			o.Overrides = append(o.Overrides, v)
			return err
		}); err != nil {
			return err
		}
		if err := r.table(format.TableHistory, func(key, value []byte) error {
			id, err := format.DecodeHistoryKey(key)
			if err != nil {
				return err
			}
			c := NumberedChange{ID: id}
			err = format.DecodeChange(value, &c.Change)
			o.Changes = append(o.Changes, c)
			return err
		}); err != nil {
			return err
		}
		for i := range o.Changes {
			c := &o.Changes[i]
			if !c.Made || c.Undone != 0 {
				continue
			}
			made, ok, err := r.curated(c.ID, &c.Change)
			if err != nil {
				return err
			}
			if ok {
				o.Curated = append(o.Curated, made)
			}
		}
		return nil
	})
	return o, err
}

// table calls fn for every row of a table.
func (r *rows) table(t format.Table, fn func(key, value []byte) error) error {
	lower, _ := format.TableBounds(t)
	return r.scan(lower, func(key, value []byte) (bool, error) { return true, fn(key, value) })
}

// curated reads the fragment that a change made, if it is still there.
func (r *rows) curated(id uint32, c *format.Change) (made Curated, ok bool, err error) {
	made = Curated{Change: id, Of: c.Of, Name: c.Names[0]}
	owner := uint32(0)
	if c.Of == format.KindEntity {
		raw, has, err := r.entity(made.Name)
		if err != nil || !has {
			return made, false, err
		}
		owner = uint32(raw)
	} else {
		made.Name, made.Src, made.Tgt = "", pairHead(c.Names[0]), pairTail(c.Names[0])
		var ends [2]EntityID
		for i, name := range [2]string{made.Src, made.Tgt} {
			raw, has, err := r.entity(name)
			if err != nil || !has {
				return made, false, err
			}
			ends[i] = raw
		}
		raw, has, err := r.pair(ends[0], ends[1])
		if err != nil || !has {
			return made, false, err
		}
		owner = uint32(raw)
	}
	f, ok, err := r.fragment(c.Of, owner, FragmentKey{Order: id})
	made.Type, made.Text, made.Keyword, made.Weight = f.Type, f.Description, slices.Clone(f.Keywords), f.Weight
	return made, ok, err
}
