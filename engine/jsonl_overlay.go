package engine

import (
	"errors"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
)

// Lines of what people decided.

type aliasLine struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Root string `json:"root"`
}

type overrideLine struct {
	Kind string `json:"kind"`
	Of   string `json:"of"`
	ownerName
	Fields      []Field   `json:"fields"`           // which hold
	Copied      []Field   `json:"copied,omitempty"` // those that a merge has made of what documents say
	Type        string    `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Keywords    []string  `json:"keywords,omitempty"`
	Weight      millionth `json:"weight,omitempty"`
}

// changeLine is one entry of the history, from which it can be undone.
type changeLine struct {
	Kind      string             `json:"kind"`
	ID        uint32             `json:"id"`
	Next      uint32             `json:"next"` // id of the change after the last one
	Verb      string             `json:"verb"`
	Of        string             `json:"of"`
	Names     []string           `json:"names"`
	Created   int64              `json:"created"`
	Undone    int64              `json:"undone,omitempty"`
	Aliases   []aliasEditJSON    `json:"aliases,omitempty"`
	Overrides []overrideEditJSON `json:"overrides,omitempty"`
	Made      bool               `json:"made,omitempty"`
	Reads     []string           `json:"reads,omitempty"`
	Writes    []string           `json:"writes,omitempty"`
}

type aliasEditJSON struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// overrideEditJSON holds overrides as the store encodes them.
type overrideEditJSON struct {
	Of     string `json:"of"`
	Owner  string `json:"owner"`
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after,omitempty"`
}

// curatedLine is a fragment that a change made.
type curatedLine struct {
	Kind   string `json:"kind"`
	Change uint32 `json:"change"`
	Of     string `json:"of"`
	ownerName
	Type        string    `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Keywords    []string  `json:"keywords,omitempty"`
	Weight      millionth `json:"weight,omitempty"`
}

var allFields = []Field{FieldType, FieldDescription, FieldKeywords, FieldWeight}

// overlays writes what people decided.
func (x *fullExport) overlays() error {
	o, err := x.v.Overlays()
	if err != nil {
		return err
	}
	for _, a := range o.Aliases {
		if err := x.line(aliasLine{"alias", a.Name, a.Root}); err != nil {
			return err
		}
	}
	for i := range o.Overrides {
		v := &o.Overrides[i]
		if err := x.line(overrideLine{
			Kind: "override", Of: v.Kind.String(), ownerName: ownerName{v.Name, v.Src, v.Tgt},
			Fields: curatedFields(v.Mask), Copied: curatedFields(v.Copied),
			Type: v.Type, Description: v.Description, Keywords: v.Keywords, Weight: millionth(v.Weight),
		}); err != nil {
			return err
		}
	}
	for i := range o.Changes {
		c := &o.Changes[i]
		l := changeLine{
			Kind: "change", ID: c.ID, Next: o.Next, Verb: c.Kind.String(), Of: c.Of.String(), Names: c.Names, Created: c.Created,
			Undone: c.Undone, Made: c.Made, Reads: c.Reads, Writes: c.Writes,
		}
		for _, e := range c.Aliases {
			l.Aliases = append(l.Aliases, aliasEditJSON(e))
		}
		for _, e := range c.Overrides {
			l.Overrides = append(l.Overrides, overrideEditJSON{e.Kind.String(), e.Owner, []byte(e.Before), []byte(e.After)})
		}
		if err := x.line(l); err != nil {
			return err
		}
	}
	for i := range o.Curated {
		c := &o.Curated[i]
		if err := x.line(curatedLine{
			Kind: "curated", Change: c.Change, Of: c.Of.String(), ownerName: ownerName{c.Name, c.Src, c.Tgt},
			Type: c.Type, Description: c.Text, Keywords: c.Keyword, Weight: millionth(c.Weight),
		}); err != nil {
			return err
		}
	}
	return nil
}

// overlayLine reads one line of what people decided.
func (im *jsonlImport) overlayLine(kind string, line []byte) error {
	if err := im.enter(atOverlays, kind); err != nil {
		return err
	}
	switch kind {
	case "alias":
		return im.aliasLine(line)
	case "override":
		return im.overrideLine(line)
	case "change":
		return im.changeLine(line)
	}
	return im.curatedLine(line)
}

func (im *jsonlImport) aliasLine(line []byte) error {
	var l aliasLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	im.overlays.Aliases = append(im.overlays.Aliases, graphstore.Alias{Name: l.Name, Root: l.Root})
	return nil
}

func (im *jsonlImport) overrideLine(line []byte) error {
	var l overrideLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	if err := im.checkOwner(l.Of, &l.ownerName); err != nil {
		return err
	}
	v := graphstore.OwnerOverride{Kind: kindNamed(l.Of), Name: l.Name, Src: l.Src, Tgt: l.Tgt, Override: format.Override{
		Type: l.Type, Description: l.Description, Keywords: l.Keywords, Weight: int64(l.Weight),
	}}
	var err error
	if v.Mask, err = fieldsOf(l.Fields, allFields...); err != nil || v.Mask == 0 {
		return im.in.fail("fields", "they name no override (%v)", err)
	}
	if v.Copied, err = fieldsOf(l.Copied, allFields...); err != nil || v.Copied&^v.Mask != 0 {
		return im.in.fail("copied", "they are not among the fields (%v)", err)
	}
	im.overlays.Overrides = append(im.overlays.Overrides, v)
	return nil
}

func (im *jsonlImport) changeLine(line []byte) error {
	var l changeLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	c := graphstore.NumberedChange{ID: l.ID, Change: format.Change{
		Of: kindNamed(l.Of), Names: l.Names, Created: l.Created, Undone: l.Undone, Made: l.Made, Reads: l.Reads, Writes: l.Writes,
	}}
	for k := format.ChangeCreate; k <= format.ChangeDelete; k++ {
		if k.String() == l.Verb {
			c.Kind = k
		}
	}
	switch {
	case c.Kind == 0:
		return im.in.fail("verb", "%q is no change", l.Verb)
	case c.Of == 0:
		return im.in.fail("of", "%q is neither entity nor relation", l.Of)
	case len(l.Names) == 0:
		return im.in.fail("names", "none")
	case l.ID == 0 || l.ID >= l.Next:
		return im.in.fail("id", "%d is not in 1..%d", l.ID, int64(l.Next)-1)
	case im.overlays.Next != 0 && im.overlays.Next != l.Next:
		return im.in.fail("next", "%d, before it was %d", l.Next, im.overlays.Next)
	}
	im.overlays.Next = l.Next
	for _, e := range l.Aliases {
		c.Aliases = append(c.Aliases, format.AliasEdit(e))
	}
	for _, e := range l.Overrides {
		kind := kindNamed(e.Of)
		if kind == 0 {
			return im.in.fail("overrides", "%q is neither entity nor relation", e.Of)
		}
		for _, row := range [][]byte{e.Before, e.After} {
			var o format.Override
			if len(row) > 0 {
				if err := format.DecodeOverride(row, &o); err != nil {
					return im.in.fail("overrides", "%v", err)
				}
			}
		}
		c.Overrides = append(c.Overrides, format.OverrideEdit{Kind: kind, Owner: e.Owner, Before: string(e.Before), After: string(e.After)})
	}
	im.overlays.Changes = append(im.overlays.Changes, c)
	return nil
}

func (im *jsonlImport) curatedLine(line []byte) error {
	var l curatedLine
	if err := im.in.decode(line, &l); err != nil {
		return err
	}
	if err := im.checkOwner(l.Of, &l.ownerName); err != nil {
		return err
	}
	im.overlays.Curated = append(im.overlays.Curated, graphstore.Curated{
		Change: l.Change, Of: kindNamed(l.Of), Name: l.Name, Src: l.Src, Tgt: l.Tgt,
		Type: l.Type, Text: l.Description, Keyword: l.Keywords, Weight: int64(l.Weight),
	})
	return nil
}

// restoreOverlays puts back what people decided, before any document.
func (im *jsonlImport) restoreOverlays() error {
	o := &im.overlays
	if len(o.Aliases)+len(o.Overrides)+len(o.Changes)+len(o.Curated) == 0 {
		return nil
	}
	err := im.store.RestoreOverlays(im.ctx, o)
	if errors.Is(err, ErrInvalid) {
		return &LineError{im.in.line, "", err}
	}
	return err
}

func kindNamed(name string) format.Kind {
	switch name {
	case format.KindEntity.String():
		return format.KindEntity
	case format.KindRelation.String():
		return format.KindRelation
	}
	return 0
}
